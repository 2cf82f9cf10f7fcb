"""No word is cut: every scenario, from its sentence to its promises, at four sizes."""

import re

import pytest

from chat_tui.demo.keys import KEYS
from chat_tui.demo.pacing.showing import Showing
from chat_tui.demo.pacing.tour import Part
from chat_tui.demo.painting.drawing import draw
from chat_tui.demo.painting.setting import Setting
from chat_tui.demo.painting.story import place_of_now
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from sync.machine import SECOND
from tests.support.chat_tui.demos import SEED, assert_kinds_whole, assert_whole, scored, words_of

pytestmark = [pytest.mark.usefixtures("in_utc"), pytest.mark.slow]

CROWD = 7
"""Its many frames take half a minute, and are of the whole grid."""

COURSE = re.compile(r" \w+ with \w+: .*lacks ")
COURSE_ENDS = re.compile(r"gives [\d,]+(; [\d.,]+ k?M?B(, a list [\d.,]+ k?M?B)?)?\s*$")
"""End of the line with what a session came to, with or without what it cost."""

TITLES = tuple(one.title for one in SCENARIOS)

SIZES = [(60, 16), (89, 18), (79, 19), (80, 24), (140, 40), (200, 50)]

IN_TURN = 6
"""Of so many frames, each is looked at in other sizes: what is told stands for longer."""


def setting(showing: Showing, size: tuple[int, int], glyphs: Glyphs) -> Setting:
    player = showing.player
    assert isinstance(player, Stage)
    return Setting(
        width=size[0], height=size[1], glyphs=glyphs, theme="tokyo-night", selected=0,
        running=True, speed=1, formulas=False, now=player.now, keys=KEYS,
        traffic=player.traffic, score=showing.score, number=player.scenario.number,
        tour=TITLES if showing.part is Part.OPENING else (),
    )  # fmt: skip


def look(showing: Showing, size: tuple[int, int], glyphs: Glyphs) -> None:
    stage = showing.player
    assert isinstance(stage, Stage)
    at, shot = setting(showing, size, glyphs), stage.shot
    lines = [line.plain for line in draw(shot, at, stage.titles)]

    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]
    text = words_of(" ".join(lines))
    if at.tour:
        assert shot.title.partition(" ")[2].strip('"') in words_of(" ".join(lines[2:]))
    assert shot.title in text
    assert_whole(text)
    if shot.closing:
        for verdict in shot.closing:
            assert words_of(f"{verdict.claim} ({verdict.because})") in text
    else:
        said = shot.said[place_of_now(shot, at)].plain if shot.said else shot.about
        assert words_of(said) in text
    assert_kinds_whole(lines)
    for line in lines:
        if COURSE.match(line):
            assert COURSE_ENDS.search(line), line


@pytest.mark.parametrize(
    "glyphs",
    [pytest.param(UNICODE, id="unicode"), pytest.param(ASCII, id="ascii", marks=pytest.mark.grid)],
)
@pytest.mark.parametrize("in_turn", [IN_TURN, pytest.param(1, marks=pytest.mark.grid)])
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(one.number, marks=pytest.mark.grid) if one.number == CROWD else one.number
        for one in SCENARIOS
    ],
)
def test_no_word_is_cut(number: int, glyphs: Glyphs, in_turn: int) -> None:
    one = scenario(number)
    showing = Showing(None, 1.0, running=True)
    stage = Stage(one, SEED)
    showing.begin(stage, scored(number))
    frame = 0
    while not stage.over:
        for size in SIZES[frame % in_turn :: in_turn]:
            look(showing, size, glyphs)
        showing.let_pass(SECOND)
        frame += 1
    for size in SIZES:
        look(showing, size, glyphs)
