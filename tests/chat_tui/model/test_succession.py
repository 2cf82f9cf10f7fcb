"""An older conversation above the channel that goes on from it."""

from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.model.succession import Succession
from sync.machine import ChannelId
from sync.view.view import Line
from tests.support.chat_tui.chats import opened, running
from tests.support.chat_tui.live_screens import screen, type_in, until
from tests.support.chat_tui.readings import shown

pytestmark = pytest.mark.net

PAGES = (1, 2, 3, 4, 50)


async def succeeded(alice: Client) -> tuple[ChannelId, ChannelId]:
    """Two lines in a plain channel, two in what goes on from it, and one more in the old one."""
    run = Commands(alice).run
    old = (await run("/create plans plain", At(alice.first_channel))).channel
    assert old is not None
    for text in ("one", "two"):
        await run(text, At(old))
    new = (await run("/govern", At(old))).channel
    assert new is not None
    for text in ("three", "four"):
        await run(text, At(new))
    await run("an old program goes on here", At(old))
    return old, new


def texts(lines: list[Line]) -> list[str]:
    """Texts of lines, and the kinds of acts."""
    return [line.text if line.act is None else line.act.kind.value for line in lines]


ALL = ["one", "two", "founded", "invited", "three", "four"]


@pytest.mark.parametrize("limit", PAGES)
async def test_pages_go_on_into_the_older_channel(tmp_path: Path, limit: int) -> None:
    async with running(tmp_path, "alice") as alice:
        _, new = await succeeded(alice)
        history = Succession(alice.history)

        pages: list[list[Line]] = [await history.page(new, before=None, limit=limit)]
        while len(pages[-1]) == limit:
            before = pages[-1][0].position
            pages.append(await history.page(new, before=before, limit=limit))
        read = texts([line for page in reversed(pages) for line in page])

        assert read == ALL
        assert max(map(len, pages)) <= limit


@pytest.mark.parametrize("limit", PAGES)
async def test_pages_come_back_down_from_it(tmp_path: Path, limit: int) -> None:
    async with running(tmp_path, "alice") as alice:
        _, new = await succeeded(alice)
        history = Succession(alice.history)
        [*_, first] = await history.page(new, before=None, limit=len(ALL))
        [first, *_] = await history.page(new, before=None, limit=len(ALL))

        read = [first]
        while page := await history.page_after(new, after=read[-1].position, limit=limit):
            assert len(page) <= limit
            read += page

        assert texts(read) == ALL


async def test_other_channels_have_their_own_lines_alone(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        old, _ = await succeeded(alice)
        history = Succession(alice.history)

        lines = await history.page(old, before=None, limit=50)

        assert texts(lines)[:2] == ["one", "two"]
        assert texts(lines)[-1] == "an old program goes on here"
        assert "three" not in texts(lines)
        assert await alice.history.predecessor(old) is None


@pytest.mark.slow
async def test_the_screen_shows_the_old_conversation_above_the_new_one(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "/create plans plain")
        await until(pilot, lambda: "to #plans, private" in shown(app))
        await type_in(pilot, "before")
        await until(pilot, lambda: "alice  before" in shown(app))
        await type_in(pilot, "/govern")
        await until(pilot, lambda: "goes on from #plans, and you are its owner" in shown(app))
        await type_in(pilot, "after")
        await until(pilot, lambda: "alice  after" in shown(app))

        text = shown(app)
        assert text.index("alice  before") < text.index("founded #plans") < text.index("after")
