"""Result of a simulated run, as text for people and as a JSON object."""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import to_builtins

from sync.sim.measure import Repairs, Sent, Sort, Spread
from sync.sim.scenario import Outcome

Json: TypeAlias = dict[str, object]

MS_IN_A_SECOND = 1000

REASONS_SHOWN = 3
"""Reasons to refuse that stand in the text; JSON has all."""

PLURALS = {
    Sort.CONTENT: "messages",
    Sort.SYNC: "sync messages",
    Sort.EPHEMERAL: "ephemeral messages",
    Sort.RESEND: "resends",
    Sort.ANSWER: "answers",
}


def as_text(seed: int, outcome: Outcome | None, broken: str, cpu_s: float) -> str:
    """Return what came of a run in some lines; `outcome` is None where an invariant broke."""
    if outcome is None:
        return f"seed {seed}: BROKEN: {broken[:600]}"
    end = f"converged {outcome.seconds_to_converge:.2f} s after the last line and trouble"
    if not outcome.converged:
        end = f"NOT CONVERGED in {outcome.seconds_to_settle:.0f} s after the last line and trouble"
    rows = {
        "shown": (
            f"{outcome.written} lines, {outcome.deliveries} times, {outcome.gaps} after a gap, "
            f"in {outcome.seconds:.0f} s"
        ),
        "speed": (
            f"{_per_second(outcome.frames_received, cpu_s):,.0f} frames received and "
            f"{_per_second(outcome.deliveries, cpu_s):,.0f} lines shown per second of CPU"
        ),
        "latency": _milliseconds(outcome.latency_ms),
        "sent": _sent(outcome),
        "losses": _losses(outcome.repairs),
        "possibly": (
            f"{outcome.hints} lines marked so, {outcome.false_hints} of them wrongly "
            f"({_rate(outcome):.2%})"
        ),
    }
    if outcome.sessions:
        rows["sessions"] = (
            f"{outcome.sessions} ends, {outcome.session_bytes / 1000:,.0f} kB "
            f"({_counted(outcome.sessions_by)})"
        )
    if outcome.hostile_acts:
        rows["hostile"] = _counted(outcome.hostile_acts)
        rows["suffered"] = _suffered(outcome)
    held = "every invariant held" if outcome.converged else "no invariant broke"
    lines = [f"seed {seed}: {end}; {held}", *(f"  {name:10} {row}" for name, row in rows.items())]
    return "\n".join(lines)


def as_json(seed: int, outcome: Outcome | None, broken: str, cpu_s: float) -> Json:
    """Return the same as a JSON object; times in seconds unless their name says otherwise."""
    if outcome is None:
        return {"seed": seed, "converged": False, "invariants_held": False, "broken": broken}
    return {
        "seed": seed,
        "converged": outcome.converged,
        "invariants_held": True,
        "seconds_to_converge": outcome.seconds_to_converge if outcome.converged else None,
        "seconds": outcome.seconds,
        "lines": outcome.written,
        "deliveries": outcome.deliveries,
        "gaps": outcome.gaps,
        "latency_ms": to_builtins(outcome.latency_ms),
        "sent": {sort.value: _json_of(outcome.sent.get(sort, Sent())) for sort in Sort},
        "frames": outcome.frames,
        "frame_bytes": outcome.frame_bytes,
        "frames_received": outcome.frames_received,
        "repairs": to_builtins(outcome.repairs),
        "possibly": {
            "marked": outcome.hints,
            "false": outcome.false_hints,
            "false_rate": _rate(outcome),
        },
        "hostile_acts": outcome.hostile_acts,
        "refused": outcome.refused_for,
        "parked": outcome.parked,
        "sessions": outcome.sessions,
        "sessions_by": outcome.sessions_by,
        "session_bytes": outcome.session_bytes,
        "cpu_seconds": cpu_s,
        "frames_received_per_cpu_second": _per_second(outcome.frames_received, cpu_s),
        "deliveries_per_cpu_second": _per_second(outcome.deliveries, cpu_s),
        "digest": outcome.digest,
    }


def _suffered(outcome: Outcome) -> str:
    """Return what hostile acts came to at honest people."""
    refused = sum(outcome.refused_for.values())
    most = sorted(outcome.refused_for.items(), key=lambda item: (-item[1], item[0]))[:REASONS_SHOWN]
    told = f" (most: {_counted(dict(most))})" if most else ""
    return (
        f"{outcome.deliveries - outcome.written * outcome.honest} foreign lines shown, "
        f"{outcome.gaps} lines after a gap, {outcome.parked} set aside, {refused} refused{told}"
    )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def _json_of(sent: Sent) -> Json:
    return {"frames": sent.frames, "bytes": sent.size}


def _per_second(count: int, cpu_s: float) -> float:
    return count / max(cpu_s, 1e-9)


def _rate(outcome: Outcome) -> float:
    return outcome.false_hints / outcome.hints if outcome.hints else 0.0


def _milliseconds(spread: Spread) -> str:
    if not spread.count:
        return "nothing was shown at another peer"
    named = {"p50": spread.p50, "p95": spread.p95, "p99": spread.p99, "at most": spread.max}
    return ", ".join(f"{name} {_time(ms)}" for name, ms in named.items())


def _time(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < MS_IN_A_SECOND else f"{ms / MS_IN_A_SECOND:.1f} s"


def _sent(outcome: Outcome) -> str:
    parts = [
        f"{sent.frames} {PLURALS[sort]} {sent.size / 1000:,.0f} kB"
        for sort, sent in sorted(outcome.sent.items(), key=lambda item: item[0].value)
    ]
    total = f"{outcome.frames} frames {outcome.frame_bytes / 1000:,.0f} kB over all links"
    return ", ".join([*parts, total])


def _losses(repairs: Repairs) -> str:
    if not repairs.losses:
        return "none"
    unended = f", {repairs.open} not ended" if repairs.open else ""
    return (
        f"{repairs.losses} of {repairs.messages} lines, {repairs.unasked} ended unasked{unended}; "
        f"each took {repairs.seconds.p50:.1f} s (p99 {repairs.seconds.p99:.1f}, at most "
        f"{repairs.seconds.max:.1f}), {_numbers(repairs.requests)} requests, "
        f"{_numbers(repairs.responses)} responses"
    )


def _numbers(spread: Spread) -> str:
    return f"{spread.p50:.0f} (p99 {spread.p99:.0f}, at most {spread.max:.0f})"
