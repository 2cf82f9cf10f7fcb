"""The one loop: handle, commit, release; and what is left after a commit that failed."""

import gc
import random
import sys
from copy import deepcopy

import pytest

from sync.entries.entry import Kind, Text, encode_text
from sync.entries.identity import verify
from sync.entries.membership import Membership
from sync.errors import DecodeError, LocalError, RemoteError, StorageError
from sync.group import values
from sync.group.clock_policy import Policy
from sync.group.relays import SETTLED_AFTER
from sync.group.writer import Author
from sync.machine import DAY, SECOND
from sync.manager.registry import WAKU_ONLY
from sync.runner.input_queue import (
    BURST,
    CROWDED,
    CROWDED_BY_ONE,
    FAIR_FROM,
    PAYLOADS_MAX,
    QUEUE_MAX,
)
from sync.runner.runner import BATCH_MAX, Batch, Runner
from sync.runner.weights import BYTES_CROWDED, BYTES_OF_ONE, BYTES_OF_TURN, BYTES_SHARED
from sync.sds.message import Delivery
from sync.sessions.protocol import Protocols
from sync.sim.disk import Disk
from sync.waku import asked
from sync.waku.message import CLUSTER, RECONCILIATION, Ranges, RangesData, shard
from sync.waku.session import WAKU_SYNC
from sync.waku.wire import encode_ranges
from tests.support.sync.entries import CHANNEL
from tests.support.sync.entries import Author as Writer
from tests.support.sync.groups import NOW
from tests.support.toy.session import ANNOUNCED

LOBBY = Membership(CHANNEL, "lobby", b"", open=True, profile="lan", joined_ns=NOW)


class Driver:
    """Turns a runner over a disk that may fail, as every driver does."""

    def __init__(self) -> None:
        self.writer = Writer("alice")
        self.disk = Disk(self.writer.peer_id, log_number=1)
        self.runner = Runner(self.author(), random.Random(0), protocols=WAKU_ONLY)
        self.runner.add_channel(LOBBY, self.disk.restore())
        self.released: list[values.Effect] = []
        self.reported: list[int] = []
        self.turn()

    def author(self) -> Author:
        me = self.writer
        return Author(me.peer_id, me.identity.sign, verify, lambda: 2)

    def turn(self, now: int = NOW) -> Batch:
        batch = self.runner.turn(now)
        try:
            if batch.records:
                self.disk.commit(batch.records)
        except StorageError:
            self.reported += [
                addressed.event.token
                for addressed in batch.inputs
                if isinstance(addressed.event, values.Write)
            ]
            self.runner.rebuild({CHANNEL: self.disk.restore()})
        else:
            self.released += [release.effect for release in batch.releases]
        return batch

    def write(self, token: int) -> None:
        body = encode_text(Text("alice", f"line {token}"))
        self.runner.queue_input(CHANNEL, values.Write(token, Kind.TEXT, body))

    def written(self) -> list[int]:
        return [effect.token for effect in self.released if isinstance(effect, values.Written)]


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
        one.content = one.content._replace(via=None)  # the disk knows no links
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


def test_a_session_is_read_no_further_than_two_payloads() -> None:
    alice = Driver()
    crowded = []
    for _ in range(PAYLOADS_MAX):
        alice.runner.queue_input(CHANNEL, values.SessionPayload(7, b""))
        crowded.append(alice.runner.inputs.is_crowded_by_session(7))
    others = alice.runner.inputs.is_crowded_by_session(8)
    alice.runner.turn(NOW)

    assert crowded == [False, True]
    assert not others
    assert not alice.runner.inputs.is_crowded_by_session(7)
    assert not alice.runner.inputs._payloads


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


# --- A flood -------------------------------------------------------------------------------------


def flooded(driver: Driver, count: int) -> tuple[list[values.StoredMessage], values.StoredMessage]:
    """`count` frames of mallory wait, and behind them one of carol."""
    mallory, carol = Writer("mallory"), Writer("carol")
    flood = [mallory.write(f"line {number}") for number in range(count)]
    honest = carol.write("hello")
    for sent in (*flood, honest):
        author = sent.entry.header.author
        driver.runner.queue_input(CHANNEL, values.Arrived(author, sent.payload))
    return flood, honest


def test_a_flood_of_valid_messages_does_not_make_the_others_wait() -> None:
    alice = Driver()
    flood, honest = flooded(alice, FAIR_FROM + 2 * int(BURST))

    first = alice.turn()

    shown = [one.message_id for one in alice.released if isinstance(one, values.Deliver)]
    place = shown.index(honest.entry.message_id)
    assert place == FAIR_FROM + int(BURST), "only what everybody may send comes before"
    assert len(first.inputs) == len(flood) + 1, "and nothing is lost"
    assert shown[:place] + shown[place + 1 :] == [one.entry.message_id for one in flood]


def test_without_a_backlog_nobody_is_put_off() -> None:
    alice = Driver()
    flood, honest = flooded(alice, FAIR_FROM - 1)

    alice.turn()

    shown = [one.message_id for one in alice.released if isinstance(one, values.Deliver)]
    assert shown == [one.entry.message_id for one in (*flood, honest)]


def test_what_was_put_off_counts_as_waiting_and_survives_a_failed_commit() -> None:
    alice = Driver()
    count = BATCH_MAX + 2 * int(BURST)
    flooded(alice, count)
    alice.disk.full = True

    alice.turn()
    waiting = alice.runner.waiting
    alice.disk.full = False
    while alice.runner.busy:
        alice.turn()

    assert waiting >= count + 1 - BATCH_MAX
    assert len(alice.disk.log()) == count + 1 - BATCH_MAX


def test_peers_that_flood_have_turns_and_are_read_no_further_than_their_share() -> None:
    alice = Driver()
    floods = {name: Writer(name) for name in ("mallory", "eve")}
    for name, count in (("mallory", CROWDED_BY_ONE + 3 * int(BURST)), ("eve", 2 * int(BURST))):
        for number in range(count):
            sent = floods[name].write(f"line {number}")
            alice.runner.queue_input(CHANNEL, values.Arrived(floods[name].peer_id, sent.payload))
    carol = Writer("carol").peer_id
    crowded = [alice.runner.inputs.is_crowded_by(one.peer_id) for one in floods.values()]
    backlog = alice.runner.inputs.backlog

    handled = [one.event for one in alice.runner.turn(NOW).inputs]

    of_mallory, of_eve = (one.peer_id for one in floods.values())
    assert crowded == [True, False]
    assert not alice.runner.inputs.is_crowded_by(carol)
    assert not alice.runner.inputs.crowded
    assert set(backlog) == {of_mallory, of_eve}
    at_once = FAIR_FROM + 2 * int(BURST)
    last = [one.peer for one in handled[at_once:][:60] if isinstance(one, values.Arrived)]
    assert last == [last[0], last[1]] * 30, "by turns"
    assert set(last) == {of_mallory, of_eve}


def feed_large(alice: Driver, name: str, size: int, at_most: int) -> int:
    """Feed frames of a peer until it is not read any more; returns their bytes."""
    peer, fed = Writer(name).peer_id, 0
    while not alice.runner.inputs.is_crowded_by(peer) and fed < at_most:
        alice.runner.queue_input(CHANNEL, values.Arrived(peer, bytes(size)))
        fed += size
    return fed


def test_of_large_frames_no_more_bytes_wait_than_the_share_of_their_sender() -> None:
    alice, large = Driver(), 256 * 1024
    of_mallory = feed_large(alice, "mallory", large, 64 * large)
    of_many = [feed_large(alice, f"eve {number}", large, 64 * large) for number in range(100)]
    carol = Writer("carol").peer_id

    assert of_mallory == BYTES_OF_ONE
    assert sum(of_many) + of_mallory < BYTES_CROWDED + large
    crowded = [alice.runner.inputs.crowded]
    while alice.runner.busy:
        alice.turn()
    crowded.append(alice.runner.inputs.crowded)

    assert crowded == [True, False], "so many peers take all there is"
    assert not alice.runner.inputs.is_crowded_by(carol)
    assert not alice.runner.inputs.is_crowded_by(Writer("mallory").peer_id)


def test_those_who_send_large_frames_share_so_much_that_others_are_still_read() -> None:
    alice, large = Driver(), 128 * 1024
    names = [f"eve {number}" for number in range(16)]
    fed = sum(feed_large(alice, name, large, large) for name in names)
    fed += sum(feed_large(alice, name, large, BYTES_OF_ONE) for name in names)

    assert BYTES_SHARED <= fed < BYTES_SHARED + len(names) * large
    assert not alice.runner.inputs.crowded
    assert not alice.runner.inputs.is_crowded_by(Writer("carol").peer_id)


def payload_bytes(batch: Batch) -> int:
    return sum([len(getattr(one.event, "payload", b"")) for one in batch.inputs])


def test_a_turn_ends_with_its_bytes() -> None:
    alice, large = Driver(), 256 * 1024
    for number in range(16):
        peer = Writer(f"eve {number}").peer_id
        alice.runner.queue_input(CHANNEL, values.Arrived(peer, bytes(large)))
    batch = alice.runner.turn(NOW)

    assert payload_bytes(batch) == BYTES_OF_TURN
    assert payload_bytes(alice.runner.turn(NOW)) == BYTES_OF_TURN


def test_what_was_refused_is_gone_with_its_turn() -> None:
    alice, payload = Driver(), bytes(1024)
    gc.collect()
    gc.disable()  # a collection comes when many objects were made, and a large frame is one
    try:
        before = sys.getrefcount(payload)
        alice.runner.queue_input(CHANNEL, values.Arrived(Writer("eve").peer_id, payload))
        batch = alice.runner.turn(NOW)
        refused = [type(failure.error) for failure in batch.failures]
        del batch
        after = sys.getrefcount(payload)
    finally:
        gc.enable()

    assert refused == [DecodeError]
    assert after == before


def test_a_session_and_a_transfer_have_shares_of_bytes_of_their_own() -> None:
    alice, mallory = Driver(), Writer("mallory").peer_id
    feed_large(alice, "mallory", 1024 * 1024, BYTES_CROWDED)
    alice.runner.queue_input(CHANNEL, values.SessionPayload(7, bytes(BYTES_OF_ONE)))
    alice.runner.queue_input(CHANNEL, values.Transferred(mallory, b"little"))

    assert alice.runner.inputs.is_crowded_by(mallory)
    assert alice.runner.inputs.is_crowded_by_session(7)
    assert not alice.runner.inputs.is_crowded_by(mallory, transfers=True)
    assert not alice.runner.inputs.is_crowded_by_session(8)


def test_what_survives_a_failed_commit_still_counts_by_its_bytes() -> None:
    alice = Driver()
    alice.write(1)
    for _ in range(BATCH_MAX):
        alice.runner.queue_input(CHANNEL, values.Typing("alice"))
    alice.runner.queue_input(CHANNEL, values.Arrived(Writer("eve").peer_id, bytes(BYTES_OF_ONE)))
    alice.disk.full = True
    alice.turn()
    crowded = alice.runner.inputs.is_crowded_by(Writer("eve").peer_id)
    alice.disk.full = False
    while alice.runner.busy:
        alice.turn()

    assert crowded
    assert not alice.runner.inputs.is_crowded_by(Writer("eve").peer_id)


def test_what_a_peer_transfers_waits_beside_what_it_says_and_in_order_with_its_end() -> None:
    alice, bob = Driver(), Writer("bob")
    waku = b"not a message"
    for _ in range(FAIR_FROM + 2 * int(BURST)):
        alice.runner.queue_input(CHANNEL, values.Transferred(bob.peer_id, waku))
    ends: list[values.Input] = [values.TransferEnded(bob.peer_id), values.PeerGone(bob.peer_id)]
    ends.append(values.PeerJoined(bob.peer_id))
    for event in ends:
        alice.runner.queue_input(CHANNEL, event)
    said = values.Arrived(bob.peer_id, bob.write("live").payload)
    alice.runner.queue_input(CHANNEL, said)

    handled = [one.event for one in alice.runner.turn(NOW).inputs]

    assert handled[-3:] == ends
    assert handled.index(said) == FAIR_FROM + int(BURST)
    assert alice.runner.inputs.backlog == {}


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


# --- Clocks --------------------------------------------------------------------------------------


TOMORROW = NOW + DAY
"""Reading of her machines' clock, which began with the wrong one."""


def followed(*, set_right: bool = False) -> tuple[Driver, Writer]:
    """Alice began and wrote with a clock a day ahead; bob was there, and she followed him.

    Or her clock was `set_right`, and bob agreed with it.
    """
    alice, bob = Driver(), Writer("bob")
    alice.runner.feed_all(values.OwnClock(0, policy=Policy.FOLLOW))
    alice.write(1)
    alice.turn(TOMORROW)
    if set_right:
        alice.runner.feed_all(values.OwnClock(-DAY, policy=Policy.FOLLOW, was_set=True))
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.runner.queue_input(
        CHANNEL, values.MemberClock(bob.peer_id, -DAY, "10.0.0.2", standing=True)
    )
    batch = alice.turn(TOMORROW)
    assert batch.begin_anew
    assert any(isinstance(one, values.Withdrawn) for one in alice.released)
    alice.released.clear()
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    return alice, bob


def step_by_step(driver: Driver) -> None:
    """Turn for one input at a time, as where each takes a whole slice."""
    while driver.runner.busy:
        batch = driver.runner.turn(TOMORROW, lambda: True)
        driver.disk.commit(batch.records)
        driver.released += [release.effect for release in batch.releases]


def statuses(driver: Driver) -> list[values.Status]:
    return [row.status for row in driver.disk.rows.values()]


@pytest.mark.parametrize("set_right", [False, True])
def test_what_was_withdrawn_does_not_come_back_while_machines_are_made_anew(
    *, set_right: bool
) -> None:
    alice, _ = followed(set_right=set_right)

    step_by_step(alice)
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    step_by_step(alice)

    assert not [one for one in alice.released if isinstance(one, values.Deliver)]
    assert statuses(alice) == [values.Status.PARKED]
    alice.write(2)
    alice.turn(TOMORROW)
    header = list(alice.disk.rows.values())[-1].message.entry.header
    assert header.created_ns == NOW, "and we go by bob's clock"


def test_nor_does_it_come_back_after_a_start_with_a_clock_that_is_still_wrong() -> None:
    alice, bob = followed()
    again = Runner(alice.author(), random.Random(1))
    again.feed_all(values.OwnClock(0, policy=Policy.FOLLOW))
    again.add_channel(LOBBY, alice.disk.restore())
    alice.runner = again

    step_by_step(alice)
    again.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    again.queue_input(CHANNEL, values.MemberClock(bob.peer_id, -DAY, "10.0.0.2", standing=True))
    step_by_step(alice)

    assert not [one for one in alice.released if isinstance(one, values.Deliver)]
    assert statuses(alice) == [values.Status.PARKED]


def test_a_channel_taken_up_later_hears_of_our_clock_before_its_history() -> None:
    alice = Driver()
    alice.runner.feed_all(values.OwnClock(-DAY, was_set=True))
    alice.turn()
    alice.runner.remove_channel(CHANNEL, NOW)
    alice.runner.add_channel(LOBBY, alice.disk.restore())

    batch = alice.turn()

    events = [addressed.event for addressed in batch.inputs]
    assert events[0] == values.OwnClock(-DAY), "nobody has set it since"
    assert isinstance(events[1], values.Restored)
