"""`limits million [COUNT] [--snapshot]`: seconds a message of a newcomer, beside a tenth of COUNT.

Somebody with COUNT messages of ten logs waits (a million unless said); `plain --json` with nothing
fetches all by Waku Sync (or by snapshot) and prints it. Then it does so of a tenth of them. Signing
and storing a million takes some minutes, and so does fetching them: it runs only when it is named.
"""

import argparse
import multiprocessing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.limits.figures import Figure, Limit
from tests.bench.limits.newcomer import fetched, stocked
from tests.bench.live.source import running
from tests.bench.report import Params, progress

COUNT: Final = 1_000_000
FEWER: Final = 10
"""Times that there are fewer messages beside it."""

SECONDS_MAX: Final = 1.3


def measure(place: Path, words: Sequence[str]) -> Iterator[Figure]:
    """Yield the figure of one run."""
    parser = argparse.ArgumentParser(prog="tests.bench limits million", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=COUNT, help="messages")
    parser.add_argument("--snapshot", action="store_true", help="by snapshot, not by Waku Sync")
    options = parser.parse_args(words)
    by = "snapshot" if options.snapshot else "waku"
    many, few = (
        _us_a_message(place, count, by) for count in (options.count, options.count // FEWER)
    )
    params: Params = {"entries": options.count, "protocol": by}
    yield Figure("million", many, few, "us a message", SECONDS_MAX, params=params)


def _us_a_message(place: Path, count: int, by: str) -> float:
    progress(f"limits million: {count:,} messages are signed and stored ...")
    source = place / f"{count}"
    # In a process of its own, whose memory is free again when they are stored.
    making = multiprocessing.get_context("spawn").Process(target=stocked, args=(source, count))
    making.start()
    making.join()
    assert making.exitcode == 0, "they were not stored"
    progress(f"limits million: {count:,} messages are fetched ...")
    with running(source, by) as port:
        return fetched(place, port, count).seconds / count * 1e6


LIMIT: Final = Limit("million", measure, runs=1, named_only=True)
