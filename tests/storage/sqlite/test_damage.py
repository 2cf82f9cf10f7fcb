"""A disk that rots: what is no longer what was stored is nobody's words, and is fetched again."""

import sqlite3
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from storage.archive.stored_days import HistoryReader
from storage.sqlite.columns import to_u64
from storage.sqlite.integrity import Unknown, beside, unknown_values
from storage.sqlite.soundness import CLAIMS, is_sound
from sync.calimero.governance.outcomes import Dropped
from sync.entries.changes import Edit, Reactions, Redaction
from sync.group.clock_values import Answer, ClockKept
from sync.group.inputs.admission import sync_id_of
from sync.group.records import Contradiction
from sync.group.values import (
    ChannelState,
    Discard,
    SetClock,
    SetDropped,
    SetStatus,
    StageSnapshot,
    Status,
    StoredMessage,
    StoreMessage,
)
from sync.machine import ChannelId, MessageId
from sync.sds.message import Delivery
from tests.support.storage.rotting import rot, rot_values
from tests.support.storage.searching import searched
from tests.support.storage.stores import ME, Store, delivered, ids, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author

ROW = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages
"""


Row: TypeAlias = tuple[Any, ...]
"""Arguments of `is_sound`."""


def sound(row: Row) -> bool:
    return is_sound(*row)


def row_of(path: Path) -> Row:
    connection = sqlite3.connect(path)
    try:
        row: Row
        [row] = connection.execute(ROW).fetchall()
        return row
    finally:
        connection.close()


async def texts(store: Store) -> list[tuple[str, bool]]:
    lines = await store.history.page(CHANNEL, before=None, limit=100)
    return [(line.text, line.after_gap) for line in lines]


async def found(store: Store, word: str) -> list[str]:
    return [line.text for line in await searched(store, CHANNEL, word, limit=100)]


class Told:
    """Hears what is found damaged."""

    def __init__(self, store: Store) -> None:
        self.of: list[tuple[ChannelId, tuple[MessageId, ...]]] = []
        store.journal.watch(self)

    def damaged(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        self.of.append((channel, message_ids))

    def contradicted(self, found: Contradiction) -> None:
        raise AssertionError(found)


async def test_no_bit_of_a_message_can_flip_unnoticed(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    first = ann.write("hello")
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(bob.write("a usual line", after=[first])))
    row = row_of(tmp_path / "chat.db")
    assert len(row) == CLAIMS
    assert sound(row)

    for column, value in enumerate(row):
        if isinstance(value, int):
            flipped: list[Any] = [value ^ 1 << bit for bit in range(63)]
        else:
            flipped = [
                value[:at] + bytes([value[at] ^ 1 << at % 8]) + value[at + 1 :]
                for at in range(len(value))
            ]
        for other in flipped:
            assert not sound((*row[:column], other, *row[column + 1 :])), (column, other)
    assert not sound((*row[:-1], row[-1][:-1])), "cut off"
    assert not sound((*row[:-2], 0, row[-1])), "a body that begins nowhere"
    assert to_u64(row[3]) == 2


async def test_what_rotted_is_given_to_nobody_and_told_once(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    messages = [ann.write(text) for text in ("tea", "milk", "toast")]
    good = [messages[0], messages[2]]
    async with opened(path) as store:
        await store.journal.commit(delivered(*messages))
    rot(path, "milk")

    async with opened(path) as store:
        told = Told(store)
        assert await texts(store) == [("tea", False), ("toast", False)]
        assert list(await store.journal.load(CHANNEL, ids(messages))) == ids(good)
        by_time = await store.journal.load_by_sync_ids(CHANNEL, [*map(sync_id_of, messages)])
        assert [loaded.message_id for loaded in by_time] == ids(good)
        [_, bad, _] = ids(messages)
        assert await store.history.stored(CHANNEL, bad) is None
        assert await store.history.causal(CHANNEL, bad, depth=0, limit=1) == []
        with HistoryReader(path, ME) as reader:
            [day] = reader.days(CHANNEL, None)
            exported = [entry.message_id for entry, _, _ in reader.entries(day)]
            assert (sorted(exported), reader.damaged) == (sorted(ids(good)), 1)
        assert told.of == [(CHANNEL, (bad,))]


async def test_a_row_that_rotted_while_it_waited_keeps_nobody_from_starting(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    one, two = ann.write("tea"), ann.write("milk")
    async with opened(path) as store:
        await store.journal.commit(
            [StoreMessage(one, Status.WAITING), StoreMessage(two, Status.PARKED)]
        )
    rot(path, "tea")
    rot(path, "milk")

    async with opened(path) as store:
        told = Told(store)
        state = await store.journal.restore(CHANNEL)
        assert (state.waiting, state.parked) == ((), ())
        assert {message_id for _, some in told.of for message_id in some} == {*ids([one, two])}


async def discarded(store: Store, message: StoredMessage) -> None:
    await store.journal.commit([Discard(CHANNEL, message.entry.message_id)])


async def test_what_is_set_aside_is_a_gap_until_it_comes_again(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    one = ann.write("tea")
    two = ann.write("milk", after=[one])
    three = ann.write("toast", after=[two])
    async with opened(path) as store:
        await store.journal.commit(delivered(one, two, three))
    rot(path, "milk")

    async with opened(path) as store:
        assert await texts(store) == [("tea", False), ("toast", False)]
        await discarded(store, two)
        assert await texts(store) == [("tea", False), ("toast", True)]
        state = await store.journal.restore(CHANNEL)
        assert (len(state.log), len(state.sync_ids)) == (80, 80)
        assert ids(state.gaps) == ids([three])
        assert ids(state.tips) == ids([one, three])

        await store.journal.commit(delivered(two))
        assert await texts(store) == [("tea", False), ("milk", False), ("toast", False)]
        assert await found(store, "milk") == ["milk"]


async def test_a_number_is_not_given_again_so_old_words_find_nothing_new(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    last = ann.write("milk")
    async with opened(path) as store:
        await store.journal.commit(delivered(last))
    rot(path, "milk")

    async with opened(path) as store:
        await discarded(store, last)
        await store.journal.commit(delivered(Author("bob").write("toast")))
        assert await found(store, "milk") == []
        assert await found(store, "toast") == ["toast"]


async def test_an_edit_that_rotted_is_as_if_it_had_never_come(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    line = ann.write("tea at four")
    edit = changed(ann, Edit(line.entry.message_id, "coffee at five"), line)
    async with opened(path) as store:
        await store.journal.commit(delivered(line, edit))
        assert await texts(store) == [("coffee at five", False)]
    rot(path, "coffee at five")

    async with opened(path) as store:
        assert await texts(store) == [("tea at four", False)]
        await discarded(store, edit)
        assert (await found(store, "tea"), await found(store, "coffee")) == (["tea at four"], [])
        await store.journal.commit(delivered(edit))
        assert await texts(store) == [("coffee at five", False)]
        assert (await found(store, "tea"), await found(store, "coffee")) == ([], ["coffee at five"])


async def test_an_edit_of_a_line_that_rotted_is_stored_and_counts_later(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    line = ann.write("tea at four")
    edit = changed(ann, Edit(line.entry.message_id, "coffee at five"), line)
    async with opened(path) as store:
        await store.journal.commit(delivered(line))
    rot(path, "tea at four")

    async with opened(path) as store:
        assert await store.journal.commit(delivered(edit)) == []
        await discarded(store, line)
        await store.journal.commit(delivered(line))
        assert await texts(store) == [("coffee at five", False)]
        assert (await found(store, "tea"), await found(store, "coffee")) == ([], ["coffee at five"])


async def hidden(store: Store) -> list[tuple[str, bool]]:
    lines = await store.history.page(CHANNEL, before=None, limit=100)
    return [(line.text, line.deleted) for line in lines]


async def test_what_a_rotten_redaction_hid_stays_hidden_until_it_comes_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    line = ann.write("tea at four")
    edit = changed(ann, Edit(line.entry.message_id, "coffee at five"), line)
    gone = changed(ann, Redaction(line.entry.message_id), line)
    async with opened(path) as store:
        await store.journal.commit(delivered(line, edit, gone))
        assert await hidden(store) == [("", True)]
    rot(path, "", replaced=bytes.fromhex(line.entry.message_id), message_id=gone.entry.message_id)

    async with opened(path) as store:
        assert await hidden(store) == [("", True)], "rotten, and not found yet"
        assert await store.journal.load(CHANNEL, [gone.entry.message_id]) == {}
        await discarded(store, gone)
        assert await hidden(store) == [("", True)], "set aside"
        assert (await found(store, "tea"), await found(store, "coffee")) == ([], [])
    async with opened(path) as store:
        assert await hidden(store) == [("", True)], "and after a restart"
        reacted = changed(Author("bob"), Reactions(line.entry.message_id, ("👍",)), line)
        await store.journal.commit(delivered(reacted))
        assert await hidden(store) == [("", True)], "whatever else comes"
        await store.journal.commit(delivered(gone))
        assert await hidden(store) == [("", True)]
        assert (await found(store, "tea"), await found(store, "coffee")) == ([], [])
        back = changed(ann, Edit(line.entry.message_id, "cake at six"), line)
        await store.journal.commit(delivered(back))
        assert await hidden(store) == [("cake at six", False)], "as after any redaction"


async def test_an_edit_after_a_rotten_redaction_brings_the_line_back_as_after_any(
    tmp_path: Path,
) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    line = ann.write("tea at four")
    gone = changed(ann, Redaction(line.entry.message_id), line)
    async with opened(path) as store:
        await store.journal.commit(delivered(line, gone))
        await discarded(store, gone)
        await store.journal.commit(
            delivered(changed(ann, Edit(line.entry.message_id, "cake at six"), line))
        )
        assert await hidden(store) == [("cake at six", False)]
        assert (await found(store, "tea"), await found(store, "cake")) == ([], ["cake at six"])


async def test_what_a_rotten_redaction_hid_is_not_among_what_is_set_aside(tmp_path: Path) -> None:
    ann = Author("ann")
    line = ann.write("tea at four")
    gone = changed(ann, Redaction(line.entry.message_id), line)
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(line, Status.PARKED), *delivered(gone)])
        assert await store.history.parked(CHANNEL, limit=9) == []
        await discarded(store, gone)
        assert await store.history.parked(CHANNEL, limit=9) == []
        await store.journal.commit(
            [SetStatus(CHANNEL, line.entry.message_id, Status.DELIVERED, after_gap=False)]
        )
        assert await hidden(store) == [("", True)], "nor once its time comes"


async def started(path: Path) -> ChannelState:
    """Return what two starts get back, which is the same."""
    states: list[ChannelState] = []
    for _ in range(2):
        async with opened(path) as store:
            states.append(await store.journal.restore(CHANNEL))
    assert states[0] == states[1]
    return states[0]


@pytest.mark.parametrize("stored", [Delivery.ACKNOWLEDGED, Delivery.FAILED])
async def test_an_own_line_of_unknown_delivery_is_sent_again(
    tmp_path: Path, stored: Delivery
) -> None:
    path = tmp_path / "chat.db"
    line = Author("me").write("tea at four")
    liked = changed(Author("bob"), Reactions(line.entry.message_id, ("👍",)), line)
    async with opened(path) as store:
        await store.journal.commit([StoreMessage(line, Status.DELIVERED, delivery=stored)])
    rot_values(path, "UPDATE messages SET delivery = 9")

    [own] = (await started(path)).outgoing
    assert (own.message_id, own.delivery) == (line.entry.message_id, Delivery.UNACKNOWLEDGED)
    assert await beside(path, unknown_values) == Unknown(deliveries=1)
    async with opened(path) as store:
        [loaded] = (await store.journal.load(CHANNEL, ids([line]))).values()
        [shown] = await store.history.page(CHANNEL, before=None, limit=9)
        [altered] = await store.journal.commit(delivered(liked))
        read = {loaded.delivery, shown.delivery, altered.delivery}
        assert read == {Delivery.UNACKNOWLEDGED}


async def test_a_dropped_entry_of_unknown_label_is_not_dropped(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    bad, good = MessageId("ab" * 32), MessageId("cd" * 32)
    async with opened(path) as store:
        await store.journal.commit(
            [SetDropped(CHANNEL, one, Dropped.REMOVED) for one in (bad, good)]
        )
    rot_values(
        path,
        "UPDATE dropped_entries SET label = 'zz' WHERE message_id = ?",
        bytes.fromhex(bad),
    )

    assert (await started(path)).dropped == ((good, Dropped.REMOVED),)
    assert await beside(path, unknown_values) == Unknown(dropped=1)
    async with opened(path) as store:
        await store.journal.commit([SetDropped(CHANNEL, bad, Dropped.NOT_MEMBER)])
    assert dict((await started(path)).dropped)[bad] is Dropped.NOT_MEMBER
    assert await beside(path, unknown_values) == Unknown()


async def test_an_unknown_answer_about_the_clock_is_none(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        await store.journal.commit([SetClock(CHANNEL, ClockKept(Answer.FOLLOW, 5, None, 7, 9))])
    rot_values(path, "UPDATE clocks SET answer = 'zz'")

    assert (await started(path)).clock == ClockKept()
    assert await beside(path, unknown_values) == Unknown(clocks=1)


async def test_a_staged_snapshot_without_its_pages_is_none(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    page = StageSnapshot(CHANNEL, 0, b"page", None, 1, b"s" * 32, 0)
    async with opened(path) as store:
        await store.journal.commit([page])
    rot_values(path, "DELETE FROM staged_pages")

    assert (await started(path)).snapshot is None
    assert await beside(path, unknown_values) == Unknown(snapshots=1)
    async with opened(path) as store:
        await store.journal.commit([page])
    assert (await started(path)).snapshot is not None, "begun anew"
