"""Both ends of a snapshot by themselves: what a source loads, and what a receiver keeps."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from sync.calimero.log.snapshot import SnapshotReceiver, SnapshotSource
from sync.calimero.log.snapshot_news import PageKept, SnapshotBegan, SnapshotComplete
from sync.calimero.log.snapshot_pages import check_page
from sync.calimero.state.registers import Registers
from sync.errors import RemoteError
from sync.group.ingest import Gate
from sync.group.values import StoredMessage
from sync.machine import Nanos, PeerId
from sync.sessions.handshake import EntityState, LogState, SyncHandshake
from sync.sessions.page_values import CheckedPage, LogPlace
from sync.sessions.protocol import Checks, Effect, Finished, LoadNewest, Opening, Send, Snapshots
from sync.sessions.values import LoadedEntry
from sync.sim.rooms import CHANNEL
from sync.structures.differences import Role
from sync.structures.ordered_set import OrderedSet, SyncId
from sync.structures.set_digest import Digest, Held
from sync.waku.message import EVERYTHING

NOW: Nanos = 1_800_000_000_000_000_000
ME = PeerId("99" * 32)


@dataclass
class Kept:
    """A receiver's channel (`SnapshotView`)."""

    cursor: LogPlace | None = None
    floor: Nanos | None = None
    may_begin: bool = True
    pages: list[bytes] = field(default_factory=list)


class State:
    """The state of a source's channel."""

    def __init__(self, registers: Registers) -> None:
        self.registers = registers
        self.aside = self.outside = 0

    def scope(self) -> bytes:
        """Return that nobody governs."""
        return bytes(32)


def place_of(message: StoredMessage) -> LogPlace:
    """Return the place of a stored message."""
    return message.entry.header.lamport, message.entry.message_id


def handshake(count: int, floor: Nanos = 0) -> SyncHandshake:
    """Return what an end with so many messages tells."""
    log = LogState(bytes(32), count, floor)
    return SyncHandshake(bytes(32), log, EntityState(bytes(32), 0, 0), 0)


def opening(role: Role, held: Sequence[StoredMessage], state: Registers) -> Opening:
    """Return the opening of a session of an end that holds these messages."""
    local = OrderedSet()
    for one in held:
        local.insert(SyncId(one.entry.header.created_ns, one.waku_hash))
    frozen = local.frozen()
    digest = Held(frozen, Digest.of(frozen))
    return Opening(
        role, CHANNEL, ME, frozen, digest, EVERYTHING, NOW, lambda: 0, state=State(state)
    )


class Snapshot:
    """A source with a history, a receiver with nothing, and the wire between them."""

    def __init__(
        self,
        history: Sequence[StoredMessage],
        gate: Gate,
        kept: Kept | None = None,
        *,
        state: Registers | None = None,
        floors: tuple[Nanos, Nanos] = (0, 0),
    ) -> None:
        self.history = sorted(history, key=place_of)
        self.now = NOW
        self.kept = kept or Kept()
        self._gate = gate
        registers = Registers() if state is None else state
        ours, theirs = handshake(0, floors[0]), handshake(len(history), floors[1])
        held = opening(Role.RESPONDER, self.history, registers)
        self.source = SnapshotSource(held, theirs, ours)
        empty = opening(Role.INITIATOR, (), Registers())
        self.receiver = SnapshotReceiver(empty, self.kept, ours, theirs)
        self.payloads: list[bytes] = []
        """Payloads of the source."""
        self.news: list[object] = []
        self.over: dict[str, Finished] = {}
        self.loads = 0
        self.checked: dict[int, CheckedPage] = {}

    def run(self, pages: int | None = None) -> None:
        """Let it go on until it is over, or so many pages were kept."""
        self.begin()
        while self.source_due or self.receiver_due:
            if pages is not None and len(self.kept.pages) >= pages:
                return
            self.step()

    def begin(self) -> None:
        """Let the receiver ask."""
        self.source_due: list[bytes] = []
        self.receiver_due: list[bytes] = []
        self._of_receiver(self.receiver.open(self.now))

    def step(self) -> None:
        """Carry one message to its end."""
        if self.receiver_due:
            self._of_receiver(self.receiver.payload(self.receiver_due.pop(0), self.now))
        elif self.source_due:
            self._of_source(self.source.payload(self.source_due.pop(0), self.now))

    def _of_source(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(payload):
                    self.payloads.append(payload)
                    self.receiver_due.append(payload)
                case LoadNewest(before, most):
                    self.loads += 1
                    page, more = self.newest(before, most)
                    self._of_source(self.source.loaded(page, self.now, more=more))
                case Finished():
                    self.over["source"] = effect
                case _:
                    raise AssertionError(effect)

    def _of_receiver(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(payload):
                    self.source_due.append(payload)
                case Checks(number, payload):
                    self._of_receiver(self.check(number, payload))
                case Snapshots(news):
                    self._keep(news)
                case Finished():
                    self.over["receiver"] = effect
                case _:
                    raise AssertionError(effect)

    def check(self, number: int, payload: bytes) -> Sequence[Effect]:
        """Check a page, and tell the receiver."""
        try:
            page: CheckedPage | None = check_page(self._gate, ME, payload)
            reason = ""
        except RemoteError as error:
            page, reason = None, str(error)
        return self.receiver.page_checked(number, page, reason, self.now)

    def _keep(self, news: object) -> None:
        self.news.append(news)
        if isinstance(news, SnapshotBegan):
            if news.anew:
                self.kept.pages.clear()
            self.kept.floor = news.floor if not self.kept.pages else self.kept.floor
        elif isinstance(news, PageKept):
            self.kept.pages.append(news.chunk)
            self.kept.cursor = news.cursor

    @property
    def complete(self) -> bool:
        """True if the receiver has said that it has all."""
        return any(isinstance(one, SnapshotComplete) for one in self.news)

    def newest(self, before: LogPlace | None, most: int) -> tuple[list[LoadedEntry], bool]:
        """Return a page of the history as a disk would load it."""
        places = [place_of(one) for one in self.history]
        end = len(places) if before is None else bisect_left(places, before)
        page: list[LoadedEntry] = []
        size = 0
        for one in reversed(self.history[:end]):
            size += len(one.entry.content)
            if page and size > most:
                return page, True
            sync_id = SyncId(one.entry.header.created_ns, one.waku_hash)
            page.append(LoadedEntry(one.entry, sync_id))
        return page, False
