"""Engines over a real disk, turned by hand: the driver, without a network."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from storage.sqlite.journal import SqliteJournal
from sync.entries.entry import Kind, Text, encode_text
from sync.entries.identity import verify
from sync.errors import StorageError
from sync.group import values
from sync.group.ingest import Verify
from sync.group.inputs.foreseen import ForeseeingGate
from sync.group.writer import Author
from sync.machine import MILLISECOND, ChannelId, MessageId, Nanos, PeerId
from sync.manager.registry import WAKU_ONLY
from sync.net.clock import Clock
from sync.net.engine.engine import Engine
from sync.net.engine.own_inputs import Outcome
from sync.runner.journal import Loaded
from sync.runner.runner import Runner
from sync.view.view import Notice
from tests.support.patience import PATIENCE_S
from tests.support.storage.stores import ME, membership, opened
from tests.support.sync.entries import CHANNEL, identity

STEP: Nanos = 4 * MILLISECOND
SLICE_INPUTS = 3
"""As many steps of the clock are more than a slice."""


class SteppingClock(Clock):
    """A clock that goes on by `step` whenever it is read."""

    def __init__(self, step: Nanos = STEP) -> None:
        super().__init__()
        self._step, self._now = step, self.anchor

    def now(self) -> Nanos:
        self._now += self._step
        return self._now


class Journal(SqliteJournal):
    """The journal over a disk that can refuse; notes how many messages each commit had."""

    def __init__(self, journal: SqliteJournal) -> None:
        super().__init__(journal._database, ME)
        self.commits: list[int] = []
        self.refusals = 0

    async def commit(self, records: Sequence[values.Record]) -> list[values.Altered]:
        if self.refusals:
            self.refusals -= 1
            raise StorageError("The disk is full.")
        self.commits.append(sum(isinstance(one, values.StoreMessage) for one in records))
        return await super().commit(records)


@dataclass
class Released:
    """Notes what the engine lets out, as a node's outlet takes it."""

    engine: Engine | None = None
    texts: list[str] = field(default_factory=list)
    written: list[MessageId] = field(default_factory=list)
    listener: Callable[[MessageId], object] = id
    """Hears of every line of ours that is committed."""
    notices: list[str] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    """Lines let out when frames went, with more to follow."""
    flushed: list[int] = field(default_factory=list)
    """The same, with all of a commit let out: then the protocol log has it."""
    refusals: list[tuple[str, str]] | None = None
    """Names and reasons of what was refused; None where nothing is to be."""

    def carry_out(
        self, _channel: ChannelId, effect: values.Effect, _loaded: dict[MessageId, Loaded]
    ) -> None:
        assert self.engine is not None
        match effect:
            case values.Written(token, message_id):
                self.engine.written(token, message_id)
                self.written.append(message_id)
                self.listener(message_id)
            case values.Deliver(_, entry) if entry is not None:
                self.texts.append(entry.body.decode(errors="replace"))
            case values.Refused(peer, reason):
                self.refused(peer, reason)
            case _:
                pass

    def announce(self, peer: PeerId, payload: bytes) -> None:
        pass

    def send(self) -> None:
        self.sent.append(len(self.texts))

    def flush(self) -> None:
        self.flushed.append(len(self.texts))

    def refused(self, who: str, reason: str) -> None:
        assert self.refusals is not None, f"{who}: {reason}"
        self.refusals.append((who, reason))

    def notify(self, notice: Notice) -> None:
        self.notices.append(notice.text)

    def begin_anew(self) -> None:
        pass

    def begin_anew_in(self, channel: ChannelId) -> None:
        pass

    def staged(self, record: values.StageSnapshot | values.DropSnapshot) -> None:
        pass

    def swapped(self, channel: ChannelId) -> None:
        pass


@dataclass
class Bench:
    """An engine over a real disk, which turns."""

    engine: Engine
    journal: Journal
    released: Released
    turning: "asyncio.Task[None]"

    def hear(self, *sent: values.StoredMessage) -> None:
        """Have messages wait as they come on their authors' links."""
        for one in sent:
            arrived = values.Arrived(one.entry.header.author, one.payload)
            self.engine.queue_input(CHANNEL, arrived)

    async def write(self, *texts: str) -> list[MessageId | BaseException]:
        """Write lines that all wait at once; returns what became of each."""
        lines = [self.engine.submit(CHANNEL, Kind.TEXT, _body(text)) for text in texts]
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.gather(*lines, return_exceptions=True)

    async def write_together(self, *texts: str) -> Sequence[Outcome]:
        """Write lines that somebody waits for at once; returns what became of each."""
        async with asyncio.timeout(PATIENCE_S):
            bodies = [_body(text) for text in texts]
            return await self.engine.submit_all(CHANNEL, Kind.TEXT, bodies)

    async def stored(self) -> list[MessageId]:
        """Return the ids on the disk, in the order of the channel."""
        page = await self.journal.newest_page(CHANNEL, None, 1 << 20)
        return [one.message_id for one in reversed(page.entries)]


def _body(text: str) -> bytes:
    return encode_text(Text("me", text))


@asynccontextmanager
async def turning(place: Path, step: Nanos = STEP, verify: Verify = verify) -> AsyncIterator[Bench]:
    """An engine over the history in a directory, which has written a line."""
    me, clock = identity("me"), SteppingClock(step)
    async with opened(place / "history.db") as store:
        author = Author(me.peer_id, me.sign, verify, lambda: 2, gates=ForeseeingGate)
        runner = Runner(author, random.Random(0), protocols=WAKU_ONLY)
        journal, released = Journal(store.journal), Released()
        runner.add_channel(membership(), await journal.restore(CHANNEL))
        engine = released.engine = Engine(runner, journal, clock, released)
        task = asyncio.create_task(engine.turn_forever())
        bench = Bench(engine, journal, released, task)
        await bench.write("the first")
        journal.commits.clear()
        released.texts.clear()
        try:
            yield bench
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
