"""Events kept until the next paint, and the pace of painting."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from chat_tui.model.event_feed import (
    EVENTS_MAX,
    KEY_WITHIN_S,
    PAINT_EVERY_S,
    PAINT_SELDOM_S,
    PAINTS_SPARED,
    Feed,
    Pace,
)
from chat_tui.model.row import Changed, Inserted, Removed
from sync.machine import ChannelId
from sync.sds.message import Delivery
from sync.view.view import (
    DeliveryShown,
    HistoryShown,
    MessageShown,
    Notice,
    PeerShown,
    PeerState,
    PreviewShown,
    PushedOutShown,
    WithdrawnShown,
)
from tests.support.chat_tui.conversations import LOBBY, lamports, line, peer

OTHER = ChannelId("1" * 32)


def feed() -> Feed:
    """Alice's feed with the lobby open and read to its end, which is empty."""
    fed = Feed(peer("alice"), "alice")
    lobby = fed.conversation(LOBBY)
    lobby.look()
    lobby.begin_load()
    lobby.add_older([], before=None, complete=True)
    return fed


def test_a_mark_that_changes_in_sight_changes_the_sentence_below_with_it() -> None:
    fed = feed()
    fed.note_event(MessageShown(line(1, author="alice")))
    fed.drain(LOBBY)

    for channel in (OTHER, LOBBY):
        own = line(1, author="alice").message_id
        fed.note_event(DeliveryShown(channel, own, Delivery.ACKNOWLEDGED))
        assert fed.drain(LOBBY).around is (channel == LOBBY)


def test_all_that_came_is_drained_at_once() -> None:
    fed = feed()
    own = line(2, author="alice")
    for event in (
        MessageShown(line(1)),
        MessageShown(own),
        DeliveryShown(LOBBY, own.message_id, Delivery.ACKNOWLEDGED),
        Notice("The disk is full. Make room."),
        PeerShown(peer("bob"), "bob", PeerState.UP),
    ):
        fed.note_event(event)

    news = fed.drain(LOBBY)

    assert news.changes == [Inserted(0, 1), Inserted(1, 1), Changed(1)]
    assert [notice.text for notice in news.notices] == ["The disk is full. Make room."]
    assert news.around
    assert fed.drain(LOBBY).changes == []


def test_who_takes_another_name_is_told_a_few_times_also_if_they_come_again() -> None:
    fed = feed()
    bob, names = peer("bob"), ["bob", "bob", "alice", "b1", "b2", "b3"]
    for nick in names:
        fed.note_event(PeerShown(bob, nick, PeerState.UP))
    fed.note_event(PeerShown(bob, "b3", PeerState.DOWN))
    fed.note_event(PeerShown(bob, "rob", PeerState.UP))
    fed.note_event(PeerShown(bob, "robert", PeerState.UP))
    fed.note_event(PeerShown(peer("ann"), "ann", PeerState.UP))
    fed.note_event(PeerShown(peer("ann"), "anna", PeerState.UP))

    said = [notice.text for notice in fed.drain(LOBBY).notices]

    assert said[0].startswith("bob is called alice")
    assert said[0] != "bob is called alice now.", "the reader's name comes with the key"
    assert said[1].endswith("is called b1 now.")
    assert said[2:] == ["b1 is called b2 now.", "ann is called anna now."]


def test_what_is_left_of_a_slice_is_drained_next_in_its_order() -> None:
    fed = feed()
    for at in range(5):
        fed.note_event(MessageShown(line(at + 1)))

    first = fed.drain(LOBBY, lambda: len(lamports(fed.conversation(LOBBY))) >= 2)
    fed.note_event(MessageShown(line(6)))
    shown = lamports(fed.conversation(LOBBY))
    rest = fed.drain(LOBBY)

    assert (first.more, shown) == (True, [1, 2])
    assert (rest.more, lamports(fed.conversation(LOBBY))) == (False, [1, 2, 3, 4, 5])
    assert len(fed.drain(LOBBY).changes) == 1, "what came meanwhile is behind the rest"


def test_a_flood_is_read_from_disk_once_its_slices_are_over() -> None:
    fed = feed()
    for at in range(EVENTS_MAX + 1):
        fed.note_event(MessageShown(line(1 + at)))

    first = fed.drain(LOBBY, lambda: True)
    fed.note_event(MessageShown(line(EVENTS_MAX + 2)))
    last = fed.drain(LOBBY)

    assert (first.more, first.flooded) == (True, False)
    assert (last.more, last.flooded) == (False, True)
    assert lamports(fed.conversation(LOBBY)) == []


def test_messages_alone_leave_the_surroundings_as_they_are() -> None:
    fed = feed()
    fed.note_event(MessageShown(line(1)))

    assert not fed.drain(LOBBY).around


def test_what_waits_for_history_is_a_row_like_others_and_says_nothing_else() -> None:
    fed = feed()
    fed.note_event(PreviewShown(line(2, loading=True)))
    fed.note_event(MessageShown(line(1)))
    fed.note_event(MessageShown(line(2)))

    news = fed.drain(LOBBY)

    assert news.changes == [Inserted(0, 1), Inserted(0, 1), Changed(1), Changed(1)]
    assert (news.around, news.notices) == (False, [])
    assert lamports(fed.conversation(LOBBY)) == [1, 2]


def test_what_is_set_aside_leaves_the_screen_which_is_read_anew() -> None:
    fed = feed()
    early = line(2, author="alice")
    for event in (MessageShown(line(1)), MessageShown(early)):
        fed.note_event(event)
    fed.drain(LOBBY)

    fed.note_event(WithdrawnShown(LOBBY, (early.message_id,)))
    news = fed.drain(LOBBY)

    assert news.changes == [Removed(0, 2)]
    assert news.flooded, "so the newest page is loaded"
    assert lamports(fed.conversation(LOBBY)) == []


def test_what_is_pushed_out_is_taken_back_alone_and_counts_once() -> None:
    fed = feed()
    fed.conversation(LOBBY).look_away()
    early = [line(at, loading=True) for at in (2, 3, 4)]
    for event in (PreviewShown(early[0]), PreviewShown(early[1]), MessageShown(line(4))):
        fed.note_event(event)
    fed.drain(LOBBY)

    fed.note_event(PushedOutShown(LOBBY, tuple([one.message_id for one in early])))
    news = fed.drain(LOBBY)

    assert [one for one in news.changes if isinstance(one, Removed)] == [
        Removed(1, 1), Removed(0, 1),
    ]  # fmt: skip
    assert not news.flooded, "nothing is read again"
    assert lamports(fed.conversation(LOBBY)) == [4], "it is delivered by now"
    unread = fed.unread(LOBBY)

    fed.note_event(MessageShown(line(2)))
    fed.drain(LOBBY)

    assert lamports(fed.conversation(LOBBY)) == [2, 4]
    assert fed.unread(LOBBY) == unread


def test_rows_stay_when_a_history_is_there_and_older_ones_can_be_read() -> None:
    fed = feed()
    fed.note_event(PreviewShown(line(2, loading=True)))
    fed.drain(LOBBY)
    held = fed.conversation(LOBBY)
    held.has_older = False

    fed.note_event(HistoryShown(LOBBY, None))
    news = fed.drain(LOBBY)

    assert news.changes == []
    assert lamports(held) == [2]
    assert held.has_older
    assert news.again == {LOBBY: held}, "so they are read again, as they are now"


def test_other_channels_only_count() -> None:
    fed = feed()
    fed.note_event(MessageShown(line(1)))

    news = fed.drain(OTHER)

    assert news.changes == []
    assert lamports(fed.conversation(LOBBY)) == [1]
    assert (fed.unread(LOBBY), fed.unread(OTHER)) == (0, 0)
    fed.conversation(LOBBY).look_away()
    fed.note_event(MessageShown(line(2)))
    fed.drain(OTHER)
    assert fed.unread(LOBBY) == 1


def test_who_takes_another_name_is_mentioned_by_that_one() -> None:
    fed = feed()
    fed.rename("zoe")
    for at, text in enumerate(("zoe?", "alice?", "@Zoe!")):
        said = replace(line(1 + at, text), channel=OTHER)
        fed.note_event(MessageShown(said))
    fed.drain(LOBBY)

    assert (fed.unread(OTHER), fed.mentioned(OTHER)) == (3, 2)


def test_the_next_channel_with_unread_messages_is_found_going_round() -> None:
    fed = feed()
    fed.conversation(LOBBY).look_away()
    fed.note_event(MessageShown(line(1)))
    fed.drain(OTHER)

    assert fed.next_unread([LOBBY, OTHER], OTHER) == LOBBY
    assert fed.next_unread([LOBBY, OTHER], None) == LOBBY
    assert fed.next_unread([OTHER], LOBBY) is None


def test_a_flood_is_read_from_disk_instead_and_loses_no_notice() -> None:
    fed = feed()
    fed.note_event(MessageShown(line(0)))
    fed.drain(LOBBY)
    for at in range(EVENTS_MAX + 1):
        fed.note_event(MessageShown(line(1 + at)))
    fed.note_event(Notice("Look here."))

    news = fed.drain(LOBBY)

    assert news.flooded
    assert news.changes[-1] == Removed(0, EVENTS_MAX + 1)
    assert len(news.notices) == 1
    assert fed.conversation(LOBBY).has_older
    assert not fed.drain(LOBBY).flooded


class Loop:
    """An event loop whose time is told."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []
        self.later: list[tuple[float, Callable[[], None]]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        self.later.append((seconds, callback))

    def turn(self) -> None:
        callbacks, self.soon = self.soon, []
        for callback in callbacks:
            callback()

    def rest(self) -> None:
        waiting, self.later = self.later, []
        for _, callback in waiting:
            callback()


@pytest.mark.parametrize(
    ("every_s", "at_once"), [(PAINT_EVERY_S, PAINTS_SPARED), (PAINT_SELDOM_S, 1)]
)
def test_a_few_events_are_painted_at_once_and_the_rest_after_a_pause_each(
    every_s: float, at_once: int
) -> None:
    loop, paints = Loop(), []
    pace = Pace(lambda: paints.append(1), loop.call_soon, loop.call_later)
    pace.every_s = every_s

    pace.paint_soon()
    pace.paint_soon()
    loop.turn()
    told = [len(paints)]
    for _ in range(3):
        for _ in range(50):
            pace.paint_soon()
            loop.turn()
        told.append(len(paints))
        assert [seconds for seconds, _ in loop.later] == [every_s]
        loop.rest()

    assert told == [1, at_once, at_once + 1, at_once + 2]
    for _ in range(at_once):
        loop.rest()
    assert loop.later == []
    assert len(paints) == at_once + 3
    for _ in range(50):
        pace.paint_soon()
        loop.turn()
    assert len(paints) == 2 * at_once + 3


def test_nothing_is_painted_before_a_key_that_is_on_its_way() -> None:
    loop, paints = Loop(), []
    pace = Pace(lambda: paints.append(1), loop.call_soon, loop.call_later)

    pace.paint_soon()
    pace.key_came()
    pace.paint_soon()
    loop.turn()
    before = len(paints)
    pace.key_shown()
    loop.turn()

    assert (before, len(paints)) == (0, 1)


def test_a_key_of_which_nothing_is_seen_is_waited_for_a_moment() -> None:
    loop, paints = Loop(), []
    pace = Pace(lambda: paints.append(1), loop.call_soon, loop.call_later)

    pace.key_came()
    pace.paint_soon()
    loop.turn()
    before = len(paints)
    seconds = [seconds for seconds, _ in loop.later]
    loop.rest()
    loop.turn()

    assert (before, seconds, len(paints)) == (0, [KEY_WITHIN_S], 1)


def test_keys_without_end_have_one_timer_and_the_last_of_them_all_its_time() -> None:
    loop, paints = Loop(), list[int]()
    pace = Pace(lambda: paints.append(1), loop.call_soon, loop.call_later)

    for _ in range(100):
        pace.key_came()
    pace.paint_soon()
    timers = len(loop.later)
    loop.rest()
    loop.turn()
    amid = (len(paints), len(loop.later))
    pace.key_came()
    loop.rest()
    loop.turn()
    again = len(paints)
    loop.rest()
    loop.turn()

    assert (timers, amid, again, len(paints)) == (1, (0, 1), 0, 1)


def typing_after_a_paint() -> tuple[Loop, list[int], Pace]:
    """Return a pace whose pause is over, in which a key came, and which has something to paint."""
    loop, paints = Loop(), list[int]()
    pace = Pace(lambda: paints.append(1), loop.call_soon, loop.call_later)
    pace.every_s = PAINT_SELDOM_S
    pace.paint_soon()
    loop.turn()
    pace.key_came()
    pace.key_shown()
    pace.paint_soon()
    loop.rest()
    loop.turn()
    return loop, paints, pace


def test_while_somebody_types_what_waits_is_painted_behind_the_next_key() -> None:
    loop, paints, pace = typing_after_a_paint()
    before = len(paints)

    pace.key_came()
    loop.turn()
    on_its_way = len(paints)
    pace.key_shown()
    loop.turn()

    assert (before, on_its_way, len(paints)) == (1, 1, 2)


def test_where_no_key_follows_it_is_painted_a_pause_later() -> None:
    loop, paints, _ = typing_after_a_paint()
    before = len(paints)

    loop.rest()
    loop.turn()

    assert (before, len(paints)) == (1, 2)


def test_the_rest_of_a_paint_waits_for_a_key_too() -> None:
    loop, paints = Loop(), list[int]()
    pace = Pace(lambda: paints.append(1), loop.call_soon, loop.call_later)

    pace.paint_rest(0.01)
    pace.key_came()
    [(_, go_on), _] = loop.later
    go_on()
    loop.turn()
    before = len(paints)
    pace.key_shown()
    loop.turn()

    assert (before, len(paints)) == (0, 1)
