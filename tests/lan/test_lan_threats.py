"""The threat table on a real network: what somebody hostile on the LAN cannot do."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lan.lab import Lab
from tests.support.patience import PATIENCE_S
from tests.support.processes import ROOT, Person, PlainProcess, equal_logs, everyone_sees_everyone
from tests.support.sync.entries import identity

pytestmark = [pytest.mark.lan, pytest.mark.slow]

ATTACKER = 5
FOUND_WITHIN_S = 5.0
"""A real peer, in the middle of a flood of forged ones."""

UNDISTURBED_S = 3.0
IDLE_CONNECTIONS = 100
FORGED_NAMES = 1000
IDENTITIES = 300
"""More than anybody has places."""

IDLE_SESSIONS = 160
"""More than anybody has places for them."""

BEGUN_WITHIN_S = 3 * PATIENCE_S
"""For an attack of hundreds of handshakes, on a machine that may be busy with other things."""

MEMORY_MAX = 200 * 1024 * 1024
MEMORY_OF_ALL_MAX = 256 * 1024 * 1024
"""Where all comes at once: 160 MiB after seconds, 238 after half a minute, and then no more."""

STDERR_LINES_MAX = 5


class Deed:
    """An attack that runs on a host; `said` is what it printed so far."""

    def __init__(self, process: Process) -> None:
        self.said: list[dict[str, Any]] = []
        self._process = process

    async def say_next(self, key: str) -> Any:  # noqa: ANN401  # JSON
        """Wait until it says something about `key`, and return that."""
        assert self._process.stdout is not None
        async with asyncio.timeout(BEGUN_WITHIN_S):
            async for line in self._process.stdout:
                self.said.append(json.loads(line))
                if key in self.said[-1]:
                    return self.said[-1][key]
        raise AssertionError(f"the attack ended without {key!r}: {self.said}")

    async def end(self, last_words: str = "") -> None:
        """End its input and wait until it has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(last_words.encode())
        self._process.stdin.close()
        async with asyncio.timeout(PATIENCE_S):
            rest = await self._process.stdout.read()
            self.said += [json.loads(line) for line in rest.splitlines()]
            assert await self._process.wait() == 0


@asynccontextmanager
async def attack(
    prefix: tuple[str, ...], *words: str, module: str = "attacker"
) -> AsyncIterator[Deed]:
    """Run a deed of a module of `tests.lan`; it is certainly ended at the end."""
    process = await asyncio.create_subprocess_exec(
        *prefix,
        sys.executable,
        "-m",
        f"tests.lan.{module}",
        *words,
        cwd=ROOT,
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        yield Deed(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def person(
    lab: Lab,
    tmp_path: Path,
    host: int,
    *,
    name: str | None = None,
    interface: str | None = None,
    channel: str | None = None,
) -> Person:
    name = name or f"host{host}"
    return Person(name, tmp_path / name, interface, channel=channel, prefix=lab.prefix(host))


async def test_a_forged_goodbye_changes_nothing(lab: Lab, tmp_path: Path) -> None:
    async with (
        PlainProcess(person(lab, tmp_path, 1)) as alice,
        PlainProcess(person(lab, tmp_path, 2)) as bob,
    ):
        await everyone_sees_everyone([alice, bob])
        async with attack(lab.prefix(ATTACKER), "goodbye", lab.address(ATTACKER), "2") as deed:
            await deed.end()
        await asyncio.gather(
            *(each.never("peer", state="down", for_s=UNDISTURBED_S) for each in (alice, bob))
        )
        await alice.say("still here")

        assert len([said for said in deed.said if "gone" in said]) == 2
        assert await equal_logs([alice, bob]) == ["still here"]


async def test_who_is_led_to_a_forged_address_tells_nothing_there_and_finds_the_real_peer(
    lab: Lab, tmp_path: Path
) -> None:
    mallory = identity("mallory").peer_id
    async with (
        PlainProcess(person(lab, tmp_path, 1, name="agnes")) as alice,
        attack(lab.prefix(ATTACKER), "hijack", lab.address(ATTACKER)) as deed,
    ):
        async with PlainProcess(person(lab, tmp_path, 2, name="boris")) as bob:
            await everyone_sees_everyone([alice, bob])
            await deed.say_next("came")
            await alice.say("the real thing")
            read = await equal_logs([alice, bob])

            assert mallory not in alice.peers
            assert mallory not in bob.peers
            assert read == ["the real thing"]
        await deed.end()
    heard = json.dumps(deed.said)

    assert [said for said in deed.said if "came" in said]
    assert {said["kind"] for said in deed.said if "kind" in said} <= {
        "Open", "Proof", "Ping", "Pong", "Goodbye",
    }  # fmt: skip
    for hidden in ("agnes", "boris", "lobby", "the real thing"):
        assert hidden not in heard


async def test_in_a_flood_of_forged_names_a_real_peer_is_found(lab: Lab, tmp_path: Path) -> None:
    async with PlainProcess(person(lab, tmp_path, 1)) as alice:
        flooding = ("flood", lab.address(ATTACKER), str(FORGED_NAMES))
        async with attack(lab.prefix(ATTACKER), *flooding) as deed:
            await deed.say_next("halfway")
            async with PlainProcess(person(lab, tmp_path, 2)) as bob:
                await everyone_sees_everyone([alice, bob], within_s=FOUND_WITHIN_S)
                await deed.end()
                async with PlainProcess(person(lab, tmp_path, 3)) as carol:
                    everyone = [alice, bob, carol]
                    await everyone_sees_everyone(everyone, within_s=FOUND_WITHIN_S)
                    await carol.say("found you")

                    assert await equal_logs(everyone) == ["found you"]
        assert deed.said[-1] == {"sent": FORGED_NAMES}
        assert len(alice._stderr) <= STDERR_LINES_MAX


async def test_idle_connections_do_not_keep_people_from_chatting(lab: Lab, tmp_path: Path) -> None:
    async with (
        PlainProcess(person(lab, tmp_path, 1)) as alice,
        PlainProcess(person(lab, tmp_path, 2)) as bob,
    ):
        await everyone_sees_everyone([alice, bob])
        crowding = ("crowd", lab.address(1), str(alice.port), str(IDLE_CONNECTIONS))
        async with attack(lab.prefix(ATTACKER), *crowding) as deed:
            connected = await deed.say_next("connected")
            await alice.say("in the crowd")
            async with PlainProcess(person(lab, tmp_path, 3)) as carol:
                await everyone_sees_everyone([alice, bob, carol])
                await carol.say("let me through")
                read = await equal_logs([alice, bob, carol])
                downs = [event for event in alice.events("peer") if event["state"] == "down"]
            await deed.end()

        assert connected == IDLE_CONNECTIONS
        assert sorted(read) == ["in the crowd", "let me through"]
        assert downs == []
        assert len(alice._stderr) <= STDERR_LINES_MAX


async def test_hundreds_of_identities_of_one_address_keep_no_friend_out(
    lab: Lab, tmp_path: Path
) -> None:
    async with PlainProcess(person(lab, tmp_path, 1)) as alice:
        crowding = ("identities", lab.address(1), str(alice.port), str(IDENTITIES), "lobby")
        async with attack(lab.prefix(ATTACKER), *crowding) as deed:
            await deed.say_next("linked")
            async with PlainProcess(person(lab, tmp_path, 2)) as bob:
                await everyone_sees_everyone([alice, bob], within_s=FOUND_WITHIN_S)
                await alice.say("is anybody there?")
                await bob.say("yes, me")

                assert sorted(await equal_logs([alice, bob])) == ["is anybody there?", "yes, me"]
                memory = highest_memory(alice)
            await deed.end()

        assert 0 < deed.said[-1]["left"] < IDENTITIES
        assert memory < MEMORY_MAX
        assert len(alice._stderr) <= STDERR_LINES_MAX


async def test_idle_sessions_do_not_keep_a_friend_from_the_history(
    lab: Lab, tmp_path: Path
) -> None:
    async with PlainProcess(person(lab, tmp_path, 1)) as alice:
        await alice.say("one", "two", "three")
        idling = ("sessions", lab.address(1), str(alice.port), str(IDLE_SESSIONS), "lobby")
        async with attack(lab.prefix(ATTACKER), *idling) as deed:
            await deed.say_next("opened")
            async with PlainProcess(person(lab, tmp_path, 2)) as bob:
                read = await equal_logs([alice, bob])
                await bob.wait_for("sync", within_s=FOUND_WITHIN_S)
                await bob.send("/sync")  # which bob begins, whoever has the smaller key
                await bob.wait_for("sync", outcome="converged", within_s=FOUND_WITHIN_S)
            await deed.end()

        assert sorted(read) == ["one", "three", "two"]
        assert highest_memory(alice) < MEMORY_MAX


async def test_all_that_takes_memory_at_once_takes_no_more_than_there_is(
    lab: Lab, tmp_path: Path
) -> None:
    async with (
        PlainProcess(person(lab, tmp_path, 1)) as alice,
        PlainProcess(person(lab, tmp_path, 2)) as bob,
    ):
        await alice.say("one", "two", "three")
        await everyone_sees_everyone([alice, bob])
        words = (lab.address(1), str(alice.port), str(IDENTITIES), "lobby")
        async with attack(lab.prefix(ATTACKER), *words, module="hoarder") as deed:
            await deed.say_next("begun")
            await bob.say("four")
            await alice.wait_for("message", text="four", within_s=FOUND_WITHIN_S)
            async with PlainProcess(person(lab, tmp_path, 3)) as carol:
                await everyone_sees_everyone([alice, bob, carol])
                await carol.say("five")
                read = await equal_logs([alice, bob, carol])
            memory = highest_memory(alice)
            await deed.end()

        assert sorted(read) == ["five", "four", "one", "three", "two"]
        assert deed.said[0]["half_frames"] > IDENTITIES / 2
        assert memory < MEMORY_OF_ALL_MAX, f"{memory / 2**20:.0f} MiB, {deed.said}"


def highest_memory(process: PlainProcess) -> int:
    """Bytes that a process has had in memory at most."""
    status = Path(f"/proc/{process._running.pid}/status").read_text(encoding="utf-8")
    [peak] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peak) * 1024


async def test_nothing_on_the_network_tells_who_is_there_or_what_is_said(
    lab: Lab, tmp_path: Path
) -> None:
    secrets = ["agnes-of-the-hills", "boris-the-quiet", "secretgarden", "meet-me-at-the-gate"]
    tap = ("ip", "netns", "exec", lab.switch)
    async with attack(tap, "listen") as deed:
        await deed.say_next("ready")
        agnes, boris, garden, gate = secrets
        async with (
            PlainProcess(person(lab, tmp_path, 1, name=agnes, channel=f"#{garden}")) as alice,
            PlainProcess(person(lab, tmp_path, 2, name=boris, channel=f"#{garden}")) as bob,
        ):
            await everyone_sees_everyone([alice, bob])
            await alice.say(gate)
            await equal_logs([alice, bob])
            ids = [alice.participant, *alice.messages]
        await deed.end(json.dumps([*secrets, *ids, "_chat-tui"]) + "\n")
    [seen] = [said for said in deed.said if "bytes" in said]

    assert seen["bytes"] > 5_000
    assert seen["found"] == ["_chat-tui"]


async def test_a_named_interface_may_go_and_come_back(lab: Lab, tmp_path: Path) -> None:
    named = person(lab, tmp_path, 2, interface=lab.address(2))
    async with PlainProcess(person(lab, tmp_path, 1)) as alice, PlainProcess(named) as bob:
        await everyone_sees_everyone([alice, bob])
        lab.change_address(2, 50)
        await alice.wait_for("peer", state="down", within_s=PATIENCE_S)
        await bob.until(lambda: not bob.peers_up, "alone", within_s=PATIENCE_S)
        await bob.say("nobody hears me")

        lab.change_address(2, 2)
        await everyone_sees_everyone([alice, bob])

        assert await equal_logs([alice, bob]) == ["nobody hears me"]
