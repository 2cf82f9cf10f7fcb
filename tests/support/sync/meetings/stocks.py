"""Profiles that have a channel and a part of its past before their first start."""

from collections.abc import Sequence
from pathlib import Path

from storage.profile.members import Members
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.entries.membership import Membership
from sync.group.values import Status, StoredMessage, StoreMessage
from sync.machine import SECOND, MessageId
from sync.net.clock import draw_log
from tests.support.sync.entries import identity
from tests.support.sync.nodes import channel_of

NAME = "tea"
TEA = channel_of(NAME)[0]
BATCH = 1_000


async def stock(tmp_path: Path, name: str, messages: Sequence[StoredMessage]) -> None:
    """Give a profile the channel and what it holds; who lacks a parent follows a gap."""
    channel, secret = channel_of(NAME)
    database = await Database.open(tmp_path / f"{name}.sqlite")
    membership = Membership(channel, NAME, secret, open=False, profile="lan", joined_ns=SECOND)
    await Members(database).add_channel(membership, draw_log())
    journal = SqliteJournal(database, identity(name).peer_id)
    here = {one.entry.message_id for one in messages}
    for first in range(0, len(messages), BATCH):
        batch = messages[first : first + BATCH]
        await journal.commit(
            [StoreMessage(one, Status.DELIVERED, _gap(one, here)) for one in batch]
        )
    await database.close()


def _gap(message: StoredMessage, here: set[MessageId]) -> bool:
    return any(parent.message_id not in here for parent in message.entry.header.parents)
