"""Wrong clocks: messages from the future wait for their time, within bounds."""

import pytest

from sync.group import values
from sync.group.parked import CLOCK_AHEAD_MAX, PARKED_PER_AUTHOR_MAX
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.sds.message import Delivery
from tests.entries import Author
from tests.groups import NOW, NOW_MS, Member, arrived, name_of, only, sds_of

AHEAD_MS = CLOCK_AHEAD_MAX // MILLISECOND


@pytest.mark.parametrize("stamp", ["lamport", "created_ns"])
def test_a_message_from_the_future_is_kept_aside_until_its_time(stamp: str) -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    ahead = 10 * MINUTE
    lamport = NOW_MS + ahead // MILLISECOND if stamp == "lamport" else 5
    sent = bob.write("hello", lamport=lamport, created_ns=NOW + ahead if lamport == 5 else 5)

    parked = alice.hear(sent)
    aside = (alice.shown(), len(alice.group.holdings), alice.group.sds.filter.count)
    early = alice.advance(NOW + ahead - CLOCK_AHEAD_MAX - 1)
    in_time = alice.advance(NOW + ahead - CLOCK_AHEAD_MAX)

    assert only(values.StoreMessage, parked) == [values.StoreMessage(sent, values.Status.PARKED)]
    assert aside == ([], 0, 0)
    assert only(values.Deliver, early) == []
    assert [one.message_id for one in only(values.Deliver, in_time)] == [sent.entry.message_id]
    assert len(alice.group.holdings) == 1


def test_exactly_five_minutes_ahead_is_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello", lamport=NOW_MS + AHEAD_MS)

    alice.hear(sent)

    assert alice.shown() == [sent.entry.message_id]


def test_what_is_ahead_is_judged_by_the_reference_clock() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(sent)

    effects = alice.tell(values.ReferenceClock(CLOCK_AHEAD_MAX))

    assert [one.message_id for one in only(values.Deliver, effects)] == [sent.entry.message_id]


def test_the_far_future_does_not_end_the_channel() -> None:
    alice, mallory = Member("alice"), Author("mallory")
    for lamport in (2**31 - 1, 2**63 - 1, 2**64 - 1):
        alice.hear(mallory.write("doom", lamport=lamport, created_ns=5))

    mine = alice.write("still here").entry.header

    assert mine.lamport == NOW_MS
    assert len(alice.group.parked) == 2  # 2**31 - 1 ms is a day in 1970


def test_parked_messages_are_bounded_per_author() -> None:
    alice, mallory, bob = Member("alice"), Author("mallory"), Author("bob")
    doom = [
        alice.hear(mallory.write("doom", lamport=2**62 + number, created_ns=5))
        for number in range(PARKED_PER_AUTHOR_MAX + 5)
    ]
    honest = bob.write("my clock is wrong", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(honest)

    assert len(only(values.Refused, doom[-1])) == 1
    assert len(alice.group.parked) == PARKED_PER_AUTHOR_MAX + 1
    assert honest.entry.message_id in alice.group.parked


@pytest.mark.parametrize("again", [False, True])
def test_filter_and_request_beside_a_parked_message_count_and_its_history_does_not(
    again: bool,  # a parameter of the test
) -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    named, hinted = alice.write("one"), alice.write("two")
    sent = bob.write("from the future", after=[named], lamport=NOW_MS + 2 * AHEAD_MS)
    if again:
        alice.hear(sent)
    filter_of = alice.group.sds.filter.to_bytes()
    message = sds_of(sent)._replace(bloom_filter=filter_of, repair_request=(name_of(hinted),))

    effects = alice.tell(arrived(message, bob.peer_id))
    relayed = alice.tell(arrived(message, Author("carol").peer_id))

    changed = {one.message_id: one.delivery for one in only(values.DeliveryChanged, effects)}
    possibly = Delivery.POSSIBLY_ACKNOWLEDGED
    assert changed == {one.entry.message_id: possibly for one in (named, hinted)}
    assert only(values.LoadAuthors, effects) == [
        values.LoadAuthors(bob.peer_id, (hinted.entry.message_id,))
    ]
    assert only(values.LoadAuthors, relayed) == []


def test_a_parked_message_counts_as_evidence_once_it_is_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    mine = alice.write("hello")
    reply = bob.write("hi", after=[mine], lamport=NOW_MS + 2 * AHEAD_MS)

    parked = alice.hear(reply)
    let_in = alice.tell(values.ReferenceClock(CLOCK_AHEAD_MAX))

    acknowledged = values.DeliveryChanged(mine.entry.message_id, Delivery.ACKNOWLEDGED)
    assert acknowledged not in parked
    assert acknowledged in let_in


def test_a_parked_message_survives_a_start() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(sent)

    alice.start()
    alice.advance(NOW + CLOCK_AHEAD_MAX)

    assert alice.shown() == [sent.entry.message_id]


def test_whoever_writes_with_a_clock_ahead_is_told() -> None:
    alice = Member("alice")
    alice.write("early", now=NOW + 10 * MINUTE)

    alice.tell(values.ReferenceClock(-10 * MINUTE), NOW + 10 * MINUTE + SECOND)
    event = values.Write(2, 1, b"")
    effects = alice.tell(event, NOW + 10 * MINUTE + 2 * SECOND)

    assert len(only(values.Warned, effects)) == 1


def test_old_stamps_are_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("from 1970", lamport=1, created_ns=0)

    alice.hear(sent)

    assert alice.shown() == [sent.entry.message_id]


# --- Our own clock was wrong ---------------------------------------------------------------------


def ahead_of(member: Member, peers: int, *, by: int = 10 * MINUTE) -> list[values.StoredMessage]:
    """What `member` wrote with a clock that was `by` ahead, alone; then `peers` are there."""
    member.tell(values.ReferenceClock(by))
    written = [member.write(text) for text in ("one", "two")]
    member.join(*(Author(f"peer {number}").peer_id for number in range(peers)))
    return written


def test_what_was_written_with_a_clock_ahead_is_set_aside_and_told_once_others_show_it() -> None:
    alice = Member("alice")
    before = alice.write("before")
    written = ahead_of(alice, peers=2)
    log = alice.disk.log_number

    effects = alice.tell(values.ReferenceClock(0))

    ids = tuple(one.entry.message_id for one in written)
    assert only(values.Withdrawn, effects) == [values.Withdrawn(ids)]
    assert "everywhere: 2." in only(values.Warned, effects)[0].text
    assert effects[-1] == values.BeginAnew()
    assert alice.shown() == [before.entry.message_id]
    assert alice.disk.log_number != log


def test_after_that_we_go_on_in_a_new_log_with_the_right_time() -> None:
    alice = Member("alice")
    alice.write("before")
    ahead_of(alice, peers=2)
    alice.tell(values.ReferenceClock(0))
    alice.start()

    header = alice.write("again").entry.header

    assert (header.log, header.seq, header.backlink) == (alice.disk.log_number, 1, None)
    assert header.created_ns == NOW + 1
    assert header.lamport == NOW_MS + 1
    assert not only(values.Broadcast, alice.advance(NOW + SECOND))
    assert len(alice.group.parked.of(alice.peer_id)) == 2


@pytest.mark.parametrize("peers", [0, 1])
def test_one_peer_alone_does_not_judge_whose_clock_is_right(peers: int) -> None:
    alice = Member("alice")
    ahead_of(alice, peers=peers)

    effects = alice.tell(values.ReferenceClock(0))

    assert only(values.Withdrawn, effects) == []
    assert len(alice.shown()) == 2


def test_what_is_less_than_five_minutes_ahead_stays() -> None:
    alice = Member("alice")
    ahead_of(alice, peers=2, by=CLOCK_AHEAD_MAX - SECOND)

    effects = alice.tell(values.ReferenceClock(0))

    assert only(values.Withdrawn, effects) == []


def test_a_message_set_aside_is_missed_by_nobody() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    alice.join(bob.peer_id, carol.peer_id)
    ahead = bob.write("ahead", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(ahead)

    effects = alice.hear(carol.write("builds on it", after=[ahead], lamport=NOW_MS))

    assert only(values.Missing, effects) == []
    assert [one.after_gap for one in only(values.Deliver, effects)] == [True]
    assert not alice.group.sds.repairs.asking.requests


def test_who_waits_for_a_message_that_is_set_aside_is_shown_after_a_gap_at_once() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    alice.join(bob.peer_id, carol.peer_id)
    ahead = bob.write("ahead", lamport=NOW_MS + 2 * AHEAD_MS)
    child = carol.write("builds on it", after=[ahead], lamport=NOW_MS)
    held = alice.hear(child)

    effects = alice.hear(ahead)

    assert only(values.Deliver, held) == []
    assert only(values.Found, effects) == [values.Found(ahead.entry.message_id, lost=False)]
    assert [(one.message_id, one.after_gap) for one in only(values.Deliver, effects)] == [
        (child.entry.message_id, True)
    ]
    assert not alice.group.sds.incoming.missing
    assert alice.shown() == [child.entry.message_id]


def test_a_millisecond_more_than_five_minutes_ahead_is_set_aside() -> None:
    alice, bob = Member("alice"), Author("bob")

    alice.hear(bob.write("hello", lamport=NOW_MS + AHEAD_MS + 1))

    assert alice.shown() == []
    assert len(alice.group.parked) == 1
