"""The crowd as a field: its shape, its signs, and figures that are what the nodes hold."""

from math import ceil

import pytest
from msgspec.structs import replace

from chat_tui.demo.crowd import ASKS, HAS, LACKS, OFF, WAITS, field_of
from chat_tui.demo.pacing.bending import Bent
from chat_tui.demo.pacing.score import Score
from chat_tui.demo.painting.field import FLASH, field_lines, grid_of
from chat_tui.demo.painting.setting import Setting
from chat_tui.demo.run import Run
from chat_tui.demo.scenarios import crowded
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from sync.machine import SECOND
from tests.support.chat_tui.demos import SEED


def setting(run: Run, glyphs: Glyphs, size: tuple[int, int] = (80, 24)) -> Setting:
    ends = run.began + 60 * SECOND
    return Setting(
        width=size[0], height=size[1], glyphs=glyphs, theme="nord", selected=0, running=True,
        speed=1, formulas=False, now=run.now,
        score=Score(run.began, ends, Bent.through((run.began, 0), (ends, 60 * SECOND)), ()),
    )  # fmt: skip


def played(people: int, until: int) -> Run:
    run = Run(crowded(people), SEED)
    while run.now < run.began + until:
        run.happen(run.began + until)
    return run


def test_two_hundred_and_fifty_six_are_a_square() -> None:
    assert grid_of(256, 40, 16) == (16, 2, 1)


@pytest.mark.parametrize("size", [(29, 10), (49, 16), (109, 27), (169, 30)])
@pytest.mark.parametrize("people", [16, 100, 256, 777, 1000])
def test_any_crowd_fits_any_screen(people: int, size: tuple[int, int]) -> None:
    grid = grid_of(people, *size)

    signs = ceil(people / grid.each)
    assert grid.width <= size[0]
    assert ceil(signs / grid.columns) <= size[1]
    assert grid.each == 1 or people > size[0] * size[1] * 0.8


def test_the_figures_are_what_the_nodes_hold() -> None:
    run = played(16, 8 * SECOND)
    field = field_of(run.world, run.answers)

    rows = [len(node.disk.rows) for node in run.world.nodes if node.runner is not None]
    assert field.missing == sum(101 - held for held in rows) > 0
    assert field.states[0] == OFF  # alice has left
    assert field.states.count(HAS) == rows.count(101)
    assert {WAITS, HAS} <= set(field.states) <= {OFF, LACKS, WAITS, ASKS, HAS}
    run.finish()
    over = field_of(run.world, run.answers)
    assert (over.missing, over.states) == (0, HAS * 16)
    assert over.noticed == len(run.world.meter.losses) > 0
    assert over.answered == sum(run.world.meter.responses.values()) > 0
    assert over.asked <= over.answered


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_each_state_has_a_sign_and_its_word_beside_it(glyphs: Glyphs) -> None:
    run = played(16, 8 * SECOND)
    field = field_of(run.world, ())._replace(states=".lwah" + "h" * 11)

    lines = [line.plain for line in field_lines(field, setting(run, glyphs), 16)]

    signs = "·○?●" if glyphs is UNICODE else ".o?#"
    drawn = "".join(line[:10] for line in lines)
    assert [drawn.count(sign) for sign in signs] == [1, 1, 1, 12]
    text = "\n".join(lines)
    for sign, word, number in zip(
        signs, ("lacks a", "waits", "has asked", "has all"), ["1", "1", "1", "12"], strict=True
    ):
        row = next(line for line in text.split("\n") if f"{sign} {word}" in line)
        assert row.split()[-1] == number


def test_an_answer_flashes_and_then_does_not() -> None:
    run = played(16, 9 * SECOND)
    at = setting(run, UNICODE)
    field = field_of(run.world, ())._replace(answers=((3, run.now),))

    shown = [
        "*" in field_lines(field, replace(at, now=run.now + later), 16)[0].plain[:12]
        for later in (-1, 0, FLASH - 1, FLASH)
    ]

    assert shown == [False, True, True, False]


def test_of_several_people_under_one_sign_the_worst_is_shown() -> None:
    run = played(16, 8 * SECOND)
    field = field_of(run.world, ())._replace(states=("h" * 999) + "a", answers=())

    lines = [line.plain for line in field_lines(field, setting(run, UNICODE, (60, 16)), 10)]

    assert sum(line[:44].count("?") for line in lines) >= 1
    assert max(map(len, lines)) <= 60
