"""The journal: what was committed comes back, in order, after any end of the program."""

import sqlite3
from pathlib import Path

import pytest

from storage.sqlite import governance
from storage.sqlite.journal import Fork, Hole
from sync.calimero.governance.dag import Judgement
from sync.calimero.governance.ops import OpId
from sync.calimero.governance.pending import Dropped
from sync.calimero.governance.rights import FOUNDING
from sync.calimero.state.contents import Topic
from sync.errors import StorageError
from sync.group.inputs.admission import sync_id_of
from sync.group.status import UNSENT
from sync.group.values import (
    ChannelState,
    DropState,
    EndPending,
    OwnState,
    Record,
    SetCounter,
    SetDelivery,
    SetDropped,
    SetLog,
    SetStatus,
    Status,
    StoredMessage,
    StoreMessage,
    StoreOp,
    StorePending,
    StoreState,
)
from sync.machine import ChannelId, MessageId
from sync.sds.message import Delivery
from sync.sim.disk import Disk
from sync.structures.ordered_set import SyncId
from sync.waku.message import TIMESTAMP_MAX
from tests.support.storage.rows import log_of, stamped
from tests.support.storage.searching import searched
from tests.support.storage.stores import (
    OWN_LOG,
    delivered,
    ids,
    membership,
    opened,
    outline,
    parked_outline,
    restored,
)
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.governed import History
from tests.support.sync.states import entry_of, pin_of

ROOT = Path(__file__).parents[3]
OTHER = ChannelId("0d" * 16)
U64_MAX = (1 << 64) - 1


def own_state(message: StoredMessage, delivery: Delivery, attempts: int) -> OwnState:
    entry = message.entry
    return OwnState(
        entry.message_id, delivery, attempts, entry.header.created_ns, message.waku_hash
    )


async def test_a_new_channel_is_empty_but_for_its_log_number(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "coffee"), log=U64_MAX)

        assert await store.journal.restore(OTHER) == ChannelState(U64_MAX)


async def test_the_counter_of_announcements_is_that_of_all_channels(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        assert (await store.journal.restore(CHANNEL)).counter == 0
        await store.journal.commit([SetCounter(5), SetCounter(U64_MAX)])
        await store.members.add_channel(membership(OTHER, "coffee"), log=U64_MAX)

    async with opened(path) as store:
        assert (await store.journal.restore(CHANNEL)).counter == U64_MAX
        assert (await store.journal.restore(OTHER)).counter == U64_MAX


async def test_a_stored_message_is_loaded_as_it_came(tmp_path: Path) -> None:
    ann = Author("ann")
    first = ann.write("one")
    second = ann.write("two", after=[first])

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(
            [StoreMessage(second, Status.WAITING, after_gap=True), *delivered(first)]
        )
        wanted = [*ids([second, first]), MessageId("00" * 32)]
        loaded = await store.journal.load(CHANNEL, wanted)

    assert list(loaded) == ids([second, first])
    found = loaded[second.entry.message_id]
    assert (found.entry, found.payload) == (second.entry, second.payload)
    assert (found.waku_hash, found.after_gap, found.delivery) == (second.waku_hash, True, None)


async def test_loading_by_sync_id_goes_by_time_then_hash(tmp_path: Path) -> None:
    ann = Author("ann")
    messages = [ann.write(created_ns=time) for time in (9, 2, 5, 5, 5)]

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*messages))
        wanted = [*map(sync_id_of, messages), SyncId(9, bytes(32))]
        loaded = await store.journal.load_by_sync_ids(CHANNEL, wanted)

    found = [(one.entry.header.created_ns, one.waku_hash) for one in loaded]
    assert found == sorted((m.entry.header.created_ns, m.waku_hash) for m in messages)


async def test_nothing_of_another_channel_is_loaded(tmp_path: Path) -> None:
    message = Author("ann", channel=OTHER).write()

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "coffee"), log=1)
        await store.journal.commit(delivered(message))

        assert await store.journal.load(CHANNEL, ids([message])) == {}
        assert await store.journal.load_by_sync_ids(CHANNEL, [sync_id_of(message)]) == []
        assert await store.journal.restore(CHANNEL) == ChannelState(OWN_LOG)
        assert list(await store.journal.load(OTHER, ids([message]))) == ids([message])


async def test_every_kind_of_record_is_in_the_state_after_reopening(tmp_path: Path) -> None:
    me, ann = Author("me"), Author("ann")
    mine, again, done = me.write("1"), me.write("2"), me.write("3")
    hers, held, early = ann.write("4"), ann.write("5"), ann.write("6", lamport=50)
    unacknowledged = Delivery.UNACKNOWLEDGED
    records: list[Record] = [
        *[StoreMessage(own, Status.DELIVERED, delivery=unacknowledged) for own in (mine, again)],
        StoreMessage(done, Status.DELIVERED, delivery=unacknowledged),
        StoreMessage(hers, Status.PARKED),
        StoreMessage(held, Status.WAITING),
        StoreMessage(early, Status.PARKED),
        SetStatus(CHANNEL, hers.entry.message_id, Status.WAITING, after_gap=False),
        SetStatus(CHANNEL, hers.entry.message_id, Status.DELIVERED, after_gap=True),
        SetDelivery(CHANNEL, again.entry.message_id, Delivery.POSSIBLY_ACKNOWLEDGED, 2),
        SetDelivery(CHANNEL, again.entry.message_id, Delivery.FAILED, 5),
        SetDelivery(CHANNEL, done.entry.message_id, Delivery.ACKNOWLEDGED, 1),
    ]

    async with opened(tmp_path / "chat.db") as store:
        before = await restored(store, *records)
    async with opened(tmp_path / "chat.db") as store:
        after = await store.journal.restore(CHANNEL)
        loaded = await store.journal.load(CHANNEL, ids([hers, again]))

    known = [mine, again, done, hers]
    in_order = sorted((m.entry.header.lamport, m.entry.message_id) for m in known)
    assert before == after
    assert log_of(after.log) == in_order
    assert stamped(after.sync_ids) == sorted(
        (m.entry.header.created_ns, m.waku_hash) for m in [*known, held]
    )
    assert after.gaps == (outline(hers),)
    assert after.own_log == tuple(ids([mine, again, done]))
    assert after.own_created_ns == done.entry.header.created_ns
    assert after.outgoing == (
        own_state(mine, unacknowledged, 0),
        own_state(again, Delivery.FAILED, 5),
    )
    assert (after.waiting, after.parked) == ((outline(held),), (parked_outline(early),))
    assert loaded[hers.entry.message_id].after_gap
    assert loaded[again.entry.message_id].delivery is Delivery.FAILED


async def test_what_nobody_was_sent_yet_is_known_after_a_start_until_it_is_sent(
    tmp_path: Path,
) -> None:
    me = Author("me", log=OWN_LOG)
    withdrawn, waits = me.write("sent, and set aside later"), me.write("waits")
    unacknowledged, waiting = Delivery.UNACKNOWLEDGED, waits.entry.message_id
    async with opened(tmp_path / "chat.db", me.peer_id) as store:
        before = await restored(
            store,
            StoreMessage(withdrawn, Status.PARKED, delivery=unacknowledged),
            StoreMessage(waits, Status.PARKED, delivery=unacknowledged, attempts=UNSENT),
        )
        parked = await store.history.parked(CHANNEL, limit=9)
        after = await restored(store, SetDelivery(CHANNEL, waiting, unacknowledged, 0))

    assert before.unsent == {waiting}
    assert [(line.text, line.waits) for line in parked] == [
        ("sent, and set aside later", False),
        ("waits", True),
    ]
    assert after.unsent == frozenset()


async def test_a_new_log_of_ours_begins_empty_and_the_old_one_keeps_its_time(
    tmp_path: Path,
) -> None:
    old, new = Author("me", log=OWN_LOG), Author("me", log=U64_MAX)
    messages = [old.write(lamport=9), old.write(), new.write(lamport=2)]

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*messages[:2]))
        fresh = await restored(store, SetLog(CHANNEL, 7), SetLog(CHANNEL, U64_MAX))
        begun = await restored(store, *delivered(messages[2]))

    newest = messages[1].entry.header.created_ns
    assert (fresh.log_number, fresh.own_log, fresh.own_created_ns) == (U64_MAX, (), newest)
    assert (begun.own_log, begun.own_created_ns) == (tuple(ids([messages[2]])), newest)


async def test_only_our_own_entries_are_our_log(tmp_path: Path) -> None:
    copycat = Author("ann", log=OWN_LOG)

    async with opened(tmp_path / "chat.db") as store:
        state = await restored(store, *delivered(copycat.write(), copycat.write()))

    assert (state.own_log, state.own_created_ns) == ((), 0)


async def test_a_fork_of_ours_keeps_the_entry_stored_first_in_our_log(tmp_path: Path) -> None:
    me = Author("me")
    first = me.write("1")
    clone = me.fork()
    ours, other, third = me.write("2"), clone.write("2, elsewhere"), clone.write("3")

    async with opened(tmp_path / "chat.db") as store:
        state = await restored(store, *delivered(first, ours, other, third))

    assert state.own_log == tuple(ids([first, ours, third]))


async def test_numbers_up_to_64_bits_keep_their_value_and_order(tmp_path: Path) -> None:
    numbers = [U64_MAX, 0, 1 << 63, (1 << 63) - 1]
    authors = [Author("ann", log=number) for number in numbers]
    messages = [
        author.write(lamport=number, created_ns=number)
        for author, number in zip(authors, numbers, strict=True)
    ]

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "coffee"), log=1)
        state = await restored(store, SetLog(CHANNEL, U64_MAX), *delivered(*messages))
        page = await store.history.page(CHANNEL, before=None, limit=10)
        loaded = await store.journal.load(CHANNEL, ids(messages))

    assert state.log_number == U64_MAX
    assert [lamport for lamport, _ in stamped(state.log)] == sorted(numbers)
    assert [created_ns for created_ns, _ in stamped(state.sync_ids)] == sorted(numbers)
    assert [line.created_ns for line in page] == [0, TIMESTAMP_MAX], "no Waku message is later"
    kept = [loaded[one].entry.header.log for one in ids(messages) if one in loaded]
    assert kept == [0, TIMESTAMP_MAX]


async def test_tips_are_what_no_delivered_message_names_and_the_newest_two(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    root = ann.write("root")
    old, named = ann.write("old", after=[root]), bob.write("named", after=[root])
    second = bob.write("second", after=[named])
    newest = bob.write("newest", after=[second])
    held = bob.write("held", after=[newest])

    async with opened(tmp_path / "chat.db") as store:
        state = await restored(
            store, *delivered(root, old, named, second, newest), StoreMessage(held, Status.WAITING)
        )
        linear = await restored(
            store, SetStatus(CHANNEL, held.entry.message_id, Status.DELIVERED, after_gap=False)
        )

    assert state.tips == tuple([outline(message) for message in (old, second, newest)])
    assert linear.tips == tuple([outline(message) for message in (old, newest, held)])


async def test_tips_are_bounded_to_the_newest(tmp_path: Path) -> None:
    ann = Author("ann")
    messages = [ann.write() for _ in range(70)]

    async with opened(tmp_path / "chat.db") as store:
        state = await restored(store, *delivered(*messages))

    assert ids(state.tips) == ids(messages[-64:])


async def test_a_parent_that_comes_after_its_child_is_no_tip(tmp_path: Path) -> None:
    ann = Author("ann")
    root, middle = ann.write(), ann.write()
    child = ann.write(after=[root, root])
    last = ann.write(after=[child])

    async with opened(tmp_path / "chat.db") as store:
        state = await restored(store, *delivered(last, child), *delivered(root, middle))

    assert ids(state.tips) == ids([middle, child, last])


async def test_a_commit_that_fails_writes_nothing(tmp_path: Path) -> None:
    me = Author("me")
    stored, fresh, unknown = me.write(), me.write(), me.write()

    async with opened(tmp_path / "chat.db") as store:
        before = await restored(store, *delivered(stored))

        with pytest.raises(StorageError, match="UNIQUE"):
            await store.journal.commit(delivered(fresh, stored))
        with pytest.raises(AssertionError, match="1 of 1 are not there"):
            await store.journal.commit(
                [
                    *delivered(fresh),
                    SetStatus(CHANNEL, unknown.entry.message_id, Status.PARKED, after_gap=False),
                ]
            )

        assert await store.journal.restore(CHANNEL) == before
        assert await searched(store, CHANNEL, "hello", limit=9) == (
            await store.history.page(CHANNEL, before=None, limit=9)
        )


async def test_a_message_of_a_channel_we_are_not_in_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        with pytest.raises(StorageError, match="FOREIGN KEY"):
            await store.journal.commit(delivered(Author("ann", channel=OTHER).write()))


async def test_forks_show_every_entry_of_a_place_taken_twice(tmp_path: Path) -> None:
    ann, bob = Author("ann", log=U64_MAX), Author("bob")
    first, other = ann.write("1"), bob.write("1")
    face = ann.fork()
    here, there, after = ann.write("here"), face.write("there"), face.write("after")

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(first, other, here, there, after))
        forks = await store.journal.forks(CHANNEL)

    assert forks == [Fork(ann.peer_id, U64_MAX, 2, tuple(sorted(ids([here, there]))))]


async def test_holes_are_the_backlinks_that_lead_nowhere(tmp_path: Path) -> None:
    ann = Author("ann")
    first, second, third, fourth = (ann.write() for _ in range(4))

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(first, third, fourth))
        before = await store.journal.holes(CHANNEL)
        await store.journal.commit(delivered(second))
        after = await store.journal.holes(CHANNEL)

    assert before == [Hole(ann.peer_id, 1, 2, second.entry.message_id)]
    assert after == []


async def steps_to_restore(path: Path, count: int) -> int:
    """Thousands of steps SQLite's machine takes to restore a conversation of `count` messages."""
    people = [Author(name) for name in ("me", "ann", "bob")]
    messages: list[StoredMessage] = []
    for number in range(count):
        messages.append(people[number % 3].write(after=messages[-2:]))
    steps = 0

    def tick() -> int:
        nonlocal steps
        steps += 1
        return 0

    async with opened(path) as store:
        await store.journal.commit(delivered(*messages))
        await store.database.read(lambda db: db.set_progress_handler(tick, 1000))
        await store.journal.restore(CHANNEL)
        await store.journal.holes(CHANNEL)
        await store.journal.forks(CHANNEL)
        await store.database.read(lambda db: db.set_progress_handler(None, 0))
    return steps


async def test_restoring_grows_with_the_channel_not_with_its_square(tmp_path: Path) -> None:
    small = await steps_to_restore(tmp_path / "small.db", 400)
    large = await steps_to_restore(tmp_path / "large.db", 1600)

    assert 0 < large < 5 * small


async def test_governance_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    ops = [
        StoreOp(CHANNEL, op.content, history.governance.act(op.id).judgement) for op in history.ops
    ]
    odd = StoreOp(
        CHANNEL,
        history.invite("alice", "code").content,
        Judgement(2, True, (True, False, True, False), True),
    )
    ann = Author("ann")
    waiting = [ann.write(f"{number}", governance=[b"x" * 32]) for number in range(3)]
    kept: list[Record] = [*ops, odd, *map(StorePending, waiting)]
    kept += [EndPending(CHANNEL, waiting[1].entry.message_id)]
    dropped = MessageId("ab" * 32)
    kept += [SetDropped(CHANNEL, dropped, Dropped.REMOVED)]
    model = Disk(ann.peer_id, OWN_LOG)
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        await store.journal.commit(kept)
        model.commit(kept)

    async with opened(path) as store:
        state = await store.journal.restore(CHANNEL)
        wanted = [history.ops[1].id, OpId(b"?" * 32), history.ops[0].id]
        asked = await store.journal.load_ops(CHANNEL, wanted)
        await store.members.add_channel(membership(OTHER, "coffee"), log=U64_MAX)
        assert await store.journal.restore(OTHER) == ChannelState(U64_MAX)

    assert [one.content for one in state.ops] == [one.content for one in (*ops, odd)]
    assert [one.judgement for one in state.ops] == [one.judgement for one in (*ops, odd)]
    assert asked == (history.ops[1].content, history.ops[0].content) == model.load_ops(wanted)
    assert state.pending == (waiting[0], waiting[2])
    assert state.dropped == ((dropped, Dropped.REMOVED),)
    same = model.restore()
    assert (state.ops, state.pending, state.dropped) == (same.ops, same.pending, same.dropped)


async def test_rotten_ops_and_waiting_entries_do_not_come_back(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    kept = StoreOp(CHANNEL, history.founded.content, FOUNDING)
    waiting = Author("ann").write(governance=[b"x" * 32])
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        await store.journal.commit([kept, StorePending(waiting)])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE group_ops SET content = zeroblob(length(content))")
        db.execute("UPDATE pending_entries SET payload = zeroblob(length(payload))")

    async with opened(path) as store:
        state = await store.journal.restore(CHANNEL)
        assert (state.ops, state.pending) == ((), ())
        await store.journal.commit([kept])
        assert len((await store.journal.restore(CHANNEL)).ops) == 1


async def test_dropped_ids_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governance, "DROPPED_MAX", 3)
    names = [MessageId(f"{number:064x}") for number in range(5)]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([SetDropped(CHANNEL, one, Dropped.NOT_MEMBER) for one in names])

        state = await store.journal.restore(CHANNEL)

    assert [one for one, _ in state.dropped] == names[2:]


async def test_state_comes_back_as_it_stood_and_what_rotted_does_not(tmp_path: Path) -> None:
    older, newer, pin = (
        entry_of(1, Topic("tea"), 5),
        entry_of(1, Topic("coffee"), 6),
        pin_of(2, 7, 5),
    )
    gone = pin_of(2, 8, 4)
    kept: list[Record] = [StoreState(CHANNEL, one.content) for one in (older, pin, gone, newer)]
    kept.append(DropState(CHANNEL, gone.key))
    model = Disk(Author("ann").peer_id, OWN_LOG)
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        await store.journal.commit(kept)
        model.commit(kept)
    async with opened(path) as store:
        state = await store.journal.restore(CHANNEL)
    assert set(state.state) == {newer.content, pin.content} == set(model.restore().state)

    with sqlite3.connect(path) as db:
        db.execute("UPDATE state_entries SET leaf = zeroblob(32) WHERE register = ?", (pin.key,))
    async with opened(path) as store:
        assert (await store.journal.restore(CHANNEL)).state == (newer.content,)


async def test_messages_under_heads_are_found_through_everything_that_builds_on_them(
    tmp_path: Path,
) -> None:
    ann, bob = Author("ann"), Author("bob")
    first = ann.write("first")
    between = [bob.write(f"{number}", after=[first]) for number in range(2)]
    head = ann.write("head", after=[between[1]])
    aside = ann.write("aside")
    names = [one.entry.message_id for one in (first, *between, head, aside)]
    model = Disk(ann.peer_id, OWN_LOG)
    kept = [StoreMessage(one, Status.DELIVERED) for one in (first, *between, head, aside)]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(kept)
        model.commit(kept)

        found = await store.journal.under(CHANNEL, [names[3]], names)

    assert found == (names[0], names[2], names[3]) == model.under([names[3]], names)
