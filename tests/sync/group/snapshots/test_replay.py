"""Replay of staged pages: each entry becomes what the one way in would have made of it."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.calimero.governance.ops import GroupId, Key, OpId
from sync.calimero.governance.pending import Dropped
from sync.calimero.log.snapshot_messages import chunk_of, encode, in_pages
from sync.calimero.state.contents import StateKind, Topic
from sync.calimero.state.contents import encode as encode_content
from sync.calimero.state.entry import Signable, sign
from sync.group import values
from sync.group.future_entries import CLOCK_AHEAD_MAX, PARKED_PER_AUTHOR_MAX
from sync.group.records import opened
from sync.group.status import Status
from sync.machine import MILLISECOND, ChannelId, MessageId
from sync.sds.message import Delivery
from tests.support.sync.entries import CHANNEL, Author, identity
from tests.support.sync.governed import History, person
from tests.support.sync.groups import NOW, NOW_MS, Member, only

FOREIGN = OpId(b"\x07" * 32)
"""Id of an op that nobody has."""


def place_of(message: values.StoredMessage) -> tuple[int, MessageId]:
    return message.entry.header.lamport, message.entry.message_id


def pages_of(messages: Sequence[values.StoredMessage], state: Sequence[bytes] = ()) -> list[bytes]:
    """Return the pages of a snapshot of these messages, as a source sends them."""
    falling = sorted(messages, key=place_of, reverse=True)
    of_state = [chunk_of(at, one, None, 0, of_state=True) for at, one in enumerate(in_pages(state))]
    some = [falling[at : at + 3] for at in range(0, len(falling), 3)]
    chunks = [
        chunk_of(len(of_state) + at, [one.entry.content for one in page], place_of(page[-1]), 0)
        for at, page in enumerate(some)
    ]
    return [encode(chunk) for chunk in (*of_state, *chunks)]


def topic_of(name: str) -> bytes:
    """Return a topic that somebody has set."""
    who = identity(name)
    group, content = GroupId(bytes.fromhex(CHANNEL)), encode_content(Topic(f"by {name}"))
    stamp = NOW_MS
    topic = Signable(group, Key(who.public_key), StateKind.TOPIC, b"", stamp, (), content)
    return sign(topic, who.sign).content


def swap(member: Member, pages: Sequence[bytes]) -> list[values.Record]:
    """Swap pages in, as a driver does, and begin anew."""
    records = opened(member.group.begin_replay(NOW)(reversed(pages)))
    member.disk.commit(records)
    member.start()
    return records


def statuses(member: Member) -> dict[MessageId, Status]:
    return {one: row.status for one, row in member.disk.rows.items()}


def some_history(data: st.DataObject) -> list[values.StoredMessage]:
    """Return lines of two people, some of them far ahead, some on top of lost ones."""
    authors = [Author("carol"), Author("dave")]
    written: list[values.StoredMessage] = []
    for number in range(data.draw(st.integers(1, 14))):
        named = st.lists(st.sampled_from(written), max_size=2) if written else st.just([])
        parents = data.draw(named)
        ahead = data.draw(st.sampled_from([0, 0, 0, 2 * CLOCK_AHEAD_MAX // MILLISECOND]))
        known = [one.entry.header.lamport for one in parents]
        lamport = max([NOW_MS - 1_000 + number + ahead, *[one + 1 for one in known]])
        author = data.draw(st.sampled_from(authors))
        written.append(author.write(f"line {number}", after=parents, lamport=lamport))
    lost = data.draw(st.sets(st.sampled_from(written), max_size=2)) if len(written) > 2 else set()
    return [one for one in written if one not in lost]


@settings(max_examples=60)
@given(st.data())
def test_it_makes_what_hearing_all_of_it_would_have_made(data: st.DataObject) -> None:
    there = some_history(data)
    swapped, hearing = Member("alice"), Member("alice")
    swap(swapped, pages_of(there))
    for one in sorted(there, key=place_of):
        hearing.hear(one)
    ours, theirs = statuses(swapped), statuses(hearing)
    assert ours.keys() == theirs.keys()
    for message_id, status in ours.items():
        row = swapped.disk.rows[message_id]
        if status is Status.PARKED:
            assert theirs[message_id] is Status.PARKED
        elif theirs[message_id] is Status.DELIVERED:
            assert (row.status, row.after_gap) == (Status.DELIVERED, False)
        else:
            assert theirs[message_id] is Status.WAITING
            assert row.status is Status.DELIVERED, "after a gap, or on top of such a one"
    gaps = {one for one, row in swapped.disk.rows.items() if row.after_gap}
    lacking = {
        one.entry.message_id
        for one in there
        if statuses(swapped)[one.entry.message_id] is Status.DELIVERED
        and any(parent.message_id not in swapped.shown() for parent in one.entry.header.parents)
    }
    assert gaps == lacking
    assert swapped.group.sessions._holdings.frozen()[1].digest.root == (
        hearing.group.sessions._holdings.frozen()[1].digest.root
    )


@settings(max_examples=60)
@given(st.data())
def test_begun_anew_after_a_part_it_makes_what_it_would_have_made_at_once(
    data: st.DataObject,
) -> None:
    there = some_history(data)
    pages = pages_of(there, [topic_of(name) for name in ("carol", "dave", "erin")])
    whole, parted = Member("alice", anybody=True), Member("alice", anybody=True)
    swap(whole, pages)
    records = opened(parted.group.begin_replay(NOW)(reversed(pages)))
    parted.disk.commit(records[: data.draw(st.integers(0, len(records)))])
    parted.start()

    swap(parted, pages)

    assert {one: (row.status, row.after_gap) for one, row in parted.disk.rows.items()} == {
        one: (row.status, row.after_gap) for one, row in whole.disk.rows.items()
    }
    assert parted.disk.state == whole.disk.state
    assert parted.group.stating.registers.tree.root == whole.group.stating.registers.tree.root


def founded() -> History:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    return history


def governed(history: History) -> Member:
    channel = ChannelId(history.governance.group.hex())
    one = Member("alice", channel=channel, identity_of=person, governed=True)
    contents = tuple(op.content for op in history.ops)
    one.tell(values.OpsArrived(Author("trent").peer_id, contents))
    return one


def author(name: str, history: History) -> Author:
    one = Author(name, ChannelId(history.governance.group.hex()))
    one.identity = person(name)
    one.peer_id = one.identity.peer_id
    return one


def test_in_a_governed_channel_each_entry_has_the_verdict_that_it_has_when_heard() -> None:
    history = founded()
    cut = history.governance.heads
    bob, mallory, carol = (author(name, history) for name in ("bob", "mallory", "carol"))
    first = bob.write("in", lamport=NOW_MS, governance=cut)
    told = [
        first,
        mallory.write("a stranger", lamport=NOW_MS + 1, governance=cut),
        carol.write("by an act that nobody has", lamport=NOW_MS + 2, governance=[FOREIGN]),
        bob.write("on top of what is in", after=[first], lamport=NOW_MS + 3, governance=cut),
    ]
    told.append(
        bob.write("on top of what waits", after=[told[2]], lamport=NOW_MS + 4, governance=cut)
    )
    swapped, hearing = governed(history), governed(history)

    swap(swapped, pages_of(told))
    for one in told:
        hearing.hear(one)

    assert swapped.shown() == hearing.shown() == [told[at].entry.message_id for at in (0, 3)]
    assert swapped.disk.pending.keys() == hearing.disk.pending.keys()
    assert list(swapped.disk.pending) == [told[at].entry.message_id for at in (2, 4)]
    assert swapped.disk.dropped == hearing.disk.dropped
    assert swapped.disk.dropped == {told[1].entry.message_id: Dropped.NEVER_MEMBER}


def test_what_waits_is_let_in_by_an_act_that_came_while_it_was_swapped_in() -> None:
    history = founded()
    late = governed(history)
    history.add("alice", "carol")
    told = author("carol", history).write(lamport=NOW_MS, governance=history.governance.heads)
    replay = late.group.begin_replay(NOW)
    late.tell(values.OpsArrived(Author("trent").peer_id, (history.ops[-1].content,)))
    late.disk.commit(opened(replay(reversed(pages_of([told])))))
    assert list(late.disk.pending) == [told.entry.message_id], "judged as it was when it began"

    late.start()

    assert late.shown() == [told.entry.message_id]
    assert not late.disk.pending


def test_own_messages_of_another_log_come_back_as_ones_that_others_have() -> None:
    own = Author("alice", log=77).write("mine", lamport=NOW_MS)
    alice = Member("alice")
    swap(alice, pages_of([own]))
    assert alice.disk.rows[own.entry.message_id].delivery is Delivery.ACKNOWLEDGED
    assert not alice.group.sds.outgoing.pending


def test_it_adds_to_what_is_here_and_replaces_nothing() -> None:
    alice = Member("alice")
    mine = alice.write("mine")
    before = alice.disk.rows[mine.entry.message_id]
    told = [Author("carol").write("theirs", lamport=NOW_MS), mine]
    records = swap(alice, pages_of(told))
    assert len(only(values.StoreMessage, records)) == 1
    assert alice.disk.rows[mine.entry.message_id] is before
    assert len(alice.shown()) == 2


def test_of_one_author_no_more_are_kept_for_their_time_than_when_they_are_heard() -> None:
    ahead = NOW_MS + 2 * CLOCK_AHEAD_MAX // MILLISECOND
    carol = Author("carol")
    told = [carol.write(f"{at}", lamport=ahead + at) for at in range(PARKED_PER_AUTHOR_MAX + 3)]
    alice = Member("alice")
    swap(alice, pages_of(told))
    assert list(statuses(alice).values()) == [Status.PARKED] * PARKED_PER_AUTHOR_MAX


@pytest.mark.parametrize("size", [1, 4, 9])
def test_entries_of_all_pages_are_delivered_in_rising_order(size: int) -> None:
    carol = Author("carol")
    told: list[values.StoredMessage] = []
    for at in range(size):
        told.append(carol.write(f"{at}", after=told[-1:], lamport=NOW_MS + at))
    records = opened(Member("alice").group.begin_replay(NOW)(reversed(pages_of(told))))
    stored = [one for one in records if isinstance(one, values.StoreMessage)]
    assert [one.message for one in stored] == told
