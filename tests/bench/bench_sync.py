"""Two programs over loopback: from the link to the last message stored and shown.

Each has its own processor as far as there are enough, and prints every message it shows. The
longest block is what kept the loop of the screen longest, start-up apart, as the program itself
measured it.
"""

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from sync.group.values import StoredMessage
from sync.machine import SECOND
from sync.net.invite import open_channel
from sync.sim.timeline import EPOCH
from tests.bench.programs import Program, Programs
from tests.bench.report import Params, Result, at_most, progress
from tests.support.chat_tui.preloaded import fill
from tests.support.processes import ROOT, Person
from tests.support.storage.archives import archive

MESSAGES: Final = 100_000
DIFFERENT: Final = 1_000
READY_WITHIN_S: Final = 120.0
EQUAL_WITHIN_S: Final = 300.0
BLOCK_MS: Final = 50.0
LOOK_S: Final = 0.05

LOBBY: Final = open_channel("lobby")
BEGAN: Final = EPOCH - 3 * MESSAGES * SECOND
MESSAGE: Final = b'"event": "message"'
UP: Final = b'"state": "up"'


def sync_meet(place: Path) -> Iterator[Result]:
    """Two with 100,000 messages, 500 of which only one has."""
    yield from _meeting(place, "sync_meet", DIFFERENT // 2, DIFFERENT // 2)


def sync_newcomer(place: Path) -> Iterator[Result]:
    """Somebody with 100,000 messages and somebody with none."""
    yield from _meeting(place, "sync_newcomer", 0, MESSAGES)


def _meeting(place: Path, name: str, own: int, lacking: int) -> Iterator[Result]:
    progress(f"{name}: writing {MESSAGES} messages ...")
    alice, bob = (Person(who, place / who, interface="127.0.0.1") for who in ("alice", "bob"))
    asyncio.run(fill(alice, LOBBY, _history("alice", own)))
    asyncio.run(fill(bob, LOBBY, _history("bob", own) if own else ()))
    with Programs() as programs:
        first = programs.start_piped(alice.plain("--no-discovery"))
        programs.wait_for(first, b'"ready"', since=0, within_s=READY_WITHIN_S)
        port = next(
            event["port"]
            for event in (json.loads(line) for _, line in first.lines())
            if event["event"] == "ready"
        )
        second = programs.start_piped(bob.plain("--no-discovery", "--connect", f"127.0.0.1:{port}"))
        programs.wait_for(second, b'"ready"', since=0, within_s=READY_WITHIN_S)
        programs.pin()
        programs.wait_for(second, UP, since=0, within_s=READY_WITHIN_S)
        linked = next(at for at, line in second.lines() if UP in line)
        _until_shown(programs, {first: own, second: lacking})
        shown = max(_times(second)[-1], _times(first)[-1] if own else 0.0)
        blocks = [_longest_block_ms(person) for person in (alice, bob)]
        params: Params = {"messages": MESSAGES, "lacking": lacking, "others": programs.others}
    yield Result(f"{name}_seconds", shown - linked, "s", params=params)
    yield at_most(f"{name}_longest_block", max(blocks), "ms", BLOCK_MS, params)


def _until_shown(programs: Programs, wanted: dict[Program, int]) -> None:
    """Read until each program has shown so many messages."""
    deadline = time.perf_counter() + EQUAL_WITHIN_S
    while any(program.output.count(MESSAGE) < count for program, count in wanted.items()):
        assert time.perf_counter() < deadline, "they do not become equal"
        programs.run(LOOK_S)


def _times(program: Program) -> Sequence[float]:
    """Return the time at which each message was shown."""
    return [at for at, line in program.lines() if MESSAGE in line]


def _longest_block_ms(person: Person) -> float:
    """Return the longest block of the event loop that a running program reports."""
    command = person.command("status", "--json")
    status = json.loads(subprocess.check_output(command, cwd=ROOT, timeout=READY_WITHIN_S))
    return int(status["longest_block_ns"]) / 1e6


@cache
def _history(owner: str, own: int) -> tuple[StoredMessage, ...]:
    """Return the messages that everybody has, and over the same time those only `owner` has."""
    common = archive("carol", MESSAGES - own, BEGAN, SECOND, LOBBY.channel)
    if not own:
        return common
    step = (MESSAGES - own) // own * SECOND
    return (*common, *archive(owner, own, BEGAN, step, LOBBY.channel))


BENCHMARKS: Final = (sync_meet, sync_newcomer)
