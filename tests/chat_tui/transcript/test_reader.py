"""The transcript with a cursor, in a bare application: columns, places, what stands out."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from chat_tui.text.safe_text import LINES_MAX
from chat_tui.text.times import DAY
from chat_tui.text.word_match import words_of
from chat_tui.transcript.layout_options import Taste
from chat_tui.transcript.painted_line import Painted
from chat_tui.transcript.reader import Reader
from chat_tui.transcript.row_layout import Shape
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from sync.sds.message import Delivery
from sync.view.view import Line
from tests.support.chat_tui.conversations import NOON, conversation, line
from tests.support.chat_tui.transcripts import lines_of

WORDS = [
    "cable",
    "二階",
    "👩‍👩‍👧",
    "e\u0301te\u0301",
    "👍🏽",
    "alice",
    "https://example.com/" + "x" * 90,
    "\n",
    "漢",
]


class Room(App[None]):
    """Nothing but a transcript somebody reads."""

    def __init__(self, *lines: Line, glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self.animation_level = "none"
        self.reader = Reader(conversation(*lines), nick="alice", now=NOON, glyphs=glyphs)

    def compose(self) -> ComposeResult:
        yield self.reader

    def shown(self) -> list[str]:
        return [self.reader.render_line(y).text.rstrip() for y in range(self.reader.size.height)]


@asynccontextmanager
async def room(
    *lines: Line, size: tuple[int, int] = (80, 20), glyphs: Glyphs = UNICODE
) -> AsyncIterator[tuple[Room, Pilot[None]]]:
    app = Room(*lines, glyphs=glyphs)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


def widths(app: Room) -> set[int]:
    """The widths of all painted lines, as they are counted and as a terminal counts them."""
    strips = [app.reader.render_line(y) for y in range(app.reader.size.height)]
    return {strip.cell_length for strip in strips} | {cell_len(strip.text) for strip in strips}


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (140, 40)], ids=["60", "80", "140"])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
async def test_every_painted_line_has_the_width_of_the_screen(
    size: tuple[int, int], glyphs: Glyphs
) -> None:
    draw = random.Random(5)
    lines = [
        line(
            at,
            " ".join(draw.choices(WORDS, k=draw.randrange(1, 40))),
            author=draw.choice(["alice", "bob", "二階" * 9]),
            after_gap=at % 7 == 0,
        )
        for at in range(80)
    ]
    async with room(*lines, size=size, glyphs=glyphs) as (app, pilot):
        app.reader.highlight("cable 二 x")
        app.reader.say_gaps({}, "1 earlier message is missing, asking peers in 4 s" * 3)
        seen: set[int] = set()
        for number in range(0, 80, 9):
            app.reader.go_to(lines[number].message_id)
            await pilot.pause(0)
            seen |= widths(app)
        width = app.reader.scrollable_content_region.width

    assert seen == {width}


class Colourless(Reader):
    """A reader without an application, which knows the colours."""

    def _style(self, name: str) -> Style:
        del name
        return Style.null()

    def _overlay(self, name: str) -> Style:
        del name
        return Style.null()


@given(
    text=st.text(max_size=300),
    nick=st.text(max_size=40),
    query=st.text(max_size=10),
    width=st.integers(24, 150),
)
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
def test_no_text_breaks_a_column(text: str, nick: str, query: str, width: int) -> None:
    reader = Colourless(
        conversation(line(1, text, nick=nick, author="bob"), line(2, text, author="alice")),
        nick=nick,
        now=NOON,
        glyphs=UNICODE,
    )
    shape = Shape(width, UNICODE)
    reader._laid.fit(shape)
    reader._words = words_of(query)
    reader.cursor = reader.conversation.rows[0].line.message_id
    for index in range(2):
        laid = reader._laid.laid(index)
        for number in range(len(laid.strips)):
            strip = reader._strip(Painted(laid, number, "sent 3 s", selected=True), shape)
            assert strip.cell_length == cell_len(strip.text) == width


async def test_a_cursor_marks_one_message_and_says_the_word_of_its_mark() -> None:
    own = line(2, "mine", author="alice", delivery=Delivery.ACKNOWLEDGED, seconds=-999)
    async with room(line(1, "hello"), own) as (app, pilot):
        before = app.shown()
        app.reader.select(own.message_id)
        await pilot.pause()
        after = app.shown()

    assert not any("received" in text for text in before)
    assert [text for text in after if "▸" in text] == [
        next(text for text in after if "▸mine" in text and "received  ●" in text)
    ]


async def test_a_message_longer_than_the_screen_is_scrolled_through_before_the_next() -> None:
    long = line(1, "\n".join(f"part {number}" for number in range(60)))
    async with room(line(0, "first"), long, line(2, "last")) as (app, pilot):
        app.reader.go_to(long.message_id)
        app.reader.unfold(long.message_id)
        steps, seen = 0, set[str]()
        while app.reader.cursor == long.message_id:
            seen.update(text.split("  ")[-1] for text in app.shown())
            app.reader.move(1)
            await pilot.pause(0)
            steps += 1

    assert {f"part {number}" for number in range(1, 60)} <= seen
    assert 4 <= steps <= 8


async def test_what_is_cut_says_how_much_is_not_shown() -> None:
    long = line(1, "\n".join(f"part {number}" for number in range(LINES_MAX + 79)))
    async with room(long) as (app, _):
        app.reader.change_look(UNICODE, Taste(fold=0))
        shown = app.shown()

    assert shown[-1].endswith("… 80 more lines")


@pytest.mark.parametrize("widths", [(140, 60, 80), (60, 140, 61)])
async def test_another_size_keeps_the_selected_message_in_sight(
    widths: tuple[int, ...],
) -> None:
    lines = lines_of(300)
    async with room(*lines, size=(100, 24)) as (app, pilot):
        app.reader.go_to(lines[120].message_id)
        await pilot.pause()
        for width in widths:
            await pilot.resize_terminal(width, 12 + width // 10)
            await pilot.pause()

            assert any("▸m120 " in text for text in app.shown())


async def test_the_tail_says_what_is_missing_and_takes_one_line() -> None:
    lines = lines_of(60)
    async with room(*lines) as (app, pilot):
        before = app.shown()
        app.reader.say_gaps({}, "1 earlier message is missing, asking peers in 4 s; 1 waits")
        await pilot.pause()
        with_tail = app.shown()
        app.reader.say_gaps({}, "1 earlier message is missing, asking peers in 3 s; 1 waits")
        later = app.shown()
        app.reader.say_gaps({}, "")
        await pilot.pause()
        after = app.shown()

    assert with_tail[:-1] == before[1:]
    assert with_tail[-1].strip().startswith("┆  1 earlier message is missing, asking peers in 4 s")
    assert later[:-1] == with_tail[:-1]
    assert "in 3 s" in later[-1]
    assert after == before


async def test_who_reads_further_up_is_not_moved_by_the_tail() -> None:
    async with room(*lines_of(200)) as (app, pilot):
        app.reader.page_up()
        app.reader.page_up()
        await pilot.pause()
        before = app.shown()
        app.reader.say_gaps({}, "1 earlier message is missing")
        await pilot.pause()

        assert app.shown() == before


async def test_a_gap_says_what_becomes_of_it_and_repaints_only_its_line() -> None:
    after = line(2, "after", after_gap=True)
    async with room(line(1), after, line(3)) as (app, pilot):
        asked: list[int] = []
        refresh = app.reader.refresh

        def note(*regions: object, **options: object) -> object:
            asked.extend(region.height for region in regions)  # type: ignore[attr-defined]
            return refresh(*regions, **options)  # type: ignore[arg-type]

        app.reader.refresh = note  # type: ignore[method-assign,assignment]
        app.reader.say_gaps({after.message_id: "1 earlier message is missing, asking now"}, "")
        shown = app.shown()
        del pilot

    assert "1 earlier message is missing, asking now" in shown[2]
    assert asked == [1]


@pytest.mark.parametrize(
    ("which", "marks"), [("always", "●●✗○"), ("recent", "●✗○"), ("never", "✗○")]
)
async def test_ticks_are_hidden_but_never_a_failure(which: str, marks: str) -> None:
    old = -2 * DAY // 1_000_000_000
    own = [
        line(1, "old", author="alice", delivery=Delivery.ACKNOWLEDGED, seconds=old),
        line(2, "new", author="alice", delivery=Delivery.ACKNOWLEDGED),
        line(3, "bad", author="alice", delivery=Delivery.FAILED, seconds=old),
        line(4, "sent", author="alice", seconds=-999),
    ]
    async with room(*own) as (app, _):
        app.reader.change_look(UNICODE, Taste(ticks=which))
        shown = "".join(app.shown())

    assert "".join(sign for sign in shown if sign in "●✗○") == marks


async def test_text_picked_over_several_messages_names_who_wrote_it() -> None:
    lines = [line(1, "the first one"), line(2, "二階 and more"), line(3, "the last one")]
    async with room(*lines) as (app, pilot):
        starts = [
            next(y for y, text in enumerate(app.shown()) if one.text in text) for one in lines
        ]
        begun = app.reader._spot(18 + 4, starts[0])
        ended = app.reader._spot(18 + 8, starts[2])
        assert begun is not None
        assert ended is not None
        app.reader._picked.press(begun)
        assert app.reader._picked.drag(ended)
        await pilot.pause()
        text = app.reader.picked_text()

    first, middle, last = text.split("\n")
    assert first == "first one"
    assert middle.endswith("bob: 二階 and more")
    assert last.endswith("bob: the last")


async def test_what_a_selecting_reader_sees_is_no_longer_new() -> None:
    async with room(*lines_of(40)) as (app, pilot):
        held = app.reader.conversation
        app.reader.select_seen()
        await pilot.pause()
        app.reader.apply(held.arrive(line(100, "one")))
        app.reader.apply(held.arrive(line(101, "two")))
        await pilot.pause()
        below = held.unread
        app.reader.go_to(line(101).message_id)
        await pilot.pause()
        at_the_end = held.unread
        app.reader.apply(held.arrive(line(102, "three")))
        await pilot.pause()
        last = app.shown()[-1]

    assert (below, at_the_end, held.unread) == (2, 0, 1)
    assert "two" in last, "nothing moved for the third"
