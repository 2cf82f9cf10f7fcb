"""Enter on a message: what opens, and each of its keys."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.debug.pane import DebugPane
from chat_tui.debug.tab_table import Tab
from chat_tui.details.drawer import Words
from chat_tui.details.frames import Role
from chat_tui.details.message_screen import DetailsScreen
from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from sync.machine import SECOND
from tests.support.chat_tui import scenes, stories
from tests.support.chat_tui.readings import LINK, command, reading, short_talk, shown, until
from tests.support.chat_tui.scenes import Scene

FROM_NEWEST = {"I bring both": 0, stories.LOST: 2}

pytestmark = pytest.mark.usefixtures("in_utc")


@pytest.fixture(scope="module")
def repaired() -> Scene:
    with scenes.utc():
        return stories.repaired()


@asynccontextmanager
async def opened(
    scene: Scene,
    up: int = FROM_NEWEST[stories.LOST],
    size: tuple[int, int] = (80, 24),
    glyphs: Glyphs = UNICODE,
) -> AsyncIterator[tuple[ChatApp, Pilot[None]]]:
    """The details of the message so many above the newest, with what the disk says."""
    async with reading(scene, size, glyphs) as (app, pilot):
        await pilot.press("ctrl+t", *["k"] * up, "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))
        await until(pilot, lambda: "In short" in shown(app))
        yield app, pilot


async def closed(app: ChatApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: not isinstance(app.screen, DetailsScreen))


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (140, 40)])
async def test_it_says_what_happened_in_one_sentence_first(
    repaired: Scene, size: tuple[int, int]
) -> None:
    async with opened(repaired, size=size) as (app, _pilot):
        text = shown(app)

    assert "Message " in text
    assert "repaired by" in text
    assert "lost on the way" in text
    assert "Esc close" in text


async def test_it_fills_a_narrow_screen_and_is_a_drawer_on_a_wide_one(repaired: Scene) -> None:
    async with opened(repaired, size=(80, 24)) as (app, _pilot):
        narrow = app.screen.children[0].region
    async with opened(repaired, size=(140, 40)) as (app, _pilot):
        wide, text = app.screen.children[0].region, shown(app)

    assert (narrow.x, narrow.width) == (0, 80)
    assert (wide.right, wide.width) == (140, 92)
    assert "PEERS" in text


@pytest.mark.parametrize("key", ["escape", "enter", "q"])
async def test_keys_that_close(repaired: Scene, key: str) -> None:
    async with opened(repaired) as (app, pilot):
        await pilot.press(key)
        await closed(app, pilot)


async def test_y_copies_the_text_and_i_the_id(repaired: Scene) -> None:
    line = await stories.line_of(repaired, stories.LOST)
    async with opened(repaired) as (app, pilot):
        await pilot.press("y")
        await closed(app, pilot)
        text = app.clipboard
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))
        await pilot.press("i")
        await closed(app, pilot)

        assert (text, app.clipboard) == (stories.LOST, line.message_id)


async def test_g_shows_its_graph(repaired: Scene) -> None:
    line = await stories.line_of(repaired, stories.LOST)
    async with opened(repaired) as (app, pilot):
        await pilot.press("g")
        await closed(app, pilot)
        pane = app.query_one(DebugPane)

        assert (pane.tab, pane.causal.centre) == (Tab.CAUSAL, line.message_id)


async def test_w_shows_the_frames_that_carry_name_or_ask_for_it(repaired: Scene) -> None:
    line = await stories.line_of(repaired, stories.LOST)
    async with opened(repaired, size=(140, 40)) as (app, pilot):
        await pilot.press("w")
        await closed(app, pilot)
        await until(pilot, lambda: app.query_one(DebugPane).tab is Tab.WIRE)
        pane = app.query_one(DebugPane)
        await until(pilot, lambda: "REPAIR" in shown(app))
        text = shown(app)

    known = await stories.known(repaired, stories.LOST)
    assert line.message_id.startswith(pane.wire.words)
    assert line.message_id[:6] in text
    assert {one.role for one in known.heard} == set(Role)
    assert all(str(one.within)[:6] in text for one in known.heard)


async def test_d_shows_the_bytes_and_again_the_words(repaired: Scene) -> None:
    async with opened(repaired) as (app, pilot):
        await pilot.press("d")
        await until(pilot, lambda: "SDS message, content" in shown(app))
        tree = shown(app)
        await pilot.press("end")
        await pilot.pause()
        dump = shown(app)
        await pilot.press("d")
        await until(pilot, lambda: "In short" in shown(app))

    assert "├ causal_history 1" in tree
    assert "d back to the words" in tree
    assert "in room" not in dump
    assert "0298  " in dump or "0290  " in dump


async def test_d_draws_the_tree_in_ascii_where_only_that_is(repaired: Scene) -> None:
    async with opened(repaired, glyphs=ASCII) as (app, pilot):
        frame = shown(app).splitlines()[0]
        await pilot.press("d")
        await until(pilot, lambda: "SDS message, content" in shown(app))
        tree = shown(app)

    assert frame.isascii()
    assert "+ causal_history 1" in tree


async def test_o_asks_which_link_to_open() -> None:
    async with opened(short_talk(), up=2) as (app, pilot):
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))

        assert LINK in shown(app)


@pytest.mark.parametrize(
    ("down", "up"), [("j", "k"), ("pagedown", "pageup"), ("end", "home"), ("space", "home")]
)
async def test_keys_that_scroll(repaired: Scene, down: str, up: str) -> None:
    async with opened(repaired) as (app, pilot):
        before = shown(app)
        await pilot.press(down)
        await until(pilot, lambda: shown(app) != before)
        await pilot.press(up)
        await until(pilot, lambda: shown(app) == before)


async def test_it_follows_what_happens_and_paints_only_what_changed() -> None:
    scene = stories.repaired()
    async with reading(scene, (140, 40)) as (app, pilot):
        scene.turn_silent()
        await pilot.press(*"so", "enter")
        await until(pilot, lambda: not app.composer.text)
        await pilot.press("ctrl+t", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))
        screen = app.screen
        assert isinstance(screen, DetailsScreen)
        await until(pilot, lambda: "nobody has said yet" in shown(app))
        painted = _count_lines(screen.query_one(Words))

        scene.world.run(SECOND // 4)
        screen.tick()
        await pilot.pause()
        few = len(painted)
        scene.turn_quick()
        scene.world.run(20 * SECOND)
        app._tick()
        screen.tick()
        await until(pilot, lambda: "it for certain" in shown(app))
        text = shown(app)

    assert 0 < few <= 4  # the countdown to the resend, and no line above it
    assert "that acknowledges it" in text


def _count_lines(words: Words) -> list[int]:
    """Note which lines are rendered from now on."""
    painted: list[int] = []
    render: Callable[[int], object] = words.render_line

    def note(y: int) -> object:
        painted.append(y)
        return render(y)

    words.render_line = note  # type: ignore[method-assign,assignment]
    return painted


async def test_info_opens_it_and_info_raw_its_bytes(repaired: Scene) -> None:
    line = await stories.line_of(repaired, stories.LOST)
    async with reading(repaired) as (app, pilot):
        await command(pilot, f"/info {line.message_id[:8]}")
        await until(pilot, lambda: "In short" in shown(app))
        await pilot.press("escape")
        await closed(app, pilot)
        await command(pilot, f"/info raw {line.message_id[:8]}")
        await until(pilot, lambda: "SDS message, content" in shown(app))
