"""Pages while the disk keeps who reads waiting: rows never change before their changes are told."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from chat_tui.model.conversation import Conversation
from chat_tui.model.pager import Pager
from chat_tui.model.row import Change
from sync.view.view import Position
from tests.support.chat_tui.conversations import line, replay
from tests.support.chat_tui.scenes import ALICE, Scene
from tests.support.chat_tui.slow_disks import LINES, SlowDisk, replies_far_apart

Load = Callable[[Pager, Conversation], Awaitable[list[Change]]]


def nobodys(scene: Scene) -> Conversation:
    """Alice's conversation, of which nothing is in memory yet."""
    snapshot = scene.snapshot()
    return Conversation(snapshot.channels[0].channel, snapshot.me, "alice")


def place(scene: Scene, number: int) -> Position:
    return scene.world.nodes[ALICE].disk.lines()[number]


def older(pager: Pager, held: Conversation) -> Awaitable[list[Change]]:
    return pager.older(held)


def newer(pager: Pager, held: Conversation) -> Awaitable[list[Change]]:
    return pager.newer(held)


async def read_around(scene: Scene, number: int) -> Conversation:
    """Rows around a line of the talk."""
    held = nobodys(scene)
    await Pager(scene.chat.history, pytest.fail).around(held, place(scene, number))
    return held


LOADS = pytest.mark.parametrize(
    ("path", "start"), [("older", LINES - 50), ("newer", LINES // 2), ("around", LINES // 2)]
)
"""Ways to replies that answer what has no row, each with the line that is read around before."""


def load(path: str, scene: Scene) -> Load:
    match path:
        case "older":
            return older
        case "newer":
            return newer
        case _:
            return lambda pager, held: pager.around(held, place(scene, LINES - 20))


@LOADS
async def test_rows_have_changed_when_their_changes_are_told_and_not_before(
    path: str, start: int
) -> None:
    scene = replies_far_apart()
    held = await read_around(scene, start)
    disk, history = SlowDisk.under(scene.chat.history, "answered")
    before = [row.line.message_id for row in held.rows]

    going = asyncio.ensure_future(load(path, scene)(Pager(history, pytest.fail), held))
    asked = asyncio.ensure_future(disk.asked.wait())
    await asyncio.wait([going, asked], return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()

    changes = going.result()
    assert len(replay(list(before), changes)) == len(held.rows) != len(before)


@LOADS
async def test_what_the_rows_of_a_page_answer_is_read_after_it(path: str, start: int) -> None:
    scene = replies_far_apart()
    held = await read_around(scene, start)
    pager = Pager(scene.chat.history, pytest.fail)

    await load(path, scene)(pager, held)
    await pager.quote(held)

    replies = [row for row in held.rows if row.line.reply_to is not None]
    assert replies
    assert all(row.quote.startswith("bob: line ") for row in replies)


@LOADS
async def test_a_load_that_is_cancelled_ends_and_the_next_one_is_read(
    path: str, start: int
) -> None:
    scene = replies_far_apart()
    held = await read_around(scene, start)
    slow = "page_after" if path == "newer" else "page"
    disk, history = SlowDisk.under(scene.chat.history, slow)
    pager = Pager(history, pytest.fail)
    rows = list(held.rows)

    going = asyncio.ensure_future(load(path, scene)(pager, held))
    await disk.asked.wait()
    going.cancel()
    await asyncio.wait([going])
    after = (held.loading, held.stuck, list(held.rows))
    disk.free.set()
    changes = await load(path, scene)(pager, held)

    assert going.cancelled()
    assert after == (False, False, rows)
    assert changes


async def test_what_comes_while_a_load_is_cancelled_has_its_row_once() -> None:
    scene = replies_far_apart()
    held = await read_around(scene, LINES - 50)
    disk, history = SlowDisk.under(scene.chat.history, "page")
    pager = Pager(history, pytest.fail)
    came = line(2**62, "a new line", seconds=1)

    going = asyncio.ensure_future(pager.around(held, place(scene, 5)))
    await disk.asked.wait()
    told = held.arrive(came)
    rows = len(held.rows)
    going.cancel()
    await asyncio.wait([going])

    assert told
    assert len(held.rows) == rows
    assert [row.text for row in held.rows].count("a new line") == 1
