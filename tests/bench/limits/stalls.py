"""`limits stalls [COUNT [SEARCHED]]`: the longest wait of a screen while much happens.

Goals are 25 ms, and thrice the echo of a key at rest.

A newcomer's screen fetches COUNT messages (40,000 unless said), while keys are typed; then its
window gets other widths. Of a screen over SEARCHED messages (a million unless said, made once, in
a minute) each act is measured by itself: other widths and channels, a search while it is typed,
`/gaps` where something is missing before each of 10,000. The longest wait is what the program
itself measured, whatever kept it; an echo of a key is timed from outside.
"""

import asyncio
import atexit
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from storage.profile.profile import Profile
from sync.machine import SECOND
from sync.net.clock import draw
from sync.net.invite import open_channel
from sync.sim.timeline import EPOCH
from tests.bench.finding import million
from tests.bench.limits.figures import Figure, Limit
from tests.bench.limits.screen import WITHIN_S, echoes_ms
from tests.bench.programs import COLUMNS, ROWS, Program, Programs
from tests.bench.report import Params, progress, quantile
from tests.support.chat_tui.preloaded import fill
from tests.support.processes import ROOT, Person, free_port
from tests.support.storage.archives import archive

COUNT: Final = 40_000
"""So many that a hundred keys and more are typed meanwhile."""

BLOCK_MS: Final = 25.0
RESIZES: Final = 6
REST_S: Final = 0.3
CALM_ECHOES: Final = 60
TYPED_WITHIN_S: Final = 0.05
"""Of a command of 27 keys; the first letter after them would wait for them all."""
ALL_WITHIN_S: Final = 300.0
LOBBY: Final = open_channel("lobby")

SEARCHED: Final = 1_000_000
GAPS: Final = 10_000
LARGE: Final = open_channel("stalls-large")
MISSING: Final = open_channel("stalls-missing")
READY_WITHIN_S: Final = 120.0
NEXT_CHANNEL: Final = b"\x1b[1;3B"
SEARCH: Final = b"\x06"
ESCAPE: Final = b"\x1b"


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
        programs.run(TYPED_WITHIN_S)
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
    typed: Params = {**params, "keys": len(busy), "p50_ms": round(quantile(busy, 0.5), 2)}
    yield Figure("stalls_key_p99", quantile(busy, 0.99), echo, "ms", 3.0, params=typed)

    searched = int(words[1]) if len(words) > 1 else SEARCHED
    yield from _over_much(searched)


def _over_much(searched: int) -> Iterator[Figure]:
    """Yield the longest wait of each act on a screen over a long history, each in its own run."""
    carol = _history(searched)
    params: Params = {"messages": searched}
    for name, act in ACTS.items():
        where = ("--interface", "127.0.0.1", "--no-discovery", "--port", str(free_port()))
        with Programs() as programs:
            screen = programs.start_in_terminal(carol.command("chat", "--name", "carol", *where))
            programs.wait_for(screen, b"stalls-large", since=0, within_s=WITHIN_S)
            _wait_until_ready(programs, carol)
            before = _block_ms(carol)
            act(programs, screen)
            after = _block_ms(carol)
        params = {"messages": searched, "before_ms": round(before, 1)}
        yield Figure(f"stalls_{name}", after, BLOCK_MS, "ms", 1.0, params=params)


@cache
def _history(searched: int) -> Person:
    """Return somebody with a long history in one channel, and gaps in another; made once."""
    progress(f"makes {searched:,} messages")
    place = Path(_PLACES.enter_context(TemporaryDirectory(prefix="chat-tui-stalls-")))
    carol = Person("carol", place, interface="127.0.0.1")
    for channel in (LARGE, MISSING):
        asyncio.run(fill(carol, channel, ()))
    profile = Profile.open(carol.data_dir, carol.name, draw)
    path = profile.database
    profile.close()
    lines = million.lines(searched)
    million.store(path, (line._replace(channel=LARGE.channel) for line in lines))
    behind = (
        line._replace(channel=MISSING.channel, number=searched + line.number)
        for line in million.lines(GAPS, seed=2)
    )
    million.store(path, behind, after_gaps=True)
    return carol


def _wait_until_ready(programs: Programs, person: Person) -> None:
    """Wait until a program answers, and has nothing left to do of its start.

    Only then does it measure: until it has measured anything, it would tell of no wait at all.
    """
    for _ in range(int(READY_WITHIN_S)):
        programs.run(1.0)
        try:
            if not _block_ms(person):
                continue
        except subprocess.CalledProcessError:
            continue
        programs.run(2.0)
        return
    raise AssertionError(f"{person.name}'s chat was not ready within {READY_WITHIN_S} s")


def _resized(programs: Programs, screen: Program) -> None:
    for number in range(RESIZES):
        screen.resize(COLUMNS + 4 * (number % 2), ROWS)
        programs.run(REST_S)


def _switched(programs: Programs, screen: Program) -> None:
    for _ in range(SWITCHES):
        programs.feed(screen, NEXT_CHANNEL)
        programs.run(REST_S)


def _found(programs: Programs, screen: Program) -> None:
    programs.feed(screen, SEARCH)
    programs.run(REST_S)
    for key in f"{million.COMMON} w1f":
        programs.feed(screen, key.encode())
        programs.run(REST_S)
    programs.run(5 * REST_S)
    programs.feed(screen, ESCAPE)
    programs.run(REST_S)


def _gaps(programs: Programs, screen: Program) -> None:
    programs.feed(screen, NEXT_CHANNEL)
    programs.run(2 * REST_S)
    programs.feed(screen, b"/gaps\r")
    programs.run(5 * REST_S)
    programs.feed(screen, ESCAPE)
    programs.run(REST_S)


SWITCHES: Final = 6
ACTS: Final[dict[str, Callable[[Programs, Program], None]]] = {
    "resize": _resized,
    "channel": _switched,
    "search": _found,
    "gaps": _gaps,
}
_PLACES: Final = ExitStack()
atexit.register(_PLACES.close)


def _status(person: Person) -> dict[str, list[dict[str, int]]]:
    """Return what a running program says of itself."""
    told: dict[str, list[dict[str, int]]] = json.loads(
        subprocess.check_output(person.command("status", "--json"), cwd=ROOT, timeout=WITHIN_S)
    )
    return told


def _block_ms(person: Person) -> float:
    told: dict[str, int] = json.loads(json.dumps(_status(person)))
    return told["longest_block_ns"] / 1e6


LIMIT: Final = Limit("stalls", measure)
