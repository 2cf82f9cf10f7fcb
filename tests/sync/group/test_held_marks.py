"""Marks of what we hold: when they are signed, and what they name."""

from typing import Final

from sync.calimero.state.contents import HEADS_MAX, Held
from sync.group.held_marks import COALESCED, EVERY, HeldMarks
from sync.machine import SECOND, MessageId

NOW: Final = 1_000 * SECOND


def message(number: int) -> MessageId:
    return MessageId(f"{number:064x}")


def test_a_mark_follows_on_what_was_delivered_and_at_most_one_in_half_a_minute() -> None:
    marks = HeldMarks()
    assert marks.deadline() is None
    marks.delivered(NOW)
    marks.delivered(NOW + SECOND)
    assert marks.deadline() == NOW + COALESCED
    assert marks.due([(1, message(1))], 0, NOW + COALESCED - 1) is None
    first = marks.due([(1, message(1))], 0, NOW + COALESCED)
    assert first == Held((bytes.fromhex(message(1)),), 0)
    marks.delivered(NOW + 2 * COALESCED)
    assert marks.deadline() == NOW + COALESCED + EVERY


def test_a_mark_that_says_nothing_new_is_not_signed() -> None:
    marks = HeldMarks()
    for number in range(3):
        marks.delivered(NOW + number * 60 * SECOND)
        due = marks.deadline()
        assert due is not None
        told = marks.due([(1, message(1))], 0, due)
        assert (told is not None) is (number == 0)
    assert marks.deadline() is None


def test_a_mark_names_the_newest_heads_rising_and_counts_what_is_missing() -> None:
    marks = HeldMarks()
    marks.delivered(NOW)
    tips = [(number, message(1_000 - number)) for number in range(40)]
    held = marks.due(tips, 7, NOW + COALESCED)
    assert held is not None
    assert len(held.heads) == HEADS_MAX
    assert list(held.heads) == sorted(held.heads)
    assert held.gaps == 7
    assert set(held.heads) == {bytes.fromhex(message(1_000 - number)) for number in range(24, 40)}


def test_where_nothing_is_held_nothing_is_told() -> None:
    marks = HeldMarks()
    marks.delivered(NOW)
    assert marks.due([(1, MessageId("not one of ours"))], 0, NOW + COALESCED) is None
