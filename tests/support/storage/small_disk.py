"""People's view of a disk that is full or read-only: real programs on a real, small disk.

Run as a program by `test_small_disk`, in a mount namespace of its own, where `argv[2]` is a disk of
a few megabytes; `argv[3]` is a directory on a large one. A scene that goes wrong raises.
"""

import asyncio
import subprocess
import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from tests.support.chat_tui.terminals import Terminal
from tests.support.processes import Event, Person, PlainProcess, everyone_sees_everyone, run

FULL: Final = "The disk is full: free some space"
BALLAST: Final = "ballast"
LONG: Final = "long " + "x" * 14_000
"""More than the log has room for that SQLite made before the disk was full."""
BACK_WITHIN_S: Final = 30.0
"""The program looks at its disk every 2 s, and waits up to 10 s after it refused often."""


def fill(disk: Path) -> None:
    """Leave no room on the disk."""
    with (disk / BALLAST).open("wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(4096))
            except OSError:
                return


def _is_full(event: Event) -> bool:
    return event["event"] == "error" and FULL in str(event["message"])


def make_room(disk: Path) -> None:
    (disk / BALLAST).unlink()


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def person(name: str, directory: Path, channel: str) -> Person:
    return Person(name, directory / name, interface="127.0.0.1", channel=channel)


def screen_of(whom: Person) -> list[str]:
    options = ["--name", whom.name, "--interface", "127.0.0.1"]
    return whom.command("chat", *options)


async def runs_full_among_others(disk: Path, other: Path, channel: str) -> None:
    """Alice does not acknowledge what she cannot keep, and gets it once there is room again."""
    async with (
        PlainProcess(person("bob", other, channel)) as bob,
        PlainProcess(person("alice", disk, channel)) as alice,
    ):
        await everyone_sees_everyone([alice, bob])
        [before] = await alice.say("before")
        await bob.wait_for("message", id=before["id"])
        fill(disk)
        lines = [f"{number} {LONG}" for number in range(3)]
        said = await bob.say(*lines)
        await alice.wait_for(_is_full, within_s=BACK_WITHIN_S)
        since = alice.mark()
        await alice.send(LONG)
        await alice.wait_for(_is_full, since=since, within_s=BACK_WITHIN_S)
        kept = set(alice.messages)
        unkept = [one["id"] for one in said if one["id"] not in kept]
        assert unkept, "the disk was full"
        acknowledged = {id_ for id_, state in bob.deliveries.items() if state == "acknowledged"}
        assert not acknowledged & set(unkept), "acknowledged, and not stored"
        make_room(disk)
        for one in said:
            await alice.wait_for("message", id=one["id"], within_s=BACK_WITHIN_S)
        [after] = await alice.say("after")
        await bob.wait_for("message", id=after["id"], within_s=BACK_WITHIN_S)
        assert [one["text"] for one in alice.own] == ["before", LONG, "after"]
        assert await alice.close() == 0


async def screen_goes_on_in_memory(disk: Path, _other: Path, channel: str) -> None:
    """Lines wait in memory in their order, the banner says so, and then they are sent."""
    alice = person("alice", disk, channel)
    await _keep_a_line(alice)
    async with Terminal(screen_of(alice), size=(100, 30)) as terminal:
        await terminal.until("kept before")
        fill(disk)
        await terminal.paste(LONG)
        await terminal.press("Enter")
        await terminal.until("DISK: The disk is full: free some space")
        await terminal.until("1 line waits in memory until then")
        await terminal.type("and another one")
        waiting = await terminal.until("2 lines wait in memory until then")
        assert "and another one" not in waiting, "shown as sent, and not stored"
        make_room(disk)
        await terminal.until("and another one", within_s=BACK_WITHIN_S)
        await terminal.until(lambda screen: "DISK:" not in screen)
        await terminal.press("C-q")
        await terminal.until("EXIT 0")
    assert await _texts(alice) == ["kept before", LONG, "and another one"]


async def line_mode_goes_on_in_memory(disk: Path, _other: Path, channel: str) -> None:
    """Lines wait in memory in their order, then they are sent; who leaves is told what is not."""
    alice = person("alice", disk, channel)
    await _keep_a_line(alice)
    async with PlainProcess(alice) as process:
        fill(disk)
        await process.send(LONG)
        await process.wait_for("waiting", lines=1, within_s=BACK_WITHIN_S)
        await process.send("and another one")
        await process.wait_for("waiting", lines=2)
        make_room(disk)
        await process.wait_for("waiting", lines=0, within_s=BACK_WITHIN_S)
        assert [one["text"] for one in process.own] == [LONG, "and another one"]
        assert await process.close() == 0
    remount(disk, "ro")
    words = alice.command("plain", "--name", "alice", "--interface", "127.0.0.1")
    finished = await run(["sh", "-c", 'echo lost | "$@"', "sh", *words])
    assert "* DISK: The history in" in finished.stdout, finished
    assert "* Not sent yet: 1 line waits in memory" in finished.stdout, finished
    assert "* Not sent: the disk never took it: lost" in finished.stdout, finished
    remount(disk, "rw")
    assert await _texts(alice) == ["kept before", LONG, "and another one"]


async def starts_read_only(disk: Path, _other: Path, channel: str) -> None:
    """A disk that became read-only can be read; with a banner, and written again later."""
    alice = person("alice", disk, channel)
    await _keep_a_line(alice)
    remount(disk, "ro")
    async with Terminal(screen_of(alice), size=(100, 30)) as terminal:
        await terminal.until("kept before")
        await terminal.until("DISK: The history in")
        await terminal.type("written meanwhile")
        await terminal.until("1 line waits in memory until then")
        remount(disk, "rw")
        await terminal.until("written meanwhile", within_s=BACK_WITHIN_S)
        await terminal.until(lambda screen: "DISK:" not in screen)
        await terminal.press("C-q")
        await terminal.until("EXIT 0")
    assert await _texts(alice) == ["kept before", "written meanwhile"]


async def starts_full(disk: Path, _other: Path, channel: str) -> None:
    """An old profile opens on a full disk; a new one is told in a sentence why it cannot."""
    alice = person("alice", disk, channel)
    await _keep_a_line(alice)
    fill(disk)
    async with PlainProcess(alice, "--history", "5") as again:
        await again.wait_for("message", text="kept before")
        await again.send("waits")
        await again.wait_for("waiting", lines=1)
        make_room(disk)
        await again.say("taken")
        assert [one["text"] for one in again.own] == ["kept before", "waits", "taken"]
        await again.close()
    fill(disk)
    refused = await run(person("carol", disk, channel).plain())
    assert refused.code == 1, refused
    assert "No space left on device. Put that right" in refused.stderr, refused


async def starts_full_after_a_crash(disk: Path, _other: Path, channel: str) -> None:
    """Lines in SQLite's log alone can be read too, with no room for the index of that log."""
    alice = person("alice", disk, channel)
    async with PlainProcess(alice) as process:
        await process.say("kept before", "kept last")
        await process.kill()
    history = alice.data_dir / alice.name / "chat.db"
    assert history.with_name("chat.db-wal").stat().st_size > history.stat().st_size
    history.with_name("chat.db-shm").unlink()
    fill(disk)
    async with PlainProcess(alice, "--history", "5") as again:
        await again.wait_for("message", text="kept last")
        await again.send("waits")
        await again.wait_for("waiting", lines=1)
        make_room(disk)
        await again.wait_for("message", text="waits", within_s=BACK_WITHIN_S)
        assert await again.close() == 0
    assert await _texts(alice) == ["kept before", "kept last", "waits"]


async def _keep_a_line(whom: Person) -> None:
    async with PlainProcess(whom) as process:
        await process.say("kept before")
        assert await process.close() == 0


async def _texts(whom: Person) -> list[str]:
    """Return the texts that a later start finds on the disk."""
    async with PlainProcess(whom, "--history", "50") as process:
        await process.ask("/status")
        return [str(one["text"]) for one in process.messages.values()]


SCENES: Final[dict[str, Callable[[Path, Path, str], Awaitable[None]]]] = {
    one.__name__: one
    for one in (
        runs_full_among_others,
        screen_goes_on_in_memory,
        line_mode_goes_on_in_memory,
        starts_read_only,
        starts_full,
        starts_full_after_a_crash,
    )
}


async def play(scene: str, disk: Path, other: Path) -> None:
    await SCENES[scene](disk, other, f"#t-{uuid.uuid4().hex[:12]}")


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
