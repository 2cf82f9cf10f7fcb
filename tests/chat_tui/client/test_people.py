"""Direct messages, trust, blocking and leaving, between real chats on 127.0.0.1."""

import asyncio
import base64
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.client import people
from chat_tui.client.live import Client
from chat_tui.client.people import DIRECT_MAX, DIRECT_OF_HOST_MAX, STANDING_AFTER
from chat_tui.client.trust_book import HELD_LONG
from sync.errors import LocalError
from sync.sds.message import Delivery
from sync.view.view import (
    ChannelInfo,
    MessageShown,
    PeerInfo,
    PeerShown,
    PeerState,
    Trust,
    TrustShown,
)
from tests.support.chat_tui.acquainted import acquainted, friends
from tests.support.chat_tui.chats import meet, opened, running, setup_of
from tests.support.chat_tui.live_clients import Heard, lobby
from tests.support.storage.searching import found_by
from tests.support.sync.entries import identity
from tests.support.sync.nodes import HEARTBEAT_S, until

pytestmark = pytest.mark.net


def direct_of(client: Client) -> list[ChannelInfo]:
    return [info for info in client.snapshot().channels if info.direct is not None]


def known(client: Client, nick: str) -> PeerInfo:
    return next(peer for peer in client.snapshot().peers if peer.nick == nick)


async def test_a_direct_message_needs_no_code_and_no_answer(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_bob = Heard(bob)

        direct = await alice.people.open_direct(bob.identity.peer_id)
        await alice.send_text(direct, "psst")

        assert await from_bob.texts(1) == ["psst"]
        [info] = direct_of(bob)
        assert (info.channel, info.name, info.direct) == (
            direct,
            "alice",
            alice.identity.peer_id,
        )
        from_alice = Heard(alice)
        await bob.send_text(direct, "what is it?")
        assert await from_alice.texts(1) == ["what is it?"]


async def test_whoever_answered_the_dial_can_write_first_too(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_alice = Heard(alice)

        direct = await bob.people.open_direct(alice.identity.peer_id)
        await bob.send_text(direct, "psst")

        assert await from_alice.texts(1) == ["psst"]


async def test_a_third_one_sees_nothing_of_it(tmp_path: Path) -> None:
    async with (
        running(tmp_path, "alice") as alice,
        running(tmp_path, "bob") as bob,
        running(tmp_path, "carol") as carol,
    ):
        await acquainted(alice, bob)
        await acquainted(alice, carol)
        from_bob, from_carol = Heard(bob), Heard(carol)

        direct = await alice.people.open_direct(bob.identity.peer_id)
        await alice.send_text(direct, "for bob alone")
        await alice.send_text(lobby(alice), "for all")

        assert sorted(await from_bob.texts(2)) == ["for all", "for bob alone"]
        assert await from_carol.texts(1) == ["for all"]
        assert direct_of(carol) == []


async def besieged(alice: Client, count: int, host: str) -> None:
    """So many whom nobody knows opened channels of two with alice, from one address."""
    for number in range(count):
        eve = identity(f"eve {host} {number}")
        alice.people.book.meet(
            eve.peer_id,
            "eve",
            alice._clock.wall(),
            address=(host, 46021),
            noise_key=eve.noise_public,
            is_here=lambda _peer: False,
        )
        await alice.people._welcome(eve.peer_id, eve.noise_public)


async def test_keys_that_are_made_up_keep_no_friend_from_writing_to_us_alone(
    tmp_path: Path,
) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_alice = Heard(alice)
        for host in range(DIRECT_MAX):
            await besieged(alice, 1, f"10.0.0.{host}")
        alice._node.mesh.peers.met.add(bob.identity.peer_id)

        direct = await bob.people.open_direct(alice.identity.peer_id)
        await bob.send_text(direct, "psst")

        assert await from_alice.texts(1) == ["psst"]
        assert len(direct_of(alice)) == DIRECT_MAX + 1


async def test_of_one_address_few_who_are_new_may_open_channels_of_two_with_us(
    tmp_path: Path,
) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_alice = Heard(alice)
        await besieged(alice, DIRECT_OF_HOST_MAX + 2, "10.0.0.9")
        of_eve = len(direct_of(alice))

        direct = await bob.people.open_direct(alice.identity.peer_id)
        await bob.send_text(direct, "psst")

        assert of_eve == DIRECT_OF_HOST_MAX
        assert await from_alice.texts(1) == ["psst"]


@pytest.mark.parametrize("dialler", ["alice", "bob"])
async def test_what_is_written_while_the_other_is_away_waits_over_restarts(
    tmp_path: Path, dialler: str
) -> None:
    async with friends(tmp_path) as (alice, bob):
        them = bob.identity.peer_id

    async with running(tmp_path, "alice") as alice:  # bob is not there
        direct = await alice.people.open_direct(them)
        message = await alice.send_text(direct, "for later")

    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        from_bob, from_alice = Heard(bob), Heard(alice)
        await (meet(alice, bob) if dialler == "alice" else meet(bob, alice))

        assert await from_bob.texts(1) == ["for later"]
        await from_alice.delivery(message, Delivery.ACKNOWLEDGED)
        assert [info.name for info in direct_of(bob)] == ["alice"]


async def test_it_is_there_again_after_a_restart(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_bob = Heard(bob)
        direct = await alice.people.open_direct(bob.identity.peer_id)
        await alice.send_text(direct, "one")
        await from_bob.texts(1)

    async with running(tmp_path, "bob") as bob:
        lines = await bob.history.page(direct, before=None, limit=5)

        assert [line.text for line in lines] == ["one"]
        assert [info.channel for info in direct_of(bob)] == [direct]


async def test_who_was_never_met_cannot_be_written_to(tmp_path: Path) -> None:
    async with opened(tmp_path, "bob") as bob:
        them = bob.identity.peer_id
    async with running(tmp_path, "alice") as alice:
        with pytest.raises(LocalError, match="never been connected"):
            await alice.people.open_direct(them)
        with pytest.raises(LocalError, match="That is you"):
            await alice.people.open_direct(alice.identity.peer_id)


async def test_who_shares_no_channel_cannot_open_one_with_us(tmp_path: Path) -> None:
    async with (
        running(tmp_path, "alice", channel="only-alice") as alice,
        running(tmp_path, "eve", channel="only-eve") as eve,
    ):
        await meet(eve, alice)
        await until(lambda: eve._node.noise_key(alice.identity.peer_id), "a link")
        direct = await eve.people.open_direct(alice.identity.peer_id)
        await eve.send_text(direct, "buy this")
        await alice.memberships.enter("only-eve")
        from_alice = Heard(alice)

        assert await from_alice.texts(1) == ["buy this"]  # only now


async def test_a_closed_one_stays_closed_until_it_is_opened_again(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_bob = Heard(bob)
        direct = await alice.people.open_direct(bob.identity.peer_id)
        await alice.send_text(direct, "one")
        await from_bob.texts(1)

        await bob.memberships.leave(direct)
        await until(lambda: not known(alice, "bob").syncing, "quiet")
        await alice.send_text(direct, "two")
        assert direct_of(bob) == []
        again = await bob.people.open_direct(alice.identity.peer_id)

        assert again == direct
        assert (await from_bob.texts(2))[1] == "two"
        assert [info.name for info in direct_of(bob)] == ["alice"]


# --- Channels ----------------------------------------------------------------------------------


async def test_a_left_channel_keeps_its_history_and_can_be_joined_again(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        plans = await alice.memberships.create("plans")
        await bob.memberships.join(alice.memberships.invite(plans))
        await acquainted(alice, bob)
        from_alice, from_bob = Heard(alice), Heard(bob)
        await alice.send_text(plans, "one")
        await from_bob.texts(1)

        await bob.memberships.leave(plans)
        await alice.send_text(plans, "while bob is out")
        await alice.send_text(lobby(alice), "in the lobby")
        assert (await from_bob.texts(2))[1] == "in the lobby"
        again = await bob.memberships.join("#plans")  # the code is not needed again

        assert again == plans
        assert (await from_bob.texts(3))[2] == "while bob is out"
        lines = await bob.history.page(plans, before=None, limit=9)
        assert [line.text for line in lines] == ["one", "while bob is out"]
        await bob.send_text(plans, "back")
        await from_alice.texts(4)


async def test_a_left_channel_is_left_after_a_restart_too(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        plans = await alice.memberships.create("plans")
        await alice.memberships.leave(lobby(alice))

        assert lobby(alice) == plans
    async with running(tmp_path, "alice") as alice:
        assert [info.channel for info in alice.snapshot().channels] == [plans]
        with pytest.raises(LocalError, match="only channel"):
            await alice.memberships.leave(plans)


async def test_nobody_writes_to_a_channel_that_was_left(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        plans = await alice.memberships.create("plans")
        await alice.memberships.leave(plans)

        with pytest.raises(LocalError, match="not in that channel"):
            await alice.send_text(plans, "hello?")


# --- Away --------------------------------------------------------------------------------------


async def test_others_see_who_is_away_and_why_also_those_who_come_later(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        await alice.be_away("lunch")
        await until(lambda: known(bob, "alice").away == "lunch", "bob sees it")
        async with running(tmp_path, "carol") as carol:
            await acquainted(carol, alice)
            assert known(carol, "alice").away == "lunch"
        await alice.be_away("")

        await until(lambda: known(bob, "alice").away == "", "bob sees that she is back")


# --- Trust -------------------------------------------------------------------------------------


async def test_who_was_verified_is_so_after_a_restart(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        before = known(alice, "bob").trust
        heard = Heard(alice)
        await alice.people.verify(bob.identity.peer_id)

        assert (before, known(alice, "bob").trust) == (Trust.FIRST_SEEN, Trust.VERIFIED)
        assert alice._node.mesh.peers.verified == {bob.identity.peer_id}
        assert TrustShown(bob.identity.peer_id, "bob", Trust.VERIFIED) in heard.events
    async with opened(tmp_path, "alice") as alice:
        bob_there = known(alice, "bob")

    assert (bob_there.trust, bob_there.state) == (Trust.VERIFIED, PeerState.DOWN)


async def test_who_is_here_is_seen_on_the_disk_while_nobody_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "SEEN_EVERY", HEARTBEAT_S)

    def seen_ns() -> int:
        """Return what a start after a power cut would read."""
        with closing(sqlite3.connect(tmp_path / "alice" / "chat.db")) as disk:
            return max(
                [row[0] for row in disk.execute("SELECT last_seen_ns FROM peers")], default=0
            )

    async with friends(tmp_path):
        await until(seen_ns, "bob is on the disk")
        first = seen_ns()

        await until(lambda: seen_ns() > first, "bob was seen later than when he came")


async def test_who_keeps_a_place_is_known_from_the_disk(tmp_path: Path) -> None:
    """Verified, met over a day ago, or in a channel that is not open to everybody."""
    async with friends(tmp_path) as (alice, bob):
        await alice.people.verify(bob.identity.peer_id)
        await alice.memberships.create("plans")
    day_later = setup_of(tmp_path, "alice")
    alice = await Client.open(day_later)
    wall = alice._clock.wall
    alice._clock.wall = lambda: wall() + STANDING_AFTER  # type: ignore[method-assign]
    try:
        async with alice.running():
            mesh = alice._node.mesh

            assert mesh.peers.verified == mesh.peers.met == {bob.identity.peer_id}
            assert mesh.peers.open == {lobby(alice)}
    finally:
        await alice.close()
    async with running(tmp_path, "alice") as alice:
        assert alice._node.mesh.peers.met == set()


async def test_people_who_are_made_up_are_forgotten_again_in_memory_and_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.profile.members.ONCE_MAX", 8)
    monkeypatch.setattr("chat_tui.client.people.FORGET_EVERY", 4)
    async with friends(tmp_path) as (alice, bob):
        for number in range(64):
            eve = identity(f"eve {number}").peer_id
            alice.people.note_event(PeerShown(eve, f"eve {number}", PeerState.UP))
        last = identity("eve 63").peer_id
        people = alice.people.book.people
        await until(lambda: alice.people._unsaved.empty() and len(people) <= 12, "the rest go")

        assert last in people
        assert bob.identity.peer_id in people, "who is here stays"
        known = await alice._members.known_peers()
        assert len(known) <= 12


async def other_bob(tmp_path: Path) -> Client:
    """Somebody else who calls himself bob."""
    setup = setup_of(tmp_path / "elsewhere", "bob")
    return await Client.open(setup)


async def test_a_verified_name_with_another_key_is_warned_of_until_answered(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
            await alice.people.verify(bob.identity.peer_id)
            direct = await alice.people.open_direct(bob.identity.peer_id)
        false_bob = await other_bob(tmp_path)
        try:
            async with false_bob.running():
                await meet(alice, false_bob)
                await until(lambda: alice.snapshot().warnings, "a warning")
        finally:
            await false_bob.close()

    async with running(tmp_path, "alice") as alice:  # it stands after a restart
        [warning] = alice.snapshot().warnings
        assert (warning.peer, warning.known) == (false_bob.identity.peer_id, bob.identity.peer_id)
        with pytest.raises(LocalError, match="CHANGED KEY"):
            await alice.send_text(direct, "are you the real one?")

        await alice.people.trust(warning.peer)

        assert alice.snapshot().warnings == ()
        await alice.send_text(direct, "fine")
    async with opened(tmp_path, "alice") as alice:
        assert alice.snapshot().warnings == ()


async def test_another_key_at_the_address_of_somebody_known_for_long_is_warned_of(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
        await until(lambda: known(alice, "bob").state is PeerState.DOWN, "bob is gone")
        people, peer = alice.people.book.people, bob.identity.peer_id
        people[peer] = replace(people[peer], named_ns=people[peer].named_ns - HELD_LONG)
        new_bob = await other_bob(tmp_path)
        try:
            async with new_bob.running():
                await meet(alice, new_bob)
                await until(lambda: alice.snapshot().warnings, "a warning")
                [warning] = alice.snapshot().warnings
                await alice.people.verify(new_bob.identity.peer_id)
        finally:
            await new_bob.close()

        assert not warning.verified
        assert alice.snapshot().warnings == ()


async def test_who_is_blocked_is_cut_off_and_hidden_and_comes_back(tmp_path: Path) -> None:
    async with (
        running(tmp_path, "alice") as alice,
        running(tmp_path, "bob") as bob,
        running(tmp_path, "carol") as carol,
    ):
        await acquainted(alice, bob)
        await acquainted(alice, carol)
        await acquainted(carol, bob)
        heard, from_carol = Heard(alice), Heard(carol)
        await bob.send_text(lobby(bob), "before")
        await heard.texts(1)

        await alice.people.block(bob.identity.peer_id)
        await until(lambda: known(alice, "bob").state is PeerState.DOWN, "the link is cut")
        await bob.send_text(lobby(bob), "spam")
        await from_carol.texts(2)
        await carol.send_text(lobby(carol), "hello")  # after spam, by its history
        await heard.texts(2)

        shown = await alice.history.page(lobby(alice), before=None, limit=9)
        assert [line.text for line in shown] == ["hello"]
        assert alice.snapshot().channels[0].messages == 3  # kept, and passed on
        assert await found_by(alice.history, lobby(alice), "spam", limit=5) == []
        assert [event.line.text for event in heard.events if isinstance(event, MessageShown)] == [
            "before",
            "hello",
        ]
        with pytest.raises(LocalError, match="You have blocked"):
            await meet(alice, bob)
        with pytest.raises(LocalError, match="unblock"):
            await alice.people.open_direct(bob.identity.peer_id)

        await alice.people.unblock(bob.identity.peer_id)
        shown = await alice.history.page(lobby(alice), before=None, limit=9)
        assert [line.text for line in shown] == ["before", "spam", "hello"]
        await meet(alice, bob)


async def test_who_is_blocked_stays_so_after_a_restart(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        await alice.people.block(bob.identity.peer_id)
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        await meet(bob, alice)
        await bob.send_text(lobby(bob), "hello?")
        await asyncio.sleep(0)

        assert known(alice, "bob").trust is Trust.BLOCKED
        assert known(alice, "bob").state is PeerState.DOWN
        assert await alice.history.page(lobby(alice), before=None, limit=9) == []


async def test_no_secret_is_in_what_the_screens_and_traces_know(tmp_path: Path) -> None:
    setup = replace(setup_of(tmp_path, "alice"), trace=tmp_path / "trace.jsonl")
    alice = await Client.open(setup)
    try:
        async with alice.running(), running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
            from_bob = Heard(bob)
            direct = await alice.people.open_direct(bob.identity.peer_id)
            await alice.send_text(direct, "psst")
            await from_bob.texts(1)
            membership = alice.memberships[direct]
            shown = repr(alice.snapshot()) + repr(membership)
    finally:
        await alice.close()

    shown += (tmp_path / "trace.jsonl").read_text()
    assert direct in shown
    for secret in (membership.secret, alice.identity.noise_key.private_bytes_raw()):
        assert secret.hex() not in shown
        assert repr(secret) not in shown
        assert base64.b64encode(secret).decode() not in shown
