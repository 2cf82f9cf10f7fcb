"""The history of a profile, a channel and a day at a time, read while its chat may be running."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from msgspec import Struct

from storage.sqlite.columns import STATUS, U64_MAX, from_u64, to_u64
from storage.sqlite.migrations import MIGRATIONS
from storage.sqlite.payloads import entry_of
from storage.sqlite.soundness import is_sound
from sync.entries.entry import Entry
from sync.errors import StorageError
from sync.group.status import Status
from sync.machine import DAY, ChannelId, Nanos, PeerId

LAST_DAY: Final = (2**63 - 1) // DAY
"""Times beyond this day are cut to its end, in exports."""

CHANNELS: Final = "SELECT * FROM channels ORDER BY channel"
"""With all columns: older databases have none of who is at the other end (`direct`)."""

# Both are answered from the index `messages_by_time` alone.
NEXT: Final = "SELECT min(created_ns) FROM unparked WHERE channel = ? AND created_ns >= ?"
MARK: Final = """
    SELECT count(*), sum(number), sum(status = 0), sum(number * (status = 0)) FROM unparked
    WHERE channel = ? AND created_ns BETWEEN ? AND ?
"""

ENTRIES: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload, status
    FROM unparked
    WHERE channel = ? AND created_ns BETWEEN ? AND ? ORDER BY created_ns, waku_hash
"""

BEFORE: Final = """
    SELECT DISTINCT older.message_id
    FROM parents JOIN messages AS newer ON newer.number = child
        JOIN messages AS older ON older.message_id = parent
    WHERE newer.channel = ? AND newer.created_ns >= ? AND older.created_ns < ? LIMIT ?
"""
BEFORE_MAX: Final = 10_000
"""Hardly more than the newest messages before that time are named by later ones."""


class StoredDay(Struct, frozen=True):
    """Stored messages of one day of a channel.

    `mark` changes whenever they do: how many messages and the sum of their numbers, of all and of
    the delivered ones. A stored message never changes but for its status.
    """

    channel: ChannelId
    begins: Nanos
    mark: tuple[int, int, int, int]

    @property
    def count(self) -> int:
        """The number of messages."""
        return self.mark[0]


class HistoryReader:
    """Reads the history of `me`; a context manager.

    Raises:
        StorageError: it cannot be read, or is of a newer version.
    """

    def __init__(self, path: Path, me: PeerId) -> None:
        self.me = me
        self._path = path
        with self._explaining():
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
            )
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if not 0 < version <= len(MIGRATIONS):
                raise StorageError(
                    f"{path} was written by a newer chat-tui: update this program, then export."
                )
            found = self._db.execute(CHANNELS)
            columns = [name for name, *_ in found.description]
            rows = [dict(zip(columns, row, strict=True)) for row in found]
        self.channels = {ChannelId(row["channel"].hex()): str(row["name"]) for row in rows}
        """Names by id, also of those that were left."""
        self.direct = {
            one for one, row in zip(self.channels, rows, strict=True) if row.get("direct")
        }
        """Those of two."""
        self.profiles = {row["channel"].hex(): str(row["profile"]) for row in rows}
        """Names of the parameters of each channel."""
        self.damaged = 0
        """Messages that were left out: the disk no longer has what was stored."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def days(self, channel: ChannelId, since: Nanos | None) -> list[StoredDay]:
        """Return the days of a channel of which anything is held, from the day of `since` on."""
        days: list[StoredDay] = []
        ours = bytes.fromhex(channel)
        begins = 0 if since is None else since // DAY * DAY
        with self._explaining():
            while True:
                (stored,) = self._db.execute(NEXT, (ours, from_u64(begins))).fetchone()
                if stored is None:
                    return days
                begins = min(to_u64(stored) // DAY, LAST_DAY) * DAY
                first, last = _bounds(begins)
                mark = self._db.execute(MARK, (ours, first, last)).fetchone()
                days.append(StoredDay(channel, begins, mark))
                if to_u64(last) == U64_MAX:
                    return days
                begins += DAY

    def named_before(self, channel: ChannelId, since: Nanos) -> list[str]:
        """Return the ids of messages from before the day of `since` that later ones depend on."""
        first, _ = _bounds(since // DAY * DAY)
        wanted = (bytes.fromhex(channel), first, first, BEFORE_MAX)
        with self._explaining():
            return [message_id.hex() for (message_id,) in self._db.execute(BEFORE, wanted)]

    def entries(self, day: StoredDay) -> Iterator[tuple[Entry, bytes, bool]]:
        """Yield what is held of a day, with its Waku hash and whether it is delivered.

        By (created_ns, Waku hash). Arrivals since the day was marked are among them; damaged rows
        are not, and are counted.
        """
        wanted = (bytes.fromhex(day.channel), *_bounds(day.begins))
        with self._explaining():
            for *claims, status in self._db.execute(ENTRIES, wanted):
                if not is_sound(*claims):
                    self.damaged += 1
                    continue
                *_, waku_hash, _, payload = claims
                yield entry_of(payload), waku_hash, status == STATUS[Status.DELIVERED]

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(
                f"The history in {self._path} cannot be read ({error}): start the chat once with "
                "this profile, which says what is wrong with it."
            ) from error


def _bounds(begins: Nanos) -> tuple[int, int]:
    """Return the first and the last time of a day, as stored."""
    last = U64_MAX if begins // DAY == LAST_DAY else begins + DAY - 1
    return from_u64(begins), from_u64(last)
