"""Somebody is removed, or never was in: what ends at once, what they are told, what they learn."""

from pathlib import Path

import pytest

from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.ops import GroupId, Invite, Leave, Role, SetRole
from sync.calimero.governance.tickets import join_by, public_half
from sync.entries.changes import Reactions
from sync.machine import SECOND
from sync.net.invite import TICKET_SEED_SIZE
from sync.net.links.channel_secrets import EPOCHS_SHOWN_MAX
from sync.net.links.frames import Told
from sync.net.links.levels import Level
from sync.view.view import DiscardedShown, LineChanged, LooksShown
from tests.support.sync.entries import identity
from tests.support.sync.governed_nodes import (
    Club,
    add,
    enter,
    found,
    governance,
    key_of,
    level,
    remove,
    role,
    rotate,
    same_heads,
    together,
)
from tests.support.sync.nodes import HOST, Host, host, until

pytestmark = pytest.mark.net


async def test_who_is_removed_gets_nothing_more_and_is_told_by_whom(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
        host(tmp_path, "mallory", "tea") as mallory,
    ):
        club = await found(alice)
        await together(club, alice, bob, mallory)
        links = {one.me: one.node.mesh.peers.link_to(mallory.me) for one in (alice, bob)}

        await remove(alice, club, mallory, reason="spam")
        assert level(alice, mallory, club) is Level.STUB
        await until(lambda: level(bob, mallory, club) is Level.STUB, "bob knows of it")
        await alice.write(club.channel, "without mallory")
        await add_op_after(alice, club, bob)
        await until(lambda: "without mallory" in bob.texts(), "bob reads it")
        await until(lambda: role(mallory, club, mallory) is Role.NONE, "mallory knows of it")

        removal = governance(mallory, club).now.people[key_of(mallory)].act
        op = governance(mallory, club).dag.acts[removal].op
        assert getattr(op, "reason", "") == "spam"
        assert len(governance(mallory, club).dag) < len(governance(alice, club).dag)
        assert "without mallory" not in mallory.texts()
        assert LooksShown(club.channel) in bob.events  # its lines are marked where they stand
        assert not [one for one in bob.events if isinstance(one, DiscardedShown)]
        for one in (alice, bob):  # the links stay for the rest
            link = one.node.mesh.peers.link_to(mallory.me)
            assert link is links[one.me]
            assert link is not None
            assert not link.stream.closed
            assert club.channel not in link.shared
            assert link.shared


async def add_op_after(by: Host, club: Club, about: Host) -> None:
    """Govern once more, after a removal."""
    await by.node.act(club.channel, SetRole(key_of(about), Role.ADMIN))


async def test_a_line_of_who_is_out_is_read_again_whenever_it_changes(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
        host(tmp_path, "mallory", "tea") as mallory,
    ):
        club = await found(alice)
        await together(club, alice, bob, mallory)
        line = await mallory.write(club.channel, "buy this")
        await until(lambda: all("buy this" in one.texts() for one in (alice, bob)), "it came")
        await bob.node.writing.change(club.channel, Reactions(line, ("+1",)))
        await until(lambda: alice.shown(LineChanged), "it is reacted to")
        assert not alice.shown(LooksShown)

        await remove(alice, club, mallory)
        await until(lambda: level(bob, mallory, club) is Level.STUB, "bob knows of it")
        await bob.node.writing.change(club.channel, Reactions(line, ("-1",)))
        await until(lambda: len(alice.shown(LineChanged)) > 1, "it is reacted to otherwise")

        changed = max(at for at, one in enumerate(alice.events) if isinstance(one, LineChanged))
        assert LooksShown(club.channel) in alice.events[changed:]


async def test_who_was_away_when_removed_is_told_and_learns_no_later_op(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "mallory") as mallory:
        club = await found(alice)
        await together(club, alice, mallory)
        link = mallory.node.mesh.peers.link_to(alice.me)
        assert link is not None
        alice.node.mesh.block(mallory.me)
        await until(lambda: not alice.node.mesh.peers.links.get(mallory.me), "cut")
        await remove(alice, club, mallory)
        await rotate(alice, club)
        alice.node.mesh.unblock(mallory.me)

        await mallory.node.mesh.connect(HOST, alice.port)
        await until(lambda: role(mallory, club, mallory) is Role.NONE, "mallory is told")

        assert level(alice, mallory, club) is Level.STUB
        assert len(governance(mallory, club).dag) == len(governance(alice, club).dag) - 1
        again = alice.node.mesh.peers.link_to(mallory.me)
        assert again is not None
        assert not again.membership._shown  # no proof was shown to who is out


async def test_who_missed_that_they_are_out_is_told_again_by_their_own_heartbeat(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        club = await found(alice)
        await together(club, alice, bob)
        link = bob.node.mesh.peers.link_to(alice.me)
        assert link is not None
        while link.believes_notice(bob.clock.now()):
            pass  # so many came before
        await remove(alice, club, bob)
        await until(lambda: level(alice, bob, club) is Level.STUB, "alice has let go of him")
        assert role(bob, club, bob) is Role.MEMBER

        for one in (alice, bob):
            one.clock.forward(40 * SECOND)

        await until(lambda: role(bob, club, bob) is Role.NONE, "bob knows it")


async def test_who_came_in_again_while_nobody_heard_it_is_asked_for_it(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        club = await found(alice)
        await together(club, alice, bob)
        seed = bytes(TICKET_SEED_SIZE)
        invite = await alice.node.act(club.channel, Invite(public_half(seed), Role.MEMBER))
        await same_heads(club, alice, bob)
        await bob.node.act(club.channel, Leave())
        await until(lambda: level(alice, bob, club) is Level.STUB, "alice knows that he left")
        alice.node.mesh.block(bob.me)
        await until(lambda: not alice.node.mesh.peers.links.get(bob.me), "cut")
        group, me = GroupId(bytes.fromhex(club.channel)), identity("bob")
        joins = join_by(seed, group, invite, key_of(bob), me.noise_public, "bob")
        await bob.node.act(club.channel, joins)
        alice.node.mesh.unblock(bob.me)
        await bob.node.mesh.connect(HOST, alice.port)
        await until(lambda: level(alice, bob, club) is Level.STUB, "he is out for her")

        for one in (alice, bob):
            one.clock.forward(40 * SECOND)

        await until(lambda: role(alice, club, bob) is Role.MEMBER, "she has asked him")
        await until(lambda: level(alice, bob, club) is Level.FULL, "and gives him everything")
        await until(lambda: level(bob, alice, club) is Level.FULL, "as he does")
        doubted = bob.node.governing._is_believed(club.channel, {alice.me})
        assert not doubted, "that he is out is not told once she has learnt that he is in"


@pytest.mark.parametrize("rotations", [0, EPOCHS_SHOWN_MAX + 1])
async def test_who_is_let_in_again_over_a_link_made_while_out_is_told_and_reads_on(
    tmp_path: Path, rotations: int
) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        club = await found(alice)
        await together(club, alice, bob)
        alice.node.mesh.block(bob.me)
        await until(lambda: not alice.node.mesh.peers.links.get(bob.me), "cut")
        await remove(alice, club, bob)
        for _ in range(rotations):
            await rotate(alice, club)
        alice.node.mesh.unblock(bob.me)
        await bob.node.mesh.connect(HOST, alice.port)
        await until(lambda: role(bob, club, bob) is Role.NONE, "bob is told that he is out")

        await add(alice, club, bob)
        await until(lambda: role(bob, club, bob) is Role.MEMBER, "bob knows that he is in again")
        await alice.write(club.channel, "welcome back")

        await until(lambda: "welcome back" in bob.texts(), "bob reads on")


async def test_an_unknown_key_with_an_ended_code_gets_a_bare_notice(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "eve") as eve:
        told: list[Told] = []
        club = await found(alice)
        await rotate(alice, club)
        eve.node.governance.on_told = lambda _peer, _channel, why: told.append(why)

        await enter(eve, club)
        await eve.node.mesh.connect(HOST, alice.port)
        await until(lambda: told, "the notice")

        assert told == [Told.ENDED]
        assert level(alice, eve, club) is Level.NOTICE
        assert not governance(eve, club).dag.acts
        eve.node.catch_ups.request(club.channel, alice.me, bytes(20))
        await until(lambda: not eve.node.catch_ups._talks, "it is given nothing")
        assert not governance(eve, club).dag.acts


async def test_a_member_who_was_away_during_a_rotation_is_handed_the_secret(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        given: list[EpochSecret] = []
        club = await found(alice)
        began = await rotate(alice, club)
        await enter(bob, club)  # with the first secret: an ended one
        await add(alice, club, bob)
        bob.node.governance.on_secret = lambda _channel, epoch: given.append(epoch)

        await bob.node.mesh.connect(HOST, alice.port)
        await same_heads(club, alice, bob)
        await until(lambda: given, "the secret is handed over")

        assert given == [began]
        assert bob.node.secrets.newest(club.channel) == began
        channels = alice.node.mesh.channels
        await until(lambda: channels.has_newest(bob.me, club.channel), "bob proves it")


async def test_a_session_of_who_is_removed_ends_also_where_there_is_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "mallory") as mallory:
        club = await found(alice)
        await together(club, alice, mallory)
        mesh, streams = mallory.node.mesh, mallory.node.streams
        link = mesh.peers.link_to(alice.me, club.channel)
        monkeypatch.setattr(mesh, "_drop", lambda _: None)  # it goes on as if there were a link
        monkeypatch.setattr(mesh.peers, "link_to", lambda *_: link)
        mesh.deafen()
        for one in list(mesh.peers.links[alice.me]):
            one.stream.close()
        links = alice.node.mesh.peers.links
        await until(lambda: mallory.me not in links, "alice has no link to mallory")
        monkeypatch.setattr(streams, "send", lambda *_: None)  # the session goes on for a while
        mallory.node.ask_sync(club.channel, alice.me)
        served = (club.channel, mallory.me)
        await until(lambda: served in alice.node.streams._open, "alice serves a session of mallory")
        [stream] = alice.node.streams._open[served]

        await remove(alice, club, mallory)

        assert stream.closed
