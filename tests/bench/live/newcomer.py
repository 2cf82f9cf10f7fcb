"""A newcomer over loopback: `python -m tests.bench.live.newcomer [--whole] [--json]`.

A program has 10,000 entries of ten logs on its disk (100,000 with `--whole`); somebody with nothing
links to it, in this process, and fetches all: by snapshot, by author logs (p2panda replication),
and by Waku Sync, each into a new database. Seconds are from the link on: until the newest page of
the transcript has been told to the screen, with topic and names, and until all is history.
Processor time is this process's, with all its threads; its goal is a multiple of what decoding and
verifying the same entries by OpenSSL takes, as when it was set, measured right before; beside it
stands what they take by libsodium, as the chat verifies. The longest block is the longest time for
which the event loop did not turn, beyond what it was asked to rest; what it takes to look for it,
five hundred times a second, is measured in an idle loop and is no part of the processor time.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chat_tui.client import gc_policy
from storage.profile.members import Members
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.calimero.state.contents import Profile, StateKind, Topic
from sync.entries.entry import open_content
from sync.entries.membership import Membership
from sync.group.values import StoredMessage
from sync.machine import MILLISECOND, SECOND
from sync.manager.registry import WHOLE_BY, WITH_CALIMERO
from sync.net.clock import Clock, draw_log
from sync.sessions.protocol import Protocols
from sync.view.view import MessageShown, PreviewShown
from tests.bench.limits.floor_messages import SIGNATURES, Signatures
from tests.bench.live.source import NAME, running
from tests.bench.report import Params, Result, at_most, progress
from tests.support.storage.stores import delivered
from tests.support.sync.entries import Author, identity
from tests.support.sync.nodes import HOST, Host, channel_of, host

ENTRIES: Final = 10_000
WHOLE: Final = 100_000
LOGS: Final = 10
PAGE: Final = 50
"""Lines of a page: more than a screen shows."""

PAINTED_MAX_S: Final = 1.5
CPU_MAX: Final = 1.6
BLOCK_MAX_MS: Final = 50.0
WITHIN_S: Final = 600.0
REST_S: Final = 0.002
IDLE_S: Final = 0.5
"""Time in which is measured what looking for blocks takes."""
TOPIC: Final = "tea at four"

BY: Final[dict[str, Protocols]] = {
    "snapshot": WITH_CALIMERO,
    "p2panda": WHOLE_BY["logheight"],
    "waku": WHOLE_BY["waku"],
}


@dataclass
class Fetched:
    """Cost of one newcomer, in seconds."""

    painted: float = 0.0
    all: float = 0.0
    cpu: float = 0.0
    block: float = 0.0
    looks: int = 0
    """Looks for a block."""


def live_newcomer(place: Path) -> Iterator[Result]:
    """Yield the figures of 10,000 entries."""
    yield from newcomer_of(place, ENTRIES)


def newcomer_of(place: Path, entries: int) -> Iterator[Result]:
    """Yield the figures of so many entries."""
    progress(f"newcomer: {entries} entries are signed and stored ...")
    written = history_of(entries)
    asyncio.run(stock(place, written))
    params: Params = {"entries": entries}
    verified = {name: _verified(written, make()) for name, make in SIGNATURES.items()}
    del written
    for name, seconds in verified.items():
        yield Result("snapshot_verify_cpu", seconds, "s", params={**params, "by": name})
    fetched: dict[str, Fetched] = {}
    for name, protocols in BY.items():
        progress(f"newcomer: {entries} entries by {name} ...")
        with running(place) as port:
            fetched[name] = asyncio.run(_fetch(place, name, protocols, port, entries))
    for name, one in fetched.items():
        by: Params = {**params, "protocol": name}
        if name == "snapshot":
            yield at_most("snapshot_painted", one.painted, "s", PAINTED_MAX_S, by)
            peer = min(other.all for key, other in fetched.items() if key != name)
            yield Result(
                "snapshot_all", one.all, "s", peer, one.all < peer, by, peer, peer / one.all
            )
            yield at_most("snapshot_cpu", one.cpu, "s", CPU_MAX * verified["openssl"], by)
            yield at_most("snapshot_block", 1e3 * one.block, "ms", BLOCK_MAX_MS, by)
        else:
            yield Result("newcomer_painted", one.painted, "s", params=by)
            yield Result("newcomer_all", one.all, "s", params=by)
            yield Result("newcomer_cpu", one.cpu, "s", params=by)
            yield Result("newcomer_block", 1e3 * one.block, "ms", params=by)


def history_of(entries: int) -> list[StoredMessage]:
    """Return messages up to two hours ago, in the order they were written, each upon two."""
    channel, _ = channel_of(NAME)
    authors = [Author(f"author {number}", channel) for number in range(LOGS)]
    written: list[StoredMessage] = []
    first = (Clock().wall() - 7_200 * SECOND) // MILLISECOND - entries
    for number in range(entries):
        author, at = authors[number * 7 % LOGS], first + number
        text = f"line {number}, of a usual length as people write them"
        written.append(
            author.write(text, after=written[-2:], lamport=at, created_ns=at * MILLISECOND)
        )
    return written


async def stock(place: Path, written: list[StoredMessage]) -> None:
    """Give the source its history, before it starts."""
    channel, secret = channel_of(NAME)
    database = await Database.open(place / "source.sqlite")
    membership = Membership(channel, NAME, secret, open=False, profile="lan", joined_ns=SECOND)
    await Members(database).add_channel(membership, draw_log())
    journal = SqliteJournal(database, identity("source").peer_id)
    for start in range(0, len(written), 1_000):
        await journal.commit(delivered(*written[start : start + 1_000]))
    await database.close()
    async with host(place, "source", NAME, protocols=WITH_CALIMERO) as source:
        await source.node.set_state(channel, StateKind.TOPIC, Topic(TOPIC))
        await source.node.set_state(channel, StateKind.PROFILE, Profile("alice", "teal", ""))


def _verified(written: list[StoredMessage], signatures: Signatures) -> float:
    """Return the processor time of decoding and verifying all entries, one after the other."""
    contents = [one.entry.content for one in written]
    began = time.process_time()
    for content in contents:
        entry = open_content(content)
        author = bytes.fromhex(entry.header.author)
        signatures.check(author, entry.signature, entry.header_bytes)
    return time.process_time() - began


async def _fetch(place: Path, name: str, protocols: Protocols, port: int, entries: int) -> Fetched:
    channel, _ = channel_of(NAME)
    cost, a_look = Fetched(), await _cost_of_a_look()
    async with host(place, f"by {name}", NAME, protocols=protocols) as newcomer:
        gc_policy.settle()
        group = newcomer.node._runner.groups
        meter = asyncio.create_task(_meter(cost))
        cpu, began = time.process_time(), time.perf_counter()
        await newcomer.node.mesh.connect(HOST, port)
        await _until(lambda: _is_painted(newcomer, with_topic=name == "snapshot"))
        cost.painted = time.perf_counter() - began
        await _until(lambda: len(group[channel].sds.log.order) >= entries)
        cost.all = time.perf_counter() - began
        cost.cpu = time.process_time() - cpu - cost.looks * a_look
        meter.cancel()
    return cost


def _is_painted(newcomer: Host, *, with_topic: bool) -> bool:
    """Return whether the newest page was told, and the topic is known."""
    shown = [one for one in newcomer.events if isinstance(one, MessageShown | PreviewShown)]
    if len(shown) < PAGE:
        return False
    [channel] = newcomer.node.snapshot().channels
    topic = channel.state.topic
    return not with_topic or (topic is not None and topic.text == TOPIC)


async def _meter(cost: Fetched) -> None:
    """Note the longest time for which the event loop did not turn."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(REST_S)
        cost.block = max(cost.block, time.perf_counter() - began - REST_S)
        cost.looks += 1


async def _cost_of_a_look() -> float:
    """Return the processor time of one look for a block, in a loop that has nothing else to do."""
    idle = Fetched()
    began = time.process_time()
    meter = asyncio.create_task(_meter(idle))
    await asyncio.sleep(IDLE_S)
    meter.cancel()
    return (time.process_time() - began) / idle.looks


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not holds():  # noqa: ASYNC110  # what is measured has no event for it
            await asyncio.sleep(0.02)


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help=f"{WHOLE} entries, some minutes")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, as always")
    entries = WHOLE if parser.parse_args().whole else ENTRIES
    with tempfile.TemporaryDirectory() as place:
        for result in newcomer_of(Path(place), entries):
            print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
