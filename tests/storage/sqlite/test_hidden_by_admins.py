"""Lines of others that admins have hidden: whatever the order, and whatever became of the rows."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from storage.sqlite.stored_governance import StoredGovernances
from sync.calimero.governance.ops import Key, Role, Verdict
from sync.calimero.governance.verdicts import Doing, verdict_at_cut
from sync.entries.changes import Edit, Redaction, look_of
from sync.entries.entry import Entry
from sync.errors import StorageError
from sync.group.records import Altered, Discard
from sync.group.values import Record, StoredMessage
from sync.view.governance_infos import Person
from tests.support.storage.governed_stores import author, channel_of, governed, kept
from tests.support.storage.searching import searched
from tests.support.storage.stores import Store, delivered, membership, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import Author
from tests.support.sync.governed import History

WITHHELD = "SELECT hides FROM withheld"


class Told:
    """A channel of alice, its owner, bob, an admin later on, and carol, with a line of carol."""

    def __init__(self) -> None:
        self.history = History("alice", signing=True)
        self.history.add("alice", "bob")
        self.added = self.history.add("alice", "carol")
        self.before = [self.added.id]
        self.history.set_role("alice", "bob", Role.ADMIN)
        self.authors: dict[str, Author] = {}
        self.line = self.by("carol").write("buy now", lamport=100, governance=self.before)

    def by(self, name: str) -> Author:
        return self.authors.setdefault(name, author(name, self.history))

    def hide(self, name: str, lamport: int, cut: Sequence[bytes] | None = None) -> StoredMessage:
        heads = self.history.governance.heads if cut is None else cut
        change = Redaction(self.line.entry.message_id)
        return changed(self.by(name), change, self.line, lamport=lamport, governance=heads)

    def edit(self, name: str, text: str, lamport: int) -> StoredMessage:
        change = Edit(self.line.entry.message_id, text)
        heads = self.history.governance.heads
        return changed(self.by(name), change, self.line, lamport=lamport, governance=heads)

    def hides(self, redaction: Entry) -> bool:
        """Return whether the author of a redaction was an admin at its cut."""
        heads = tuple(redaction.header.governance)
        who = Key(bytes.fromhex(redaction.header.author))
        verdict = verdict_at_cut(self.history.governance, who, heads, Doing.HIDE)  # type: ignore[arg-type]
        return verdict is Verdict.YES


def cases() -> list[tuple[str, Told, list[StoredMessage], str | None]]:
    """Changes of the line, and who has hidden it in the end."""
    told = Told()
    hidden = told.hide("bob", 110)
    return [
        ("admin", told, [hidden], "bob"),
        ("later edit", told, [hidden, told.edit("carol", "sell now", 120)], "bob"),
        ("two admins", told, [hidden, told.hide("alice", 115)], "bob"),
        ("the first", told, [hidden, told.hide("alice", 105)], "alice"),
        ("no admin", told, [told.hide("mallory", 110)], None),
        ("not yet admin", told, [told.hide("bob", 110, told.before)], None),
        ("taken back", told, [hidden, told.edit("bob", "x", 130), hidden], None),
    ]


@pytest.mark.parametrize(("what", "told", "changes", "by"), cases(), ids=lambda one: str(one)[:12])
async def test_an_admins_redaction_hides_it_whatever_comes_when(
    tmp_path: Path, what: str, told: Told, changes: list[StoredMessage], by: str | None
) -> None:
    del what
    distinct = list(dict.fromkeys(changes))
    orders = list(permutations([told.line, *distinct]))
    expected = look_of(told.line.entry, [one.entry for one in distinct], told.hides)
    assert expected.hidden_by == (None if by is None else told.by(by).peer_id)
    for number, order in enumerate(orders):
        async with opened(tmp_path / f"{number}.db") as store:
            channel = await governed(store, told.history)
            altered: list[Altered] = []
            for message in order:
                altered += await store.journal.commit(delivered(message))
            page = await store.history.page(channel, before=None, limit=20)
            (line,) = [one for one in page if one.message_id == told.line.entry.message_id]
            found = await searched(store, channel, "now", limit=5)

        who = None if line.hidden_by is None else line.hidden_by.peer
        assert who == expected.hidden_by
        assert line.deleted is (by is not None)
        assert (line.text == "") is (by is not None)
        assert bool(found) is (by is None)
        if altered:
            assert altered[-1].look.hidden_by == expected.hidden_by


async def test_whoever_hides_their_own_line_deleted_it_whoever_they_are(tmp_path: Path) -> None:
    told = Told()
    told.line = told.by("bob").write(
        "my own", lamport=100, governance=told.history.governance.heads
    )

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, told.history)
        await store.journal.commit(delivered(told.line, told.hide("bob", 110)))
        page = await store.history.page(channel, before=None, limit=20)

    (line,) = [one for one in page if one.act is None]
    assert (line.deleted, line.hidden_by) == (True, None)


async def test_a_redaction_whose_row_rots_hides_on_also_after_mending(tmp_path: Path) -> None:
    told = Told()
    hidden = told.hide("bob", 110)

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, told.history)
        await store.journal.commit(delivered(told.line, hidden))
        gone = bytes.fromhex(hidden.entry.message_id)
        await store.database.write(
            lambda db: db.execute(
                "UPDATE messages SET payload = zeroblob(length(payload)) WHERE message_id = ?",
                (gone,),
            )
        )
        rotten = await shown(store, told)
        await store.journal.commit([Discard(channel, hidden.entry.message_id)])
        set_aside = await shown(store, told)
        left = await store.database.read(lambda db: db.execute(WITHHELD).fetchall())
        store.database.is_damaged = True
        await store.database.mend()
        mended = await shown(store, told)
        await store.journal.commit(delivered(hidden))  # others had it
        again = await shown(store, told)

    names = [None if one is None else one.peer for one in (rotten, set_aside, mended, again)]
    assert names == [told.by("bob").peer_id] * 4
    assert left == [(1,)]


async def shown(store: Store, told: Told) -> Person | None:
    """Return who has hidden the line, by the history."""
    page = await store.history.page(channel_of(told.history), before=None, limit=20)
    (line,) = [one for one in page if one.message_id == told.line.entry.message_id]
    assert line.deleted
    return line.hidden_by


async def test_a_copy_of_a_damaged_disk_knows_who_may_hide(tmp_path: Path) -> None:
    told = Told()

    async with opened(tmp_path / "chat.db") as store:
        await governed(store, told.history)
        await store.journal.commit(delivered(told.line, told.hide("bob", 110)))
        store.database.is_damaged = True
        await store.database.mend()
        by = await shown(store, told)

    assert by is not None
    assert by.peer == told.by("bob").peer_id


async def test_ops_that_were_rolled_back_are_forgotten(tmp_path: Path) -> None:
    told = Told()
    channel = channel_of(told.history)
    hidden = told.hide("bob", 110)
    records: list[Record] = [*kept(told.history), *delivered(told.line, hidden)]

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(channel, "friends"), 2)

        def refused(db: object) -> None:
            raise StorageError("The disk is full.")

        governances = store.database.governances
        with pytest.raises(StorageError):
            await store.database.write(refused)
        named = told.by("bob").write("it is bob", lamport=90, governance=told.before)
        await store.journal.commit([*records, *delivered(named)])
        by = await shown(store, told)

        assert isinstance(governances, StoredGovernances)
        assert store.database.governances is not governances
    assert by == Person(told.by("bob").peer_id, "bob")
