"""Marks in the scroll bar: what is marked, where, and in which sign."""

import re
from collections.abc import Sequence

import pytest
from rich.segment import Segments
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.text.word_match import Span, spans
from chat_tui.transcript import scroll_marks
from chat_tui.transcript.scroll_marks import Mark, MarkedReader, in_cells, signs_of
from chat_tui.wording.glyphs import ASCII, UNICODE
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import reading
from tests.support.chat_tui.scenes import ALICE, BOB, Scene


def bar(app: ChatApp) -> str:
    """The signs in the scroll bar, from the top; a space where it is as Textual draws it."""
    scrollbar = app.transcript.vertical_scrollbar
    height = app.transcript.size.height
    options = app.console.options.update(width=1, height=height)
    [drawn] = scrollbar.render().__rich_console__(app.console, options)  # type: ignore[union-attr]
    assert isinstance(drawn, Segments)
    signs = signs_of(UNICODE).values()
    return "".join(one.text if one.text in signs else " " for one in drawn.segments)


def long_talk(*mentions: int) -> Scene:
    """Sixty lines of bob, some of which name alice."""
    scene = Scene("alice", "bob")
    scene.say(ALICE, "hello", then=SECOND)
    for number in range(60):
        name = "alice, look: " if number in mentions else ""
        scene.say(BOB, f"{name}box {number}", then=SECOND)
    return scene


async def tick(app: ChatApp, pilot: Pilot[None]) -> None:
    app._tick()
    await pilot.pause()


def test_a_mark_stands_where_its_line_is_in_the_bar() -> None:
    tops = [(0, Mark.NEW), (50, Mark.GAP), (99, Mark.MENTION)]

    assert in_cells(tops, 100, 10) == {0: Mark.NEW, 5: Mark.GAP, 9: Mark.MENTION}


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_in_a_cell_the_most_important_is_shown(order: int) -> None:
    tops = [(0, Mark.GAP), (1, Mark.NEW), (2, Mark.MENTION), (3, Mark.HIT)][::order]

    assert in_cells(tops, 100, 10) == {0: Mark.HIT}
    assert in_cells(tops[order:][:3] if order == 1 else tops[1:], 100, 10)[0] is not Mark.GAP


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_kind_has_a_sign_of_its_own(glyphs: object) -> None:
    signs = signs_of(ASCII if glyphs is ASCII else UNICODE)

    assert set(signs) == set(Mark)
    assert len(set(signs.values())) == len(Mark)
    assert all(len(sign) == 1 for sign in signs.values())


@pytest.mark.slow
async def test_a_mention_out_of_sight_is_marked_and_one_in_sight_is_not() -> None:
    async with reading(long_talk(20, 58), (80, 24)) as (app, pilot):
        await tick(app, pilot)

        marks = app.transcript.marks
        shown = bar(app)

    assert list(marks.values()) == [Mark.MENTION, Mark.MENTION]
    assert shown.count(UNICODE.probed) == 1
    assert shown.index(UNICODE.probed) == min(marks)


async def test_marks_of_mentions_follow_the_name_of_the_reader() -> None:
    async with reading(long_talk(20), (80, 24)) as (app, pilot):
        await tick(app, pilot)
        before = list(app.transcript.marks.values())
        app.transcript.rename("eve")
        renamed = list(app.transcript.marks.values())
        app.transcript.rename("alice")

        assert (before, renamed) == ([Mark.MENTION], [])
        assert list(app.transcript.marks.values()) == before


@pytest.mark.slow
async def test_hits_are_marked_while_words_are_searched_for() -> None:
    async with reading(long_talk(), (80, 24)) as (app, _):
        app.transcript.highlight("3")
        searching = bar(app)
        app.transcript.highlight("")

        assert searching.count(UNICODE.hit) >= 1
        assert bar(app).strip() == ""


@pytest.mark.slow
async def test_a_gap_further_up_is_marked() -> None:
    async with reading(scenes.morning(), (80, 16)) as (app, pilot):
        await tick(app, pilot)

        assert Mark.GAP in app.transcript.marks.values()


@pytest.mark.slow
async def test_what_is_all_in_sight_has_no_marks() -> None:
    async with reading(scenes.morning(), (140, 40)) as (app, pilot):
        await tick(app, pilot)

        assert isinstance(app.transcript, MarkedReader)
        assert app.transcript.marks == {}


@pytest.mark.slow
async def test_the_bar_is_painted_again_only_when_a_mark_differs() -> None:
    async with reading(long_talk(20), (80, 24)) as (app, pilot):
        await tick(app, pilot)
        scrollbar = app.transcript.vertical_scrollbar
        asked: list[bool] = []
        scrollbar.refresh = lambda *_, **__: asked.append(True)  # type: ignore[method-assign, assignment]
        await tick(app, pilot)
        unchanged = list(asked)
        app.transcript.highlight("box 27")

        assert (unchanged, asked) == ([], [True])


async def test_texts_are_looked_through_once_for_each_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    def noted(words: re.Pattern[str], text: str) -> Sequence[Span]:
        looked.append(text)
        return spans(words, text)

    async with reading(long_talk(20, 58), (80, 24)) as (app, pilot):
        await tick(app, pilot)
        monkeypatch.setattr(scroll_marks, "spans", noted)
        app.transcript.highlight("box")
        first = app.transcript.marks
        rows = len(app.transcript.conversation.rows)
        seen = len(looked)
        await tick(app, pilot)
        again = len(looked)
        app.transcript.highlight("hello")

    assert (seen, again, len(looked)) == (rows, rows, 2 * rows)
    assert Mark.HIT in first.values()
    assert list(app.transcript.marks.values()).count(Mark.HIT) < len(first)
