"""Counts of unread messages and mentions when more comes between two paints than is kept."""

from collections.abc import Iterable

from msgspec.structs import replace

from chat_tui.model.event_feed import EVENTS_MAX, Feed
from sync.machine import ChannelId
from sync.view.view import Event, MessageShown, PreviewShown
from tests.support.chat_tui.conversations import LOBBY, line, peer

OTHER = ChannelId("1" * 32)
FLOOD = EVENTS_MAX + 1_000
"""Messages, of which the last thousand are not kept."""


def flooded(events: Iterable[Event], *, watched: bool = False) -> Feed:
    """Alice's feed after all of these came between two paints; the lobby is on the screen."""
    fed = Feed(peer("alice"), "alice")
    held = fed.conversation(LOBBY)
    held.begin_load()
    held.add_older([], before=None, complete=True)
    if watched:
        held.look()
    for event in events:
        fed.note_event(event)
    while fed.drain(LOBBY, lambda: True).more:
        pass
    return fed


def test_what_is_not_kept_counts_in_its_channel_and_as_mentions() -> None:
    def said(number: int) -> MessageShown:
        text = "alice!" if number > FLOOD - 500 else "box"
        return MessageShown(replace(line(number, text), channel=OTHER))

    fed = flooded(said(number) for number in range(1, FLOOD + 1))

    assert (fed.unread(OTHER), fed.mentioned(OTHER)) == (FLOOD, 500)
    assert (fed.unread(LOBBY), fed.mentioned(LOBBY)) == (0, 0)


def test_own_lines_that_are_not_kept_do_not_count() -> None:
    others = [MessageShown(line(number)) for number in range(1, EVENTS_MAX + 1)]
    own = [MessageShown(line(EVENTS_MAX + at, "alice", author="alice")) for at in range(1, 10)]

    fed = flooded([*others, *own])

    assert (fed.unread(LOBBY), fed.mentioned(LOBBY)) == (EVENTS_MAX, 0)


def test_nothing_counts_where_somebody_looks() -> None:
    said = (MessageShown(line(number, "alice!")) for number in range(1, FLOOD + 1))

    fed = flooded(said, watched=True)

    assert (fed.unread(LOBBY), fed.mentioned(LOBBY)) == (0, 0)


def test_a_message_that_was_here_early_counts_once_whatever_of_it_is_kept() -> None:
    lines = [line(number, "alice!") for number in range(1, FLOOD + 1)]
    early = [PreviewShown(replace(one, loading=True)) for one in lines]
    there = [MessageShown(one) for one in lines]

    fed = flooded([*early, *there])

    assert (fed.unread(LOBBY), fed.mentioned(LOBBY)) == (FLOOD, FLOOD)
