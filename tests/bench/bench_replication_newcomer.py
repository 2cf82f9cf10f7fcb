"""A newcomer: `python -m tests.bench.bench_replication_newcomer [--whole]`.

Somebody with nothing is brought 10,000 entries of 19 bytes in ten logs (100,000 with `--whole`) by
one who has them all: by Waku Sync, by log heights, and by sets, through the whole machines of both
sides, signatures, hashes and tables in memory included, until both are proved to be equal. Seconds
are processor time of both; the longest block is that of one step of one of them. A step of the
simulated transfer of Waku Sync is all of it, so there it says nothing. Of 10,000 entries the
better of two runs counts, which take turns.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from chat_tui.client import gc_policy
from sync.group import values
from sync.group.values import StoredMessage
from sync.machine import MILLISECOND
from sync.manager.registry import WITH_P2PANDA
from sync.p2panda.entries import entry_message
from sync.p2panda.messages import encode
from tests.bench.report import Params, Result, at_most, progress
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.pairs import Pair, transfer

ENTRIES: Final = 10_000
WHOLE: Final = 100_000
LOGS: Final = 10
BODY: Final = b"nineteen bytes long"

ENTRY_SHARE: Final = 0.45
"""Of an entry on the wire, of the transfer of the same message."""
BYTES_EACH: Final = 480.0
"""On the wire: 48 MB for 100,000."""
WAITING: Final = 0.0
"""Entries that came and are not shown in the same step; they may be so for 2 s."""
RATIO: Final = 1.0
BLOCK_MS: Final = 50.0
SESSIONS_MAX: Final = 40
RUNS: Final = 2


@dataclass
class Fetched:
    """The cost of one newcomer."""

    seconds: float = 0.0
    longest: float = 0.0
    bytes: int = 0
    sessions: int = 0
    waiting: int = 0
    """Entries that are stored and not yet shown."""
    most_waiting: int = 0
    blocks: dict[str, float] = field(default_factory=dict)


def replication_newcomer(place: Path) -> Iterator[Result]:
    """Yield the figures of 10,000 entries."""
    del place
    yield from newcomer_of(ENTRIES)


def newcomer_of(entries: int) -> Iterator[Result]:
    """Yield the figures of so many entries."""
    progress(f"replication: {entries} entries are signed ...")
    history = _history(entries)
    share = _share(history[-1_000:])
    yield at_most("replication_entry_share", share, "of a transfer", ENTRY_SHARE, {})
    fetched: dict[str, Fetched] = {}
    for run in range(1 if entries > ENTRIES else RUNS):
        for protocol in ("waku", "logheight", "sets"):
            progress(f"replication: {entries} entries by {protocol}, run {run + 1} ...")
            one = _fetched(history, protocol)
            best = fetched.get(protocol, one)
            fetched[protocol] = min(best, one, key=lambda each: each.seconds)
    for protocol, one in fetched.items():
        params: Params = {"protocol": protocol, "entries": entries, "sessions": one.sessions}
        yield Result("replication_newcomer_cpu", one.seconds, "s", params=params)
        if protocol == "waku":
            yield Result("replication_newcomer_bytes", one.bytes / entries, "bytes", params=params)
            continue
        yield at_most(
            "replication_newcomer_bytes", one.bytes / entries, "bytes", BYTES_EACH, params
        )
        yield at_most("replication_newcomer_waiting", one.most_waiting, "entries", WAITING, params)
        ratio = one.seconds / fetched["waku"].seconds
        yield at_most("replication_newcomer_ratio", ratio, "of Waku Sync's", RATIO, params)
        blocks: Params = {**params, **{name: round(1e3 * of, 1) for name, of in one.blocks.items()}}
        yield at_most("replication_newcomer_block", 1e3 * one.longest, "ms", BLOCK_MS, blocks)


def _history(entries: int) -> list[StoredMessage]:
    """Return messages in the order they were written, each upon the two before."""
    authors = [Author(f"author {number}") for number in range(LOGS)]
    written: list[StoredMessage] = []
    first = NOW_MS - entries
    for number in range(entries):
        author = authors[number * 7 % LOGS]
        at = first + number
        written.append(
            author.write(body=BODY, after=written[-2:], lamport=at, created_ns=at * MILLISECOND)
        )
    return written


def _share(history: list[StoredMessage]) -> float:
    sent = sum(len(encode(entry_message(0, one.entry))) for one in history)
    return sent / sum(len(transfer(one)) for one in history)


def _fetched(history: list[StoredMessage], protocol: str) -> Fetched:
    late, owner = (
        Member(name, protocols=WITH_P2PANDA, in_steps=True) for name in ("late", "owner")
    )
    for one in history:
        status = values.Status.DELIVERED
        owner.disk.commit([values.StoreMessage(one, status)])
    owner.start()
    both = Pair(late, owner)
    cost = Fetched()
    while not (both.ended and all(one.result == "equal" for one in both.ended)):
        both.ended.clear()
        cost.sessions += 1
        assert cost.sessions <= SESSIONS_MAX, "it does not come"
        start = values.StartSession(both.number(), owner.peer_id, "bench", None, protocol)
        both.queue.append((late, start))
        while both.queue:
            _step(both, cost)
    assert len(late.disk.rows) == len(history)
    assert late.shown() == owner.shown()
    return cost


def _step(both: Pair, cost: Fetched) -> None:
    """Let one thing arrive, timed; what it is may be one of the longest."""
    event = both.queue[0][1]
    kind = type(event).__name__
    if isinstance(event, values.Transferred):
        cost.bytes += len(event.payload)
    began = time.process_time()
    both.step(NOW)
    took = time.process_time() - began
    cost.seconds += took
    cost.longest = max(cost.longest, took)
    cost.blocks[kind] = max(cost.blocks.get(kind, 0.0), took)
    for effect in both.carried:
        if isinstance(effect, values.SendPayload):
            cost.bytes += len(effect.payload)
        cost.waiting += isinstance(effect, values.StoreMessage)
        cost.waiting -= isinstance(effect, values.Deliver)
    cost.most_waiting = max(cost.most_waiting, cost.waiting)
    both.carried.clear()


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help=f"{WHOLE} entries, some minutes")
    entries = WHOLE if parser.parse_args().whole else ENTRIES
    gc_policy.settle()
    for result in newcomer_of(entries):
        print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
