"""Clock readings between real nodes, and what they change: frames on 127.0.0.1."""

import ctypes
import sys
import time
from pathlib import Path

import pytest

from sync.errors import LocalError
from sync.group.clock_policy import Policy
from sync.group.clock_values import Follows
from sync.machine import DAY, HOUR, MINUTE, SECOND, PeerId
from sync.manager.registry import WITH_STATE
from sync.net.clock import Clock
from sync.net.links.frames import Ping, Pong, decode, encode
from sync.view.view import AheadShown, ClockAnswer, ClockShown, MessageShown, PreviewShown
from tests.support.sync.nodes import (
    HOST,
    TEA,
    Host,
    Station,
    channel_of,
    host,
    meet,
    stations,
    until,
)

pytestmark = pytest.mark.net

U64_MAX = 2**64 - 1
MINE, MINE_SECRET = channel_of("mine")


class Liar(Station):
    """Somebody on the network who tells any time."""

    def __init__(self, name: str, *channels: str, wall: int) -> None:
        super().__init__(name, *channels)
        self.clock.wall = lambda: wall  # type: ignore[method-assign]


def knows(one: Host, *others: Host) -> None:
    """`one` has met the others in an earlier run, over a day ago."""
    one.node.mesh.peers.met.update(other.me for other in others)


def question(one: Host) -> list[PeerId]:
    asked = one.node.snapshot().clock.question
    return [] if asked is None else [voter.peer for voter in asked.voters]


@pytest.mark.parametrize("wall", [U64_MAX, 2**63, 0])
async def test_strangers_who_tell_what_is_no_time_end_nothing_and_move_nothing(
    tmp_path: Path, wall: int
) -> None:
    liars = [Liar(f"liar {number}", "tea", wall=wall) for number in range(2)]
    async with host(tmp_path, "alice", "tea") as alice, stations(*liars):
        for liar in liars:
            await liar.mesh.connect(HOST, alice.port)
        await until(
            lambda: all(
                (link := alice.node.mesh.peers.link_to(liar.me)) and link.wall_offset is not None
                for liar in liars
            ),
            "their pongs came",
        )
        before = alice.clock.wall()

        await alice.write(TEA, "still here")

        [line] = [shown.line for shown in alice.shown(MessageShown)]
        assert before <= line.created_ns <= alice.clock.wall()
        assert question(alice) == []
        peers = alice.node.snapshot().peers
        assert all(peer.clock_offset_ns is None for peer in peers), "that is no clock"


async def test_what_is_said_in_one_channel_moves_nothing_in_another(tmp_path: Path) -> None:
    year = 365 * DAY
    async with host(tmp_path, "alice", "tea", "mine") as alice:
        liar = Liar("liar", "tea", wall=alice.clock.wall() + year)
        async with stations(liar):
            await liar.mesh.connect(HOST, alice.port)
            await until(lambda: question(alice), "alice is asked about tea")
            asked = alice.node.snapshot().clock.question
            alice.node.answer_clock(follow=True)
            await until(lambda: alice.node.snapshot().clock.moved_ns > year // 2, "tea is moved")

            await alice.write(MINE, "private")

    assert asked is not None
    assert asked.channels == (TEA,)
    assert not asked.standing, "whom nobody has met before has none"
    [line] = [shown.line for shown in alice.shown(MessageShown)]
    assert abs(line.created_ns - alice.clock.wall()) < MINUTE


async def test_who_is_behind_is_asked_and_reads_what_is_ahead_meanwhile(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea", protocols=WITH_STATE) as alice,
        host(tmp_path, "bob", "tea", protocols=WITH_STATE) as bob,
    ):
        knows(alice, bob)
        knows(bob, alice)
        alice.node.clocks.policy = bob.node.clocks.policy = Policy.ASK
        alice.clock.set_wall(-HOUR)
        await until(lambda: "jumped" in alice.notices(), "alice's clock is an hour behind")
        with pytest.raises(LocalError, match="Nothing is asked"):
            alice.node.answer_clock(follow=True)
        await meet(alice, bob)
        await until(lambda: question(alice) == [bob.me], "alice is asked")
        await until(lambda: question(bob) == [alice.me], "bob is asked too")
        asked = bob.node.snapshot().clock.question
        assert asked is not None
        assert asked.standing
        bob.node.answer_clock(follow=False)
        await until(lambda: question(bob) == [], "bob stays")
        await bob.write(TEA, "one")
        await bob.write(TEA, "two")
        await until(lambda: len(alice.shown(PreviewShown)) == 2, "alice reads both")
        early = alice.texts()

        alice.node.answer_clock(follow=True)
        await until(lambda: alice.texts() == ["one", "two"], "and then they are in the log")

        assert early == []
        assert all(shown.line.parked for shown in alice.shown(PreviewShown))
        [told] = alice.shown(AheadShown)
        assert (told.peer, told.nick) == (bob.me, "bob")
        assert alice.node.snapshot().clock.answer is ClockAnswer.FOLLOW
        assert abs(alice.node.snapshot().clock.moved_ns - HOUR) < MINUTE
        assert [shown.clock.question is None for shown in alice.shown(ClockShown)] == [False, True]


async def test_who_follows_says_so_which_ends_the_others_question_and_sends_what_waits(
    tmp_path: Path,
) -> None:
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
    ):
        knows(alice, bob)
        knows(bob, alice)
        alice.node.clocks.policy = bob.node.clocks.policy = Policy.ASK
        alice.clock.set_wall(-HOUR)
        await until(lambda: "jumped" in alice.notices(), "alice's clock is an hour behind")
        await meet(alice, bob)
        await until(lambda: question(bob) == [alice.me], "bob is asked")
        waiting = await bob.write(TEA, "waits")
        alice.node.answer_clock(follow=True)
        await until(lambda: alice.node.snapshot().clock.answer is ClockAnswer.FOLLOW, "followed")

        bob.clock.forward(5 * SECOND)  # he pings, and her pong says it
        await until(lambda: alice.texts() == ["waits"], "it goes out by itself")

        assert question(bob) == []
        [shown] = bob.shown(PreviewShown)
        assert (shown.line.message_id, shown.line.waits) == (waiting, True)
        assert bob.texts() == ["waits"], "as it was"


async def test_a_sleeping_computer_keeps_its_answer_and_a_set_clock_does_not(
    tmp_path: Path,
) -> None:
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
    ):
        knows(alice, bob)
        alice.node.clocks.policy = Policy.ASK
        alice.clock.set_wall(-HOUR)
        await until(lambda: "jumped" in alice.notices(), "alice's clock is an hour behind")
        await meet(alice, bob)
        await until(lambda: question(alice), "alice is asked")
        alice.node.answer_clock(follow=True)
        await until(lambda: alice.node.snapshot().clock.answer is ClockAnswer.FOLLOW, "followed")

        alice.clock.forward(MINUTE)
        await until(lambda: alice.notices().count("jumped") == 2, "she slept")
        slept = alice.node.snapshot().clock
        alice.clock.set_wall(HOUR - MINUTE)
        await until(lambda: alice.notices().count("jumped") == 3, "her clock is right")
        await until(
            lambda: alice.node.snapshot().clock.answer is ClockAnswer.NONE, "and goes by itself"
        )

        assert slept.answer is ClockAnswer.FOLLOW
        assert alice.node.snapshot().clock.moved_ns < MINUTE


def test_an_old_pong_says_that_its_sender_goes_by_its_own_clock() -> None:
    assert decode(encode(Pong(7, 5))) == Pong(7, 5, Follows.NOBODY)
    assert decode(encode(Pong(7, U64_MAX, Follows.OTHERS))) == Pong(7, U64_MAX, Follows.OTHERS)
    assert decode(encode(Ping(7, U64_MAX))) == Ping(7, U64_MAX)
    later = encode(Pong(7, 5, Follows.YOU)).replace(b"\x18\x02", b"\x18\x09")
    assert decode(later) == Pong(7, 5, Follows.OTHERS), "of whom else, a later version may say"


def test_a_clock_that_is_faked_is_not_kept_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the kernel says of its own clock: it is not the one that is read."""
    kernels = Clock().synchronised()
    monkeypatch.setattr(time, "time_ns", lambda: 5)

    assert isinstance(kernels, bool)
    assert not Clock().synchronised()


class Kernel:
    """A system that says its clock is kept right, and shows `seconds`."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds

    def ntp_adjtime(self, pointer: object) -> int:
        timex = pointer._obj  # type: ignore[attr-defined]
        timex.status, timex.seconds, timex.fraction = 0, self.seconds, 0
        return 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere it tells no time")
def test_only_the_clock_that_the_kernel_keeps_right_is_kept_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = 1_800_000_000
    monkeypatch.setattr(time, "time_ns", lambda: shown * SECOND)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Kernel(shown))
    same = Clock().synchronised()
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Kernel(shown + 2))

    assert same
    assert not Clock().synchronised()


def test_where_the_system_cannot_be_asked_nobody_keeps_its_clock_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())

    assert not Clock().synchronised()
