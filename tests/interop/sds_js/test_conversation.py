"""People with our program and people with `@waku/sds` talk, and end with one log."""

import pytest

from sync.machine import MILLISECOND, SECOND
from sync.sds.events import Delivered
from sync.sds.message import Message
from tests.interop.sds_js.members import Member, Ours, Theirs
from tests.interop.sds_js.node import SdsNode
from tests.interop.sds_js.room import Room
from tests.support.sync.channels import NOW, only

pytestmark = [pytest.mark.net]

RECEIVED = "sds:in:message-received"
DELIVERED = "sds:in:message-delivered"


def ids(messages: list[Message]) -> list[str]:
    return [message.message_id for message in messages]


def test_each_side_delivers_what_the_other_says_in_the_order_it_was_said(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    said = []

    for number in range(6):
        room.now = NOW + number * SECOND
        said.append(room.say((alice, bob)[number % 2], f"line {number}"))

    assert [message_id for _, message_id in alice.log()] == ids(said)
    assert bob.log() == alice.log()
    assert [effect.message_id for effect in only(Delivered, alice.effects)] == ids(said)
    assert [one.message_ids for one in bob.events(DELIVERED)] == [(id_,) for id_ in ids(said[::2])]


def test_what_is_said_at_the_same_time_has_one_order(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    same_time = NOW + SECOND

    for number in range(4):
        at = same_time + number * SECOND
        from_alice = alice.say(f"alice {number}", at)
        from_bob = bob.say(f"bob {number}", at)
        room.now = at
        said = room.transmit(alice, from_alice) + room.transmit(bob, from_bob)
        assert {message.lamport for message in said} == {at // MILLISECOND}

    assert len(alice.log()) == 8
    assert bob.log() == alice.log() == sorted(alice.log())


def test_two_of_ours_and_two_of_theirs_agree_on_everything(node: SdsNode) -> None:
    people: list[Member] = [
        Ours("alice", peers=3),
        Theirs(node, "bob", NOW),
        Ours("carol", peers=3),
        Theirs(node, "dave", NOW),
    ]
    room = Room(*people)

    for number in range(20):
        room.run(room.now + SECOND)
        room.say(people[number % 4], f"line {number}")
    room.run(room.now + 90 * SECOND)

    first, *others = [one.log() for one in people]
    assert len(first) == 20
    assert others == [first, first, first]
    assert first == sorted(first)


def test_their_clock_and_ours_go_on_from_the_later_one(node: SdsNode) -> None:
    """A Lamport timestamp is epoch milliseconds, or one more than the newest that was heard."""
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    ahead = NOW + 60 * SECOND

    [first] = room.transmit(bob, bob.say("bob is a minute ahead", ahead))
    second = room.say(alice, "alice follows")
    third = room.say(bob, "and bob her")

    assert first.lamport == ahead // MILLISECOND
    assert second.lamport == first.lamport + 1
    assert third.lamport == second.lamport + 1


def test_a_message_heard_twice_is_delivered_twice_by_them_and_once_by_us(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW)
    [from_alice], [from_bob] = alice.say("hello", NOW), bob.say("hi", NOW)

    for _ in range(2):
        alice.hear(from_bob, bob.id, NOW)
        bob.hear(from_alice, alice.id, NOW)

    assert len(only(Delivered, alice.effects)) == 2  # her own, and bob's
    assert len(bob.events(RECEIVED)) == len(bob.events(DELIVERED)) == 2
    assert bob.log() == alice.log()


def test_one_text_by_two_people_is_two_messages_of_ours_and_one_of_theirs(node: SdsNode) -> None:
    """Their message id is the hash of the content alone: the second "ok" is never seen."""
    bob, dave = Theirs(node, "bob", NOW), Theirs(node, "dave", NOW)
    room = Room(Ours("alice"), bob, Ours("carol"), dave)
    alice, _, carol, _ = room.members

    theirs = [room.say(one, "ok") for one in (bob, dave)]
    ours = [room.say(one, "ok") for one in (alice, carol)]

    assert theirs[0].message_id == theirs[1].message_id
    assert ours[0].message_id != ours[1].message_id
    assert all(len(one.log()) == 3 for one in room.members)
