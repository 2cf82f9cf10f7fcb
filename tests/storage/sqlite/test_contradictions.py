"""Forks and links that cannot be true: stored like everything, told once, whatever came first."""

import hashlib
import itertools
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from chat_tui.wording import peers_table
from chat_tui.wording.contradictions import KEPT_MAX, STRANGERS_MAX, Contradictions, of_author
from chat_tui.wording.glyphs import UNICODE
from storage.sqlite.contradictions import all_found
from sync.entries.entry import Entry, seal
from sync.entries.identity import verify
from sync.errors import StorageError
from sync.group.ingest import Gate, message_of
from sync.group.records import Contradiction, Contradicts
from sync.group.values import StoredMessage
from sync.machine import ChannelId, MessageId, PeerId
from sync.sim.disk import Disk
from sync.view.projection import info_of
from sync.view.view import ContradictionInfo
from tests.support.chat_tui import scenes
from tests.support.storage.stores import ME, Store, delivered, opened
from tests.support.sync.entries import CHANNEL, Author

MANY = 1000
"""Entries that somebody signs for one place."""


class Told:
    """Hears what a journal finds."""

    def __init__(self, store: Store) -> None:
        self.found: list[Contradiction] = []
        store.journal.watch(self)

    def damaged(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        raise AssertionError((channel, message_ids))

    def contradicted(self, found: Contradiction) -> None:
        self.found.append(found)


def signed(author: Author, like: StoredMessage, **other: object) -> StoredMessage:
    """Return a copy of a message with other fields in its header, signed by `author`."""
    header = replace(like.entry.header, **other)
    entry: Entry = seal(header, like.entry.body, author.identity.sign)
    return Gate.of(CHANNEL, verify).store(entry, message_of(entry))


def named(nick: str) -> Callable[[PeerId], str]:
    """People are all called this."""
    return lambda _: nick


READER = PeerId("0" * 64)
"""The one who is told."""


def nobody_asks(peer: PeerId) -> str:
    """No name is worked out for a sentence that is not said."""
    raise AssertionError(peer)


def cases() -> dict[str, tuple[list[StoredMessage], Contradicts, tuple[int, int]]]:
    """By name: what is stored, what of it is told, and by which two."""
    ann, bob = Author("ann"), Author("bob")
    one, two = ann.write("one"), ann.write("two")
    other = bob.write("other")
    fork = signed(ann, two, created_ns=5)
    foreign = signed(ann, two, backlink=other.entry.message_id)
    three, four, five = ann.write("three"), ann.write("four"), ann.write("five")
    assert five.entry.header.skiplink is None
    skip = signed(ann, four, skiplink=two.entry.message_id)
    del three
    return {
        "fork": ([one, two, fork], Contradicts.FORK, (1, 2)),
        "backlink": ([one, other, foreign], Contradicts.BACKLINK, (2, 1)),
        "skiplink": ([two, skip], Contradicts.SKIPLINK, (1, 0)),
    }


@pytest.mark.parametrize("name", list(cases()))
async def test_it_is_told_once_whatever_comes_first_and_in_one_commit_or_several(
    tmp_path: Path, name: str
) -> None:
    messages, what, pair = cases()[name]
    expected = {messages[at].entry.message_id for at in pair}
    orders = [(order, False) for order in itertools.permutations(messages)]
    for number, (order, together) in enumerate([*orders[::2], (orders[-1][0], True)]):
        async with opened(tmp_path / f"{number}.db") as store:
            told = Told(store)
            for some in [order] if together else [[one] for one in order]:
                await store.journal.commit(delivered(*some))
            [found] = told.found
            assert found.what is what
            assert {found.message_id, found.other} == expected
            if what is not Contradicts.FORK:
                assert found.message_id == messages[pair[0]].entry.message_id, "who names"

            disk = Disk(ME, 1)
            for some in [order] if together else [[one] for one in order]:
                disk.commit(delivered(*some))
            assert disk.contradictions == told.found, "the simulator's disk says the same"

        async with opened(tmp_path / f"{number}.db") as store:
            again = Told(store)
            await store.journal.commit(delivered(Author("cat").write("later")))
            assert again.found == []
            asked = await store.database.read(all_found)
            assert [{one.message_id, one.other} for one in asked] == [expected]


async def test_a_fork_is_seen_though_its_log_went_on_and_the_disk_refused_in_between(
    tmp_path: Path,
) -> None:
    ann = Author("ann")
    lines = [ann.write(str(number)) for number in range(6)]
    fork, again = (signed(ann, lines[at], created_ns=5) for at in (3, 5))
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        told = Told(store)
        await store.journal.commit(delivered(*lines[:2]))
        path.rename(tmp_path / "away")
        with pytest.raises(StorageError, match="deleted"):
            await store.journal.commit(delivered(lines[2]))
        (tmp_path / "away").rename(path)
        await store.journal.commit(delivered(lines[2], lines[3]))
        await store.journal.commit(delivered(lines[5], lines[4], again, fork))
    found = {frozenset({one.message_id, one.other}) for one in told.found}
    pairs = ((lines[3], fork), (lines[5], again))
    assert found == {
        frozenset({one.entry.message_id, other.entry.message_id}) for one, other in pairs
    }
    assert len(told.found) == len(pairs)


@pytest.mark.parametrize("at_once", [1, 3])
async def test_a_fork_is_seen_where_a_log_that_fills_from_its_start_meets_what_was_there(
    tmp_path: Path, at_once: int
) -> None:
    """As at a newcomer, who has the newest page of a log first."""
    ann = Author("ann")
    lines = [ann.write(str(number)) for number in range(12)]
    fork = signed(ann, lines[9], created_ns=5)
    filling = [*lines[:9], fork]
    async with opened(tmp_path / "chat.db") as store:
        told = Told(store)
        await store.journal.commit(delivered(*lines[9:]))
        for at in range(0, len(filling), at_once):
            await store.journal.commit(delivered(*filling[at : at + at_once]))
    [found] = told.found
    assert found.what is Contradicts.FORK
    assert (found.message_id, found.other) == (fork.entry.message_id, lines[9].entry.message_id)


async def test_a_log_that_fills_below_its_newest_page_is_looked_up_once(tmp_path: Path) -> None:
    ann = Author("ann")
    lines = [ann.write(str(number)) for number in range(12)]
    asked: list[str] = []
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines[9:]))
        await store.database.read(lambda db: db.set_trace_callback(asked.append))
        for line in lines[:9]:
            await store.journal.commit(delivered(line))
        await store.database.read(lambda db: db.set_trace_callback(None))
    [once] = [text for text in asked if "seq > column4" in text]
    assert once


async def test_what_a_fork_costs_grows_with_none_of_those_that_were_made_for_the_place_before(
    tmp_path: Path,
) -> None:
    """Each of five thousand looked at all before it, which took 365 MB."""
    forks = [Author("ann").write(str(number)) for number in range(MANY)]
    next_ones = [Author("ann").write(f"later {number}") for number in range(10)]
    steps: list[int] = []
    async with opened(tmp_path / "chat.db") as store:
        told = Told(store)
        for some in (forks[:1], next_ones[:5], forks[1:], next_ones[5:]):
            taken: list[None] = []
            await store.database.read(partial(count_steps, taken))
            await store.journal.commit(delivered(*some))
            await store.database.read(lambda db: db.set_progress_handler(None, 0))
            steps.append(len(taken))
    _, few, _, many = steps
    assert 0 < many < 2 * few
    assert len(told.found) == MANY + len(next_ones) - 1
    assert {found.other for found in told.found} == {forks[0].entry.message_id}


def count_steps(taken: list[None], db: sqlite3.Connection) -> None:
    """Note every tenth step that the machine of SQLite takes."""
    db.set_progress_handler(lambda: taken.append(None), 10)


async def test_nobody_is_accused_by_a_number_that_rotted(tmp_path: Path) -> None:
    ann = Author("ann")
    lines = [ann.write(str(number)) for number in range(4)]
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        await store.journal.commit(delivered(*lines[:3]))
        rot = "UPDATE messages SET seq = seq + 2 WHERE number = 2"  # two becomes four
        await store.database.write(lambda db: db.execute(rot))
    async with opened(path) as store:
        told = Told(store)
        await store.journal.commit(delivered(lines[3]))
        assert told.found == []


async def test_honest_logs_in_any_order_are_told_of_nobody(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    messages = [one.write(f"{number}") for number in range(30) for one in (ann, bob)]
    async with opened(tmp_path / "chat.db") as store:
        told = Told(store)
        shuffled = sorted(messages, key=lambda one: hashlib.sha256(one.waku_hash).digest())
        for start in range(0, len(shuffled), 7):
            await store.journal.commit(delivered(*shuffled[start : start + 7]))
        assert told.found == []
        left = await store.database.read(
            lambda db: db.execute("SELECT count(*) FROM awaited_links").fetchone()
        )
        assert left == (0,)


def test_people_are_told_of_an_author_once_and_may_ask_for_the_rest() -> None:
    messages, what, (one, two) = cases()["fork"]
    first, second = messages[one].entry, messages[two].entry
    found = info_of(
        Contradiction(CHANNEL, first.header.author, what, 1, 2, second.message_id, first.message_id)
    )
    known = Contradictions(lambda _: False, READER)
    sentence = known.note_found(found, named("ann"))
    assert sentence.startswith("ann signed two messages as number 2 of one log")
    for message_id in found.message_ids:
        assert message_id[:8] in sentence
    assert known.note_found(replace(found, seq=3), nobody_asks) == ""
    known.load([found, replace(found, seq=3)])
    assert len(known.found) == 2, "told in this run, and on the disk"
    assert "1 more" in of_author(known.found, found.author)
    assert of_author(known.found, ME) == ""


def test_of_oneself_it_is_said_that_the_profile_was_copied() -> None:
    found = ContradictionInfo(CHANNEL, ME, "fork", 2, (MessageId("a" * 64), MessageId("b" * 64)))

    sentence = Contradictions(lambda _: False, ME).note_found(found, nobody_asks)

    assert sentence == (
        "You signed two messages as number 2 of one log (aaaaaaaa and bbbbbbbb): your profile was "
        "copied, or restored from a backup. Both are kept and shown."
    )


def test_of_authors_that_somebody_makes_up_few_are_told_of_and_none_pushes_out_a_friend() -> None:
    friend = PeerId("f" * 64)
    found = ContradictionInfo(CHANNEL, ME, "fork", 2, (MessageId("a" * 64), MessageId("b" * 64)))
    known = Contradictions(lambda peer: peer in {ME, friend}, READER)
    before = known.note_found(found, named("ann"))

    told = [
        known.note_found(replace(found, author=PeerId(f"{number:064x}"), seq=number), named("eve"))
        for number in range(2 * KEPT_MAX)
    ]
    later = known.note_found(replace(found, author=friend), named("bob"))

    assert len([one for one in told if one]) < STRANGERS_MAX
    assert before
    assert later
    assert len(known.found) == KEPT_MAX
    assert of_author(known.found, ME)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_peers_screen_marks_them_and_still_fits(width: int) -> None:
    morning = scenes.morning().snapshot()
    someone = morning.peers[0]
    proof = ContradictionInfo(
        CHANNEL, someone.peer, "fork", 2, (MessageId("a" * 64), MessageId("b" * 64))
    )
    told = replace(morning, contradictions=(proof,))
    lines = [one.plain for one in peers_table.table(told, width, 1, UNICODE)]
    [marked] = [line for line in lines if line.rstrip().endswith("fork")]
    assert someone.nick in marked
    assert max(map(cell_len, lines)) <= width
    assert not any("fork" in one.plain for one in peers_table.table(morning, width, 1, UNICODE))
