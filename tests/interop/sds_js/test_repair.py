"""SDS-R: what one side missed, the other side gives it when asked (seed 002)."""

import random

import pytest
from msgspec.structs import replace

from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, MessageId
from sync.sds.message import Message
from sync.sds.parameters import WAKU
from sync.sds.repair import Window
from tests.interop.sds_js.members import (
    REQUEST_QUEUED,
    RESPONSE_QUEUED,
    TWO_NAMED,
    Member,
    Ours,
    Theirs,
)
from tests.interop.sds_js.node import SdsNode
from tests.interop.sds_js.room import Copy, Room, every_copy_of, everything, nothing
from tests.support.sync.channels import NOW, names

pytestmark = [pytest.mark.net]

PATIENT = replace(WAKU, resend_after=HOUR)
"""Otherwise we would send a lost message again long before anybody asks for it."""

REQUEST_RECEIVED = "sds:repair:request-received"
RESPONSE_SENT = "sds:repair:response-sent"

WINDOW = Window.of(WAKU, participants=3)


def lose(room: Room, speaker: Member, text: str) -> Message:
    """Let somebody say what nobody hears."""
    room.lost = everything
    message = room.say(speaker, text)
    room.lost = nothing
    return message


def asked_for(room: Room, asking: Member) -> set[MessageId]:
    requests = [copy.message.repair_request for copy in room.requests(asking)]
    return {entry.message_id for request in requests for entry in request}


def bare(message: Message) -> Message:
    return replace(message, bloom_filter=None, repair_request=())


def test_they_ask_for_a_message_of_ours_and_we_answer_at_once(node: SdsNode) -> None:
    alice, bob = Ours("alice", PATIENT), Theirs(node, "bob", NOW, sync_every=None)
    room = Room(alice, bob)
    lost = lose(room, alice, "lost on the way")
    room.say(alice, "the next one")
    t_req = NOW + WINDOW.request_delay(bob.id, lost.message_id)

    assert [one.number for one in bob.events(REQUEST_QUEUED)] == [t_req // MILLISECOND]
    room.run(t_req)

    [request] = room.requests(bob)
    assert request.at == t_req
    assert names(request.message.repair_request) == [lost.message_id]
    [_, answer] = room.said(lost.message_id)
    assert answer == Copy(t_req, alice.id, bare(lost))
    assert len(bob.log()) == 2
    assert bob.log() == alice.log()


def test_we_ask_for_a_message_of_theirs_and_they_answer_at_once(node: SdsNode) -> None:
    """Their answer is the message as it was, with the filter it had."""
    alice, bob = Ours("alice", PATIENT), Theirs(node, "bob", NOW, sync_every=None)
    room = Room(alice, bob)
    lost = lose(room, bob, "lost on the way")
    room.say(bob, "the next one")
    t_req = NOW + WINDOW.request_delay(alice.id, lost.message_id)

    room.run(t_req)

    [request] = room.requests(alice)
    assert request.at == t_req
    assert names(request.message.repair_request) == [lost.message_id]
    assert request.message.repair_request[0].sender_id == bob.id
    assert [one.message_ids for one in bob.events(REQUEST_RECEIVED)] == [(lost.message_id,)]
    [_, answer] = room.said(lost.message_id)
    assert answer == Copy(t_req, bob.id, lost)
    assert len(alice.log()) == 2
    assert bob.log() == alice.log()


def test_we_answer_for_somebody_of_theirs_who_left(node: SdsNode) -> None:
    alice = Ours("alice", PATIENT)
    bob, dave = (Theirs(node, name, NOW, sync_every=None) for name in ("bob", "dave"))
    room = Room(alice, bob, dave)
    room.lost = lambda _copy, listener: listener == dave.id
    lost = room.say(bob, "dave does not hear this")
    room.lost = nothing
    room.say(bob, "but this")
    room.members = (alice, dave)
    t_req = NOW + WINDOW.request_delay(dave.id, lost.message_id)
    t_resp = t_req + WINDOW.answer_delay(alice.id, bob.id, lost.message_id)

    room.run(t_resp)

    [_, answer] = room.said(lost.message_id)
    assert answer == Copy(t_resp, alice.id, bare(lost))
    assert dave.log() == alice.log() == bob.log()


def test_they_answer_for_one_of_us_who_left(node: SdsNode) -> None:
    alice, carol = Ours("alice", PATIENT), Ours("carol", PATIENT)
    bob = Theirs(node, "bob", NOW, sync_every=None)
    room = Room(alice, bob, carol)
    room.lost = lambda _copy, listener: listener == carol.id
    lost = room.say(alice, "carol does not hear this")
    room.lost = nothing
    room.say(alice, "but this")
    room.members = (bob, carol)
    t_req = NOW + WINDOW.request_delay(carol.id, lost.message_id)
    t_resp = t_req + WINDOW.response_delay(bob.id, alice.id, lost.message_id)

    room.run(t_resp)

    assert [one.number for one in bob.events(RESPONSE_QUEUED)] == [t_resp // MILLISECOND]
    assert [one.message_ids for one in bob.events(RESPONSE_SENT)] == [(lost.message_id,)]
    [_, answer] = room.said(lost.message_id)
    assert answer == Copy(t_resp, bob.id, lost)
    assert carol.log() == alice.log() == bob.log()


@pytest.mark.parametrize("named", [2, 200])
def test_a_long_gap_is_repaired_on_either_side(node: SdsNode, named: int) -> None:
    """If messages name only two, each answer shows what else is missing."""
    alice = Ours("alice", PATIENT)
    bob = Theirs(node, "bob", NOW, {"causalHistorySize": named}, sync_every=None)
    room = Room(alice, bob)
    of_alice = {lose(room, alice, f"alice {number}").message_id for number in range(5)}
    of_bob = {lose(room, bob, f"bob {number}").message_id for number in range(5)}
    room.say(alice, "alice again")
    room.say(bob, "bob again")

    room.run(NOW + 9 * MINUTE)

    assert len(alice.log()) == 12
    assert bob.log() == alice.log()
    assert asked_for(room, bob) == of_alice
    assert asked_for(room, alice) == of_bob
    requests = room.requests(alice) + room.requests(bob)
    assert max(len(copy.message.repair_request) for copy in requests) <= 3


def test_they_ask_once_and_never_again(node: SdsNode) -> None:
    """If the answer is lost they wait for ever, though every sync message names what they lack."""
    alice, bob = Ours("alice", PATIENT), Theirs(node, "bob", NOW)
    room = Room(alice, bob)
    lost = lose(room, alice, "lost on the way")
    room.say(alice, "the next one")
    room.lost = every_copy_of(lost)

    room.run(NOW + 10 * MINUTE)

    assert len(room.requests(bob)) == 1
    assert bob.log() == []


def test_we_ask_again_until_the_answer_comes(node: SdsNode) -> None:
    alice, bob = Ours("alice", PATIENT), Theirs(node, "bob", NOW, sync_every=None)
    room = Room(alice, bob)
    lost = lose(room, bob, "lost on the way")
    room.say(bob, "the next one")
    room.lost = every_copy_of(lost)

    room.run(NOW + WINDOW.t_max)
    assert len(room.said(lost.message_id)) == 2
    assert len(alice.log()) == 0
    room.lost = nothing
    room.run(NOW + 6 * MINUTE)

    assert len(room.requests(alice)) == 2
    assert alice.log() == bob.log()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_gets_lost_ours_end_with_everything(node: SdsNode, seed: int) -> None:
    """Theirs need not, as they do not ask twice.

    It may take long: what nobody builds on is named only in our sync messages, and theirs, which
    name two and come every half minute, keep ours waiting.
    """
    dice = random.Random(seed)
    ours = [Ours("alice", peers=3), Ours("carol", peers=3)]
    theirs = [Theirs(node, name, NOW, TWO_NAMED) for name in ("bob", "dave")]
    people: list[Member] = [*ours, *theirs]
    room = Room(*people)
    room.lost = lambda _copy, _listener: dice.random() < 0.3
    for number in range(12):
        room.run(room.now + 5 * SECOND)
        room.say(people[number % 4], f"line {number}")

    room.run(room.now + 2 * HOUR)

    everything_said = ours[0].log()
    assert len(everything_said) == 12, f"seed={seed}"
    assert ours[1].log() == everything_said, f"seed={seed}"
    for one in theirs:
        assert set(one.log()) <= set(everything_said), f"seed={seed}"
        assert one.log() == sorted(one.log()), f"seed={seed}"
