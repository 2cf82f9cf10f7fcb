"""Draws a reconciliation: what it found, and the ranges of its payloads."""

from typing import Final

from rich.cells import cell_len
from textual.content import Content

from chat_tui.demo.moment import Shot
from chat_tui.text.safe_text import wrap
from chat_tui.text.times import count, size
from chat_tui.wording.glyphs import Glyphs, band
from chat_tui.wording.panels import DIM
from chat_tui.wording.waves import wave_rows, waves_said
from sync.machine import SECOND, Nanos
from sync.view.view import RoundInfo, SessionInfo

LIVE: Final = "live"
"""State of a session that only stays in touch: what it passes on stands in the chart."""

PAYLOADS_MIN: Final = 2
"""Lines of a card that are kept for its payloads where it has as many."""

SESSION_FOR: Final[Nanos] = 6 * SECOND
"""Time for which a session that is over is shown."""


def range_lines(shot: Shot, selected: int, glyphs: Glyphs, width: int, most: int) -> list[Content]:
    """Return the payloads of a reconciliation that runs, or was just over; the selected one's.

    Of a sketch, that of who has decoded it.
    """
    order = [selected, *(n for n in range(len(shot.people)) if n != selected)]
    shown = [
        (shot.people[number], session)
        for number in order
        for session in shot.people[number].snapshot.sessions
        if _is_worth_showing(session, shot.people[number].snapshot.now)
    ]
    if most <= 0 or not shown:
        return []
    person, session = next((one for one in shown if _is_decoded(one[1])), shown[0])
    names = {one.snapshot.me: one.name for one in shot.people}
    peer = names.get(session.peer, "another")
    return _card(session, f"{person.name} with {peer}", glyphs, width, most)


def _is_decoded(session: SessionInfo) -> bool:
    return any(one.waves for one in session.rounds)


def _is_worth_showing(session: SessionInfo, now: Nanos) -> bool:
    if session.ended_at is None:
        return session.state != LIVE
    return session.ended_at + SESSION_FOR > now and bool(session.need or session.have)


def _card(session: SessionInfo, who: str, glyphs: Glyphs, width: int, most: int) -> list[Content]:
    lines = [Content.styled(f" {part}", "bold") for part in _course(session, who, width, most)]
    lines += _waves(session, glyphs, width)
    payloads: list[Content] = []
    for at, one in reversed(list(enumerate(session.rounds))):
        drawn = _payload(session.trip(at), one, glyphs, width)
        if len(lines) + len(payloads) + len(drawn) > most:
            break
        payloads[:0] = drawn
    return [*lines, *payloads][:most]


def _course(session: SessionInfo, who: str, width: int, most: int) -> list[str]:
    """Return what a session came to, in `most` lines; what it cost only where that fits."""
    cost = sum(one.size for one in session.rounds)
    words = f"{who}: {session.state}, lacks {session.need:,}, got {session.got:,}, gives "
    words += f"{session.have:,}"
    parts = [words, f"; {size(cost)}", f", a list {size(session.naive)}" if session.naive else ""]
    while len(lines := wrap("".join(parts), width - 2)) > max(1, most - PAYLOADS_MIN):
        if len(parts) == 1:
            break
        del parts[-1]
    return lines


def _waves(session: SessionInfo, glyphs: Glyphs, width: int) -> list[Content]:
    """Return when each symbol of a sketch became pure, if this is where they were decoded."""
    decoded = next((one for one in reversed(session.rounds) if one.waves), None)
    if decoded is None:
        return []
    head, words = " pure in wave ", f" {waves_said(decoded.waves)}"
    signs = "".join(wave_rows(decoded.waves))[: max(0, width - cell_len(head) - 1)]
    line = Content.assemble((head, DIM), band(signs, glyphs))
    fits = line.cell_length + cell_len(words) < width
    return [line + Content.styled(words, DIM) if fits else line]


def _payload(trip: int, one: RoundInfo, glyphs: Glyphs, width: int) -> list[Content]:
    """Return a payload on one line with its ranges; where it is too long, on several without."""
    head, cells, words = f" rt {trip} ", band(one.cells, glyphs), _contents(one)
    if cell_len(head) + cell_len(cells) + cell_len(words) + 2 <= width:
        return [Content.assemble((head, DIM), cells, (f" {words}", DIM))]
    return [Content.styled(f" {part}", DIM) for part in wrap(f"rt {trip} {words}", width - 2)]


def _contents(one: RoundInfo) -> str:
    """Return what a payload says, as `out 48 B: 1 to compare`."""
    words = [one.words] if one.words else []
    if one.skips:
        words.append(f"{one.skips:,} equal")
    if one.fingerprints:
        words.append(f"{one.fingerprints:,} to compare")
    if one.item_sets:
        words.append(f"{count(one.items, 'id')} listed")
    way = "out" if one.sent else "in"
    return f"{way} {size(one.size)}: {', '.join(words) or 'nothing differs'}"
