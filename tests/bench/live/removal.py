"""Removals in a laboratory of nine hosts: `python -m tests.bench.live.removal [--json]`.

Nine programs in network namespaces are linked with each other, and all are in one governed channel.
Alice removes the others one after the other, and lets each in again. A time is from typing the
command until one of the seven who stay says that its link with the removed one is a stub; that is
asked anew as soon as it is answered, so an answer's way is in it. It needs what the lab needs:
iproute2, and the right to make namespaces.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from tests.bench.report import Params, Result, at_most, progress, quantile
from tests.lan.governed import do, entered, founded
from tests.lan.lab import Lab, obstacle
from tests.lan.people import person_on
from tests.support.processes import PlainProcess, everyone_sees_everyone

NINE: Final = 9
CLOSED_MAX_S: Final = 1.0
WITHIN_S: Final = 30.0


def removals(place: Path) -> Iterator[Result]:
    """Yield how long links carry a channel on to somebody who was removed."""
    with Lab(f"chatbench{os.getpid()}", NINE) as lab:
        times = asyncio.run(_times(lab, place))
    params: Params = {"hosts": NINE, "removals": NINE - 1, "links": len(times)}
    yield Result("lab_removal_median", quantile(times, 0.5), "s", params=params)
    yield at_most("lab_removal_p99", quantile(times, 0.99), "s", CLOSED_MAX_S, params)


async def _times(lab: Lab, place: Path) -> list[float]:
    progress("lab: nine programs meet ...")
    async with AsyncExitStack() as stack:
        alice, *others = [
            await stack.enter_async_context(PlainProcess(person_on(lab, place, number)))
            for number in lab.hosts
        ]
        await everyone_sees_everyone([alice, *others])
        code = await founded(alice)
        for other in others:
            await entered(other, code, alice)
        times: list[float] = []
        for removed in others:
            progress(f"lab: {removed.person.name} is removed ...")
            staying = [one for one in others if one is not removed]
            await asyncio.gather(*[_until_level(one, removed, "full") for one in staying])
            began = time.perf_counter()
            act = asyncio.ensure_future(do(alice, f"/kick {removed.person.name}"))
            times += await asyncio.gather(*[_closed(one, removed, began) for one in staying])
            await act
            await do(alice, f"/add {removed.person.name}")
        return times


async def _closed(one: PlainProcess, removed: PlainProcess, began: float) -> float:
    """Return the seconds until a link carries nothing of the channel any more."""
    await _until_level(one, removed, "stub")
    return time.perf_counter() - began


async def _until_level(one: PlainProcess, other: PlainProcess, wanted: str) -> None:
    async with asyncio.timeout(WITHIN_S):
        while await _level(one, other) != wanted:
            pass


async def _level(one: PlainProcess, other: PlainProcess) -> str:
    """Return the level of a link, by the word of the tab Group."""
    rows = (await do(one, "/group")).splitlines()
    began = f"{other.person.name}: "
    return next(
        (row.strip().removeprefix(began) for row in rows if row.strip().startswith(began)), ""
    )


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line, as always")
    parser.parse_args()
    if (reason := obstacle()) is not None:
        sys.exit(f"There can be no lab: {reason}.")
    with tempfile.TemporaryDirectory() as place:
        for result in removals(Path(place)):
            print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
