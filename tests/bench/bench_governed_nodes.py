"""Live costs of governance: `python -m tests.bench.bench_governed_nodes --json`.

Whole nodes over loopback with their disks, all in this process.

`governance_join` is the time from entering a code to the first line, the inviter away: alice founds
a channel and gives out a code, bob is in and has a line of hers, and alice goes. Newcomers, one
after the other, have a link to bob, enter the code, and wait for that line: bob's ops come, the
join is signed and taken in, and the history is fetched.

`governance_idle` is the processor time that a node takes in a governed channel of 21 while nobody
says anything, heartbeats and checks included, beside the same in a channel that nobody governs
(`peer`); the goal is about the difference. `state_idle` is the same for a channel in which
everybody has a profile and pins, beside nodes that speak no protocol of state (`peer`).
`governance_removal_links` is the time from the act that removes somebody of nine until no link of
the other eight carries the channel to them.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from sync.calimero.governance.ops import Role
from sync.calimero.state.contents import Pin, Profile, StateKind
from sync.manager.registry import PROTOCOLS, WITH_P2PANDA, WITH_STATE
from sync.net.links.levels import Level
from tests.bench.report import Params, Result, at_most, progress, quantile
from tests.support.sync.coded import enter, founded, in_as
from tests.support.sync.governed_nodes import Club, found, level, remove, together
from tests.support.sync.nodes import HOST, TEA, Host, host, meet, until

PEOPLE: Final = 21
IDLE_S: Final = 120
"""Four heartbeats."""

SETTLING_S: Final = 15
MORE_MAX: Final = 0.1
"""Percent of a core, that an idle node may take more."""

PINS: Final = 5
"""Of each, where there is state."""

NINE: Final = 9
REMOVALS: Final = 7
CLOSED_MAX_S: Final = 1.0
NEWCOMERS: Final = 20
FIRST_LINE_MAX_S: Final = 2.0
LINE: Final = "the first line"


def joining(place: Path) -> Iterator[Result]:
    """Yield the slowest of twenty newcomers."""
    progress("governance: newcomers by a code ...")
    times = asyncio.run(_times(place))
    params: Params = {"newcomers": NEWCOMERS}
    yield Result("governance_join_median", quantile(times, 0.5), "s", params=params)
    yield at_most("governance_join", max(times), "s", FIRST_LINE_MAX_S, params)


async def _times(place: Path) -> list[float]:
    async with host(place, "bob") as bob:
        async with host(place, "alice") as alice:
            team = await founded(alice)
            code = await alice.node.governing.invite(team)
            await enter(bob, code)
            await meet(bob, alice)
            await in_as(bob, team, Role.MEMBER, alice)
            await alice.write(team, LINE)
            await until(lambda: bob.texts() == [LINE], "bob has the line")
        return [await _time(place, number, bob.port, code) for number in range(NEWCOMERS)]


async def _time(place: Path, number: int, port: int, code: str) -> float:
    async with host(place, f"newcomer {number}") as newcomer:
        await newcomer.node.mesh.connect(HOST, port)
        began = time.perf_counter()
        await enter(newcomer, code)
        await until(lambda: LINE in newcomer.texts(), "the newcomer reads the line")
        return time.perf_counter() - began


def governed_links(place: Path) -> Iterator[Result]:
    """Yield the idle cost, and the time in which links of somebody removed close."""
    progress("governance: idle nodes ...")
    ungoverned = asyncio.run(_idle(_folder(place, "plain"), governed=False))
    governed = asyncio.run(_idle(_folder(place, "governed"), governed=True))
    params: Params = {"peers": PEOPLE - 1, "seconds": IDLE_S}
    result = at_most("governance_idle", governed, "% of a core", ungoverned + MORE_MAX, params)
    yield replace(result, peer=ungoverned, ratio=governed / ungoverned)
    progress("governance: removals of one of nine ...")
    times = [asyncio.run(_removal(_folder(place, f"{one}"))) for one in range(REMOVALS)]
    params = {"nodes": NINE, "removals": REMOVALS}
    yield Result("governance_removal_median", quantile(times, 0.5), "s", params=params)
    yield at_most("governance_removal_links", max(times), "s", CLOSED_MAX_S, params)


def state_nodes(place: Path) -> Iterator[Result]:
    """Yield the idle cost of state: heartbeats with roots, and marks of what is held."""
    progress("state: idle nodes ...")
    without = asyncio.run(_idle(_folder(place, "stateless"), governed=False, state=False))
    with_state = asyncio.run(_idle(_folder(place, "state"), governed=False, state=True))
    params: Params = {"peers": PEOPLE - 1, "seconds": IDLE_S, "pins": PEOPLE * PINS}
    result = at_most("state_idle", with_state, "% of a core", without + MORE_MAX, params)
    yield replace(result, peer=without, ratio=with_state / without)


def _folder(place: Path, name: str) -> Path:
    (place / name).mkdir()
    return place / name


async def _idle(place: Path, *, governed: bool, state: bool | None = None) -> float:
    """Return the percent of a core that one of the nodes takes.

    `state`: whether they speak protocols of state, and have some; None for what a node speaks.
    """
    async with AsyncExitStack() as stack:
        channels = () if governed else ("tea",)
        spoken = WITH_P2PANDA if state is False else WITH_STATE if state else PROTOCOLS
        hosts = [
            await stack.enter_async_context(
                host(place, f"node {number}", *channels, protocols=spoken)
            )
            for number in range(PEOPLE)
        ]
        if governed:
            await together(await found(hosts[0]), *hosts)
        else:
            for number, one in enumerate(hosts):
                await meet(one, *hosts[number + 1 :])
        for number, one in enumerate(hosts if state else ()):
            await one.node.set_state(TEA, StateKind.PROFILE, Profile(one.name))
            for pin in range(PINS):
                name = (number * PINS + pin).to_bytes(32, "big")
                await one.node.set_state(TEA, StateKind.PIN, Pin(), name=name)
        await asyncio.sleep(SETTLING_S)
        began = time.process_time()
        await asyncio.sleep(IDLE_S)
        return 100 * (time.process_time() - began) / IDLE_S / PEOPLE


async def _removal(place: Path) -> float:
    """Return the seconds from an act until nobody's link carries the channel to who is out."""
    async with AsyncExitStack() as stack:
        hosts = [
            await stack.enter_async_context(host(place, f"node {number}")) for number in range(NINE)
        ]
        club = await found(hosts[0])
        await together(club, *hosts)
        *staying, removed = hosts
        began = time.perf_counter()
        act = asyncio.ensure_future(remove(hosts[0], club, removed))
        await until(
            lambda: not any(_carries(one, removed, club) for one in staying), "its links are closed"
        )
        took = time.perf_counter() - began
        await act
        return took


def _carries(one: Host, other: Host, club: Club) -> bool:
    return level(one, other, club) is Level.FULL


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line, as always")
    parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for result in (*joining(folder), *governed_links(folder), *state_nodes(folder)):
            print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
