"""A Store node: hears every broadcast, keeps every message, gives it back by its retrieval hint.

The high-availability cache of SDS ("Design Assumptions"), and a `sync.runner.journal.Retriever`
for every participant of a world.
"""

from collections.abc import Sequence

from msgspec import Struct

from sync.group.ingest import Gate
from sync.group.values import Broadcast, Retrieve, Retrieved
from sync.machine import ChannelId
from sync.runner.batch import Release
from sync.sds.message import HistoryEntry, Kind
from sync.sim.world import World


class StoreClient(Struct, frozen=True):
    """Client with which participant `number` fetches from a store."""

    store: "Store"
    number: int

    def retrieve(self, channel: ChannelId, wanted: Sequence[HistoryEntry]) -> None:
        """See `sync.runner.journal.Retriever`."""
        assert channel == self.store.world.channel
        self.store.fetch(self.number, wanted)


class Store:
    """The store of `world`; the network does not keep broadcasts from it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._gate = Gate.of(world.channel, lambda *_: True)
        self._kept: dict[bytes, bytes] = {}
        world.listeners.append(self._note)

    def __len__(self) -> int:
        return len(self._kept)

    def fetch(self, number: int, wanted: Sequence[HistoryEntry]) -> None:
        """Give a participant what is kept of `wanted`."""
        for entry in wanted:
            payload = self._kept.get(entry.retrieval_hint or b"")
            if payload is not None:
                self.world.give(number, Retrieved(payload))

    def _note(self, number: int, release: Release) -> None:
        match release.effect:
            case Broadcast(payload):
                message = self._gate.read(payload)
                if message.kind is Kind.CONTENT:
                    stored = self._gate.check(message)
                    self._kept[stored.waku_hash] = stored.payload
            case Retrieve(wanted):
                StoreClient(self, number).retrieve(release.channel, wanted)
            case _:
                pass
