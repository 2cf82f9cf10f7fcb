"""The course of how well everybody agrees: steps, their most, other channels."""

from msgspec.structs import replace

from chat_tui.model.agreement import CELLS, STEP, Agreement, lacking
from sync.machine import SECOND, ChannelId
from tests.support.chat_tui.snapshots_of_state import CALM, waiting
from tests.support.chat_tui.snapshots_of_state import lacking as missing

NOW = 1_000 * STEP


def test_a_step_shows_the_most_that_was_lacking_in_it() -> None:
    course = Agreement()

    course.look(CALM, NOW)
    course.look(missing(count=3), NOW + SECOND)
    shown = course.look(CALM, NOW + 2 * SECOND)

    assert shown == (*[0.0] * (CELLS - 1), 4.0)  # three are missing, and one waits for them


def test_it_moves_on_and_forgets_after_a_minute() -> None:
    course = Agreement()
    course.look(missing(), NOW)

    assert course.look(CALM, NOW + 2 * STEP)[-3:] == (2.0, 0.0, 0.0)
    assert course.look(CALM, NOW + CELLS * STEP) == (0.0,) * CELLS
    assert len(course._steps) <= CELLS


def test_steps_without_a_look_lacked_nothing_that_is_known() -> None:
    course = Agreement()
    course.look(missing(), NOW)

    assert course.look(missing(), NOW + 3 * STEP)[-4:] == (2.0, 0.0, 0.0, 2.0)


def test_another_channel_begins_anew() -> None:
    course = Agreement()
    course.look(missing(), NOW)

    assert not any(course.look(replace(CALM, channel=ChannelId("0e" * 16)), NOW))


def test_own_messages_count_only_while_somebody_is_there_to_have_them() -> None:
    assert lacking(waiting(2)) == 2
    assert lacking(replace(waiting(2), peers=())) == 0
