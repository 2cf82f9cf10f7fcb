"""Details of a session card's rows: the ranges of a payload, and the cost of the session."""

from typing import Final

from chat_tui.debug.section import Detail
from chat_tui.text.safe_text import clean_text, clip_cells
from chat_tui.text.times import count, size, time_of_day
from chat_tui.wording.sentences import name_of
from chat_tui.wording.waves import ACROSS, LATER, NEVER, wave_rows, waves_said
from sync.calimero.state.session import HASH, LEVEL, STATE
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.sessions.cards import RangeDrawn
from sync.structures.ordered_set import ZERO_HASH
from sync.structures.set_digest import ROW_BYTES
from sync.view.view import RoundInfo, SessionInfo, Snapshot

OF_STATE: Final = frozenset((STATE.name, HASH.name, LEVEL.name))
"""Protocols that compare no messages."""

WORDS_CELLS: Final = 60
"""Of what a payload says: a peer may send as much as it likes."""

HASH_SHOWN: Final = 8
"""Hex digits of a fingerprint or of the hash in a bound that are shown."""

FOREVER: Final[Nanos] = 1 << 62
"""A bound beyond this stands for the end of all time."""


def payload_detail(session: SessionInfo, at: int) -> Detail:
    """Return the ranges of payload `at`, with what both sides say of them."""
    one = session.rounds[at]
    way = "We sent" if one.sent else "The peer sent"
    title = f"Session {session.number}, payload {at + 1} (round trip {session.trip(at)})"
    if one.words:
        decoded = _waves(one) if one.waves else ()
        return Detail(title, f"{way}: {clean_text(one.words)}.", (cost_of(one), *decoded))
    facts = [cost_of(one)]
    for number, drawn in enumerate(one.ranges, start=1):
        facts.append(f"{number}. {_bounds(drawn)}")
        facts.append(f"   {_says(drawn, sent=one.sent)}")
    total = one.skips + one.fingerprints + one.item_sets
    more = total - len(one.ranges)
    if more > 0:
        facts.append(f"and {count(more, 'more range')}")
    if not one.ranges and not total:
        facts.append("no ranges: nothing differs any more")
    return Detail(
        title,
        f"{way} {count(total, 'range')}: {one.skips:,} of them equal, so nobody looks there again; "
        f"{one.fingerprints:,} to compare by fingerprint; {count(one.item_sets, 'item set')} with "
        f"{count(one.items, 'id')} one by one.",
        tuple(facts),
    )


def _waves(one: RoundInfo) -> tuple[str, ...]:
    """Return what decoding the symbols of a payload came to."""
    return (
        waves_said(one.waves),
        "pure: only one message that differs is in it (number 1 or -1, and the checksum fits)",
        "it is taken out of its other symbols, which makes some of these pure: the next wave",
        *[f"{at * ACROSS:>3} {cells}" for at, cells in enumerate(wave_rows(one.waves))],
        f"1 to 9: the wave in which a symbol became pure; {LATER} later; {NEVER} never",
    )


def session_detail(snapshot: Snapshot, session: SessionInfo) -> Detail:
    """Return the course of a session."""
    peer = name_of(snapshot, session.peer)
    theirs = f"; {peer} lacked {session.have:,}" if session.protocol not in OF_STATE else ""
    facts = [
        f"protocol {clean_text(session.protocol)}; {clean_text(session.why)}",
        f"state {session.state}{': ' + clean_text(session.result) if session.result else ''}",
        f"compared: {_since(session)}",
        f"we lacked {session.need:,}, of which {session.got:,} came{theirs}",
    ]
    out = sum(one.size for one in session.rounds if one.sent)
    into = sum(one.size for one in session.rounds if not one.sent)
    raw = sum(one.raw for one in session.rounds)
    facts.append(f"payloads: {size(out)} out, {size(into)} in")
    if raw:
        facts.append(f"without delta coding: {size(raw)}")
    facts += [
        f"{number}. {'out' if one.sent else 'in '} {cost_of(one)}{_says_what(one)}"
        for number, one in enumerate(session.rounds, start=1)
    ]
    return Detail(f"Session {session.number} with {peer}", _in_short(session, peer), tuple(facts))


def _says_what(one: RoundInfo) -> str:
    words = clip_cells(clean_text(one.words), WORDS_CELLS)
    return f": {words}" if words else ""


def _in_short(session: SessionInfo, peer: str) -> str:
    """Return what such a session is for; a protocol without ranges is only named."""
    if session.protocol in OF_STATE:
        return (
            f"We and {peer} compare what the channel knows besides its messages (topic, pins, "
            f"names, marks), by the protocol {session.protocol}: hashes tell which differ, and "
            "only these are sent."
        )
    if any(one.words for one in session.rounds):
        by = f"by the protocol {clean_text(session.protocol)}"
        return f"We and {peer} compare what we have, {by}."
    return (
        f"We and {peer} compare which messages we have, by fingerprints of ranges, until only what "
        "differs is left; that is then sent, and both prove that they hold the same."
    )


def naive_detail(session: SessionInfo, paid: int) -> Detail:
    """Return what a plain list of ids would have cost."""
    ids = session.naive // ROW_BYTES
    return Detail(
        f"Session {session.number}: against a naive list",
        "Without ranges, whoever has more would send all ids, and the other would say which it "
        "lacks. Only ids are counted on either side, not the messages that are sent after it.",
        (
            f"naive = {ROW_BYTES} bytes (time and hash) · ids of whoever had more",
            f"{ROW_BYTES} · {ids:,} = {session.naive:,} bytes",
            f"paid: {paid:,} bytes in {count(len(session.rounds), 'payload')}",
            f"{session.naive:,} / {paid:,} = {session.naive / max(paid, 1):.1f}",
        ),
    )


def cost_of(one: RoundInfo) -> str:
    """Return the bytes of a payload before and after delta coding."""
    if not one.raw:
        return f"{one.size:,} bytes"
    saved = 1 - one.size / one.raw
    if saved <= 0:
        return f"{one.raw:,} bytes before delta coding, {one.size:,} after"
    return f"{one.raw:,} bytes before delta coding, {one.size:,} after ({saved:.0%} less)"


def _says(drawn: RangeDrawn, *, sent: bool) -> str:
    """Return what a range is, and the fingerprints of both sides where they are known."""
    held = f"{drawn.held:,} here"
    if drawn.kind == "equal":
        return f"equal, {held}: skipped"
    if drawn.kind == "items":
        whose = "we list" if sent else "the peer lists"
        return f"item set: {whose} {count(drawn.listed, 'id')}, {held}"
    ours, theirs = _short(drawn.ours), _short(drawn.theirs)
    if not drawn.theirs:
        return f"fingerprint: ours {ours}, {held}; the answer says whether theirs is equal"
    verdict = "equal" if drawn.ours == drawn.theirs else "differs"
    return f"fingerprint {verdict}: theirs {theirs}, ours {ours}, {held}"


def _bounds(drawn: RangeDrawn) -> str:
    return f"{_bound(drawn.lower)} to {_bound(drawn.upper)}"


def _bound(bound: tuple[Nanos, bytes]) -> str:
    timestamp, digest = bound
    if not timestamp:
        return "the beginning"
    if timestamp >= FOREVER:
        return "the end"
    seconds = f"{timestamp // SECOND % 60:02}.{timestamp // MILLISECOND % 1000:03}"
    told = f"{time_of_day(timestamp)}:{seconds}"
    return told if digest == ZERO_HASH else f"{told} {_short(digest)}"


def _short(value: bytes) -> str:
    return f"{value.hex()[:HASH_SHOWN]}…"


def _since(session: SessionInfo) -> str:
    return f"from {time_of_day(session.since)} on" if session.since else "everything"
