"""Marks: a sign and a word for every state."""

from chat_tui.wording import glyphs as marks
from chat_tui.wording.glyphs import band, bar, mark_word, sparkline
from sync.machine import MINUTE, SECOND
from sync.sds.message import Delivery
from tests.support.chat_tui.conversations import NOON, line


def test_marks_say_their_word_while_young() -> None:
    young = NOON + 12 * SECOND
    old = NOON + MINUTE

    def words(delivery: Delivery) -> tuple[str, str]:
        own = line(0, author="alice", delivery=delivery)
        return mark_word(own, young, alone=False), mark_word(own, old, alone=False)

    assert words(Delivery.UNACKNOWLEDGED) == ("sent 12 s", "")
    assert words(Delivery.POSSIBLY_ACKNOWLEDGED) == ("maybe received", "")
    assert words(Delivery.ACKNOWLEDGED) == ("", "")
    assert words(Delivery.FAILED) == ("failed", "failed")


def test_what_nobody_could_hear_is_never_called_sent() -> None:
    own = line(0, author="alice", delivery=Delivery.UNACKNOWLEDGED)

    assert mark_word(own, NOON, alone=True) == "waiting"
    assert mark_word(own, NOON + 2 * MINUTE, alone=True) == "waiting"


def test_what_waits_for_history_says_so_however_old_it_is() -> None:
    assert mark_word(line(0, loading=True), NOON + 2 * MINUTE, alone=False) == "history loading"


def test_the_parts_of_a_payload_have_three_signs_in_both_sets() -> None:
    assert band(".#=", marks.UNICODE) == "░█▒"
    assert band(".#=", marks.ASCII) == ".#="


def test_every_state_has_a_sign_in_both_sets() -> None:
    for glyphs in (marks.UNICODE, marks.ASCII):
        assert set(glyphs.marks) == set(Delivery) == set(marks.WORDS)
        assert len(set(glyphs.marks.values())) == len(Delivery)
    assert all(mark.isascii() for mark in marks.ASCII.marks.values())


def test_a_bar_is_empty_only_when_nothing_is_left() -> None:
    shares = (0.0, 0.01, 0.2, 0.21, 1.0, 1.5)

    assert [bar(share, marks.UNICODE) for share in shares] == [
        "▱▱▱▱▱",
        "▰▱▱▱▱",
        "▰▱▱▱▱",
        "▰▰▱▱▱",
        "▰▰▰▰▰",
        "▰▰▰▰▰",
    ]
    assert bar(0.5, marks.ASCII) == "###.."


def test_a_sparkline_shows_nothing_lowest_and_the_most_highest() -> None:
    assert sparkline([0, 1, 4, 7], 10, marks.UNICODE) == "▁▂▅█"
    assert sparkline([0, 1, 4, 7], 10, marks.ASCII) == "_.=#"
    assert sparkline([0, 0], 10, marks.UNICODE) == "▁▁"
    assert sparkline([], 10, marks.UNICODE) == ""


def test_the_least_of_anything_is_more_than_nothing() -> None:
    assert sparkline([0, 1, 1_000_000], 3, marks.UNICODE) == "▁▂█"


def test_a_sparkline_in_less_room_averages_neighbours() -> None:
    assert sparkline([0, 2, 4, 4, 0, 0], 3, marks.UNICODE) == "▃█▁"


def test_a_sparkline_below_its_peak_does_not_fill_its_height() -> None:
    assert sparkline([0.0, 0.25, 0.1], 3, marks.UNICODE, peak=0.5) == "▁▅▃"
    assert sparkline([2.0], 1, marks.UNICODE, peak=0.5) == "█"


def test_both_sets_have_as_many_heights() -> None:
    assert len(marks.UNICODE.heights) == len(marks.ASCII.heights) == len(set(marks.ASCII.heights))
