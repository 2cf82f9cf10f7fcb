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
from sync.sketch import floors, peeling, prefix
from sync.sketch import messages as sketch_messages
from sync.sketch import session as sketch
from sync.structures.sorted_run import HASH_BYTES

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
    "Building.parts": 2,  # of the two runs of a set
    "Exchange._views": len(session.MAKERS),
    "FrozenMessages._waiting": incoming.WAITING_MAX,
    "LogSync.kinds": len(SyncKind),
    "Lookup._parts": 2,
    "Lookup._tables": 2,
    "Lookup._wanted": peeling.FOUND_MAX,
    "Lowering._left": floors.BETWEEN_MAX,
    "Peeling._found": peeling.WAVES_MAX + 2,
    "Peeling._pure": sketch_messages.SYMBOLS_MAX,
    "Peeling._touched": peeling.FOUND_MAX,
    "Peeling.waves": sketch_messages.SYMBOLS_MAX,
    "Prefix._hashes": HASH_BYTES * prefix.BATCH,
    "Prefix._times": prefix.BATCH,
    "SketchExchange._done": 2,
    "SketchExchange._wants": peeling.FOUND_MAX,
    "Session.asked_hashes": peeling.FOUND_MAX,
    "SketchExchange.cards": sketch.ROUNDS_MAX,
    "Snapshots.as_empty": lambda scale: scale.links + 1,
    "Snapshots.left_by": lambda scale: scale.links + 1,
    "Snapshots.speakers": lambda scale: scale.links + 1,
    "SnapshotReceiver._checking": snapshot_messages.WINDOW,
    "SnapshotReceiver.cards": snapshot.ROUNDS_MAX,
    "SnapshotSource.cards": snapshot.ROUNDS_MAX,
    "Symbols.counts": sketch_messages.SYMBOLS_MAX,
    "Symbols.rows": sketch_messages.SYMBOLS_MAX,
}
"""By class and attribute; see `sync.sim.bounds.BOUNDS`."""
