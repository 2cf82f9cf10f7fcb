"""The last things that left the buffers, each with when, how, after how long and by whom."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from chat_tui.debug.section import Detail, Row, Section
from chat_tui.text.times import duration, span, times, to_the_second
from chat_tui.wording.sentences import name_of, short_id
from sync.view.departures import DepartureInfo, Left
from sync.view.view import Snapshot

SHOWN: Final = 10
"""Departures in the section: a screen of the past below what waits now."""

ENDED: Final = {
    Left.FOUND: "came",
    Left.LOST: "given up as lost",
    Left.SHOWN: "shown: what it builds on is here",
    Left.ANSWERED: "sent by us to whoever asked",
    Left.FORESTALLED: "answered before us",
    Left.ACKNOWLEDGED: "received: somebody proved to have it",
    Left.FAILED: "failed: nobody proved to have it",
}
"""Wording of the ways to leave a buffer."""

BUFFERS: Final = {
    Left.FOUND: "To request",
    Left.LOST: "To request",
    Left.SHOWN: "Waiting for parents",
    Left.ANSWERED: "To answer",
    Left.FORESTALLED: "To answer",
    Left.ACKNOWLEDGED: "Unacknowledged",
    Left.FAILED: "Unacknowledged",
}
"""The buffer that it left."""


def left_section(snapshot: Snapshot, left: Sequence[DepartureInfo]) -> Section:
    """Return the last ten departures, newest first."""
    rows = tuple([departure_row(snapshot, one) for one in left[:SHOWN]])
    return Section("Left the buffers", 0, rows, "nothing since this start")


def departure_row(snapshot: Snapshot, one: DepartureInfo) -> Row:
    """Return one departure as a row, which is dim: it is over."""
    opens = partial(departure_detail, snapshot, one)
    text = departure_words(snapshot, one)
    return Row(text, subject=short_id(one.message_id), is_over=True, opens=opens)


def departure_words(snapshot: Snapshot, one: DepartureInfo) -> str:
    """Return how something left its buffer, as `36 s ago: came from bob, asked twice`."""
    how = ENDED[one.how]
    if one.by is not None:
        name = name_of(snapshot, one.by)
        how = (
            f"answered by {name} before us" if one.how is Left.FORESTALLED else f"{how} from {name}"
        )
    words = [f"{span(snapshot.now - one.at)} ago: {how}"]
    if one.asked:
        words.append(f"asked {times(one.asked)}")
    if one.resent:
        words.append(f"resent {times(one.resent)}")
    if one.took is not None:
        words.append(f"after {duration(one.took)}")
    return ", ".join(words)


def departure_detail(snapshot: Snapshot, one: DepartureInfo) -> Detail:
    """Return the course of one thing in its buffer."""
    buffer = BUFFERS[one.how]
    facts = [f"message {one.message_id}"]
    if one.since is not None:
        facts.append(f"in “{buffer}” from {to_the_second(one.since)}")
    facts.append(f"out of it at {to_the_second(one.at)}")
    if one.took is not None:
        facts.append(f"after {duration(one.took)}")
    if one.asked:
        facts.append(f"we asked for it {times(one.asked)}, as far as kept frames tell")
    facts.append(f"/info {short_id(one.message_id)} shows all that happened to it")
    words = departure_words(snapshot, one)
    title = f"{short_id(one.message_id)} left “{buffer}”"
    return Detail(title, f"{words[:1].upper()}{words[1:]}.", tuple(facts))
