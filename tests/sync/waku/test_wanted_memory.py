"""Memory of what a session wants: columns, and no object for each id."""

import gc
import tracemalloc

import numpy as np

from sync.group import values
from sync.sessions.claims import CLAIM_BYTES
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, SyncId
from sync.waku.message import EVERYTHING, Bounds, Fingerprint, ItemSet
from tests.support.sync.waku.attacked import STREAM, attacked, offer, ranges, tell

IDS = 16_000

BYTES_MAX = 42 + 34
"""Of an id: a row of the session's table, and one of the channel's table of what is on its way."""

BESIDE = 100_000
"""Bytes of the session itself."""


def test_an_id_that_a_session_wants_takes_two_rows() -> None:
    honest, both = attacked()
    offer(honest, both)
    middle = SyncId(IDS + 1, ZERO_HASH)
    items = tuple([SyncId(at, at.to_bytes(32)) for at in range(1, IDS + 1)])
    payload = ranges(
        ItemSet(Bounds(ORIGIN, middle), items, reconciled=True),
        Fingerprint(Bounds(middle, EVERYTHING.upper), b"\1" * 32),
    )
    del items
    np.unique([0])  # it imports half a megabyte when it is called first
    gc.collect()
    tracemalloc.start()
    tell(honest, values.SessionPayload(STREAM, payload))
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    [session] = honest.group.sessions.by_peer.values()
    assert session.transfer.lacking == len(honest.group.loading.coming) == IDS
    assert taken <= BYTES_MAX * IDS + BESIDE
    assert BYTES_MAX <= CLAIM_BYTES, "what sessions may take is counted by that"
