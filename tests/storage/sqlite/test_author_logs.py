"""Author logs after a start are those of memory: SQLite and the simulator's disk against both."""

import hashlib
import itertools
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from storage.sqlite.migrations import AWAITED
from sync.entries.entry import Header, Kind, lipmaa, seal
from sync.entries.identity import verify
from sync.group.ingest import Gate, message_of
from sync.group.logs import ChannelLogs, place_of
from sync.group.values import (
    Discard,
    Record,
    SetStatus,
    Status,
    StoredMessage,
    StoreMessage,
)
from sync.machine import MessageId
from sync.sim.disk import Disk
from tests.support.storage.stores import ME, OWN_LOG, delivered, opened
from tests.support.sync.entries import CHANNEL, Author

ANN = Author("ann")
NOBODYS = MessageId(hashlib.sha256(b"nobody's").hexdigest())
AFTER = ("stays",) * 12 + ("let in", "let in", "gone", "back")
STATUSES = (Status.DELIVERED,) * 12 + (Status.WAITING, Status.PARKED)
BODY = b"line"
CHANGES = ("backlink", "skiplink", "no backlink", "no skiplink")


def signed(header: Header, **other: MessageId | int | None) -> StoredMessage:
    """Return a message of Ann's, whatever its header says."""
    entry = seal(replace(header, **other), BODY, ANN.identity.sign)
    return Gate.of(CHANNEL, verify).store(entry, message_of(entry))


def chain(length: int, changes: Mapping[int, tuple[str, MessageId | int]]) -> list[StoredMessage]:
    """A log of Ann's whose later entries build on those of `changes`, which name wrong ones.

    An entry named by its number is one of the same log.
    """
    made: list[StoredMessage] = []
    for seq in range(1, length + 1):
        ids = [None, *[one.entry.message_id for one in made]]
        skip = lipmaa(seq)
        header = Header(
            author=ANN.peer_id,
            channel_id=CHANNEL,
            log=1,
            seq=seq,
            backlink=ids[seq - 1],
            skiplink=None if skip == seq - 1 else ids[skip],
            created_ns=seq,
            lamport=seq,
            parents=(),
            kind=Kind.TEXT,
            body_size=len(BODY),
            body_hash=hashlib.sha256(BODY).digest(),
        )
        change, named = changes.get(seq, ("", 0))
        target = named if isinstance(named, str) else ids[min(named, seq - 1)]
        match change:
            case "backlink" | "skiplink":
                header = replace(header, **{change: target})
            case "no backlink" | "no skiplink":
                header = replace(header, **{change.removeprefix("no "): None})
            case _:
                pass
        made.append(signed(header))
    return made


@st.composite
def messages(draw: st.DrawFn) -> list[StoredMessage]:
    """Messages of two logs in any order: one that is whole, one with holes, forks, wrong links."""
    length = draw(st.integers(1, 18))
    numbers, named = st.integers(1, length), st.just(NOBODYS) | st.integers(0, length)
    changes = st.dictionaries(numbers, st.tuples(st.sampled_from(CHANGES), named), max_size=1)
    held = chain(length, draw(changes))
    for seq in draw(st.lists(numbers, max_size=2)):
        held.append(signed(held[seq - 1].entry.header, created_ns=1000 + seq))
    gone = draw(st.sets(st.integers(0, len(held) - 1), max_size=1))
    held = [one for at, one in enumerate(held) if at not in gone]
    bob = Author("bob")
    whole = [bob.write(str(number)) for number in range(draw(st.integers(0, 6)))]
    unique = {one.entry.message_id: one for one in (*held, *whole)}
    return draw(st.permutations(list(unique.values())))


@settings(max_examples=80)
@given(messages=messages(), size=st.integers(1, 9), data=st.data())
async def test_a_start_gives_the_logs_of_what_is_held_whatever_came_when(
    messages: list[StoredMessage], size: int, data: st.DataObject
) -> None:
    statuses = st.sampled_from(STATUSES)
    held = {one.entry.message_id: (one, data.draw(statuses)) for one in messages}
    commits: list[list[Record]] = [
        [StoreMessage(one, held[one.entry.message_id][1]) for one in messages[at : at + size]]
        for at in range(0, len(messages), size)
    ]
    for message_id, (one, status) in list(held.items()):
        after = data.draw(st.sampled_from(AFTER))
        if after == "let in" and status is Status.PARKED:
            commits.append([SetStatus(CHANNEL, message_id, Status.WAITING, after_gap=False)])
            held[message_id] = (one, Status.WAITING)
        elif after in {"gone", "back"}:
            commits.append([Discard(CHANNEL, message_id)])
            del held[message_id]
        if after == "back":
            commits.append([StoreMessage(one, Status.DELIVERED)])
            held[message_id] = (one, Status.DELIVERED)
    expected = ChannelLogs()
    for one, status in held.values():
        if status is not Status.PARKED:
            header = one.entry.header
            expected.add(header.author, one.entry.message_id, place_of(header))

    disk = Disk(ME, OWN_LOG)
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory) / "chat.db") as store:
            for records in commits:
                await store.journal.commit(records)
                disk.commit(records)
            state = await store.journal.restore(CHANNEL)

    assert state.logs == expected.states()
    assert disk.restore().logs == expected.states()


@pytest.mark.parametrize(
    ("changes", "height"),
    [
        ({8: ("skiplink", NOBODYS)}, 7),
        ({8: ("skiplink", 3)}, 7),
        ({8: ("no skiplink", 0)}, 7),
        ({7: ("skiplink", 6)}, 6),
        ({7: ("no backlink", 0)}, 6),
        ({7: ("backlink", 3)}, 6),
        ({7: ("backlink", NOBODYS)}, 6),
        ({1: ("backlink", NOBODYS)}, 0),
    ],
)
@pytest.mark.parametrize("step", [1, -1])
async def test_what_an_entry_says_of_others_wrongly_is_known_after_a_start(
    tmp_path: Path, changes: Mapping[int, tuple[str, MessageId | int]], height: int, step: int
) -> None:
    async with opened(tmp_path / "chat.db") as store:
        for one in chain(18, changes)[::step]:
            await store.journal.commit([StoreMessage(one, Status.DELIVERED)])
        [log] = (await store.journal.restore(CHANNEL)).logs
    assert (log.fault, log.top) == (height + 1, 18)
    assert [run.last for run in log.runs] == [height] * bool(height)


async def test_a_skiplink_to_an_entry_that_rotted_is_wrong_once_another_takes_its_place(
    tmp_path: Path,
) -> None:
    first = chain(4, {})
    other = signed(first[3].entry.header, created_ns=1000).entry.message_id
    async with opened(tmp_path / "chat.db") as store:
        log = chain(13, {13: ("skiplink", other)})
        await store.journal.commit(delivered(*log[4:]))
        await store.journal.commit(delivered(signed(log[3].entry.header, created_ns=1000)))
        await store.journal.commit([Discard(CHANNEL, other)])
        await store.journal.commit(delivered(*log[:4]))
        [state] = (await store.journal.restore(CHANNEL)).logs
    assert state.fault == 13


@pytest.mark.parametrize("change", [("no backlink", 0), ("backlink", NOBODYS)])
async def test_a_history_from_before_links_were_awaited_has_the_same_heights(
    tmp_path: Path, change: tuple[str, MessageId | int]
) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        await store.journal.commit(delivered(*chain(6, {6: change})))
        await store.database.write(lambda db: db.execute("DELETE FROM awaited_links"))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(AWAITED)  # a step of the migration, as an old profile takes it
    async with opened(path) as store:
        [log] = (await store.journal.restore(CHANNEL)).logs
    assert (log.fault, log.runs[0].last) == (6, 5)


async def test_only_logs_in_doubt_are_read_again(tmp_path: Path) -> None:
    bob = Author("bob")
    sound = [bob.write(str(number)) for number in range(40)]
    ann = chain(18, {})
    twin = signed(ann[3].entry.header, created_ns=1000)
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        stored = [StoreMessage(one, Status.DELIVERED) for one in (*sound, *ann, twin)]
        await store.journal.commit(stored)
        rot = "UPDATE messages SET payload = x'00' WHERE author = ?"
        key = bytes.fromhex(bob.peer_id)
        await store.database.write(lambda db: db.execute(rot, (key,)))

        logs = ChannelLogs()
        logs.restore((await store.journal.restore(CHANNEL)).logs)

    heights = {(one.key, one.height) for one in logs.heights()}
    assert heights == {(key, 40), (bytes.fromhex(ANN.peer_id), 3)}
    assert logs.fault(bytes.fromhex(ANN.peer_id), 1) == 4


async def time_to_restore(path: Path, twins: int) -> float:
    """Return seconds of a processor that restoring takes where so many skip back to as many."""
    firsts = [Author("ann") for _ in range(twins)]
    for number, first in enumerate(firsts):
        first.write(f"first {number}")
    whole = firsts[0].fork()
    between = [whole.write("second"), whole.write("third")]
    for first in firsts:
        first.entries += between
        first.write("fourth")
    entries = [entry for first in firsts for entry in (first.entries[0], first.entries[-1])]
    async with opened(path) as store:
        await store.journal.commit(delivered(*between, *entries))
        begun = process_time()
        logs = (await store.journal.restore(CHANNEL)).logs
        took = process_time() - begun
    [ann] = logs
    assert ann.fault == 1
    return took


async def test_a_start_grows_with_contradictory_entries_and_not_with_their_square(
    tmp_path: Path,
) -> None:
    few = await time_to_restore(tmp_path / "few.db", 1000)
    many = await time_to_restore(tmp_path / "many.db", 6000)

    assert many < 14 * few


async def test_a_log_goes_on_after_a_start_as_if_there_had_been_none(tmp_path: Path) -> None:
    path, expected = tmp_path / "chat.db", ChannelLogs()
    for one, after in itertools.pairwise([*chain(18, {}), None]):
        assert one is not None
        expected.add(one.entry.header.author, one.entry.message_id, place_of(one.entry.header))
        async with opened(path) as store:
            await store.journal.commit([StoreMessage(one, Status.DELIVERED)])
            logs = ChannelLogs()
            logs.restore((await store.journal.restore(CHANNEL)).logs)
        assert logs.states() == expected.states()
        if after is not None:
            header = after.entry.header
            logs.add(header.author, after.entry.message_id, place_of(header))
            assert logs.height(bytes.fromhex(header.author), header.log) == header.seq
