"""Levels of a governed channel on a link: by what is proved, and by who is in."""

from collections import Counter

import pytest

from sync.calimero.governance.keys import EpochSecret
from sync.machine import SECOND, ChannelId
from sync.net.links.frames import HeartbeatFrame, NoticeFrame, OpFrame, SecretFrame, Told
from sync.net.links.levels import Level
from sync.net.links.link import HAND_OVER_AFTER, NOTICES_BURST
from tests.support.sync.nodes import HOST, Station, stations, until

pytestmark = pytest.mark.net

CLUB = ChannelId("0d" * 16)
OLD, NEW = (EpochSecret(number, bytes([number]) * 32, bytes([number]) * 32) for number in (1, 2))
OP = bytes(200)


def station(name: str, *epochs: EpochSecret) -> Station:
    """A mesh that knows these secrets of the club, and that its owner is in."""
    made = Station(name)
    for one in epochs:
        made.secrets.add_epoch(CLUB, one)
    made.governance.people[made.me, CLUB] = True
    return made


def knows(at: Station, *members: Station) -> None:
    """Tell a mesh who is in."""
    for member in members:
        at.governance.people[member.me, CLUB] = True


@pytest.mark.parametrize(
    ("is_in", "proves", "expected"),
    [
        (True, (NEW,), Level.FULL),
        (True, (OLD,), Level.FULL),
        (None, (NEW,), Level.GOVERNANCE),
        (None, (OLD,), Level.NOTICE),
        (False, (NEW, OLD), Level.STUB),
        (False, (OLD,), Level.STUB),
        (True, (), Level.NONE),
        (None, (), Level.NONE),
    ],
)
async def test_a_level_follows_from_the_key_and_then_from_the_secret(
    is_in: bool | None, proves: tuple[EpochSecret, ...], expected: Level
) -> None:
    alice, bob = station("alice", OLD, NEW), station("bob", *proves)
    knows(bob, alice)
    if is_in is not None:
        alice.governance.people[bob.me, CLUB] = is_in
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: alice.pongs, "bob's proofs are read")

        assert alice.mesh.channels.level(bob.me, CLUB) is expected
        assert ((bob.me, CLUB) in alice.shared) is (expected is Level.FULL)
        told = [what for kind, *_, what in bob.governance.heard if kind == "told"]
        notices = {Level.NOTICE: [Told.ENDED], Level.STUB: [Told.OUT]}
        if proves:
            await until(lambda: bob.pongs, "what alice says")
            told = [what for kind, *_, what in bob.governance.heard if kind == "told"]
        assert told == notices.get(expected, [])


async def test_who_is_not_in_yet_exchanges_ops_alone_with_members() -> None:
    alice, bob = station("alice", NEW), station("bob", NEW)
    knows(bob, alice)
    bob.governance.people[bob.me, CLUB] = False
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: (alice.me, CLUB) in bob.governance.near, "bob has somebody to ask")
        await until(lambda: (bob.me, CLUB) in alice.governance.near, "and alice somebody to tell")

        assert not alice.shared
        assert not bob.shared
        alice.mesh.send_op(CLUB, OP)
        alice.mesh.flush()
        await until(lambda: bob.governance.heard == [("op", alice.me, CLUB, OP)], "an op")
        assert alice.mesh.peers.nick_of(bob.me) is None  # names are for members


async def test_a_level_changes_with_who_is_in_and_the_link_stays() -> None:
    alice, bob = station("alice", NEW), station("bob", NEW)
    knows(bob, alice)
    knows(alice, bob)
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: alice.shared and bob.shared, "both are in")
        link = alice.mesh.peers.link_to(bob.me, CLUB)
        assert link is not None

        alice.governance.people[bob.me, CLUB] = False
        alice.mesh.channels.weigh_all(CLUB)

        assert alice.mesh.peers.link_to(bob.me, CLUB) is None
        assert not alice.shared
        await until(lambda: ("told", alice.me, CLUB, Told.OUT) in bob.governance.heard, "told")
        bob.mesh.broadcast(CLUB, b"a line")
        bob.mesh.send_op(CLUB, OP)
        bob.mesh.send_heartbeat(CLUB, [alice.me], b"heads")
        bob.mesh.flush()
        pongs = len(bob.pongs)
        await until(lambda: len(bob.pongs) > pongs or _ping(bob), "all of it is read")
        assert not alice.frames
        kinds = {kind for kind, *_ in alice.governance.heard}
        assert kinds == {"op", "of one who is out", "heartbeat"}, "he may have come in again"

        alice.governance.people[bob.me, CLUB] = True
        alice.mesh.channels.weigh_all(CLUB)
        assert alice.mesh.peers.link_to(bob.me, CLUB) is link


async def test_who_learns_later_that_they_are_in_says_then_what_they_speak() -> None:
    """Before, both names and protocols are left out, which is no word of them."""
    alice, bob = station("alice", NEW), station("bob", NEW)
    alice.mesh.channels.protocols = bob.mesh.channels.protocols = ("p",)
    knows(alice, bob)
    knows(bob, alice)
    bob.governance.people[bob.me, CLUB] = False
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: (bob.me, CLUB) in alice.shared, "alice has him in")
        await until(lambda: (alice.me, CLUB) in bob.governance.near, "he has himself out")
        [link] = alice.mesh.peers.links[bob.me]
        await until(lambda: link.features, "he has said so")

        bob.governance.people[bob.me, CLUB] = True
        bob.mesh.channels.weigh_all(CLUB)
        await until(lambda: alice.mesh.peers.nick_of(bob.me), "he says who he is")

        assert alice.announcements == [(bob.me, CLUB, ("p",))]


def _ping(station: Station) -> bool:
    """Ask everybody whether they are there, once; returns False, for `until`."""
    for links in station.mesh.peers.links.values():
        for link in links:
            if not link.unanswered:
                link.ping(station.clock.now(), station.clock.wall())
    return False


async def test_nobody_who_is_out_is_shown_a_proof() -> None:
    alice, bob = station("alice", OLD, NEW), station("bob", OLD)
    alice.governance.people[bob.me, CLUB] = False
    async with stations(alice, bob):
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: ("told", alice.me, CLUB, Told.OUT) in bob.governance.heard, "told")

        assert alice.mesh.channels.level(bob.me, CLUB) is Level.STUB
        assert bob.mesh.channels.level(alice.me, CLUB) is Level.NONE


async def test_who_is_out_and_proves_the_newest_epoch_is_shown_one_and_can_ask() -> None:
    """With a new code; else whoever came back over a new link would have nobody to ask."""
    alice, bob = station("alice", OLD, NEW), station("bob", NEW)
    alice.governance.people[bob.me, CLUB] = False
    bob.governance.people[bob.me, CLUB] = False
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: (alice.me, CLUB) in bob.governance.near, "bob has somebody to ask")

        bob.mesh.send_op(CLUB, OP)
        bob.mesh.flush()
        await until(lambda: alice.governance.heard == [("op", bob.me, CLUB, OP)], "he asks")
        assert alice.mesh.channels.level(bob.me, CLUB) is Level.STUB
        assert not alice.shared


async def test_ops_of_somebody_out_are_taken_with_the_newest_epoch_alone() -> None:
    alice = station("alice", OLD, NEW)
    asks, old = station("bob", NEW), station("carol", OLD)
    for other in (asks, old):
        alice.governance.people[other.me, CLUB] = False
    async with stations(alice, asks, old):
        for other in (asks, old):
            await other.mesh.connect(HOST, alice.port)
            await until(lambda: alice.mesh.channels.level(other.me, CLUB) is Level.STUB, "out")  # noqa: B023
            link = other.mesh.peers.link_to(alice.me)
            assert link is not None
            await until(lambda: not link.unanswered, "no ping is on its way")  # noqa: B023
            pongs = len(other.pongs)
            link.send(OpFrame(CLUB, OP), SecretFrame(CLUB, 2, NEW.op, NEW.secret))
            _ping(other)
            await until(lambda: len(other.pongs) > pongs, "all is read")  # noqa: B023

        assert alice.governance.heard == [("op", asks.me, CLUB, OP)]


async def test_a_member_without_the_newest_secret_is_handed_it_once() -> None:
    alice, bob = station("alice", OLD, NEW), station("bob", OLD)
    knows(bob, alice)
    knows(alice, bob)
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: alice.shared and bob.shared, "both are in")
        assert not bob.governance.heard

        alice.clock.forward(HAND_OVER_AFTER)
        given = ("secret", alice.me, CLUB, NEW)
        await until(lambda: given in bob.governance.heard, "the secret")
        alice.clock.forward(2 * HAND_OVER_AFTER)
        await until(lambda: len(alice.pongs) > 1 or _ping(alice), "time for another")

        assert bob.governance.heard == [given]


async def test_who_proves_the_newest_in_time_is_handed_nothing() -> None:
    alice, bob = station("alice", OLD), station("bob", OLD)
    knows(bob, alice)
    knows(alice, bob)
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: alice.shared and bob.shared, "both are in")

        for one in (alice, bob):
            one.secrets.add_epoch(CLUB, NEW)
            one.mesh.channels.join(CLUB)
        await until(lambda: alice.mesh.channels.has_newest(bob.me, CLUB), "bob proves it")
        alice.clock.forward(10 * HAND_OVER_AFTER)
        await until(lambda: len(alice.pongs) > 1 or _ping(alice), "time for it")

        assert not bob.governance.heard


async def test_of_many_notices_few_are_believed() -> None:
    alice, bob = station("alice", NEW), station("bob", NEW)
    knows(bob, alice)
    knows(alice, bob)
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: alice.shared, "in")
        link = bob.mesh.peers.link_to(alice.me)
        assert link is not None
        link.send(*[NoticeFrame(CLUB, Told.OUT)] * 100)
        pongs = len(bob.pongs)
        await until(lambda: len(bob.pongs) > pongs or _ping(bob), "all are read")

        heard = len(alice.governance.heard)
        assert 0 < heard <= NOTICES_BURST + 2
        alice.clock.forward(SECOND)


async def test_who_is_out_and_tells_heads_of_before_is_told_so_again_and_not_for_each_of_many() -> (
    None
):
    alice, bob = station("alice", NEW), station("bob", NEW)
    knows(bob, alice)
    alice.governance.people[bob.me, CLUB] = False
    alice.governance.old_heads.add(b"old")
    async with stations(alice, bob):
        await bob.mesh.connect(HOST, alice.port)
        await until(lambda: bob.governance.heard, "bob is told that he is out")
        bob.governance.heard.clear()
        link = bob.mesh.peers.link_to(alice.me)
        assert link is not None

        link.send(HeartbeatFrame(CLUB, b"new"), HeartbeatFrame(CLUB, b"old"))
        await until(lambda: bob.governance.heard, "and again")
        link.send(*[HeartbeatFrame(CLUB, b"old")] * 100)
        pongs = len(bob.pongs)
        await until(lambda: len(bob.pongs) > pongs or _ping(bob), "all are read")

        assert {what for *_, what in bob.governance.heard} == {Told.OUT}
        assert len(bob.governance.heard) < NOTICES_BURST
        heard = Counter(kind for kind, *_ in alice.governance.heard)
        assert heard.keys() == {"of one who is out", "heartbeat"}
        assert max(heard.values()) <= NOTICES_BURST + 1


@pytest.mark.parametrize("bob_dials", [True, False])
async def test_who_knows_only_an_epoch_of_long_ago_is_found_whoever_dials(
    *, bob_dials: bool
) -> None:
    epochs = [EpochSecret(n, bytes([n]) * 32, bytes([n]) * 32) for n in range(1, 30)]
    alice, bob = station("alice", *epochs), station("bob", epochs[0])
    knows(bob, alice)
    knows(alice, bob)
    async with stations(alice, bob):
        dialler, other = (bob, alice) if bob_dials else (alice, bob)
        await dialler.mesh.connect(HOST, other.port)

        await until(lambda: alice.shared and bob.shared, "both are in")
