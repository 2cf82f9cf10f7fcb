"""Bounded service: whoever says again and again that it lacks everything is sent it a few times."""

from sync.group import values
from sync.machine import HOUR, PeerId
from sync.manager.registry import LOG_HEIGHT
from sync.p2panda.announcements import schema_id
from sync.p2panda.messages import Have, SyncRequest, encode
from sync.p2panda.session import STREAM
from sync.sessions.protocol import Protocols
from sync.sessions.served import LEAST, PEERS_MAX, TIMES_MAX, Served
from sync.waku.session import WAKU_SYNC
from tests.support.sync.entries import CHANNEL
from tests.support.sync.groups import NOW, Member, only

PEER, OTHER = PeerId("aa" * 32), PeerId("bb" * 32)
HELD = 2 * LEAST
SENT = "4 times within an hour"


def test_a_channel_is_sent_to_a_peer_four_times_an_hour() -> None:
    served = Served()

    times = [served.admits(PEER, HELD, HELD, NOW) for _ in range(TIMES_MAX + 1)]

    assert times == [True] * TIMES_MAX + [False]
    assert served.admits(OTHER, HELD, HELD, NOW)
    assert served.admits(PEER, HELD, HELD, NOW + HOUR)


def test_of_a_small_channel_it_is_sent_some_in_any_case() -> None:
    served = Served()

    assert served.admits(PEER, LEAST, 1, NOW)
    assert not served.admits(PEER, 1, 1, NOW)


def test_of_too_many_peers_the_first_is_forgotten() -> None:
    served = Served()
    for number in range(PEERS_MAX + 1):
        served.admits(PeerId(f"{number:064x}"), LEAST, 1, NOW)

    assert served.admits(PeerId(f"{0:064x}"), LEAST, 1, NOW)
    assert not served.admits(PeerId(f"{PEERS_MAX:064x}"), LEAST, 1, NOW)


def test_who_tells_low_heights_again_and_again_is_refused_with_the_reason() -> None:
    member = Member("alice", protocols=Protocols((WAKU_SYNC, LOG_HEIGHT)))
    bob = Member("bob").peer_id
    member.join(bob)
    lines = LEAST // 8
    for number in range(lines):
        member.write(f"line {number}")
    request = encode(SyncRequest(0, 0, (schema_id(CHANNEL),)))

    ended = []
    for number in range(1, 10):
        member.tell(values.SessionOffered(number, bob, STREAM))
        member.tell(values.SessionPayload(number, request))
        effects = member.tell(values.SessionPayload(number, encode(Have(0, ()))))
        ended += [one.result for one in only(values.SessionEnded, effects)]
        member.tell(values.SessionClosed(number, "gone"))

    assert len(ended) == 1
    assert SENT in ended[0]
