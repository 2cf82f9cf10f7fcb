"""Acknowledgements, both ways: causal histories prove who has a message, filters hint at it."""

from itertools import pairwise

import pytest

from sync.machine import HOUR, SECOND, MessageId
from sync.sds.events import DeliveryChanged
from sync.sds.message import Delivery
from sync.sds.parameters import WAKU
from tests.interop.sds_js.members import Announced, Ours, Theirs
from tests.interop.sds_js.node import SdsNode
from tests.interop.sds_js.room import Room
from tests.support.sync.channels import NOW, names, only

pytestmark = [pytest.mark.net]

ACKNOWLEDGED = "sds:out:message-acknowledged"
POSSIBLY = "sds:out:message-possibly-acknowledged"


def states(alice: Ours) -> dict[MessageId, Delivery]:
    """Return the current delivery state of each message of hers that has one."""
    return {effect.message_id: effect.delivery for effect in only(DeliveryChanged, alice.effects)}


def test_their_causal_history_acknowledges_our_message(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)

    hello = room.say(alice, "hello")
    reply = room.say(bob, "hi alice")

    assert names(reply.causal_history) == [hello.message_id]
    assert reply.causal_history[0].sender_id == alice.id
    assert reply.causal_history[0].retrieval_hint == bytes.fromhex(hello.message_id)
    assert states(alice) == {hello.message_id: Delivery.ACKNOWLEDGED}


def test_our_causal_history_acknowledges_their_message(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)

    hello = room.say(bob, "hello")
    assert bob.outgoing()["unacknowledged"] == [hello.message_id]
    room.say(alice, "hi bob")

    assert bob.events(ACKNOWLEDGED) == [Announced(ACKNOWLEDGED, (hello.message_id,))]
    assert bob.outgoing() == {"unacknowledged": [], "possibly_acknowledged": []}


def test_our_filter_tells_them_what_we_may_have(node: SdsNode) -> None:
    """They count filters, and take the second for proof, though it is of the same person."""
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    first, second, third = (room.say(bob, text) for text in ("one", "two", "three"))

    reply = room.say(alice, "I heard three")

    assert names(reply.causal_history) == [second.message_id, third.message_id]
    assert bob.events(POSSIBLY) == [Announced(POSSIBLY, (first.message_id,), 1)]
    assert bob.outgoing()["possibly_acknowledged"] == [first.message_id]

    room.say(alice, "I really did")

    assert bob.outgoing() == {"unacknowledged": [], "possibly_acknowledged": []}
    assert bob.events(ACKNOWLEDGED)[-1].message_ids == (first.message_id,)


def test_their_filter_tells_us_what_they_may_have_and_never_more(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    first, second, third = (room.say(alice, text) for text in ("one", "two", "three"))

    room.say(bob, "I heard three")
    room.say(bob, "I really did")

    assert states(alice) == {
        first.message_id: Delivery.POSSIBLY_ACKNOWLEDGED,
        second.message_id: Delivery.ACKNOWLEDGED,
        third.message_id: Delivery.ACKNOWLEDGED,
    }


def test_a_filter_of_theirs_and_of_ours_over_the_same_messages_are_the_same_bytes(
    node: SdsNode,
) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    for number in range(50):
        room.say((alice, bob)[number % 2], f"line {number}")

    [payload_a], [payload_b] = alice.say("now", NOW), bob.say("now", NOW)
    [from_alice, from_bob] = room.transmit(alice, [payload_a]) + room.transmit(bob, [payload_b])

    assert from_alice.bloom_filter is not None
    assert len(from_alice.bloom_filter) == WAKU.bloom.size_bytes
    assert from_alice.bloom_filter == from_bob.bloom_filter


def test_a_message_without_our_filter_is_received_all_the_same(node: SdsNode) -> None:
    """So are all that come from the disk, in a repair or a transfer: the canonical bytes."""
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    hello = bob.say("hello", NOW)
    alice.hear(hello[0], bob.id, NOW)
    alice.say("hi bob", NOW + SECOND)

    bob.hear(list(alice.kept.values())[-1], alice.id, NOW + SECOND)

    assert bob.log() == alice.log()
    assert len(bob.events(ACKNOWLEDGED)) == 1


def test_what_they_never_name_is_sent_again_ever_later(node: SdsNode) -> None:
    """They name two messages at a time, the newest; of earlier ones only their filter tells."""
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    first, *_ = (room.say(alice, text) for text in ("one", "two", "three", "four", "five"))

    room.run(NOW + 3 * HOUR)

    assert states(alice)[first.message_id] is Delivery.POSSIBLY_ACKNOWLEDGED
    times = [copy.at for copy in room.said(first.message_id)]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses == sorted(pauses)
    assert 5 < len(times) < 12
