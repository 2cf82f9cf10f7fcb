"""Rows of a conversation: order, window, separators, marks."""

import random

from hypothesis import given
from hypothesis import strategies as st

from chat_tui.model import conversation as model
from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Changed, Inserted, Removed, Row
from sync.machine import MessageId
from sync.sds.message import Delivery
from sync.view.view import Line
from tests.support.chat_tui.conversations import LOBBY, conversation, lamports, line, peer, replay


def test_rows_stand_in_order_however_they_come() -> None:
    lines = [line(at) for at in range(50)]
    random.Random(1).shuffle(lines)
    held = conversation()

    for each in lines:
        held.arrive(each)

    assert lamports(held) == list(range(50))


def test_equal_times_are_ordered_by_id() -> None:
    bob, carol = line(1, author="bob"), line(1, author="carol")

    held = conversation(bob, carol)

    ids = [row.line.message_id for row in held.rows]
    assert ids == sorted([bob.message_id, carol.message_id])


def test_a_message_is_shown_once() -> None:
    held = conversation(line(1))

    assert held.arrive(line(1)) == []
    assert lamports(held) == [1]


def test_a_late_message_is_inserted_where_it_belongs() -> None:
    held = conversation(line(1), line(3))

    changes = held.arrive(line(2))

    assert changes == [Inserted(1, 1)]


def test_a_delivery_changes_one_row() -> None:
    held = conversation(line(1), line(2, author="alice"), line(3))
    own = held.rows[1].line.message_id

    changes = held.settle(own, Delivery.ACKNOWLEDGED)

    assert changes == [Changed(1)]
    assert held.rows[1].line.delivery == Delivery.ACKNOWLEDGED
    assert held.settle(own, Delivery.ACKNOWLEDGED) == []
    assert held.settle(MessageId("f" * 64), Delivery.FAILED) == []


def test_each_day_begins_with_its_name() -> None:
    day_s = 24 * 3600
    held = conversation(line(1), line(2, seconds=day_s), line(3, seconds=day_s + 1))

    assert [bool(row.day) for row in held.rows] == [True, True, False]
    assert held.rows[1].day == "Saturday, 22 November 2025"


def test_a_message_of_the_day_before_takes_the_day_over() -> None:
    held = conversation(line(5))

    changes = held.arrive(line(4))

    assert changes == [Inserted(0, 1), Changed(1)]
    assert [bool(row.day) for row in held.rows] == [True, False]


def test_a_gap_stays_with_the_message_that_follows_it() -> None:
    held = conversation(line(1), line(2, after_gap=True))

    assert [row.gap for row in held.rows] == [False, True]


def test_what_comes_while_nobody_looks_is_counted_and_set_apart() -> None:
    held = conversation(line(1))
    held.look_away()

    held.arrive(line(2))
    changes = held.arrive(line(3))

    assert (held.unread, [row.new for row in held.rows]) == (2, [0, 2, 0])
    assert changes == [Changed(1), Inserted(2, 1)]


def test_looking_again_ends_the_count_and_keeps_the_separator() -> None:
    held = conversation(line(1))
    held.look_away()
    held.arrive(line(2))

    held.look()
    held.arrive(line(3))

    assert (held.unread, [row.new for row in held.rows]) == (0, [0, 1, 0])
    assert held.look_away() == [], "it is out of sight, and one may be about to go there"
    assert [row.new for row in held.rows] == [0, 1, 0]
    first, last = (row.line.position for row in (held.rows[0], held.rows[-1]))
    held.see(first, last)
    held.look()
    assert held.look_away() == [Changed(1)]
    assert [row.new for row in held.rows] == [0, 0, 0]


def test_a_separator_that_was_in_sight_goes_when_nobody_looks_any_more() -> None:
    held = conversation(line(1))
    held.look_away()
    held.arrive(line(2))

    held.look()
    held.see(held.rows[0].line.position, held.rows[-1].line.position)

    assert held.look_away() == [Changed(1)]


def test_what_comes_above_the_read_part_is_announced_apart() -> None:
    held = conversation(line(5))
    held.look_away()

    held.arrive(line(4))

    assert (held.unread, held.earlier) == (0, 1)


def test_own_messages_are_never_unread() -> None:
    held = conversation(line(1))
    held.look_away()

    held.arrive(line(2, author="alice"))

    assert held.unread == 0


def test_a_message_that_was_acted_on_from_elsewhere_is_read_and_one_before_it_is_not() -> None:
    held = conversation(line(1))
    held.look_away()
    held.arrive(line(2))
    held.take_up(line(2).position)
    acted_on = held.unread, held.read_to
    held.arrive(line(3))
    held.arrive(line(4))

    held.take_up(line(4).position)

    assert acted_on == (0, line(2).position)
    assert held.unread == 2


def test_two_authors_of_one_name_are_told_apart_from_then_on() -> None:
    held = conversation(line(1, author="bob"), line(2, author="carol"))

    changes = held.arrive(line(3, author="mallory", nick="\u200bBob"))

    assert changes == [Inserted(2, 1), Changed(0)]
    assert [row.full_name for row in held.rows] == [True, False, True]


def test_whoever_takes_the_readers_name_is_told_apart_at_once() -> None:
    held = conversation(line(1, author="mallory", nick="alice"))

    assert held.rows[0].full_name


def test_texts_and_names_are_safe_to_show() -> None:
    held = conversation(line(1, "\x1b[2Jhi\u202e", nick="b\x07ob"))

    assert (held.rows[0].text, held.rows[0].nick) == ("hi", "bob")


# -- history on its way --------------------------------------------------------------------------


def test_what_waits_for_history_stands_in_its_place_and_then_becomes_a_normal_row() -> None:
    held = conversation(line(1), line(5))

    came = held.arrive(line(4, loading=True))
    delivered = held.arrive(line(4))

    assert (came, delivered) == ([Inserted(1, 1)], [Changed(1)])
    assert lamports(held) == [1, 4, 5]
    assert not any(row.line.loading for row in held.rows)


def test_what_waits_for_history_is_counted_once_when_it_is_first_heard_of() -> None:
    held = conversation(line(1))
    held.look_away()

    held.arrive(line(3, loading=True))
    heard_of = (held.unread, held.earlier)
    held.arrive(line(3))

    assert heard_of == (held.unread, held.earlier) == (1, 0)
    assert [row.new for row in held.rows] == [0, 1]


def test_what_was_seen_while_it_waited_is_not_unread_once_it_is_delivered() -> None:
    held = conversation(line(1))
    held.arrive(line(3, loading=True))
    held.look_away()

    held.arrive(line(3))
    held.arrive(line(2))

    assert (held.unread, held.earlier) == (0, 1)


def test_what_waits_is_forgotten_out_of_sight_and_comes_back_once_delivered() -> None:
    held = conversation(line(1), line(3, loading=True))
    held.arrive(line(3, loading=True))
    held.look_away()
    held.restart()
    held.begin_load()
    held.add_older([line(1)], before=None, complete=True)

    changes = held.arrive(line(3))

    assert (changes, lamports(held), held.unread) == ([Inserted(1, 1)], [1, 3], 0)


def test_a_page_that_has_it_delivered_already_replaces_what_waits() -> None:
    held = opened(line(10), line(11))
    held.begin_load()
    held.arrive(line(12, loading=True))
    held.arrive(line(9, loading=True))
    held.arrive(line(9))

    changes = held.add_older([line(8), line(9)], before=line(10).position, complete=True)
    held.arrive(line(12))

    assert changes == [Inserted(0, 2), Changed(2)]
    assert lamports(held) == [8, 9, 10, 11, 12]
    assert not any(row.line.loading for row in held.rows)


def test_what_was_delivered_never_waits_again() -> None:
    held = conversation(line(1))

    assert held.arrive(line(1, loading=True)) == []


# -- the window onto the disk ------------------------------------------------------------------


def opened(*newest: Line) -> Conversation:
    """A conversation that has paged in the newest lines; the disk has older ones."""
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.begin_load()
    held.add_older(newest, before=None, complete=False)
    return held


def test_a_page_that_is_read_while_the_screen_is_cleared_stays_away() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.begin_load()
    held.arrive(line(3))
    held.clear()
    held.arrive(line(4))
    held.add_older([line(1), line(2)], before=None, complete=False)

    assert (lamports(held), held.has_older) == ([4], False)


def test_nothing_is_shown_before_the_first_page_so_no_hole_opens() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")

    assert held.arrive(line(9)) == []
    assert (held.rows, held.unread) == ([], 1)


def test_what_comes_while_a_page_is_read_is_not_lost() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.begin_load()
    held.arrive(line(9))
    own = line(8, author="alice")
    held.settle(own.message_id, Delivery.ACKNOWLEDGED)

    held.add_older([line(7), own], before=None, complete=False)

    assert lamports(held) == [7, 8, 9]
    assert held.rows[1].line.delivery == Delivery.ACKNOWLEDGED


def test_a_late_message_above_the_window_waits_on_disk() -> None:
    held = opened(line(10), line(11))

    held.arrive(line(3))

    assert lamports(held) == [10, 11]


def test_an_older_page_goes_on_top() -> None:
    held = opened(line(10), line(11))
    held.begin_load()

    changes = held.add_older([line(8), line(9)], before=line(10).position, complete=True)

    assert changes == [Inserted(0, 2), Changed(2)]
    assert not held.has_older
    held.arrive(line(3))
    assert lamports(held) == [3, 8, 9, 10, 11]


def test_a_page_for_a_place_the_window_has_left_is_dropped() -> None:
    held = opened(line(10))
    held.begin_load()

    changes = held.add_older([line(1)], before=line(5).position, complete=True)

    assert (changes, lamports(held), held.has_older) == ([], [10], True)


def test_the_window_forgets_the_far_end_only() -> None:
    surplus = model.ROWS_KEPT + model.ROWS_SLACK + 1
    held = conversation(*[line(at) for at in range(surplus)])

    assert held.trim(surplus - 1) == [Removed(0, model.ROWS_SLACK + 1), Changed(0)]
    assert (len(held.rows), held.has_older, held.has_newer) == (model.ROWS_KEPT, True, False)
    assert held.trim(0) == []


def test_after_forgetting_the_newest_a_live_message_only_counts() -> None:
    surplus = model.ROWS_KEPT + model.ROWS_SLACK + 1
    held = conversation(*[line(at) for at in range(surplus)])
    held.look_away()
    held.trim(0)

    changes = held.arrive(line(surplus))

    assert (changes, held.unread, held.has_newer) == ([], 1, True)


def test_a_newer_page_closes_the_window_again() -> None:
    surplus = model.ROWS_KEPT + model.ROWS_SLACK + 1
    held = conversation(*[line(at) for at in range(surplus)])
    held.trim(0)
    held.begin_load()
    held.arrive(line(surplus))

    page = [line(at) for at in range(model.ROWS_KEPT, surplus)]
    held.add_newer(page, after=held.last, complete=True)

    assert lamports(held) == list(range(surplus + 1))


def test_restarting_forgets_all_rows() -> None:
    held = conversation(line(1), line(2))

    assert held.restart() == [Removed(0, 2)]
    assert (held.rows, held.has_older, held.index_of(line(1).message_id)) == ([], True, None)


def test_a_page_that_cannot_be_read_is_not_asked_for_again() -> None:
    held = opened(line(10))
    held.begin_load()
    held.arrive(line(11))

    held.fail_load()

    assert (held.loading, held.stuck, lamports(held)) == (False, True, [10, 11])
    held.restart()
    assert (held.stuck, held.has_older) == (False, True)


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abc")), max_size=40), st.data())
def test_the_changes_name_every_row_that_differs(
    arrivals: list[tuple[int, str]], data: st.DataObject
) -> None:
    held = conversation()
    shown: list[Row] = []
    for lamport, author in arrivals:
        if data.draw(st.booleans()):
            changes = held.look_away()
        else:
            held.look()
            nick = data.draw(st.sampled_from("xy"))
            changes = held.arrive(line(lamport, author=author, nick=nick, seconds=lamport * 5000))
        kept = replay([row.line.message_id for row in shown], changes)
        before = {row.line.message_id: row for row in shown}

        assert len(kept) == len(held.rows)
        for message_id, row in zip(kept, held.rows, strict=True):
            assert message_id is None or before[message_id] == row
        shown = list(held.rows)
