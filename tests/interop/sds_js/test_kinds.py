"""Sync and ephemeral messages, both ways, as far as the package goes."""

import pytest

from sync.machine import SECOND, PeerId
from sync.sds.events import Delivered, DeliveryChanged, EphemeralArrived, Missing
from sync.sds.message import Delivery, Kind
from tests.interop.sds_js.members import SYNC_EVERY, Announced, Ours, Theirs
from tests.interop.sds_js.node import SdsNode, to_json
from tests.interop.sds_js.room import Copy, Room
from tests.support.sync.channels import NOW, names, only

pytestmark = [pytest.mark.net]

ACKNOWLEDGED = "sds:out:message-acknowledged"
SYNC_RECEIVED = "sds:in:sync-received"
MISSING = "sds:in:message-missing"


def content(copy: Copy, _listener: PeerId) -> bool:
    return copy.message.kind is Kind.CONTENT


def sync_messages(room: Room, speaker: Ours | Theirs) -> list[Copy]:
    return [
        copy for copy in room.air if copy.speaker == speaker.id and copy.message.kind is Kind.SYNC
    ]


def test_our_sync_message_acknowledges_theirs_within_half_a_minute(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    hello = room.say(bob, "hello")

    room.run(NOW + SYNC_EVERY - 1)

    assert sync_messages(room, alice)
    assert len(bob.events(SYNC_RECEIVED)) == len(sync_messages(room, alice))
    assert bob.events(ACKNOWLEDGED) == [Announced(ACKNOWLEDGED, (hello.message_id,))]
    assert bob.log() == alice.log()


def test_their_sync_message_acknowledges_ours_and_changes_nothing_else(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    hello = room.say(alice, "hello")
    log, lamport = alice.log(), alice.channel.lamport

    [sync] = room.transmit(bob, bob.say_sync(NOW + SECOND))

    assert sync.kind is Kind.SYNC
    assert sync.message_id.startswith("sync-")
    assert names(sync.causal_history) == [hello.message_id]
    [changed] = only(DeliveryChanged, alice.effects)
    assert changed.delivery is Delivery.ACKNOWLEDGED
    assert (alice.log(), alice.channel.lamport) == (log, lamport)
    assert len(only(Delivered, alice.effects)) == 1


def test_a_sync_message_of_either_side_shows_the_other_what_it_missed(node: SdsNode) -> None:
    """Their sweep announces what is missing at every turn, and also when nothing is."""
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    room.lost = content
    of_alice, of_bob = room.say(alice, "nobody hears alice"), room.say(bob, "nor bob")

    room.transmit(bob, bob.say_sync(NOW + SECOND))
    room.run(NOW + SYNC_EVERY - 1)

    assert only(Missing, alice.effects) == [Missing(of_bob.message_id, bob.id)]
    assert {one.message_ids for one in bob.events(MISSING)} == {(of_alice.message_id,)}


def test_they_send_no_sync_message_while_they_know_nothing(node: SdsNode) -> None:
    bob = Theirs(node, "bob", NOW)

    assert bob.say_sync(NOW) == []


def test_our_ephemeral_message_is_read_and_swallowed_by_them(node: SdsNode) -> None:
    """They decode it and announce nothing: whoever uses the package must decode it, too."""
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    [payload] = alice.say_ephemeral("alice is typing", NOW)

    decoded = node.request("decode", {"payload": to_json(payload)})
    bob.hear(payload, alice.id, NOW)

    assert decoded["kind"] == "ephemeral"
    assert decoded["content"] == to_json(b"alice is typing")
    assert bob.events("sds:in:message-received", "sds:in:message-delivered") == []
    assert bob.log() == []


def test_their_ephemeral_message_arrives_here(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)

    [sent] = room.transmit(bob, bob.say_ephemeral("bob is typing", NOW))

    assert sent.kind is Kind.EPHEMERAL
    assert sent.bloom_filter is None
    assert alice.effects == [EphemeralArrived(bob.id, b"bob is typing")]
    assert alice.log() == []
