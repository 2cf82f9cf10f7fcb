"""The page LIMITS.md from results: `python -m tests.bench.limits.page [FILE]`.

FILE has lines that `python -m tests.bench limits` printed; they take the place of those of the same
name in `measured.jsonl`, and the table of the page is made anew from that. A row says of how many
messages it is, and how many runs count if they are not five or not all steady.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.bench.limits.figures import RUNS
from tests.bench.report import Params
from tests.support.processes import ROOT

Line: TypeAlias = Mapping[str, Any]

MEASURED: Final = Path(__file__).with_name("measured.jsonl")
PAGE: Final = ROOT / "LIMITS.md"
BEGIN: Final = "<!-- begin figures -->\n"
END: Final = "<!-- end figures -->"

THEN: Final[Mapping[str, float | str]] = {
    "rate": 0.40,
    "sender": 3.7,
    "receiver": 2.3,
    "latency_1000_p99": 12,
    "latency_2500_p99": "not kept up",
    "newcomer_cpu": 3.7,
    "newcomer_seconds": 4.1,
    "newcomer_first_line": 27,
    "newcomer_memory": 2.9,
    "screen_p50": 3.5,
    "start": 1.75,
    "stalls_newcomer": 2.64,
    "reconcile_1000000_1000_uniform": 2.0,
    "reconcile_1000000_1000_recent": 2.8,
}
"""Ratios before this work, on another day and machine.

Those of a newcomer are of 100,000 messages: 54 s beside the goal of 2 s for the first line, 0.87 kB
a message beside 0.3, a callback of 66 ms beside 25.
"""

IN_NAMES: Final = frozenset({"differ", "shape", "rate"})
"""Parameters that the name of a figure tells already."""

NOUNS: Final[Mapping[str, str]] = {"entries": "messages"}
"""Words of the page for parameters that have others."""

COMMIT_DIGITS: Final = 12

REST: Final[Mapping[str, str]] = {
    "rate": "the two loops, as below; two programs, their disks and this measurement share two "
    "processors",
    "sender": "a line is two rows written and two events, where the floor has one of each, and "
    "hundreds of calls of Python, none of which takes a twentieth",
    "latency_1000_p99": "lines come in small commits, which cost most, so they wait for a "
    "processor in some runs",
    "latency_2500_p99": "both programs and this measurement take 1.68 of two processors at 2,500 "
    "lines a second, so lines wait for one, and in batches on both sides: 26 ms in the middle",
    "newcomer_seconds": "of 2.8 s (one run, other work beside) the loop handled messages for 1.0 "
    "and awaited checks of signatures for 0.8: threads need the interpreter's lock in between "
    "(DECISIONS 319); by snapshot, which newcomers take where both can, see `snapshot_seconds`",
    "stalls_key_p99": "few of a hundred letters, each in a callback of 7 to 15 ms: the first page "
    "of history, the end of the snapshot, an input that grows by a line (DECISIONS 352)",
    "stalls_newcomer": "one paint of the transcript is one callback of Textual's",
    "stalls_resize_too": "all that is in sight is laid out anew in one callback",
    "stalls_gaps": "the first time, the pane and all that shines through it are drawn at once",
    "start": "our imports, styles of our own, and the newest page from the disk",
}
"""Causes: what takes the rest, of each figure that misses its goal."""


def table(lines: Iterable[Line]) -> str:
    """Return the table of results.

    Raises:
        ValueError: one misses its goal, and `REST` says nothing of it.
    """
    rows = [
        "| figure | of | then | now (spread) | goal | figure, floor | where the rest goes |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in lines:
        name = one["name"]
        missed = one["met"] is False
        if missed and name not in REST:
            raise ValueError(f"{name} misses its goal: say in REST where the rest goes")
        goal = "-" if one["goal"] is None else f"{one['goal']:g}"
        rows.append(
            f"| `{name}` | {_params(one['params']) or '-'} | "
            f"{THEN.get(name, '-')} | {_now(one)} | "
            f"{goal}{', met' if one['met'] else ''} | "
            f"{one['figure']:,.4g}, {one['floor']:,.4g} {one['of']} | "
            f"{REST[name] if missed else ''} |"
        )
    return "\n".join(rows)


def _params(params: Params) -> str:
    """Return parameters in words: `{"messages": 1000, "p50_ms": 7}` as `1,000 messages, p50 7 ms`.

    A text stands behind its name, of a commit only the first digits.
    """
    return ", ".join(_param(name, value) for name, value in params.items() if name not in IN_NAMES)


def _param(name: str, value: str | float) -> str:
    if isinstance(value, str):
        return f"{name} {value[:COMMIT_DIGITS]}"
    *about, unit = NOUNS.get(name, name).split("_")
    return " ".join([*about, f"{value:,}", unit])


def _now(line: Line) -> str:
    """Return the ratio of a result, its spread, and what is unusual of its runs."""
    low, high = line["spread"]
    runs = line["runs"]
    unusual = [] if runs == RUNS else ["1 run" if runs == 1 else f"{runs} runs"]
    if unsteady := line.get("unsteady"):
        unusual.append(f"{unsteady} unsteady")
    return f"{line['value']:.2f} ({'; '.join([f'{low:.2f} to {high:.2f}', *unusual])})"


def with_table(page: str, lines: Iterable[Line]) -> str:
    """Return the page with the table of these lines."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}{table(lines)}\n{END}{rest.partition(END)[2]}"


def read(path: Path) -> dict[str, Line]:
    """Return the results in a file by their names."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["name"]: line for line in lines}


def main() -> None:
    """Take results in, and write the page."""
    measured = read(MEASURED) if MEASURED.exists() else {}
    for name in sys.argv[1:]:
        measured |= read(Path(name))
    text = "".join(json.dumps(one) + "\n" for one in measured.values())
    MEASURED.write_text(text, encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(page, measured.values()), encoding="utf-8")


if __name__ == "__main__":
    main()
