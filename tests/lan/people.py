"""Persons on hosts of the lab, and what is on their disks."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from storage.sqlite.columns import STATUS
from sync.group.values import Status
from sync.machine import ChannelId
from tests.lan.lab import Lab
from tests.support.processes import Person


def person_on(lab: Lab, tmp_path: Path, host: int) -> Person:
    return Person(f"host{host}", tmp_path / f"host{host}", prefix=lab.prefix(host))


def log(person: Person, channel: ChannelId) -> list[tuple[int, bytes]]:
    """Return the messages delivered on a person's disk, in order; the program has ended."""
    return list(_rows(person.data_dir / person.name / "chat.db", channel))


def _rows(path: Path, channel: ChannelId) -> Iterator[tuple[int, bytes]]:
    database = sqlite3.connect(path)
    try:
        yield from database.execute(
            "SELECT lamport, message_id FROM messages WHERE channel = ? AND status = ? "
            "ORDER BY lamport, message_id",
            (bytes.fromhex(channel), STATUS[Status.DELIVERED]),
        )
    finally:
        database.close()
