"""Announcements of author logs between whole nodes on 127.0.0.1."""

from pathlib import Path

import pytest

from sync.machine import DAY, ChannelId
from sync.net.options import Options
from sync.net.replay import Replay, read
from sync.net.trace import Trace
from sync.p2panda.announcements import schema_id
from sync.p2panda.messages import Announce, decode
from sync.sessions.protocol import Protocols
from sync.view.view import FrameKind
from sync.waku.session import WAKU_SYNC
from tests.support.sync.nodes import HOST, TEA, Host, channel_of, host, meet, until
from tests.support.toy.session import ANNOUNCED

pytestmark = pytest.mark.net

FAMILY = Protocols((WAKU_SYNC, ANNOUNCED))
PLANS, _ = channel_of("plans")


def may_ask(one: Host, other: Host, channel: ChannelId = TEA) -> bool:
    """Return whether `one` may ask `other` for author logs, as both see it."""
    return one.node.announcing.may_request(other.me, channel) and (
        other.node.announcing.announced_to(one.me, channel)
    )


def announced(who: Host, *, sent: bool) -> list[Announce]:
    """Return the announcements that went through a node's frames."""
    frames = who.node.inspection.frames()
    found = [decode(one.data) for one in frames if (one.kind, one.sent) == (ANNOUNCE, sent)]
    return [one for one in found if isinstance(one, Announce)]


ANNOUNCE = FrameKind.ANNOUNCE


async def test_two_that_speak_it_announce_what_both_have_proved(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea", "plans", protocols=FAMILY) as alice,
        host(tmp_path, "bob", "tea", protocols=FAMILY) as bob,
    ):
        await meet(alice, bob)
        await until(lambda: may_ask(alice, bob) and may_ask(bob, alice), "both have announced")
        assert {one.schemas for one in announced(alice, sent=True)} == {(schema_id(TEA),)}
        assert announced(bob, sent=False) == announced(alice, sent=True)

        await bob.join("plans")
        await until(lambda: may_ask(alice, bob, PLANS), "the other channel, too")
        await until(lambda: may_ask(bob, alice, PLANS), "the other channel, too")

        await alice.node.remove_channel(TEA)
        await until(
            lambda: may_ask(bob, alice, PLANS) and not may_ask(bob, alice), "alice took it back"
        )


async def test_a_program_that_does_not_name_it_is_sent_none(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea", protocols=FAMILY) as alice,
        host(tmp_path, "bob", "tea") as bob,
    ):
        await meet(alice, bob)
        await alice.write(TEA, "hello")
        await until(lambda: bob.texts() == ["hello"], "they talk")

        assert announced(alice, sent=True) == announced(bob, sent=False) == []
        assert bob.node.snapshot().skipped_bytes == {}


async def test_where_old_messages_are_dropped_nothing_is_announced(tmp_path: Path) -> None:
    days = Options(interface=HOST, discovery=False, retention=7 * DAY)
    async with (
        host(tmp_path, "alice", "tea", protocols=FAMILY, options=days) as alice,
        host(tmp_path, "bob", "tea", protocols=FAMILY) as bob,
    ):
        await meet(alice, bob)
        await until(lambda: announced(alice, sent=False), "bob announces")
        await alice.write(TEA, "hello")
        await until(lambda: bob.texts() == ["hello"], "they talk")

        assert announced(bob, sent=False) == []
        assert not alice.node.announcing.may_request(bob.me, TEA)


async def test_it_announces_anew_on_another_link_and_above_what_it_said_before(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "bob", "tea", protocols=FAMILY) as bob:
        async with host(tmp_path, "alice", "tea", protocols=FAMILY) as alice:
            await meet(alice, bob)
            await until(lambda: may_ask(bob, alice), "alice has announced")
        await until(
            lambda: not bob.node.announcing.may_request(alice.me, TEA), "gone with the last link"
        )
        async with host(tmp_path, "alice", "tea", protocols=FAMILY) as again:
            await meet(again, bob)
            await until(lambda: may_ask(bob, again), "alice has announced again")

        counters = [one.timestamp for one in announced(bob, sent=False)]
        assert counters == sorted(set(counters))
        assert len(counters) >= 2


async def test_of_a_flood_little_is_read_and_the_others_go_on(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea", protocols=FAMILY) as alice,
        host(tmp_path, "bob", "tea", protocols=FAMILY) as bob,
        host(tmp_path, "eve", "tea", protocols=FAMILY) as eve,
    ):
        await meet(alice, bob, eve)
        await until(lambda: may_ask(alice, eve), "eve has announced")
        for _ in range(1_000):
            eve.node.mesh.announce(alice.me, b"\xff" * 2_000)
        await bob.write(TEA, "hello")
        await until(lambda: alice.texts() == ["hello"], "alice reads bob")
        await until(lambda: alice.node.snapshot().refused.get(eve.me) == 1_000, "all are counted")

        assert may_ask(alice, eve), "nothing of it has changed anything"
        assert alice.node.mesh.peers.link_to(eve.me) is not None


async def test_a_trace_with_announcements_is_replayed_to_the_same_effects(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    async with (
        host(tmp_path, "bob", "tea", protocols=FAMILY) as bob,
        host(tmp_path, "alice", "tea", protocols=FAMILY, trace=Trace(path)) as alice,
    ):
        await meet(alice, bob)
        await until(lambda: may_ask(alice, bob) and may_ask(bob, alice), "both have announced")

    replay = Replay(FAMILY)
    steps = read(path, path.read_text())
    assert [one.difference for step in steps if (one := replay.play(step)).difference] == []
    assert {"Heard", "Tick"} <= {
        type(step.event).__name__ for step in steps if step.machine == "announcing"
    }
