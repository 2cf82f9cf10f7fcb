"""Rows of a restored log and of a set of SyncIDs, written and read the plain way."""

from collections.abc import Iterable

from sync.machine import MessageId


def log_rows(log: Iterable[tuple[int, str]]) -> bytes:
    return b"".join(lamport.to_bytes(8, "big") + bytes.fromhex(id_) for lamport, id_ in log)


def log_of(rows: bytes) -> list[tuple[int, MessageId]]:
    return [(stamp, MessageId(digest.hex())) for stamp, digest in stamped(rows)]


def sync_rows(ids: Iterable[tuple[int, bytes]]) -> bytes:
    return b"".join(created_ns.to_bytes(8, "big") + digest for created_ns, digest in ids)


def stamped(rows: bytes) -> list[tuple[int, bytes]]:
    assert len(rows) % 40 == 0
    parts = (rows[start : start + 40] for start in range(0, len(rows), 40))
    return [(int.from_bytes(part[:8], "big"), part[8:]) for part in parts]
