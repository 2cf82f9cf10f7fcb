"""Lines that stay are carried: what is painted is what is there, and no line is made twice."""

import random
from collections.abc import Callable, Mapping

import pytest
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from chat_tui.terminal.front_to_back import FrontScreen
from chat_tui.transcript.layout_options import Taste
from chat_tui.transcript.painted_line import Painted
from chat_tui.transcript.row_layout import Shape
from chat_tui.transcript.scroll_marks import MarkedReader
from chat_tui.transcript.text_layout import Look
from chat_tui.transcript.transcript import CARRIED
from chat_tui.wording.glyphs import ASCII, UNICODE
from sync.machine import SECOND
from sync.sds.message import Delivery
from sync.view.view import Line
from tests.support.chat_tui.conversations import NOON, conversation, line, peer
from tests.support.chat_tui.paints import CellsSeen

WORDS = [
    "cable",
    "二階",
    "👍🏽",
    "alice",
    "e\u0301te\u0301",
    "*bold*",
    "`code`",
    "\n",
    "漢",
    "switch",
]
ACTIONS = 60


class Counted(MarkedReader):
    """A reader that notes which lines it makes strips of."""

    def __init__(self, *lines: Line) -> None:
        super().__init__(conversation(*lines), nick="alice", now=NOON, glyphs=UNICODE)
        self.made: list[Painted] = []

    def _strip(self, painted: Painted, shape: Shape) -> Strip:
        self.made.append(painted)
        return super()._strip(painted, shape)


class Room(CellsSeen):
    """A transcript that somebody reads, in a screen composed from front to back."""

    CSS = "Screen.-framed Counted { border: round red; }"

    def __init__(self, *lines: Line) -> None:
        super().__init__()
        self.animation_level = "none"
        self.reader = Counted(*lines)

    def get_default_screen(self) -> Screen[None]:
        return FrontScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield self.reader


class Hand:
    """Somebody who does anything at all that can be done to a transcript."""

    def __init__(self, app: Room, pilot: Pilot[None], seed: int) -> None:
        self.app, self.pilot, self.draw = app, pilot, random.Random(seed)
        self._now = 1_000

    async def act(self) -> str:
        name = self.draw.choice([
            "arrive", "arrive", "arrive_late", "deliver", "page", "step", "select", "move",
            "unselect", "highlight", "pick", "theme", "look", "resize", "tick", "gaps", "fold",
            "colour", "newest", "show_marks",
        ])  # fmt: skip
        done = getattr(self, f"_{name}")()
        if done is not None:
            await done
        await self.pilot.pause()
        return name

    def _line(self, lamport: int) -> Line:
        text = " ".join(self.draw.choices(WORDS, k=self.draw.randint(1, 25)))
        author = self.draw.choice(["alice", "bob", "carol"])
        return line(lamport, text, author=author, after_gap=self.draw.random() < 0.1)

    def _arrive(self) -> None:
        self._now += 1
        reader = self.app.reader
        reader.apply(reader.conversation.arrive(self._line(self._now)))

    def _arrive_late(self) -> None:
        reader = self.app.reader
        reader.apply(reader.conversation.arrive(self._line(self.draw.randint(1, self._now))))

    def _deliver(self) -> None:
        held = self.app.reader.conversation
        own = [row.line for row in held.rows if row.line.own]
        if own:
            settled = held.settle(self.draw.choice(own).message_id, Delivery.ACKNOWLEDGED)
            self.app.reader.apply(settled)

    def _page(self) -> None:
        self.draw.choice([self.app.reader.page_up, self.app.reader.page_down])()

    def _step(self) -> None:
        self.app.reader.scroll_relative(y=self.draw.choice([-1, 1]), animate=False)

    def _select(self) -> None:
        self.app.reader.select_seen()

    def _move(self) -> None:
        self.app.reader.move(self.draw.choice([-1, 1]))

    def _unselect(self) -> None:
        self.app.reader.unselect()

    def _highlight(self) -> None:
        self.app.reader.highlight(self.draw.choice(["cable", "漢", ""]))

    async def _pick(self) -> None:
        spots = [(self.draw.randrange(8, 30), self.draw.randrange(12)) for _ in range(2)]
        await self.pilot.mouse_down(self.app.reader, offset=spots[0])
        await self.pilot.hover(self.app.reader, offset=spots[1])
        await self.pilot.mouse_up(self.app.reader, offset=spots[1])

    def _theme(self) -> None:
        self.app.theme = self.draw.choice(["nord", "textual-light", "textual-dark"])

    def _look(self) -> None:
        glyphs = self.draw.choice([UNICODE, ASCII])
        self.app.reader.change_look(glyphs, Taste(cosy=self.draw.random() < 0.5))

    async def _resize(self) -> None:
        await self.pilot.resize_terminal(self.draw.choice([60, 80]), self.draw.choice([12, 20]))

    def _tick(self) -> None:
        now = NOON + self.draw.randrange(2_000) * SECOND
        self.app.reader.tick(now, alone=self.draw.random() < 0.5)

    def _gaps(self) -> None:
        tail = self.draw.choice(["", "1 earlier message is missing, asking peers in 4 s"])
        rows = self.app.reader.conversation.rows
        gaps = {row.line.message_id: self.draw.choice(["asked", "asks"]) for row in rows if row.gap}
        self.app.reader.say_gaps(gaps, tail)

    def _fold(self) -> None:
        row = self.draw.choice(self.app.reader.conversation.rows)
        whole, raw = self.draw.random() < 0.5, self.draw.random() < 0.5
        self.app.reader.show_as(row.line.message_id, Look(whole=whole, raw=raw))

    def _colour(self) -> None:
        chosen: Mapping[str, str] = {peer("bob"): self.draw.choice(["red", "green"])}
        self.app.reader.colour(chosen)  # type: ignore[arg-type]

    def _newest(self) -> None:
        self.app.reader.follow_newest()

    def _show_marks(self) -> None:
        self.app.reader.show_marks()


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_the_terminal_shows_what_is_there(seed: int) -> None:
    app = Room(*[line(number, author="bob") for number in range(1, 60)])
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        hand = Hand(app, pilot, seed)
        done: list[str] = []
        for _ in range(ACTIONS):
            done.append(await hand.act())
            app.reader._carried.clear()
            due = app.due
            assert {at: app.seen[at] for at in due} == due, (seed, done)


def settled(app: Room) -> Callable[[], list[Painted]]:
    """Return what tells which lines were made since."""
    app.reader.made.clear()
    return lambda: list(app.reader.made)


async def test_one_line_that_comes_is_the_only_one_that_is_made() -> None:
    app = Room(*[line(number) for number in range(1, 60)])
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        made = settled(app)
        app.reader.apply(app.reader.conversation.arrive(line(100, "the newest")))
        await pilot.pause()

        assert [one.laid.row.text for one in made()] == ["the newest"]


async def test_a_step_makes_only_the_line_that_comes_into_sight() -> None:
    app = Room(*[line(number) for number in range(1, 60)])
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        made = settled(app)
        app.reader.scroll_relative(y=-3, animate=False)
        await pilot.pause()

        assert len(made()) == 3


async def test_a_mark_that_changes_makes_its_line_alone() -> None:
    lines = [line(number) for number in range(1, 60)]
    own = line(60, "mine", author="alice")
    app = Room(*lines, own, line(61))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        made = settled(app)
        held = app.reader.conversation
        app.reader.apply(held.settle(own.message_id, Delivery.ACKNOWLEDGED))
        await pilot.pause()

        assert [one.laid.row.text for one in made()] == ["mine"]


async def test_strips_kept_are_no_more_than_a_bound() -> None:
    app = Room(*[line(number) for number in range(1, 900)])
    async with app.run_test(size=(80, 20)) as pilot:
        for _ in range(60):
            app.reader.page_up()
            await pilot.pause(0)

        assert len(app.reader._carried) <= CARRIED
