"""Time of a search among a million messages: `python -m tests.bench finding`.

Seconds are processor time of the whole search, as the panel asks for it; of each kind the median of
`RUNS`. Making the history takes some minutes.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from storage.sqlite.database import Database
from storage.sqlite.history import SqliteHistory
from sync.machine import PeerId
from sync.view.finding import Wanted
from tests.bench.finding.million import (
    APART_NS,
    COMMON,
    FIRST_NS,
    LARGE,
    ME,
    RARE,
    SMALL,
    make,
    person,
)
from tests.bench.report import Params, Result, Stopwatch, at_most, progress

MESSAGES: Final = 1_000_000
LIMIT: Final = 201
"""Hits that the panel shows, and one more."""

RUNS: Final = 5
GOAL_MS: Final = 50.0
BOTH: Final = (LARGE, SMALL)
EARLY: Final = FIRST_NS + MESSAGES // 5 * APART_NS

SEARCHES: Final = {
    "everything": Wanted(BOTH, COMMON),
    "one_letter": Wanted(BOTH, "w"),
    "rare": Wanted(BOTH, RARE),
    "rare_in_a_large_channel": Wanted((LARGE,), RARE),
    "rare_in_a_small_channel": Wanted((SMALL,), RARE),
    "usual": Wanted(BOTH, "w1f"),
    "before": Wanted(BOTH, "w1f", before=EARLY),
    "from_who_wrote_least": Wanted(BOTH, nicks=frozenset({person(0)[1]})),
    "from": Wanted(BOTH, COMMON, nicks=frozenset({person(7)[1]})),
    "links": Wanted(BOTH, links=True),
    "mentions": Wanted(BOTH, naming=ME),
    "nothing": Wanted(BOTH, "qqqqqq"),
}


def finding(directory: Path) -> Iterator[Result]:
    """Search a large history in many ways."""
    path = directory / "chat.db"
    progress(f"makes {MESSAGES:,} messages")
    asyncio.run(make(path, MESSAGES))
    for name, milliseconds in asyncio.run(_measured(path)).items():
        params: Params = {"messages": MESSAGES, "search": name}
        yield at_most("finding", milliseconds, "ms", GOAL_MS, params)


async def _measured(path: Path) -> dict[str, float]:
    database = await Database.open(path)
    try:
        history = SqliteHistory(database, PeerId("00" * 32))
        return {name: await _median(history, wanted) for name, wanted in SEARCHES.items()}
    finally:
        await database.close()


async def _median(history: SqliteHistory, wanted: Wanted) -> float:
    taken: list[float] = []
    for _ in range(RUNS):
        watch = Stopwatch()
        with watch:
            await history.find(wanted, limit=LIMIT)
        taken.append(watch.seconds * 1_000)
    return median(taken)
