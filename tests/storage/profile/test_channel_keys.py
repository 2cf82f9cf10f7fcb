"""Keys of governed channels: founded whole or not at all, and kept over restarts."""

from pathlib import Path

import pytest

from storage.profile.channel_keys import ChannelKeys
from storage.profile.members import Members
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.ops import Key, Seal
from sync.calimero.governance.rights import FOUNDING
from sync.entries.membership import Membership
from sync.errors import StorageError
from sync.group.records import StoredMessage, StoredOp
from sync.machine import SECOND, ChannelId
from sync.net.governance.key_store import Ticket
from tests.support.storage.stores import ME, delivered, opened
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.governed import genesis

FOUNDED = genesis("alice")
CHANNEL_ID = ChannelId(FOUNDED.id[:16].hex())
TEAM = Membership(
    CHANNEL_ID, "team", b"1" * 32, open=False, profile="lan", joined_ns=SECOND, genesis=FOUNDED.id
)
OP = StoredOp(FOUNDED.content, FOUNDING)


async def test_a_founded_channel_is_on_the_disk_with_its_genesis_and_its_first_secret(
    tmp_path: Path,
) -> None:
    database = await Database.open(tmp_path / "chat.db")
    await ChannelKeys(database).found(TEAM, 7, OP)
    await database.close()

    database = await Database.open(tmp_path / "chat.db")
    state = await SqliteJournal(database, ME).restore(CHANNEL_ID)

    assert await Members(database).channels() == [TEAM]
    assert (state.log_number, state.ops) == (7, (OP,))
    assert await ChannelKeys(database).epochs(CHANNEL_ID) == [
        EpochSecret(0, FOUNDED.id, TEAM.secret)
    ]
    await database.close()


async def test_a_channel_whose_founding_the_disk_refuses_is_nowhere(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "chat.db")
    await database.write(lambda db: db.execute("DROP TABLE epochs"))  # what is written last

    with pytest.raises(StorageError):
        await ChannelKeys(database).found(TEAM, 7, OP)

    assert await Members(database).channels() == []
    assert await database.read(lambda db: db.execute("SELECT * FROM group_ops").fetchall()) == []
    await database.close()


async def test_secrets_are_kept_by_the_op_that_began_their_epoch(tmp_path: Path) -> None:
    first, second = EpochSecret(1, b"a" * 32, b"2" * 32), EpochSecret(2, b"b" * 32, b"3" * 32)
    async with opened(tmp_path / "chat.db") as store:
        keys = ChannelKeys(store.database)
        await keys.keep_epochs(CHANNEL, [second, first])
        await keys.keep_epochs(CHANNEL, [first])
    async with opened(tmp_path / "chat.db") as store:
        assert await ChannelKeys(store.database).epochs(CHANNEL) == [first, second]


async def test_tickets_are_kept_until_they_are_forgotten(tmp_path: Path) -> None:
    given, entered = Ticket(b"a" * 32, b"s" * 16), Ticket(b"b" * 32, b"t" * 16, b"e" * 32)
    async with opened(tmp_path / "chat.db") as store:
        keys = ChannelKeys(store.database)
        await keys.keep_ticket(CHANNEL, given)
        await keys.keep_ticket(CHANNEL, entered)
    async with opened(tmp_path / "chat.db") as store:
        keys = ChannelKeys(store.database)
        assert await keys.tickets(CHANNEL) == [given, entered]
        await keys.forget_tickets(CHANNEL, [given])
        assert await keys.tickets(CHANNEL) == [entered]


async def test_a_seal_names_the_highest_entry_stored_of_each_log_above_gaps_too(
    tmp_path: Path,
) -> None:
    eve, other, ann = Author("eve"), Author("eve", log=2), Author("ann")
    for _ in range(9):
        eve.write()
    first, last = eve.entries[0], eve.entries[-1]  # the seven between never came
    lines = [first, last, other.write(), ann.write()]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines))
        keys = ChannelKeys(store.database)
        key = Key(eve.identity.public_key)
        sealed = await keys.seals(CHANNEL, key, 64)
        newest = await keys.seals(CHANNEL, key, 1)

    tops = [Seal(key, 1, 9, id_of(last)), Seal(key, 2, 1, id_of(lines[2]))]
    assert sorted(sealed) == tops
    assert newest == tops[1:]


def id_of(line: StoredMessage) -> bytes:
    return bytes.fromhex(line.entry.message_id)


def test_a_text_of_a_ticket_shows_neither_seed_nor_secret() -> None:
    ticket = Ticket(b"a" * 32, b"seed-of-a-ticket", b"e" * 32)

    assert repr(ticket) == "Ticket(61616161)"
    assert "1111" not in repr(EpochSecret(1, b"a" * 32, b"1" * 32))
