"""Mentions, their counts, what comes next, and messages that say what somebody does."""

import pytest
from msgspec.structs import replace

from chat_tui.model import event_feed
from chat_tui.model.event_feed import Feed
from chat_tui.text.me_actions import action_text, as_shown
from chat_tui.text.mentions import mentions
from chat_tui.wording import panels
from sync.machine import ChannelId
from sync.view.view import Line, LineChanged, MessageShown, Trust, TrustShown
from tests.support.chat_tui.conversations import LOBBY, line, peer

OTHER, THIRD = ChannelId("1" * 32), ChannelId("2" * 32)


@pytest.mark.parametrize(
    "text", ["alice?", "@alice can you", "ALICE: hi", "so, Alice!", "(alice)", "hi\nalice"]
)
def test_a_name_by_itself_is_a_mention(text: str) -> None:
    assert mentions(text, "alice")


@pytest.mark.parametrize("text", ["malice", "alices", "alice2", "", "a lice"])
def test_a_part_of_a_word_is_none(text: str) -> None:
    assert not mentions(text, "alice")


def test_a_name_of_signs_is_no_pattern() -> None:
    assert mentions("hello a.c*!", "a.c*")
    assert not mentions("hello abc", "a.c*")


def said(text: str, at: int, channel: ChannelId) -> MessageShown:
    spoken: Line = replace(line(at), text=text, channel=channel)
    return MessageShown(spoken)


def feed(*events: MessageShown) -> Feed:
    fed = Feed(peer("alice"), "alice")
    for event in events:
        fed.note_event(event)
    fed.drain(LOBBY)
    return fed


def test_mentions_are_counted_among_the_unread() -> None:
    fed = feed(said("hi", 1, OTHER), said("alice?", 2, OTHER), said("@alice!", 3, OTHER))

    assert (fed.unread(OTHER), fed.mentioned(OTHER)) == (3, 2)
    assert panels.counted(3, 2) == "3 @2"
    assert panels.counted(2, 2) == "@2"
    assert panels.counted(2, 0) == "2"


def test_what_was_seen_mentions_nobody_any_more() -> None:
    fed = feed(said("alice?", 1, OTHER))
    fed.conversation(OTHER).look()
    seen = fed.mentioned(OTHER)
    fed.conversation(OTHER).look_away()
    fed.note_event(said("hello all", 2, OTHER))
    fed.drain(LOBBY)

    assert (seen, fed.unread(OTHER), fed.mentioned(OTHER)) == (0, 1, 0)


def test_an_unread_message_counts_as_it_is_now() -> None:
    came = [said(text, at, OTHER) for at, text in enumerate(("alice?", "hi", "@alice!"), 1)]
    fed = feed(*came)
    first, second, third = (one.line for one in came)
    counts = []
    for now in (
        replace(first, text="all?", edited=True),
        replace(third, text="", deleted=True),
        replace(second, text="hi alice", edited=True),
        replace(second, text="hi alice", edited=True),
    ):
        fed.note_event(LineChanged(now, rewritten=True, reacted=False))
        fed.drain(LOBBY)
        counts.append(fed.mentioned(OTHER))

    assert counts == [1, 0, 1, 1]


def test_an_edit_of_what_was_read_mentions_nobody() -> None:
    seen = said("hi", 1, OTHER)
    fed = feed(seen)
    held = fed.conversation(OTHER)
    held.look()
    held.look_away()
    fed.note_event(said("hello all", 2, OTHER))
    read = replace(seen.line, text="hi alice", edited=True)
    fed.note_event(LineChanged(read, rewritten=True, reacted=False))
    fed.drain(LOBBY)

    assert (fed.unread(OTHER), fed.mentioned(OTHER)) == (1, 0)


def test_no_more_mentions_are_counted_than_anybody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_feed, "MENTIONS_MAX", 3)
    fed = feed(*[said("alice?", number, OTHER) for number in range(1, 6)])

    assert (fed.unread(OTHER), fed.mentioned(OTHER)) == (5, 3)


def test_where_one_is_mentioned_comes_first() -> None:
    fed = feed(said("hi", 1, OTHER), said("alice?", 2, THIRD))

    assert fed.next_unread([LOBBY, OTHER, THIRD], LOBBY) == THIRD
    fed.conversation(THIRD).look()
    assert fed.next_unread([LOBBY, OTHER, THIRD], LOBBY) == OTHER


def test_when_somebody_is_hidden_rows_are_read_anew() -> None:
    fed = feed(said("spam", 1, LOBBY))
    fed.conversation(LOBBY).has_older = False
    fed.note_event(TrustShown(peer("bob"), "bob", Trust.BLOCKED, hidden=True))

    news = fed.drain(LOBBY)

    assert news.flooded
    assert fed.conversation(LOBBY).rows == []


def test_what_somebody_does_is_said_with_the_name() -> None:
    assert as_shown("alice", action_text("waves")) == "* alice waves"


@pytest.mark.parametrize("text", ["hello", "/me", "/me   ", "/mexico", " /me waves"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert as_shown("alice", text) == text
