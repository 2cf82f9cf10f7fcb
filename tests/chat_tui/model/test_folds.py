"""Lines of somebody removed that are folded away: one row a run, that opens."""

import pytest
from msgspec.structs import replace
from rich.style import Style

from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Changed
from chat_tui.transcript.cursor_stops import above, below
from chat_tui.transcript.lazy_layout import LaidRows
from chat_tui.transcript.painted_line import Part
from chat_tui.transcript.row_layout import Shape, lay_out
from chat_tui.wording.glyphs import ASCII, KNOWING
from sync.machine import DAY
from sync.view.governance_infos import Lateness
from sync.view.view import Line
from tests.support.chat_tui.conversations import LOBBY, conversation, line, peer

SHAPE = Shape(80, ASCII)


def folded(number: int, nick: str = "mallory") -> Line:
    return replace(line(number, author=nick), late=Lateness.FOLDED)


def said(count: int, nick: str = "mallory") -> str:
    words = ("line", "is", "it") if count == 1 else ("lines", "are", "them")
    of = f"{count} {words[0]} of {nick}, who knew of the removal"
    return f"{of}, {words[1]} folded away; Enter shows {words[2]}"


def shown(held: Conversation) -> list[str]:
    """The texts of the rows that fill a line."""
    return [row.text for row in held.rows if not row.tucked]


def test_one_row_stands_for_a_run_and_says_how_many_it_has() -> None:
    held = conversation(line(1), folded(2), folded(3), folded(4), line(5), folded(6))

    assert shown(held) == ["message 1", said(3), "message 5", said(1)]
    assert [row.folds for row in held.rows] == [0, 3, 0, 0, 0, 1]


def test_lines_of_two_people_are_two_runs() -> None:
    held = conversation(folded(1), folded(2, "trent"), folded(3, "trent"))

    assert shown(held) == [said(1), said(2, "trent")]


def test_a_run_ends_where_a_day_begins() -> None:
    tomorrow = replace(folded(2), created_ns=folded(1).created_ns + DAY)

    assert shown(conversation(folded(1), tomorrow)) == [said(1), said(1)]


def test_a_gap_in_the_midst_of_a_run_is_still_told() -> None:
    held = conversation(folded(1), folded(2), replace(folded(3), after_gap=True))

    assert shown(held) == [said(2), said(1)]

    held.hide_gaps([held.rows[2].line.message_id])
    assert shown(held) == [said(3)]


@pytest.mark.parametrize("order", [(2, 3, 4), (4, 3, 2), (3, 2, 4), (2, 4, 3)])
def test_a_run_grows_in_whatever_order_its_lines_come(order: tuple[int, ...]) -> None:
    held = conversation(line(1), line(5))

    for number in order:
        held.arrive(folded(number))

    assert shown(held) == ["message 1", said(3), "message 5"]


def test_a_line_between_makes_two_runs_and_one_again_when_it_is_gone() -> None:
    held = conversation(folded(1), folded(2), folded(4))
    assert shown(held) == [said(3)]

    held.arrive(line(3))
    assert shown(held) == [said(2), "message 3", said(1)]

    held.hide(line(3).message_id)
    assert shown(held) == [said(3)]


def test_older_pages_move_the_row_that_stands_for_the_run() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.add_older([folded(3), folded(4)], before=None, complete=False)
    held.add_older([line(1), folded(2)], before=held.first, complete=True)

    assert shown(held) == ["message 1", said(3)]


def test_a_run_opens_whole_and_nothing_else_does() -> None:
    held = conversation(folded(1), folded(2), line(3), folded(4))

    changes = held.unfold(held.rows[0].line.message_id)

    assert shown(held) == ["message 1", "message 2", "message 3", said(1)]
    assert {one.index for one in changes if isinstance(one, Changed)} == {0, 1}
    laid = lay_out(held.rows[0], SHAPE, lambda _: Style.null())
    assert KNOWING in "".join(strip.text for strip in laid.strips)


def test_what_comes_later_is_folded_beside_what_was_opened() -> None:
    held = conversation(folded(1), folded(2))
    held.unfold(folded(1).message_id)

    held.arrive(folded(3))

    assert shown(held) == ["message 1", "message 2", said(1)]


def test_forgotten_rows_are_folded_when_they_come_again() -> None:
    held = conversation(folded(1), folded(2))
    held.unfold(folded(1).message_id)

    held.restart()
    held.add_older([folded(1), folded(2)], before=None, complete=True)

    assert shown(held) == [said(2)]


def test_a_line_that_turns_out_to_be_folded_joins_its_run() -> None:
    held = conversation(folded(1), line(2, author="mallory"), folded(3))
    assert shown(held) == [said(1), "message 2", said(1)]

    held.change(folded(2))

    assert shown(held) == [said(3)]
    held.change(replace(folded(2), text="", deleted=True))
    assert shown(held)[0] == said(1)
    assert shown(held)[2] == said(1)


def test_a_change_that_is_told_without_its_mark_opens_no_folded_line() -> None:
    held = conversation(line(1), folded(2), folded(3))

    held.change(replace(line(2, author="mallory"), text="edited"))

    assert shown(held) == ["message 1", said(2)]
    held.unfold(folded(2).message_id)
    assert "edited" in shown(held)[1]


def test_rows_that_another_one_stands_for_fill_no_line() -> None:
    held = conversation(line(1), folded(2), folded(3))
    laid = LaidRows(held.rows, lambda _: Style.null())
    laid.fit(SHAPE)
    laid.lay_out_last(100)
    closed = list(laid.heights)

    laid.resize(held.unfold(folded(2).message_id))
    at_once = list(laid.heights)[2]
    laid.lay_out_last(100)

    assert at_once == 1, "before anybody lays it out"
    assert closed[1:] == [2, 0], "the sentence takes two lines here"
    assert list(laid.heights)[1:] == [1, 1]


def test_heights_follow_a_run_as_it_changes() -> None:
    held = conversation(line(1), folded(2), line(6))
    laid = LaidRows(held.rows, lambda _: Style.null())
    laid.fit(SHAPE)

    for number in (5, 3, 4):
        laid.resize(held.arrive(folded(number)))
        assert [bool(one) for one in laid.heights] == [not row.tucked for row in held.rows]


def test_the_cursor_steps_over_a_run() -> None:
    held = conversation(line(1), folded(2), folded(3), line(4), folded(5), folded(6))

    down = [(0, Part.TEXT)]
    for _ in range(4):
        down.append(below(held.rows, down[-1], has_tail=True))
    up = [down[-1]]
    for _ in range(4):
        up.append(above(held.rows, up[-1]))

    assert down == [(0, Part.TEXT), (1, Part.TEXT), (3, Part.TEXT), (4, Part.TEXT), (4, Part.TAIL)]
    assert [at for at, _ in up[1:]] == [4, 3, 1, 0]
