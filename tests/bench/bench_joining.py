"""Time from entering a code to the first line: `python -m tests.bench.bench_joining --json`.

Whole nodes over loopback with their disks: alice founds a channel and gives out a code, bob is in
and has a line of hers, and alice goes. Newcomers, one after the other, have a link to bob, enter
the code, and wait for that line: bob's ops come, the join is signed and taken in, and the history
is fetched. Seconds are those of the wall.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sync.calimero.governance.ops import Role
from tests.bench.report import Params, Result, at_most, progress, quantile
from tests.support.sync.coded import enter, founded, in_as
from tests.support.sync.nodes import HOST, host, meet, until

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


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line, as always")
    parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        for result in joining(Path(place)):
            print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
