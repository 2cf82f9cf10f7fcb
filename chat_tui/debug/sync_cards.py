"""A card for each reconciliation: why it was, its payloads, what came of it and what it cost."""

from functools import partial
from typing import Final

from chat_tui.debug.range_rows import OF_STATE, naive_detail, payload_detail, session_detail
from chat_tui.debug.section import Row, Section
from chat_tui.text.safe_text import clean_text, clip_cells
from chat_tui.text.times import count, milliseconds, size, span, time_of_day
from chat_tui.wording.sentences import name_of
from chat_tui.wording.waves import wave_rows, waves_said
from sync.machine import SECOND, Nanos
from sync.p2panda.words import MODES
from sync.view.view import ChannelInfo, RoundInfo, SessionInfo, Snapshot

CARDS_SHOWN: Final = 5
"""The newest; what is older scrolls far out of sight."""

PAYLOADS_SHOWN: Final = 12
"""Of one card: six round trips, enough for a few differences among a million messages."""

REASON_CELLS: Final = 60
"""Of why a session began and how it ended, which may be a peer's words."""

DECIMAL_BELOW: Final[Nanos] = 10 * SECOND
"""Durations from which on tenths of seconds say nothing."""

RATIO_WHOLE: Final = 10
"""Ratios from which on a decimal says nothing."""

RUNNING: Final = {
    "opening": "opening a stream",
    "reconciling": "comparing",
    "checking": "checking the result",
    "transferring": "transferring",
}
"""Wording of the states of `SessionInfo`."""

SAID: Final = frozenset({"moved", "benign"})
"""Outcomes that the result does not say by itself."""

LIVE: Final = "live"
"""The state of a session that passes on what is new."""

CLAIMING: Final = frozenset(MODES.values())
"""Protocols in which the peer says how much we lack, before it is here to be checked."""

UNFINISHED: Final = ("opening", "reconciling")
"""The states in which payloads are yet to come."""


def session_cards(snapshot: Snapshot, info: ChannelInfo) -> list[Section]:
    """Return the channel's reconciliations, a section each, the newest first."""
    sessions = [one for one in snapshot.sessions if one.channel == info.channel]
    if not sessions:
        return [Section("Reconciliations", 0, (), "none since this start")]
    cards = [_card(snapshot, session) for session in sessions[:CARDS_SHOWN]]
    more = len(sessions) - CARDS_SHOWN
    if more > 0:
        cards.append(Section("Reconciliations before", more, (), f"and {more:,} more"))
    return cards


def _card(snapshot: Snapshot, session: SessionInfo) -> Section:
    opens = partial(session_detail, snapshot, session)
    rows = (
        Row(_course(session, snapshot.now), opens=opens),
        Row(_reason(session), subject="why", opens=opens),
        *_choice(session),
        *_payloads(session),
        *_cost(session),
        Row(_result(session), subject="result", opens=opens),
    )
    return Section(f"Session {session.number} with {name_of(snapshot, session.peer)}", 0, rows, "")


def _course(session: SessionInfo, now: Nanos) -> str:
    """Return by what protocol, how it is going or ended, and what time that took."""
    took = (now if session.ended_at is None else session.ended_at) - session.began_at
    if session.state == LIVE:
        return f"{clean_text(session.protocol)} · live since {time_of_day(session.began_at)}"
    ending = clip_cells(clean_text(session.result), REASON_CELLS) or "over"
    state = RUNNING.get(session.state, ending)
    outcome = f" · {session.outcome}" if session.outcome in SAID else ""
    return f"{clean_text(session.protocol)} · {state}{outcome} · {_duration(took)}"


def _duration(took: Nanos) -> str:
    if took < SECOND:
        return milliseconds(took)
    return f"{took / SECOND:.1f} s" if took < DECIMAL_BELOW else span(took)


def _reason(session: SessionInfo) -> str:
    """Return why it began, what was compared, and whether both sides proved to agree."""
    words = [clip_cells(clean_text(session.why), REASON_CELLS)]
    if session.since:
        words.append(f"the last {span(session.began_at - session.since)}")
    else:
        words.append("everything")
    words += _proof(session)
    return " · ".join(words)


def _choice(session: SessionInfo) -> list[Row]:
    """Return why it is of this kind, and the bytes that were expected, with what it took."""
    if not session.chosen:
        return []
    words = clip_cells(clean_text(session.chosen), REASON_CELLS)
    if session.estimate:
        words += f" · expected {size(session.estimate)}"
    return [Row(words, subject="kind")]


def _proof(session: SessionInfo) -> list[str]:
    """Return whether both sides hold the same; the proof counts on what is yet to come."""
    over, lacking = session.ended_at is not None, session.got < session.need
    if session.proved and lacking:
        return ["proved, but not all came" if over else "proved to agree once all is here"]
    if session.proved:
        return ["proved to agree"]
    return ["not proved"] if over else []


def _payloads(session: SessionInfo) -> list[Row]:
    rows: list[Row] = []
    for at, one in enumerate(session.rounds[:PAYLOADS_SHOWN]):
        opens = partial(payload_detail, session, at)
        subject = f"rt {session.trip(at)}"
        rows.append(Row(_contents(one), subject=subject, cells=one.cells, opens=opens))
        rows += [
            Row("", subject="pure", cells=cells, opens=opens) for cells in wave_rows(one.waves)
        ]
        if one.waves:
            rows.append(Row(waves_said(one.waves), opens=opens))
    more = session.payloads - len(session.rounds[:PAYLOADS_SHOWN])
    return [*rows, Row(f"and {count(more, 'more payload')}")] if more > 0 else rows


def _contents(one: RoundInfo) -> str:
    """Return what a payload says of its ranges: a fingerprint asks, an item set answers."""
    words = [clip_cells(clean_text(one.words), REASON_CELLS)] if one.words else []
    if one.skips:
        words.append(f"{one.skips:,} equal")
    if one.fingerprints:
        words.append(f"{one.fingerprints:,} to compare")
    if one.item_sets:
        sets = "item set" if one.item_sets == 1 else f"{one.item_sets:,} item sets"
        words.append(f"{sets} {count(one.items, 'id')}")
    way = "out" if one.sent else "in"
    return f"{way} {size(one.size)}, {', '.join(words) or 'nothing differs'}"


def _cost(session: SessionInfo) -> list[Row]:
    """Return what the payloads took, and what the same takes as a plain list of our ids."""
    if not session.payloads:
        return []
    out, into = session.bytes_out, session.bytes_in
    trips = count(session.trips, "round trip")
    rows = [Row(f"{trips} · {size(out)} out · {size(into)} in")]
    if session.bytes_brought:
        brought = size(session.bytes_brought)
        rows.append(Row(f"{size(out + into)} compared, {brought} brought"))
    if not session.naive or session.state in UNFINISHED:
        return rows
    opens = partial(naive_detail, session, out + into)
    ratio = session.naive / (out + into)
    times = f"{ratio:,.0f}x" if ratio >= RATIO_WHOLE else f"{ratio:.1f}x"
    words = f"naive list would cost {size(session.naive)} ({times})"
    moved = session.got or session.have  # some protocols bring it in what they compare by
    if ratio < 1 and (not moved or any(one.cells for one in session.rounds)):
        words = f"a plain list would have been cheaper: {size(session.naive)} ({times})"
    return [*rows, Row(words, opens=opens)]


def _result(session: SessionInfo) -> str:
    if session.state == LIVE:
        return f"passed on {session.have:,}, brought {session.got:,}"
    if session.protocol in OF_STATE:
        return f"got {session.got:,}"  # of what was given no session over state keeps count
    gave = "gave" if session.ended_at is not None else "gives"
    need = f"need {session.need:,}"
    if session.logs:
        need += f" of {count(session.logs, 'log')}"
    result = f"{need}, got {session.got:,}, {gave} {session.have:,}"
    claimed = session.need and session.ended_at is None and session.protocol in CLAIMING
    return f"{result} (the need is the peer's claim)" if claimed else result
