"""The canvas: what is shown is what was drawn, and only what changed is painted."""

from collections.abc import Sequence

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip

from chat_tui.widgets.canvas import Canvas, differing


class Easel(App[None]):
    def compose(self) -> ComposeResult:
        yield Canvas(id="canvas")


def shown(canvas: Canvas) -> list[str]:
    return [canvas.render_line(y).text.rstrip() for y in range(3)]


def regions_of(
    canvas: Canvas, monkeypatch: pytest.MonkeyPatch, lines: Sequence[str]
) -> list[Region]:
    painted: list[Region] = []
    monkeypatch.setattr(canvas, "refresh", lambda *regions, **_: painted.extend(regions))
    canvas.show([Content(line) for line in lines])
    return painted


async def test_only_cells_that_changed_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Easel().run_test(size=(20, 3)) as pilot:
        canvas = pilot.app.query_one(Canvas)
        canvas.show([Content("one"), Content("two"), Content("three")])
        await pilot.pause()
        assert shown(canvas) == ["one", "two", "three"]

        assert regions_of(canvas, monkeypatch, ["one", "tWo", "thr"]) == [
            Region(1, 1, 1, 1),
            Region(3, 2, 2, 1),
        ]
        assert shown(canvas) == ["one", "tWo", "thr"]


async def test_the_same_lines_paint_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Easel().run_test(size=(20, 3)) as pilot:
        canvas = pilot.app.query_one(Canvas)
        canvas.show([Content.styled("one", "bold")])
        await pilot.pause()

        assert regions_of(canvas, monkeypatch, ["one"]) == [Region(0, 0, 3, 1)]
        assert regions_of(canvas, monkeypatch, ["one"]) == []


async def test_another_width_and_fewer_lines_are_drawn_anew() -> None:
    async with Easel().run_test(size=(20, 3)) as pilot:
        canvas = pilot.app.query_one(Canvas)
        canvas.show([Content("one two three four five six"), Content("two")])
        await pilot.pause()
        await pilot.resize_terminal(40, 3)
        canvas.show([Content("one two three four five six")])
        await pilot.pause()

        assert shown(canvas) == ["one two three four five six", "", ""]


@pytest.mark.parametrize(
    ("one", "other", "span"),
    [
        ("abc", "abc", (0, 0)),
        ("abc", "abd", (2, 3)),
        ("abc", "xbz", (0, 3)),
        ("a漢", "a字", (0, 9)),
    ],
)
def test_a_span_holds_all_that_differs(one: str, other: str, span: tuple[int, int]) -> None:
    assert differing(Strip([Segment(one)]), Strip([Segment(other)]), 9) == span


def test_another_colour_differs() -> None:
    plain, bold = Strip([Segment("ab")]), Strip([Segment("a"), Segment("b", Style(bold=True))])

    assert differing(plain, bold, 2) == (1, 2)
