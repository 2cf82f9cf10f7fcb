"""`limits stalls [COUNT]`: the longest wait of a screen while much happens, beside 25 ms.

A newcomer's screen fetches COUNT messages (10,000 unless said), while keys are typed; then its
window gets other widths. The longest wait is what the program itself measured, whatever kept it;
an echo of a key is timed from outside. Search in a million and 10,000 gaps are not measured.
"""

import asyncio
import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sync.machine import SECOND
from sync.net.invite import open_channel
from sync.sim.world import EPOCH
from tests.bench.limits.figures import Figure, Limit
from tests.bench.limits.screen import WITHIN_S, echoes_ms
from tests.bench.programs import COLUMNS, ROWS, Programs
from tests.bench.report import Params, quantile
from tests.support.chat_tui.preloaded import fill
from tests.support.processes import ROOT, Person, free_port
from tests.support.storage.archives import archive

COUNT: Final = 10_000
BLOCK_MS: Final = 25.0
RESIZES: Final = 6
REST_S: Final = 0.3
CALM_ECHOES: Final = 60
ALL_WITHIN_S: Final = 300.0
LOBBY: Final = open_channel("lobby")


def measure(place: Path, words: Sequence[str]) -> Iterator[Figure]:
    """Yield the longest waits, and the echoes of keys, of one run."""
    count = int(words[0]) if words else COUNT
    port = free_port()
    alice = Person("alice", place / "alice", interface="127.0.0.1", port=port)
    bob = Person("bob", place / "bob", interface="127.0.0.1")
    history = archive("carol", count, EPOCH - count * SECOND, SECOND, LOBBY.channel)
    asyncio.run(fill(alice, LOBBY, history))
    asyncio.run(fill(bob, LOBBY, ()))
    with Programs() as programs:
        source = programs.start_piped(alice.plain("--no-discovery"))
        programs.wait_for(source, b'"ready"', since=0, within_s=WITHIN_S)
        where = ("--interface", "127.0.0.1", "--no-discovery")
        screen = programs.start_in_terminal(bob.command("chat", "--name", "bob", *where))
        programs.wait_for(screen, b"lobby", since=0, within_s=WITHIN_S)
        programs.run(1.0)
        calm = echoes_ms(programs, screen, CALM_ECHOES)
        programs.feed(screen, b"\x15" + f"/connect 127.0.0.1:{port}\r".encode())
        busy: list[float] = []
        for _ in range(int(ALL_WITHIN_S)):
            busy += echoes_ms(programs, screen, 10)
            if _status(bob)["channels"][0]["messages"] >= count:
                break
        newcomer = _block_ms(bob)
        for number in range(RESIZES):
            screen.resize(COLUMNS + 4 * (number % 2), ROWS)
            programs.run(REST_S)
        resized = _block_ms(bob)
    params: Params = {"messages": count}
    yield Figure("stalls_newcomer", newcomer, BLOCK_MS, "ms", 1.0, params=params)
    yield Figure("stalls_resize_too", resized, BLOCK_MS, "ms", 1.0, params=params)
    echo = quantile(calm, 0.5)
    yield Figure("stalls_key_p99", quantile(busy, 0.99), echo, "ms", 3.0, params=params)


def _status(person: Person) -> dict[str, list[dict[str, int]]]:
    """Return what a running program says of itself."""
    told: dict[str, list[dict[str, int]]] = json.loads(
        subprocess.check_output(person.command("status", "--json"), cwd=ROOT, timeout=WITHIN_S)
    )
    return told


def _block_ms(person: Person) -> float:
    told: dict[str, int] = json.loads(json.dumps(_status(person)))
    return told["longest_block_ns"] / 1e6


LIMIT: Final = Limit("stalls", measure, runs=3)
