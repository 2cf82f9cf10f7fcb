"""Author logs after a start are those of memory: SQLite and the simulator's disk against both."""

import hashlib
import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sync.entries.entry import seal
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
from tests.support.storage.stores import ME, OWN_LOG, opened
from tests.support.sync.entries import CHANNEL, Author

KEPT = Author("ann")
CHAIN = [KEPT.write(str(number)) for number in range(18)]
"""One log as its author wrote it; that of the others is changed from it."""

CHANGES = ("created_ns", "backlink", "skiplink", "no backlink", "no skiplink")


def changed(one: StoredMessage, change: str, named: MessageId) -> StoredMessage:
    """Return another message of the same author, log and number."""
    header = one.entry.header
    match change:
        case "created_ns":
            header = replace(header, created_ns=header.created_ns + 1)
        case "backlink":
            header = replace(header, backlink=named)
        case "skiplink":
            header = replace(header, skiplink=named)
        case "no backlink":
            header = replace(header, backlink=None)
        case _:
            header = replace(header, skiplink=None)
    entry = seal(header, one.entry.body, KEPT.identity.sign)
    return Gate.of(CHANNEL, verify).store(entry, message_of(entry))


@st.composite
def messages(draw: st.DrawFn) -> list[StoredMessage]:
    """Messages of two logs in any order: one that is whole, one with holes, forks, wrong links."""
    chain = CHAIN[: draw(st.integers(1, len(CHAIN)))]
    known = [one.entry.message_id for one in chain] + [
        MessageId(hashlib.sha256(b"nobody's").hexdigest())
    ]
    odd = [
        changed(
            draw(st.sampled_from(chain)),
            draw(st.sampled_from(CHANGES)),
            draw(st.sampled_from(known)),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    gone = draw(st.sets(st.sampled_from(known), max_size=3))
    bob = Author("bob")
    whole = [bob.write(str(number)) for number in range(draw(st.integers(0, 6)))]
    held = [one for one in chain if one.entry.message_id not in gone]
    unique = {one.entry.message_id: one for one in (*held, *odd, *whole)}
    return draw(st.permutations(list(unique.values())))


@settings(max_examples=80, deadline=None)
@given(messages=messages(), size=st.integers(1, 9), data=st.data())
async def test_a_start_gives_the_logs_of_what_is_held_whatever_came_when(
    messages: list[StoredMessage], size: int, data: st.DataObject
) -> None:
    statuses = st.sampled_from([Status.DELIVERED, Status.DELIVERED, Status.WAITING, Status.PARKED])
    held = {one.entry.message_id: (one, data.draw(statuses)) for one in messages}
    commits: list[list[Record]] = [
        [StoreMessage(one, held[one.entry.message_id][1]) for one in messages[at : at + size]]
        for at in range(0, len(messages), size)
    ]
    for message_id, (one, status) in list(held.items()):
        after = data.draw(st.sampled_from(["stays", "stays", "let in", "gone", "back"]))
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


async def test_only_logs_in_doubt_are_read_again(tmp_path: Path) -> None:
    bob = Author("bob")
    sound = [bob.write(str(number)) for number in range(40)]
    twin = changed(CHAIN[3], "created_ns", CHAIN[0].entry.message_id)
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        stored = [StoreMessage(one, Status.DELIVERED) for one in (*sound, *CHAIN, twin)]
        await store.journal.commit(stored)
        rot = "UPDATE messages SET payload = x'00' WHERE author = ?"
        key = bytes.fromhex(bob.peer_id)
        await store.database.write(lambda db: db.execute(rot, (key,)))

        logs = ChannelLogs()
        logs.restore((await store.journal.restore(CHANNEL)).logs)

    heights = {(one.key, one.height) for one in logs.heights()}
    assert heights == {(key, 40), (bytes.fromhex(KEPT.peer_id), 3)}
    assert logs.fault(bytes.fromhex(KEPT.peer_id), 1) == 4


async def test_a_log_goes_on_after_a_start_as_if_there_had_been_none(tmp_path: Path) -> None:
    path, expected = tmp_path / "chat.db", ChannelLogs()
    for one, after in itertools.pairwise([*CHAIN, None]):
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
