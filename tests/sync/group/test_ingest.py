"""One way in: what a channel lets in, and what it refuses for good."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from proto import entry_pb2
from sync.entries.identity import verify
from sync.errors import RemoteError
from sync.group import values
from sync.group.ingest import Gate
from sync.machine import ChannelId, MessageId
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sds.wire import encode
from sync.structures.bloom_parameters import LAN as BLOOM
from sync.waku.message import TIMESTAMP_MAX, WakuMessage
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import Member, arrived, only, sds_of, with_content


def state_of(member: Member) -> values.ChannelState:
    return member.disk.restore()


def refused(member: Member, event: values.Arrived, match: str) -> None:
    """Assert that an input is refused and changes nothing."""
    before = state_of(member)

    with pytest.raises(RemoteError, match=match):
        member.tell(event)

    assert state_of(member) == before
    assert len(member.group.sds.log.order) == 0
    assert not member.group.sds.incoming.missing
    assert not member.group.sds.filter.count


# --- What is let in -------------------------------------------------------------------------------


def test_a_signed_message_is_stored_and_shown() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello")

    stored, shown = alice.hear(sent)

    assert stored == values.StoreMessage(sent, values.Status.DELIVERED)
    assert shown == values.Deliver(
        sent.entry.message_id, sent.entry, after_gap=False, delivery=None
    )
    assert len(alice.group.holdings) == 1


def test_a_message_may_come_by_another_link_than_its_author() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    sent = bob.write("hello")

    alice.tell(values.Arrived(carol.peer_id, sent.payload))

    assert alice.shown() == [sent.entry.message_id]


def test_a_copy_is_not_stored_again_but_its_filter_counts() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    sent = bob.write("hello")
    alice.hear(sent)
    mine = alice.write("hi")
    bloom = alice.group.sds.filter.to_bytes()  # holds `mine`, as bob's would

    copy = alice.tell(arrived(replace(sds_of(sent), bloom_filter=bloom), bob.peer_id))

    assert only(values.StoreMessage, copy) == []
    assert only(values.DeliveryChanged, copy) == [
        values.DeliveryChanged(mine.entry.message_id, Delivery.POSSIBLY_ACKNOWLEDGED)
    ]


def test_a_copy_from_somebody_else_changes_nothing() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    sent = bob.write("hello")
    alice.hear(sent)
    mine = alice.write("hi")
    copy = replace(sds_of(sent), bloom_filter=b"\x0f" * BLOOM.size_bytes)

    effects = alice.tell(arrived(copy, carol.peer_id))

    assert effects == []
    assert alice.disk.rows[mine.entry.message_id].delivery is Delivery.UNACKNOWLEDGED


def test_the_bytes_that_are_stored_are_the_canonical_ones() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello")
    wrapped = replace(
        sds_of(sent),
        bloom_filter=bytes(BLOOM.size_bytes),
        repair_request=(HistoryEntry(sent.entry.message_id),),
    )

    [stored] = only(values.StoreMessage, alice.tell(arrived(wrapped, bob.peer_id)))

    assert stored.message == sent


# --- What is refused for good ---------------------------------------------------------------------


def test_a_forged_signature_is_refused() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello")
    forged = entry_pb2.SignedEntry.FromString(sent.entry.content)
    forged.signature = bytes(64)

    message = with_content(sent, forged.SerializeToString(deterministic=True))

    refused(alice, arrived(message, bob.peer_id), "signature")


def test_an_entry_signed_by_somebody_else_is_refused() -> None:
    alice, bob, mallory = Member("alice"), Author("bob"), Author("mallory")
    sent = bob.write("hello")
    forged = entry_pb2.SignedEntry.FromString(sent.entry.content)
    forged.signature = mallory.identity.sign(forged.header)

    message = with_content(sent, forged.SerializeToString(deterministic=True))

    refused(alice, arrived(message, mallory.peer_id), "signature")


def tampered(sent: values.StoredMessage, other: values.StoredMessage) -> list[Message]:
    """Return the changes a member could make around an entry without being able to sign."""
    message = sds_of(sent)
    elsewhere = other.entry.header.author
    return [
        replace(message, message_id=other.entry.message_id),
        replace(message, message_id=MessageId(sent.entry.message_id.upper())),
        replace(message, sender_id=elsewhere),
        replace(message, lamport=sent.entry.header.lamport + 1),
        replace(message, causal_history=()),
        replace(message, causal_history=message.causal_history * 2),
        replace(
            message,
            causal_history=(message.causal_history[0]._replace(retrieval_hint=bytes(32)),),
        ),
        replace(message, causal_history=(message.causal_history[0]._replace(sender_id=elsewhere),)),
        replace(message, causal_history=(HistoryEntry(message.causal_history[0].message_id),)),
    ]


@pytest.mark.parametrize("change", range(9))
def test_what_differs_from_what_was_signed_is_refused(change: int) -> None:
    bob, carol = Author("bob"), Author("carol")
    first, other = bob.write("first"), carol.write("other")
    sent = bob.write("hello", after=[first])

    message = tampered(sent, other)[change]

    refused(Member("alice"), arrived(message, bob.peer_id), "differ")


def test_an_entry_of_another_channel_is_refused() -> None:
    bob = Author("bob", channel=ChannelId("dd" * 16))
    sent = bob.write("hello")

    message = sds_of(sent)

    refused(Member("alice"), arrived(message, bob.peer_id), "another channel")
    elsewhere = replace(message, channel_id=ChannelId("dd" * 16))
    refused(Member("alice"), arrived(elsewhere, bob.peer_id), "another channel")


def test_a_time_that_no_waku_message_has_is_refused() -> None:
    bob = Author("bob")
    sent = bob.write("hello", created_ns=TIMESTAMP_MAX)

    refused(Member("alice"), arrived(sds_of(sent), bob.peer_id), "time")


@pytest.mark.parametrize("content", [None, b"typing"])
def test_a_sync_or_ephemeral_message_in_anothers_name_is_refused(content: bytes | None) -> None:
    alice, bob, mallory = Member("alice"), Author("bob"), Author("mallory")
    message = Message(
        bob.peer_id,
        MessageId("ee" * 32),
        CHANNEL,
        lamport=5 if content is None else None,
        content=content or b"",
    )

    refused(alice, arrived(message, mallory.peer_id), "another's name")


@pytest.mark.parametrize("name", ["x" * 64, "AB" * 32, "ab", "\x1b[31m" * 8, "../" * 20])
def test_a_name_that_is_no_message_id_is_refused(name: str) -> None:
    alice, bob = Member("alice"), Author("bob")
    named = (HistoryEntry(MessageId(name)),)
    message = Message(bob.peer_id, MessageId("ee" * 32), CHANNEL, 5, named)

    refused(alice, arrived(message, bob.peer_id), "no message id")


def test_another_entry_in_the_guise_of_a_known_one_is_refused() -> None:
    alice, bob, mallory = Member("alice"), Author("bob"), Author("mallory")
    known = bob.write("hello")
    alice.hear(known)
    mine = alice.write("hi")
    acknowledging = (HistoryEntry(mine.entry.message_id),)
    guise = replace(sds_of(known), sender_id=mallory.peer_id, causal_history=acknowledging)

    with pytest.raises(RemoteError, match="differ"):
        alice.tell(arrived(guise, mallory.peer_id))

    assert alice.disk.rows[mine.entry.message_id].delivery is Delivery.UNACKNOWLEDGED


def test_garbage_is_refused() -> None:
    alice, bob = Member("alice"), Author("bob")

    refused(alice, values.Arrived(bob.peer_id, b"\xff" * 100), "not an SDS message")


# --- Whatever bytes come -------------------------------------------------------------------------


@settings(max_examples=60)
@given(payload=st.binary(max_size=400))
def test_arbitrary_bytes_raise_nothing_but_a_remote_error(payload: bytes) -> None:
    alice, bob = Member("alice"), Author("bob")

    for event in (values.Arrived(bob.peer_id, payload), values.Retrieved(payload)):
        with suppress(RemoteError):
            alice.tell(event)

    assert alice.disk.rows == {}


@settings(max_examples=120)
@given(data=st.data())
def test_a_tampered_frame_is_refused_or_changes_nothing_that_was_signed(
    data: st.DataObject,
) -> None:
    alice, bob = Member("alice"), Author("bob")
    first = bob.write("hello")
    sent = bob.write("and again", after=[first])
    frame = bytearray(sent.payload)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(frame) - 1))
        frame[at] = data.draw(st.integers(0, 255))

    with suppress(RemoteError):
        alice.tell(values.Arrived(bob.peer_id, bytes(frame)))

    assert set(alice.disk.rows) <= {sent.entry.message_id}
    for row in alice.disk.rows.values():
        assert row.message == sent


# --- Heads of governance --------------------------------------------------------------------------

HEADS = (b"\x01" * 32, b"\x02" * 32)


def test_heads_of_governance_are_refused_where_there_is_none() -> None:
    alice, bob = Member("alice"), Author("bob")

    sent = sds_of(bob.write(governance=HEADS))
    refused(alice, arrived(sent, bob.peer_id), "in a channel without governance")


def test_entries_of_a_governed_channel_name_heads() -> None:
    gate, bob = Gate.of(CHANNEL, verify, governed=True), Author("bob")
    sent, without = bob.write(governance=HEADS), bob.write()

    assert gate.check(gate.read(sent.payload)).entry.header.governance == HEADS
    assert gate.check_opened(sent.entry)[1] == sent
    with pytest.raises(RemoteError, match="without heads of governance"):
        gate.check(gate.read(without.payload))
    with pytest.raises(RemoteError, match="without heads of governance"):
        gate.check_opened(without.entry)


# --- What is transferred --------------------------------------------------------------------------


def read_by(
    read: Callable[[WakuMessage], tuple[Message, values.StoredMessage]], waku: WakuMessage
) -> tuple[Message, values.StoredMessage] | str:
    try:
        return read(waku)
    except RemoteError as error:
        return str(error)


def forged(sent: values.StoredMessage) -> bytes:
    """A message that follows from its entry, whose signature is another one."""
    content = sent.entry.content.replace(sent.entry.signature, bytes(64))
    return sent.payload.replace(sent.entry.content, content)


BOB = Author("bob")
FIRST = BOB.write("one")
SENT = (
    BOB.write("two", after=[FIRST]).payload,
    forged(BOB.write("three", after=[FIRST])),
    Author("bob", ChannelId("ab" * 16)).write("of another channel").payload,
    encode(with_content(FIRST, BOB.write("not around this").entry.content)),
    encode(with_content(FIRST, b"no entry")),
)


@settings(max_examples=50)
@given(st.sampled_from(SENT), st.sampled_from([0, 1]), st.none() | st.integers(0, 900), st.data())
def test_a_transferred_message_is_read_at_once_as_step_by_step(
    sent: bytes, later: int, at: int | None, data: st.DataObject
) -> None:
    gate, payload = Gate.of(CHANNEL, verify), bytearray(sent)
    if at is not None:
        payload[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    created_ns = BOB.entries[1].entry.header.created_ns + later
    waku = WakuMessage(bytes(payload), gate.content_topic, created_ns)

    def at_once(one: WakuMessage) -> tuple[Message, values.StoredMessage]:
        return gate.read_transfer(one, gate.pubsub_topic)

    assert read_by(at_once, waku) == read_by(gate.read_step_by_step, waku)


def test_a_transferred_message_is_let_in() -> None:
    gate, sent = Gate.of(CHANNEL, verify), BOB.entries[1]
    waku = WakuMessage(sent.payload, gate.content_topic, sent.entry.header.created_ns)

    assert gate.read_transfer(waku, gate.pubsub_topic) == (sds_of(sent), sent)
    with pytest.raises(RemoteError, match="topic"):
        gate.read_transfer(waku, "/waku/2/rs/0/0")
