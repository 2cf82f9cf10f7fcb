"""The messages of a channel, as its sessions see them; see `sync.calimero.log.view.LogView`."""

from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING

from sync.group.views.delta import FrozenMessages
from sync.group.views.snapshot import SnapshotOf
from sync.machine import MessageId, Nanos
from sync.sessions.handshake import HEADS_MAX
from sync.sketch.prefix import Sketch
from sync.structures.ordered_set import OrderedSet

if TYPE_CHECKING:
    from sync.group.machines import Machines


class MessagesOf:
    """The messages of one group's channel."""

    def __init__(self, group: "Machines") -> None:
        self._group = group

    @property
    def is_empty(self) -> bool:
        """See `LogView`; what is set aside, waits for governance or is on its way is stored too."""
        group = self._group
        me = group.author.me
        governing = group.governing
        return not (
            (group.holdings and group.snapshots.staged is None)
            or group.logs.has_other_author(bytes.fromhex(me))
            or len(group.aside.parked.outlines) > len(group.aside.parked.of(me))
            or (governing is not None and governing.pending.entries)
            or group.loading.ids
            or group.stating.registers.authors() - {bytes.fromhex(me)}
        )

    @property
    def snapshot(self) -> SnapshotOf:
        """See `LogView`."""
        return SnapshotOf(self._group)

    def scope(self) -> bytes:
        """See `LogView`."""
        return self._group.stating.scope()

    def heads(self) -> tuple[MessageId, ...]:
        """See `LogView`."""
        sds = self._group.sds
        waiting = [(one.content.lamport, id_) for id_, one in sds.incoming.waiting.items()]
        held = [*sds.log.order.newest_places(HEADS_MAX), *nlargest(HEADS_MAX, waiting)]
        return tuple([message_id for _, message_id in sorted(held)[-HEADS_MAX:]])

    def wanted(self) -> tuple[MessageId, ...]:
        """See `LogView`."""
        incoming = self._group.sds.incoming
        named = dict.fromkeys(chain(incoming.missing, incoming.lost))
        return tuple([one for one in named if not self._group.holds(one)])

    def sketch(self, frozen: OrderedSet, floor: Nanos, now: Nanos) -> Sketch | None:
        """See `LogView`."""
        return self._group.prefix.frozen(frozen, floor, now)

    def frozen(self) -> FrozenMessages:
        """See `LogView`."""
        return FrozenMessages(self._group)
