"""The one loop: handle, commit, release; and what is left after a commit that failed."""

import random
from copy import deepcopy

import pytest
from msgspec.structs import replace

from sync.entries.entry import Kind, Text, encode_text
from sync.entries.identity import verify
from sync.errors import LocalError, RemoteError
from sync.group import values
from sync.group.relays import SETTLED_AFTER
from sync.group.writer import Author
from sync.machine import SECOND
from sync.manager.registry import WAKU_ONLY
from sync.runner.batch import BATCH_MAX, Batch
from sync.runner.input_queue import (
    CROWDED,
    CROWDED_BY_ONE,
    PAYLOADS_MAX,
    QUEUE_MAX,
    SMALL_BYTES,
)
from sync.runner.runner import Runner
from sync.sds.message import Delivery
from sync.sessions.protocol import Protocols
from sync.sim.disk import Disk
from sync.waku import asked
from sync.waku.message import CLUSTER, RECONCILIATION, Ranges, RangesData, shard
from sync.waku.session import WAKU_SYNC
from sync.waku.wire import encode_ranges
from tests.support.sync.alone.turned import LOBBY, Driver
from tests.support.sync.entries import CHANNEL
from tests.support.sync.entries import Author as Writer
from tests.support.sync.groups import NOW
from tests.support.toy.session import ANNOUNCED


def test_what_depends_on_records_is_released_in_order_after_them() -> None:
    alice = Driver()
    alice.write(1)
    alice.write(2)

    batch = alice.runner.turn(NOW)

    assert [type(record) for record in batch.records] == [values.StoreMessage] * 2
    assert [type(release.effect) for release in batch.releases] == [
        values.Written,
        values.Deliver,
        values.Broadcast,
    ] * 2
    assert [type(addressed.event) for addressed in batch.inputs] == [values.Write] * 2


def test_nothing_of_a_failed_batch_is_released_and_its_writers_are_told() -> None:
    alice = Driver()
    alice.disk.full = True
    alice.released.clear()
    alice.write(1)
    alice.write(2)

    alice.turn()

    assert alice.released == []
    assert alice.reported == [1, 2]
    assert alice.disk.log() == []


def test_what_waited_behind_a_failed_batch_is_handled_after_it() -> None:
    alice, bob = Driver(), Writer("bob")
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.turn()
    alice.disk.full = True
    alice.write(1)
    batch = alice.runner.turn(NOW)
    heard = bob.write("hello")
    alice.write(2)
    alice.runner.queue_input(CHANNEL, values.Arrived(bob.peer_id, heard.payload))
    alice.disk.full = False
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})

    alice.turn()

    assert len(batch.records) == 1
    assert alice.written() == [2]
    header = alice.disk.rows[alice.disk.log()[-1][1]].message.entry.header
    assert heard.entry.message_id in {message_id for _, message_id in alice.disk.log()}
    assert (header.seq, header.backlink) == (1, None)


def test_a_sequence_number_is_signed_again_only_if_nobody_saw_it() -> None:
    alice = Driver()
    alice.disk.full = True
    alice.write(1)
    alice.turn()
    alice.disk.full = False
    alice.write(2)
    alice.turn()

    sent = [effect for effect in alice.released if isinstance(effect, values.Broadcast)]

    assert len(sent) == 1
    assert [row.message.entry.header.seq for row in alice.disk.rows.values()] == [1]


def test_machines_made_anew_know_peers_and_reference_clock() -> None:
    alice, bob = Driver(), Writer("bob")
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.runner.feed_all(values.ReferenceClock(-60 * SECOND))
    alice.turn()
    alice.disk.full = True
    alice.write(1)
    alice.turn()
    alice.disk.full = False
    alice.write(2)

    alice.turn()

    assert alice.runner.groups[CHANNEL].peers == {bob.peer_id}
    [row] = alice.disk.rows.values()
    assert row.message.entry.header.created_ns == NOW - 60 * SECOND


def test_machines_made_anew_equal_those_before_what_failed() -> None:
    alice, bob = Driver(), Writer("bob")
    first = bob.write("first")
    absent = bob.write("absent", after=[first])
    held = bob.write("held", after=[absent])
    for sent in (first, held):
        alice.runner.queue_input(CHANNEL, values.Arrived(bob.peer_id, sent.payload))
    alice.write(1)
    alice.turn()
    before = alice.runner.groups[CHANNEL]
    order, tips, lamport = list(before.sds.log.order), dict(before.sds.log.tips), before.sds.lamport
    bloom, waiting = before.sds.filter.to_bytes(), deepcopy(before.sds.incoming.waiting)
    for one in waiting.values():
        one.content = replace(one.content, via=None)  # the disk knows no links
    alice.disk.full = True
    alice.write(2)
    alice.runner.queue_input(CHANNEL, values.Arrived(bob.peer_id, absent.payload))

    alice.turn()
    alice.turn()

    after = alice.runner.groups[CHANNEL].sds
    assert alice.runner.groups[CHANNEL] is not before
    assert (list(after.log.order), after.log.tips, after.lamport) == (order, tips, lamport)
    assert (after.filter.to_bytes(), after.incoming.waiting) == (bloom, waiting)


def test_what_the_person_asked_for_survives_a_failed_commit_of_something_else() -> None:
    alice, bob = Driver(), Writer("bob")
    alice.write(1)
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.turn()
    [message_id] = alice.disk.rows
    alice.write(2)
    alice.runner.turn(NOW)
    alice.runner.queue_input(CHANNEL, values.SendAgain(message_id))
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})

    alice.turn()

    assert values.DeliveryChanged(message_id, Delivery.UNACKNOWLEDGED) in alice.released
    assert any(isinstance(effect, values.BroadcastStored) for effect in alice.released)


def test_machines_made_anew_know_their_history_and_peers_before_anything_is_committed() -> None:
    alice, bob = Driver(), Writer("bob")
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.runner.queue_input(CHANNEL, values.Audience(3))
    alice.write(1)
    alice.turn()
    alice.write(2)
    alice.runner.turn(NOW)
    alice.write(3)
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})

    begun = alice.runner.begin(NOW)
    group = alice.runner.groups[CHANNEL]
    known = (len(group.sds.log.order), list(group.peers), group.audience)
    whole = alice.runner.turn(NOW + SECOND, None, begun)

    assert known == (1, [bob.peer_id], 3)
    assert begun is whole
    assert [type(one.event) for one in whole.inputs] == [
        values.Restored,
        values.PeerJoined,
        values.Audience,
        values.Write,
    ]
    assert len(whole.records) == 1, "the line that waits"


def test_sessions_of_machines_made_anew_hold_no_place() -> None:
    alice = Driver()
    peers = [Writer(f"peer {number}").peer_id for number in range(20)]
    for peer in peers:
        alice.runner.queue_input(CHANNEL, values.PeerJoined(peer))
    alice.turn()
    alice.turn()
    running = alice.runner.manager.running
    alice.disk.full = True

    for token in range(10):
        alice.write(token)
        alice.turn(NOW + token)

    assert running > 0
    assert alice.runner.manager.running == len(alice.runner.groups[CHANNEL].sessions.by_peer)


def announcing(disk: Disk) -> Runner:
    """A runner that announces, over a disk."""
    me = Writer("alice")
    author = Author(me.peer_id, me.identity.sign, verify, lambda: 2)
    runner = Runner(author, random.Random(0), protocols=Protocols((WAKU_SYNC, ANNOUNCED)))
    runner.add_channel(LOBBY, disk.restore())
    bob = Writer("bob").peer_id
    runner.queue_input(CHANNEL, values.PeerJoined(bob))
    runner.queue_input(CHANNEL, values.PeerAnnounced(bob, frozenset({ANNOUNCED.family})))
    runner.turn(NOW)
    return runner


def test_the_counter_of_an_announcement_is_committed_before_that_is_sent() -> None:
    disk = Disk(Writer("alice").peer_id, log_number=1)
    runner = announcing(disk)
    assert runner.deadline() == 0, "at once"

    first = runner.turn(NOW)
    disk.commit(first.records)
    second = announcing(disk).turn(NOW - SECOND)  # after a start, by a clock that was set back

    assert first.records == [values.SetCounter(NOW)]
    assert [told.counter for told in first.announcements] == [NOW]
    assert second.records == [values.SetCounter(NOW + 1)]
    assert [told.counter for told in second.announcements] == [NOW + 1]


def test_what_was_not_committed_is_announced_again_and_not_by_that_counter() -> None:
    disk = Disk(Writer("alice").peer_id, log_number=1)
    runner = announcing(disk)
    [lost] = runner.turn(NOW).announcements

    runner.rebuild({CHANNEL: disk.restore()})
    runner.turn(NOW + SECOND)
    [again] = runner.turn(NOW + SECOND).announcements

    assert (again.peer, again.counter > lost.counter) == (lost.peer, True)


def test_a_bad_announcement_is_a_failure_with_its_peer_and_reason() -> None:
    runner = announcing(Disk(Writer("alice").peer_id, log_number=1))
    bad = values.LogsAnnounced(Writer("bob").peer_id, b"\xff")
    runner.queue_input(CHANNEL, bad)

    [failure] = runner.turn(NOW).failures

    assert failure.event == bad
    assert str(failure.error).startswith("announcement: not the one CBOR of a value")


def test_a_bad_input_fails_alone() -> None:
    alice, bob = Driver(), Writer("bob")
    alice.runner.queue_input(CHANNEL, values.Arrived(bob.peer_id, b"\xff"))
    alice.write(1)
    alice.runner.queue_input(CHANNEL, values.SendAgain(bob.write("x").entry.message_id))
    alice.runner.queue_input(CHANNEL, values.Arrived(bob.peer_id, bob.write("hello").payload))

    batch = alice.turn()

    bad, unknown = (failure.error for failure in batch.failures)
    assert isinstance(bad, RemoteError)
    assert isinstance(unknown, LocalError)
    assert len(alice.disk.log()) == 2
    assert alice.written() == [1]


def test_a_batch_has_a_limit_and_ends_early_when_it_is_enough() -> None:
    alice = Driver()
    for token in range(BATCH_MAX + 10):
        alice.write(token)

    one = alice.runner.turn(NOW, lambda: True)
    many = alice.runner.turn(NOW)

    assert len(one.inputs) == 1
    assert len(many.inputs) == BATCH_MAX
    assert alice.runner.busy
    assert alice.runner.waiting == 9


def test_the_queue_is_crowded_long_before_it_is_full() -> None:
    alice = Driver()
    for _ in range(CROWDED - 1):
        alice.runner.queue_input(CHANNEL, values.Typing("alice"))
    calm = alice.runner.inputs.crowded
    alice.runner.queue_input(CHANNEL, values.Typing("alice"))
    crowded = alice.runner.inputs.crowded
    for _ in range(QUEUE_MAX - CROWDED):
        alice.runner.queue_input(CHANNEL, values.Typing("alice"))

    assert (calm, crowded) == (False, True)
    with pytest.raises(LocalError, match="wait a moment"):
        alice.write(1)


@pytest.mark.parametrize(("most", "size"), [(PAYLOADS_MAX, SMALL_BYTES), (CROWDED_BY_ONE, 1)])
def test_a_session_is_read_no_further_than_two_payloads_or_many_small_ones(
    most: int, size: int
) -> None:
    alice = Driver()
    crowded = []
    for _ in range(most):
        alice.runner.queue_input(CHANNEL, values.SessionPayload(7, bytes(size)))
        crowded.append(alice.runner.inputs.is_crowded_by_session(7))
    others = alice.runner.inputs.is_crowded_by_session(8)
    alice.runner.turn(NOW)

    assert crowded == [False] * (most - 1) + [True]
    assert not others
    assert not alice.runner.inputs.is_crowded_by_session(7)
    assert not alice.runner.inputs._payloads


def test_many_sessions_share_what_may_wait() -> None:
    alice, sessions = Driver(), 20
    for session in range(sessions):
        for _ in range(CROWDED // sessions):
            assert not alice.runner.inputs.is_crowded_by_session(session)
            alice.runner.queue_input(CHANNEL, values.SessionPayload(session, b""))

    assert all(map(alice.runner.inputs.is_crowded_by_session, range(sessions)))


def test_an_answer_in_steps_lets_others_have_their_turn_and_reads_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asked, "WORK", 1)
    alice, peer = Driver(), Writer("bob").peer_id
    ranges = Ranges()
    ranges.extend_fingerprints([NOW + number for number in range(3)], bytes([255]) * 32 * 3)
    payload = encode_ranges(RangesData(CLUSTER, (shard(CHANNEL),), ranges))
    alice.runner.queue_input(CHANNEL, values.PeerJoined(peer))
    alice.runner.queue_input(CHANNEL, values.SessionOffered(7, peer, RECONCILIATION))
    alice.runner.queue_input(CHANNEL, values.SessionPayload(7, payload))
    alice.write(1)
    alice.write(2)
    handled: list[object] = []
    crowded = []
    while alice.runner.busy:
        batch = alice.runner.turn(NOW, lambda: True)
        handled += [type(one.event).__name__ for one in batch.inputs]
        sent = [one for one in batch.releases if isinstance(one.effect, values.SendPayload)]
        crowded.append((alice.runner.inputs.is_crowded_by_session(7), len(sent)))

    steps = ["Continue"] * (len(handled) - 5)
    assert handled == ["PeerJoined", "SessionOffered", "SessionPayload", "Write", "Write", *steps]
    assert len(steps) >= 3
    answering = [(True, 0)] * (len(handled) - 3)
    assert crowded == [(False, 0), (False, 0), *answering, (False, 1)]
    assert not alice.runner.inputs._answering


def test_every_input_is_traced_with_its_effects() -> None:
    lines: list[tuple[str, str, int]] = []
    writer = Writer("alice")
    disk = Disk(writer.peer_id, log_number=1)
    author = Author(writer.peer_id, writer.identity.sign, verify, lambda: 2)
    runner = Runner(
        author,
        random.Random(0),
        lambda _, name, event, effects: lines.append((name, type(event).__name__, len(effects))),
        protocols=WAKU_ONLY,
    )
    runner.add_channel(LOBBY, disk.restore())
    runner.queue_input(CHANNEL, values.PeerJoined(Writer("bob").peer_id))

    runner.turn(NOW)

    assert [(name, event) for name, event, _ in lines] == [
        ("runner", "Opened"),
        (CHANNEL, "Restored"),
        (CHANNEL, "PeerJoined"),
        ("manager", "Joined"),
    ]


def test_nothing_is_due_in_an_empty_house() -> None:
    writer = Writer("alice")
    author = Author(writer.peer_id, writer.identity.sign, verify, lambda: 2)

    runner = Runner(author, random.Random(0))

    assert runner.deadline() is None
    assert runner.turn(NOW) == Batch()


def test_a_channel_that_was_left_takes_nothing_more_and_comes_back_from_the_disk() -> None:
    alice = Driver()
    alice.runner.queue_input(CHANNEL, values.PeerJoined(Writer("bob").peer_id))
    alice.turn()
    held = alice.runner.manager.deadline()

    alice.runner.remove_channel(CHANNEL, NOW)
    alice.runner.remove_channel(CHANNEL, NOW)
    alice.runner.queue_input(
        CHANNEL, values.Write(1, Kind.TEXT, encode_text(Text("alice", "hello?")))
    )
    alice.turn()
    gone = dict(alice.runner.groups)
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    alice.runner.add_channel(LOBBY, alice.disk.restore())
    alice.turn()

    assert held is not None
    assert gone == {}
    assert alice.disk.log() == []
    assert set(alice.runner.groups) == {CHANNEL}


def test_authors_whose_lines_came_in_a_snapshot_are_heard_through_its_source() -> None:
    alice, bob, carol, dave = Driver(), Writer("bob"), Writer("carol"), Writer("dave")
    lines = [one.write("hello", created_ns=NOW - SECOND) for one in (bob, carol, dave)]
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.runner.queue_input(CHANNEL, values.PeerJoined(dave.peer_id))
    alice.turn()
    group = alice.runner.groups[CHANNEL]
    group.snapshots.peer, group.snapshots.swapping = bob.peer_id, True

    alice.disk.commit([values.StoreMessage(one, values.Status.DELIVERED) for one in lines])
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    alice.turn()
    relays = alice.runner.groups[CHANNEL].relays
    settled = relays.settled(NOW + SETTLED_AFTER)

    assert relays.through(carol.peer_id) == bob.peer_id
    assert relays.through(dave.peer_id) is None, "he has a link"
    assert relays.through(bob.peer_id) is None
    assert settled == [bob.peer_id], "the manager is told at once"


def test_machines_made_anew_know_which_links_are_slow() -> None:
    alice, bob = Driver(), Writer("bob")
    told = values.LinksTimed(((bob.peer_id, 8 * SECOND),), 8 * SECOND)
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.runner.queue_input(CHANNEL, told)
    alice.turn()

    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    alice.turn()

    group = alice.runner.groups[CHANNEL]
    assert group.timed == told
    assert group.sds.outgoing.trip == 8 * SECOND


def test_who_dialled_a_link_is_known_when_machines_are_made_anew() -> None:
    alice, bob, carol = Driver(), Writer("bob"), Writer("carol")
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id, dialled=True))
    alice.runner.queue_input(CHANNEL, values.PeerJoined(carol.peer_id))
    alice.turn()

    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    alice.turn()

    manager = alice.runner.manager
    assert manager.dialled(CHANNEL, bob.peer_id)
    assert not manager.dialled(CHANNEL, carol.peer_id)
