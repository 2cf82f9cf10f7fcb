"""A channel as a whole: verdicts, what is held back, what a start brings back, our own words."""

from itertools import permutations

import pytest
from msgspec.structs import replace

from sync.errors import LocalError
from sync.group import values
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW_MS, Member, only

# --- What depends on other entries is never a refusal ---------------------------------------------


def two_faced() -> list[values.StoredMessage]:
    """A log with a fork, and a reply to either face."""
    bob = Author("bob")
    first = bob.write("first")
    other_face = bob.fork()
    left, right = bob.write("yes", after=[first]), other_face.write("no", after=[first])
    carol = Author("carol")
    return [first, left, right, carol.write("what?", after=[left, right])]


@pytest.mark.parametrize("order", permutations(range(4)))
def test_the_order_of_arrival_changes_no_verdict(order: tuple[int, ...]) -> None:
    alice = Member("alice")
    sent = two_faced()

    for number in order:
        alice.hear(sent[number])

    placed = sorted(sent, key=lambda one: (one.entry.header.lamport, one.entry.message_id))
    assert alice.shown() == [one.entry.message_id for one in placed]
    assert not any(row.after_gap for row in alice.disk.rows.values())
    assert len(alice.group.holdings) == 4


def test_a_lamport_time_not_above_its_parents_is_no_refusal() -> None:
    alice, bob = Member("alice"), Author("bob")
    first = bob.write("first", lamport=10)
    second = bob.write("second", after=[first], lamport=10)
    third = bob.write("third", after=[second], lamport=3)

    for sent in (third, second, first):
        alice.hear(sent)

    assert len(alice.shown()) == 3
    assert alice.shown()[0] == third.entry.message_id


def test_a_hole_in_an_authors_log_is_looked_for_and_not_waited_for() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    absent = bob.write("one")
    sent = bob.write("two")

    effects = alice.hear(sent)
    filled = alice.hear(absent)

    assert alice.shown() == [absent.entry.message_id, sent.entry.message_id]
    assert only(values.Missing, effects) == [
        values.Missing(absent.entry.message_id, sent.entry.message_id)
    ]
    assert only(values.Found, filled) == [values.Found(absent.entry.message_id, lost=False)]
    assert only(values.Lacking, filled) == [values.Lacking(0, (bob.peer_id,))]


# --- Held back, and what a start brings back ------------------------------------------------------


def test_a_message_held_back_is_on_disk_and_delivered_later() -> None:
    alice, bob = Member("alice"), Author("bob")
    first = bob.write("first")
    second = bob.write("second", after=[first])

    held = alice.hear(second)
    freed = alice.hear(first)

    assert only(values.StoreMessage, held) == [values.StoreMessage(second, values.Status.WAITING)]
    assert only(values.Deliver, held) == []
    assert only(values.SetStatus, freed) == [
        values.SetStatus(CHANNEL, second.entry.message_id, values.Status.DELIVERED, after_gap=False)
    ]
    assert only(values.Deliver, freed) == [
        values.Deliver(first.entry.message_id, first.entry, after_gap=False, delivery=None),
        values.Deliver(second.entry.message_id, None, after_gap=False, delivery=None),
    ]


def test_a_start_brings_back_log_buffers_and_clock() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    heard = bob.write("heard", lamport=NOW_MS + 10)
    absent = bob.write("absent", after=[heard])
    held = bob.write("held", after=[absent])
    parked = carol.write("parked", lamport=NOW_MS + 600_000)
    alice.hear(heard)
    mine = alice.write("mine")
    alice.hear(held)
    alice.hear(parked)
    before = alice.group

    alice.start()

    after = alice.group
    assert after is not before
    assert list(after.sds.log.order) == list(before.sds.log.order)
    assert after.sds.log.tips == before.sds.log.tips
    assert after.sds.filter.to_bytes() == before.sds.filter.to_bytes()
    assert after.sds.lamport == before.sds.lamport
    assert after.sds.outgoing.pending == before.sds.outgoing.pending
    for waiting in before.sds.incoming.waiting.values():
        waiting.content = replace(waiting.content, via=None)  # the disk knows no links
    assert after.sds.incoming.waiting == before.sds.incoming.waiting
    assert len(after.holdings) == len(before.holdings) == 3
    assert parked.entry.message_id in after.aside
    following = alice.write("next").entry.header
    assert (following.log, following.seq) == (1, 2)
    assert following.backlink == mine.entry.message_id
    assert following.lamport > mine.entry.header.lamport


# --- Our own words --------------------------------------------------------------------------------


def test_a_body_over_the_limit_changes_nothing() -> None:
    alice = Member("alice")

    with pytest.raises(LocalError, match="send it in parts"):
        alice.tell(values.Write(1, 1, b"x" * 70_000))

    assert alice.shown() == []
    assert alice.write("shorter").entry.header.seq == 1


def test_what_one_member_writes_another_lets_in() -> None:
    alice, bob = Member("alice"), Member("bob")
    alice.join(bob.peer_id)

    effects = alice.tell(values.Write(7, 1, b"\x0a\x01a\x12\x02hi"))
    [sent] = only(values.Broadcast, effects)
    bob.tell(values.Arrived(alice.peer_id, sent.payload))

    [written] = only(values.Written, effects)
    assert written.token == 7
    assert bob.shown() == alice.shown() == [written.message_id]
