"""Lines of somebody removed, by what their cuts and parents know: sealed, beyond, or folded."""

from pathlib import Path

import pytest

from sync.calimero.governance.ops import Remove, Seal
from sync.group.values import StoredMessage
from sync.view.governance_infos import Lateness
from tests.support.storage.governed_stores import author, governed, kept
from tests.support.storage.searching import searched
from tests.support.storage.stores import Store, delivered, opened
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, key


class Removal:
    """A removal of mallory by alice, who had one line of hers."""

    def __init__(self) -> None:
        self.history = History("alice", signing=True)
        self.history.add("alice", "bob")
        self.before = [self.history.add("alice", "mallory").id]
        self.mallory, self.bob = author("mallory", self.history), author("bob", self.history)
        self.first = self.write(self.mallory, "first", 10)
        self.sealed = self.write(self.mallory, "sealed", 11)
        self.beyond = self.write(self.mallory, "beyond", 12)
        self.others = self.write(self.bob, "of bob", 13)

    def write(self, by: Author, text: str, lamport: int, *after: StoredMessage) -> StoredMessage:
        return by.write(text, lamport=lamport, after=after, governance=self.before)

    def remove(self) -> None:
        header = self.sealed.entry.header
        entry = bytes.fromhex(self.sealed.entry.message_id)
        seal = Seal(key("mallory"), header.log, header.seq, entry)
        removal = Remove((key("mallory"),), self.history.epoch(), "spam", (seal,))
        self.history.act("alice", removal)
        knowing = self.history.governance.heads
        self.answered = self.bob.write("who was that", lamport=14, governance=knowing)
        self.folded = self.write(self.mallory, "folded", 15, self.answered)


async def marks(store: Store, channel: str) -> dict[str, Lateness]:
    page = await store.history.page(channel, before=None, limit=50)  # type: ignore[arg-type]
    return {line.text: line.late for line in page if line.act is None}


async def test_a_removal_marks_what_came_before_it_and_after_it(tmp_path: Path) -> None:
    told = Removal()
    lines = [told.first, told.sealed, told.beyond, told.others]

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, told.history, *delivered(*lines))
        before = await marks(store, channel)
        told.remove()
        await store.journal.commit([kept(told.history)[-1]])
        await store.journal.commit(delivered(told.answered, told.folded))
        after = await marks(store, channel)
        found = await searched(store, channel, "beyond", limit=3)

    assert set(before.values()) == {Lateness.IN_TIME}
    assert after == {
        "first": Lateness.SEALED,
        "sealed": Lateness.SEALED,
        "beyond": Lateness.BEYOND,
        "of bob": Lateness.IN_TIME,
        "who was that": Lateness.IN_TIME,
        "folded": Lateness.FOLDED,
    }
    assert [line.late for line in found] == [Lateness.BEYOND]


@pytest.mark.parametrize("sealed_is_here", [True, False])
async def test_in_a_log_that_forks_only_ancestors_of_what_was_sealed_are_sealed(
    tmp_path: Path, *, sealed_is_here: bool
) -> None:
    told = Removal()
    twin = author("mallory", told.history)
    other = told.write(twin, "other first", 10)
    told.remove()
    lines = [told.first, other, told.beyond, *([told.sealed] if sealed_is_here else [])]

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, told.history, *delivered(*lines))
        after = await marks(store, channel)

    here = Lateness.SEALED if sealed_is_here else Lateness.BEYOND
    assert after["first"] is here
    assert after["other first"] is Lateness.BEYOND


async def test_somebody_let_in_again_and_what_they_write_then_is_in_time(tmp_path: Path) -> None:
    told = Removal()
    told.remove()
    told.history.add("alice", "mallory")
    again = author("mallory", told.history)
    again.log = 77
    back = again.write("back", lamport=30, governance=told.history.governance.heads)

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, told.history, *delivered(told.beyond, back))
        after = await marks(store, channel)

    assert after == {"beyond": Lateness.BEYOND, "back": Lateness.IN_TIME}


async def test_an_author_who_claims_to_know_less_than_in_the_entry_before_is_flagged(
    tmp_path: Path,
) -> None:
    history = History("alice", signing=True)
    earlier = [history.add("alice", "bob").id]
    later = [history.add("alice", "carol").id]
    bob, carol = author("bob", history), author("carol", history)
    knowing = bob.write("knowing", lamport=10, governance=later)
    back = bob.write("back", lamport=11, governance=earlier)
    as_little = bob.write("as little", lamport=12, governance=earlier)
    without = carol.write("lost", lamport=13, governance=later)
    after_lost = carol.write("after lost", lamport=14, governance=earlier)
    lines = [knowing, back, as_little, after_lost]

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history, *delivered(*lines))
        stored = [await store.history.stored(channel, one.entry.message_id) for one in lines]

    assert without not in lines
    assert [one is not None and one.goes_back for one in stored] == [False, True, False, False]
