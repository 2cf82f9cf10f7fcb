"""Lines on their way to the engine: in order, and waiting in memory while the disk refuses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from chat_tui.app.input_queue import Inputs
from chat_tui.app.unsaved_lines import HELD_MAX, Input
from chat_tui.commands.command import Result
from sync.errors import StorageError
from sync.machine import ChannelId

LOBBY, PLANS = ChannelId("lobby"), ChannelId("plans")


class Disk:
    """Takes lines or refuses them; what it took and what was answered."""

    def __init__(self) -> None:
        self.is_full = False
        self.taken: list[str] = []
        self.places: list[tuple[str, ChannelId | None]] = []
        self.answers: list[tuple[str, Result]] = []
        self.inputs = Inputs(self.run, self.note)

    def note(self, line: Input, result: Result) -> None:
        self.answers.append((line.text, result))

    async def run(self, line: Input) -> Result:
        if self.is_full and not line.text.startswith("/"):
            error = StorageError("The disk is full.")
            return Result(ok=False, text=str(error), refused_by_disk=True)
        self.taken.append(line.text)
        self.places.append((line.text, line.channel))
        return Result(channel=PLANS if line.text == "/join #plans" else None)

    async def put(self, *lines: str) -> None:
        for line in lines:
            self.inputs.put_typed(line, LOBBY)
        await settled()


async def settled() -> None:
    for _ in range(3 * HELD_MAX):
        await asyncio.sleep(0)


@asynccontextmanager
async def working() -> AsyncIterator[Disk]:
    disk = Disk()
    task = asyncio.create_task(disk.inputs.work())  # no node, so none of its groups
    disk.inputs.begin()
    try:
        yield disk
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_what_the_disk_refuses_waits_in_order_and_is_written_once_it_takes_it() -> None:
    async with working() as disk:
        await disk.put("one")
        disk.is_full = True
        await disk.put("two", "three", "/status")
        held, taken = disk.inputs.held, list(disk.taken)
        disk.inputs.try_again()
        await settled()
        still = disk.inputs.held
        disk.is_full = False
        await disk.put("four")
        overtaken = list(disk.taken)
        disk.inputs.try_again()
        await settled()

    assert (held, taken) == (2, ["one", "/status"])
    assert still == 2
    assert overtaken == ["one", "/status"], "a line never overtakes those that wait"
    assert disk.taken == ["one", "/status", "two", "three", "four"]
    assert disk.inputs.held == 0
    assert all(result.ok for _, result in disk.answers), "none goes back into the input"


async def test_more_than_can_wait_goes_back_to_who_wrote_it() -> None:
    async with working() as disk:
        disk.is_full = True
        await disk.put(*[f"line {number}" for number in range(HELD_MAX + 1)])

    line, result = disk.answers[-1]
    assert disk.inputs.held == HELD_MAX
    assert (line, result.ok) == (f"line {HELD_MAX}", False)


async def test_a_line_that_is_refused_for_another_reason_does_not_wait() -> None:
    async with working() as disk:
        disk.inputs.begin(obstacle="No port is free.")
        await disk.put("hello", "/help")

    assert [(line, result.text) for line, result in disk.answers] == [
        ("hello", "No port is free."),
        ("/help", ""),
    ]
    assert disk.inputs.held == 0


async def test_a_line_that_waits_goes_to_the_channel_in_which_it_was_written() -> None:
    async with working() as disk:
        disk.is_full = True
        disk.inputs.put_typed("for few", PLANS)
        disk.inputs.put_typed("for all", LOBBY)
        await settled()
        disk.is_full = False
        disk.inputs.try_again()
        await settled()

    assert disk.places == [("for few", PLANS), ("for all", LOBBY)]


async def test_what_is_typed_after_a_command_that_opens_a_channel_goes_there() -> None:
    async with working() as disk:
        await disk.put("before", "/join #plans", "after")

    assert disk.places == [("before", LOBBY), ("/join #plans", LOBBY), ("after", PLANS)]
