"""Bounds of the tables of sessions over a channel's messages (`sync.calimero.log`)."""

from typing import Final

from sync.calimero.log import (
    delta,
    delta_buffer,
    delta_messages,
    session,
    snapshot,
    snapshot_messages,
)
from sync.sds import incoming
from sync.sessions import values
from sync.sessions.handshake import SyncKind
from sync.sim.scale import Bound

LOG_BOUNDS: Final[dict[str, Bound]] = {
    "DeltaAsking._asked": delta_messages.WALK_MAX,
    "DeltaAsking._put_off": delta_messages.WALK_MAX,
    "DeltaAsking._wanted": delta_messages.WALK_MAX,
    "DeltaAsking.taken": delta_messages.WALK_MAX,
    "DeltaExchange._named": delta_messages.WALK_MAX,
    "DeltaExchange.cards": delta.ROUNDS_MAX,
    "DeltaSending._by_id": values.PAGE,
    "DeltaSending._due": delta_messages.WALK_MAX,
    "DeltaSending._seen": delta_messages.WALK_MAX,
    "DeltaBuffer._items": delta_buffer.BUFFERED_MAX,
    "Exchange._views": len(session.MAKERS),
    "FrozenMessages._waiting": incoming.WAITING_MAX,
    "LogSync.kinds": len(SyncKind),
    "Snapshots.speakers": lambda scale: scale.links + 1,
    "SnapshotReceiver._checking": snapshot_messages.WINDOW,
    "SnapshotReceiver.cards": snapshot.ROUNDS_MAX,
    "SnapshotSource.cards": snapshot.ROUNDS_MAX,
}
"""By class and attribute; see `sync.sim.bounds.BOUNDS`."""
