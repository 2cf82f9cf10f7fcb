"""SDS-R among three and more: one asks and one answers; who hears it does not repeat it.

The message in question is always one of theirs, as its id, and so who acts when, follows from its
text alone.
"""

import hashlib
import itertools
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from sync.machine import HOUR, MINUTE, SECOND, MessageId, Nanos, PeerId
from sync.sds.message import Message
from sync.sds.parameters import WAKU
from sync.sds.repair import Window
from sync.sds.wire import encode
from tests.interop.sds_js.members import Ours, Theirs
from tests.interop.sds_js.node import SdsNode
from tests.interop.sds_js.room import Room, every_copy_of, nothing, whatever_goes_to
from tests.support.sync.channels import NOW, names, peer

pytestmark = [pytest.mark.net]

PATIENT = replace(WAKU, resend_after=HOUR)
WINDOW = Window.of(WAKU, participants=4)

ALICE, BOB, CAROL, DAVE = (peer(name) for name in ("alice", "bob", "carol", "dave"))

Delay = Callable[[PeerId, MessageId], Nanos]


def answer_to_bob(participant: PeerId, message_id: MessageId) -> Nanos:
    return WINDOW.response_delay(participant, BOB, message_id)


def text_acted_on(earlier: PeerId, later: PeerId, delay: Delay) -> str:
    """A text whose message `earlier` acts on ten seconds or more before `later`."""
    for number in itertools.count():
        text = f"line {number}"
        message_id = MessageId(hashlib.sha256(text.encode()).hexdigest())
        if delay(earlier, message_id) + 10 * SECOND < delay(later, message_id):
            return text
    raise AssertionError


class Company:
    """Alice of ours; bob, carol and dave of theirs; bob said something that some did not hear.

    Everybody heard what he said `before` and `after` it.
    """

    def __init__(self, node: SdsNode, text: str, *deaf: str) -> None:
        self.alice = Ours("alice", PATIENT, peers=3)
        self.bob, self.carol, self.dave = (
            Theirs(node, name, NOW, sync_every=None) for name in ("bob", "carol", "dave")
        )
        self.room = Room(self.alice, self.bob, self.carol, self.dave)
        self.before = self.room.say(self.bob, "now listen")
        self.room.lost = whatever_goes_to(
            *(member for member in self.room.members if member.id in map(peer, deaf))
        )
        self.missed = self.room.say(self.bob, text)
        self.room.lost = nothing
        self.after = self.room.say(self.bob, "did you hear that?")

    def speakers_of_missed(self) -> list[PeerId]:
        """Return everybody who sent the message, bob himself first."""
        return [copy.speaker for copy in self.room.said(self.missed.message_id)]


def request_time(participant: PeerId, message: Message) -> Nanos:
    return NOW + WINDOW.request_delay(participant, message.message_id)


def test_we_do_not_ask_for_what_they_ask_for(node: SdsNode) -> None:
    text = text_acted_on(CAROL, ALICE, WINDOW.request_delay)
    here = Company(node, text, "alice", "carol")

    here.room.run(request_time(ALICE, here.missed))

    assert names(here.room.requests(here.carol)[0].message.repair_request) == [
        here.missed.message_id
    ]
    assert here.room.requests(here.alice) == []
    assert here.speakers_of_missed() == [BOB, BOB]
    assert here.alice.log() == here.carol.log() == here.bob.log()


def test_they_do_not_ask_for_what_we_ask_for(node: SdsNode) -> None:
    text = text_acted_on(ALICE, CAROL, WINDOW.request_delay)
    here = Company(node, text, "alice", "carol")

    here.room.run(request_time(CAROL, here.missed))

    assert names(here.room.requests(here.alice)[0].message.repair_request) == [
        here.missed.message_id
    ]
    assert here.room.requests(here.carol) == []
    assert here.speakers_of_missed() == [BOB, BOB]
    assert here.alice.log() == here.carol.log() == here.bob.log()


def test_hearing_them_ask_we_wait_for_the_answer_and_then_ask_ourselves(node: SdsNode) -> None:
    text = text_acted_on(CAROL, ALICE, WINDOW.request_delay)
    here = Company(node, text, "alice", "carol")
    here.room.members = (here.alice, here.bob, here.carol)
    here.room.lost = every_copy_of(here.missed)

    here.room.run(request_time(ALICE, here.missed))
    assert len(here.room.requests(here.carol)) == 1
    assert here.room.requests(here.alice) == []
    here.room.lost = nothing
    here.room.run(NOW + 6 * MINUTE)

    assert len(here.room.requests(here.alice)) == 1
    assert len(here.room.requests(here.carol)) == 1
    assert here.alice.log() == here.carol.log() == here.bob.log()


def test_hearing_us_ask_they_leave_it_to_us_for_good(node: SdsNode) -> None:
    """Until our second request is answered, which is the answer they have waited for, too."""
    text = text_acted_on(ALICE, CAROL, WINDOW.request_delay)
    here = Company(node, text, "alice", "carol")
    here.room.members = (here.alice, here.bob, here.carol)
    here.room.lost = every_copy_of(here.missed)

    here.room.run(request_time(CAROL, here.missed))
    here.room.lost = nothing
    here.room.run(NOW + 6 * MINUTE)

    assert here.room.requests(here.carol) == []
    assert len(here.room.requests(here.alice)) == 2
    assert here.alice.log() == here.carol.log() == here.bob.log()


def answers(here: Company) -> list[PeerId]:
    """Let bob leave and T_max pass after dave asked; who answered him."""
    here.room.members = (here.alice, here.carol, here.dave)
    here.room.run(request_time(DAVE, here.missed) + WINDOW.t_max)
    assert len(here.room.requests(here.dave)) == 1
    assert here.dave.log() == here.alice.log() == here.bob.log()
    return here.speakers_of_missed()[1:]


def test_we_do_not_answer_what_they_have_answered(node: SdsNode) -> None:
    text = text_acted_on(CAROL, ALICE, answer_to_bob)

    assert answers(Company(node, text, "dave")) == [CAROL]


def test_they_do_not_answer_what_we_have_answered(node: SdsNode) -> None:
    text = text_acted_on(ALICE, CAROL, answer_to_bob)

    assert answers(Company(node, text, "dave")) == [ALICE]


def test_they_answer_all_the_same_what_had_to_wait_when_they_received_it(node: SdsNode) -> None:
    """They drop a copy of such a message before they look at what it settles."""
    text = text_acted_on(ALICE, CAROL, answer_to_bob)
    here = Company(node, text, "dave")
    waited = Theirs(node, "carol", NOW, sync_every=None)
    here.carol = waited
    for message in (here.missed, here.before, here.after):
        waited.hear(encode(message), BOB, NOW)

    assert answers(here) == [ALICE, CAROL]
