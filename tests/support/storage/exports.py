"""Profiles with a history and a protocol log to export, and what an export holds, read back."""

import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.exporter import Exporter, Summary, Wanted
from storage.archive.tables import (
    HISTORY,
    HISTORY_DIR,
    LOG,
    LOG_DIR,
    NOT_LET_IN,
    NOT_LET_IN_DIR,
    NOTE,
    OPS,
    OPS_DIR,
)
from storage.profile.members import Members
from storage.profile.profile import Profile
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from storage.sqlite.protocol_log import FILE_NAME, LogFile
from sync.entries.identity import Identity
from sync.entries.membership import Membership
from sync.group.values import Record, StoredMessage
from sync.machine import DAY, ChannelId, Nanos, PeerId
from sync.runner.log_notes import Chunk, Note
from sync.runner.log_rows import LogKind
from tests.support.storage.archives import archive
from tests.support.storage.stores import OWN_LOG, membership
from tests.support.sync.entries import CHANNEL

SCHEMAS = {HISTORY_DIR: HISTORY, LOG_DIR: LOG, OPS_DIR: OPS, NOT_LET_IN_DIR: NOT_LET_IN}

ELSEWHERE = ChannelId("0d" * 16)
BEGAN: Nanos = 20_000 * DAY
"""A day in 2024."""


class Owner:
    """Somebody with a profile called `name`, who is not in the chat now."""

    def __init__(self, data_dir: Path, name: str = "me") -> None:
        self.name = name
        self.data_dir = data_dir
        self.directory = data_dir / name
        profile = Profile.open(data_dir, name, lambda size: name.encode().ljust(size, b"0"))
        keys = profile.keys
        self.peer_id: PeerId = Identity.from_seed(keys.signing_seed, keys.noise_seed).peer_id
        profile.close()

    async def hold(
        self, records: Sequence[Record], rooms: Iterable[Membership] = (membership(),)
    ) -> None:
        """Put this on the disk, in channels that are joined where they are new."""
        database = await Database.open(self.directory / "chat.db")
        try:
            members = Members(database)
            known = {one.channel for one in await members.channels()}
            for room in rooms:
                if room.channel not in known:
                    await members.add_channel(room, OWN_LOG)
            await SqliteJournal(database, self.peer_id).commit(records)
        finally:
            await database.close()

    def note(self, *chunks: Chunk, bytes_max: int = 1 << 26) -> None:
        """Write this to the protocol log, in a start of its own."""
        with closing(self.log(bytes_max)) as log:
            for chunk in chunks:
                log.append([chunk])

    def log(self, bytes_max: int) -> LogFile:
        """Open the protocol log."""
        path = self.directory / FILE_NAME
        return LogFile(path, lambda size: bytes(range(size)), bytes_max=bytes_max)

    def export(self, out: Path, wanted: Wanted | None = None) -> Summary:
        """Export this profile, or a part of it."""
        return Exporter(self.directory, out, wanted or Wanted()).run()


def files(out: Path, table: str) -> list[Path]:
    """The files of a table, by channel and day."""
    return sorted((out / table).rglob("*.parquet"))


def read(out: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a table, each file's in its order."""
    tables = [pq.ParquetFile(path).read() for path in files(out, table)]
    assert all(one.schema.equals(SCHEMAS[table]) for one in tables)
    rows: list[dict[str, Any]] = pa.concat_tables(tables).to_pylist() if tables else []
    return rows


def note_of(out: Path) -> dict[str, Any]:
    """Return the note that an export contains about itself."""
    note: dict[str, Any] = json.loads((out / NOTE).read_text())
    return note


def written(out: Path) -> dict[str, int]:
    """The number of each file, which is another one when it is written again."""
    return {
        str(path.relative_to(out)): path.stat().st_ino
        for path in [*files(out, HISTORY_DIR), *files(out, LOG_DIR)]
    }


def history(count: int, first_day: int = 0, channel: ChannelId = CHANNEL) -> list[StoredMessage]:
    """Messages of an author, four a day."""
    begin = BEGAN + first_day * DAY
    return list(archive("ann", count, begin, DAY // 4, channel))


def received(channel: ChannelId, count: int) -> list[Note]:
    return [Note(channel, LogKind.RECEIVED, None, None, 5, 300) for _ in range(count)]


def log_of(*days: int, first: int = 1, count: int = 5) -> list[Chunk]:
    """So many rows on each of these days."""
    return [
        (BEGAN + day * DAY, first + number * count, received(CHANNEL, count))
        for number, day in enumerate(days)
    ]
