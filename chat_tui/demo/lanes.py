"""Draws what is under way between participants: frames on their lanes, a session's ranges."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from chat_tui.demo.moment import Shot
from chat_tui.text.times import count, size
from chat_tui.wording.glyphs import Glyphs, band
from chat_tui.wording.panels import BAD, DIM, GOOD
from sync.machine import SECOND, Nanos
from sync.sim.watch import Cause, Flight
from sync.view.view import RoundInfo, SessionInfo

LANE_CELLS: Final = 16
"""Of the way from one participant to another."""

SESSION_FOR: Final[Nanos] = 6 * SECOND
"""Time for which a session that is over is shown."""

IMPORTANT: Final = (Cause.ANSWER, Cause.NEW, Cause.RESEND, Cause.SYNC, Cause.SESSION, Cause.TYPING)
"""Kinds drawn first if there is not room for all."""


def flight_lines(shot: Shot, names: Sequence[str], most: int, *, is_ascii: bool) -> list[Content]:
    """Return the frames under way and lost, a line each; those beyond `most` are counted."""
    flights = sorted(
        [*shot.lost, *shot.flights],
        key=lambda one: (not one.lost, IMPORTANT.index(one.cause), one.sent_at, one.receiver),
    )
    lines = [_flight_line(one, names, shot.now, is_ascii=is_ascii) for one in flights]
    if len(lines) > most:
        more = len(lines) - (most - 1)
        lines[most - 1 :] = [Content.styled(f" and {more:,} more under way or lost", DIM)]
    if not lines:
        lines = [Content.styled(" nothing is under way", DIM)]
    return lines


def _flight_line(one: Flight, names: Sequence[str], now: Nanos, *, is_ascii: bool) -> Content:
    rule, dot, head, cross = ("-", "o", ">", "X") if is_ascii else ("─", "●", "▶", "✗")
    sender, receiver = names[one.sender], names[one.receiver]
    what = "asks" if one.asks else one.cause.value
    if one.lost:
        lane = rule * (LANE_CELLS // 2) + cross + " " * (LANE_CELLS // 2)
        return Content.assemble(
            f" {sender:>8} ", (lane, BAD), f" {receiver:<8} ", (f"lost: {what}", BAD)
        )
    whole = max(1, one.at - one.sent_at)
    at = min(LANE_CELLS - 1, max(0, (now - one.sent_at) * LANE_CELLS // whole))
    lane = rule * at + dot + rule * (LANE_CELLS - 1 - at) + head
    return Content.assemble(f" {sender:>8} ", (lane, GOOD), f" {receiver:<8} ", (what, DIM))


def range_lines(shot: Shot, selected: int, glyphs: Glyphs, most: int) -> list[Content]:
    """Return the payloads of a reconciliation that runs, or was just over; the selected one's."""
    order = [selected, *(n for n in range(len(shot.people)) if n != selected)]
    for number in order:
        person = shot.people[number]
        for session in person.snapshot.sessions:
            if _is_worth_showing(session, person.snapshot.now):
                names = {one.snapshot.me: one.name for one in shot.people}
                peer = names.get(session.peer, "another")
                return _card(session, f"{person.name} with {peer}", glyphs, most)
    return []


def _is_worth_showing(session: SessionInfo, now: Nanos) -> bool:
    if session.ended_at is None:
        return True
    return session.ended_at + SESSION_FOR > now and bool(session.need or session.have)


def _card(session: SessionInfo, who: str, glyphs: Glyphs, most: int) -> list[Content]:
    cost = sum(one.size for one in session.rounds)
    words = f" {who}: {session.state}, lacks {session.need:,}, got {session.got:,}, gives "
    words += f"{session.have:,}; {size(cost)}"
    if session.naive:
        words += f", a list {size(session.naive)}"
    lines = [Content.styled(words, "bold")]
    rounds = list(enumerate(session.rounds))[-(most - 1) :]
    for at, one in rounds:
        lines.append(
            Content.assemble(
                (f" rt {session.trip(at)} ", DIM),
                band(one.cells, glyphs),
                (f" {_contents(one)}", DIM),
            )
        )
    return lines


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
