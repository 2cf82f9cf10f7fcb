"""Strangers on 127.0.0.1 with real streams: how many are let in, and how little they may send."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from sync.net.links.frames import Announce, Frame, Ping, Pong, Presence, Proof, SdsFrame, encode
from sync.net.links.link import PINGS_BURST, STRAY_BURST
from sync.net.links.linked_peers import PROOF_WITHIN
from sync.net.links.listener import STRANGERS_PER_ADDRESS_MAX
from sync.structures.codec import length_prefixed
from tests.support.sync.alone.linked import (
    LOBBY,
    SECRET_PLANS,
    TEA,
    connected,
    heard,
    linked,
    sealed,
)
from tests.support.sync.entries import identity
from tests.support.sync.nodes import HOST, Station, stations, until

pytestmark = pytest.mark.net


async def test_the_ninth_stranger_from_one_address_is_sent_away_at_once() -> None:
    bob = Station("bob")
    async with stations(bob), AsyncExitStack() as closing:
        readers = []
        for _ in range(STRANGERS_PER_ADDRESS_MAX + 1):
            reader, writer = await asyncio.open_connection(HOST, bob.port)
            closing.callback(writer.close)
            readers.append(reader)
        await until(lambda: bob.refusals, "one too many")

        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await readers[-1].readexactly(1)
        assert bob.refusals == [(HOST, "too many connections at once")]
        assert not any(reader.at_eof() for reader in readers[:-1])


async def test_so_many_strangers_and_no_more_from_all_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.net.links.listener.STRANGERS_MAX", 3)
    bob = Station("bob")
    async with stations(bob), AsyncExitStack() as closing:
        for number in range(2, 6):
            local = (f"127.0.0.{number}", 0)
            _, writer = await asyncio.open_connection(HOST, bob.port, local_addr=local)
            closing.callback(writer.close)
        await until(lambda: bob.refusals, "one too many")

        assert bob.refusals == [("127.0.0.5", "too many connections at once")]


async def test_strangers_who_leave_make_room() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(alice, bob):
        async with AsyncExitStack() as closing:
            for _ in range(STRANGERS_PER_ADDRESS_MAX):
                _, writer = await asyncio.open_connection(HOST, bob.port)
                closing.callback(writer.close)
        await until(lambda: len(bob.refusals) == STRANGERS_PER_ADDRESS_MAX, "they left")

        assert await alice.mesh.connect(HOST, bob.port) == bob.me


async def test_garbage_ends_its_own_connection_only() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob), connected(bob) as stream:
        stream.send(b"\xff\xff\xff garbage")
        frames = await heard(stream)
        await until(lambda: bob.refusals, "the garbage is counted")
        alice.mesh.broadcast(TEA, b"still here")
        alice.mesh.flush()
        await until(lambda: bob.frames, "alice is heard")

        assert bob.refusals[0][0] == identity("eve").peer_id
        assert not [frame for frame in frames if isinstance(frame, Proof | Presence | SdsFrame)]


async def test_a_person_without_the_channel_sees_no_nick_no_proof_and_no_frame() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob), connected(bob) as eve:
        eve.send(encode(Proof(bytes(32))))
        eve.send(encode(SdsFrame(TEA, b"forged")))
        await until(lambda: identity("eve").peer_id in bob.mesh.peers.links, "eve has a link")
        bob.mesh.channels.rename("robert")
        bob.mesh.broadcast(TEA, b"for members")
        bob.mesh.flush()
        await until(lambda: alice.frames, "members hear it")
        bob.mesh.hang_up("that is all")
        frames = await heard(eve)

        assert not [frame for frame in frames if isinstance(frame, Proof | Presence | SdsFrame)]
        assert bob.frames == []
        assert {peer for peer, _ in bob.shared} <= {alice.me}


async def test_frames_for_a_channel_that_is_not_proved_are_dropped() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea", "secret-plans")
    async with linked(alice, bob):
        link = alice.mesh.peers.links[bob.me][0]
        link.send(SdsFrame(SECRET_PLANS, b"guessed the id"), SdsFrame(TEA, b"shared"))
        await until(lambda: bob.frames, "the shared one is heard")

        assert bob.frames == [(alice.me, TEA, b"shared")]


@pytest.mark.parametrize("proved", [(), ("lobby",), ("tea",)], ids=["nothing", "open", "private"])
async def test_who_floods_from_one_address_keeps_nobody_else_out(
    monkeypatch: pytest.MonkeyPatch, proved: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sync.net.links.linked_peers.LINKS_MAX", 6)
    monkeypatch.setattr("sync.net.links.linked_peers.ARRIVING_MAX", 2)
    monkeypatch.setattr("sync.structures.places.CROWD", 3)
    alice, bob, carol = (Station(name, "tea", "lobby") for name in ("alice", "bob", "carol"))
    bob.mesh.peers.open.add(LOBBY)
    async with linked(alice, bob), stations(carol), AsyncExitStack() as closing:
        for number in range(12):
            flood = connected(bob, f"eve {number}", *proved, local="127.0.0.2")
            eve = await closing.enter_async_context(flood)
            assert await eve.receive()  # a ping, or a goodbye
            bob.clock.forward(PROOF_WITHIN // 4)
        await carol.mesh.connect(HOST, bob.port)
        await until(lambda: (bob.me, TEA) in carol.shared, "a friend gets a place all the same")
        bob.clock.forward(PROOF_WITHIN)
        await until(lambda: len(bob.mesh.peers.links) <= 6, "the others gave way")

        assert {alice.me, carol.me} <= set(bob.mesh.peers.links)


async def test_who_comes_has_time_to_prove_that_it_goes_after_those_who_are_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.net.links.linked_peers.LINKS_MAX", 3)
    bob, carol = Station("bob", "tea", "lobby"), Station("carol", "tea")
    bob.mesh.peers.open.add(LOBBY)
    async with stations(bob, carol), AsyncExitStack() as closing:
        for number in range(3):
            guest = connected(bob, f"eve {number}", "lobby", local=f"127.0.0.{number + 2}")
            await closing.enter_async_context(guest)
        await until(lambda: len(bob.shared) == 3, "guests of an open channel take all places")

        await carol.mesh.connect(HOST, bob.port)
        await until(lambda: (bob.me, TEA) in carol.shared, "a member comes")
        await until(lambda: len(bob.mesh.peers.links) == 3, "a guest gave way")

        assert carol.me in bob.mesh.peers.links
        assert carol.downs == 0


async def test_of_many_addresses_strangers_give_way_and_people_known_never(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.net.links.linked_peers.LINKS_MAX", 3)
    monkeypatch.setattr("sync.net.links.linked_peers.ARRIVING_MAX", 1)
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    met, compared = (identity(name).peer_id for name in ("met", "compared"))
    bob.mesh.peers.met.add(met)
    bob.mesh.peers.verified.add(compared)
    async with linked(alice, bob), AsyncExitStack() as closing:
        for number, name in enumerate(("met", "compared", "eve 1", "eve 2", "eve 3"), start=2):
            stranger = connected(bob, name, local=f"127.0.0.{number}")
            stream = await closing.enter_async_context(stranger)
            assert await stream.receive()  # a ping
        bob.clock.forward(PROOF_WITHIN)
        await until(lambda: len(bob.mesh.peers.links) <= 3, "strangers gave way")

        assert set(bob.mesh.peers.links) == {alice.me, met, compared}


async def test_over_one_ping_a_second_before_a_proof_ends_the_link() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob), connected(bob) as eve:
        eve.send_batch([encode(Ping(number, 0)) for number in range(1000)])
        frames = await heard(eve)
        await until(lambda: bob.refusals, "it is counted")

        assert len([frame for frame in frames if isinstance(frame, Pong)]) <= PINGS_BURST + 1
        assert bob.refusals == [
            (identity("eve").peer_id, "over one ping a second before any proof of a channel")
        ]
        assert alice.me in bob.mesh.peers.links


async def test_pings_of_a_member_beyond_any_reason_are_not_answered() -> None:
    bob = Station("bob", "tea")
    async with stations(bob), connected(bob, "eve", "tea") as eve:
        eve.send_batch([encode(Ping(number, 0)) for number in range(1000)])
        eve.send(encode(SdsFrame(TEA, b"after the flood")))
        await until(lambda: bob.frames, "the flood is over")
        bob.mesh.hang_up("that is all")
        pongs = [frame for frame in await heard(eve) if isinstance(frame, Pong)]

        assert 0 < len(pongs) <= PINGS_BURST + 1


@pytest.mark.parametrize(
    "frame",
    [Presence(TEA, "eve"), SdsFrame(TEA, b"x"), Pong(1, 2)],
    ids=["presence", "frame", "pong"],
)
async def test_strangers_may_send_next_to_nothing(frame: Frame) -> None:
    bob = Station("bob", "tea")
    async with stations(bob), connected(bob) as eve:
        eve.send_batch([encode(frame)] * 2000)
        await heard(eve)
        await until(lambda: bob.refusals, "it is counted")

        assert [reason for _, reason in bob.refusals] == [
            "too many frames before any proof of a channel"
        ]


async def test_a_stranger_announces_nothing() -> None:
    bob = Station("bob", "tea")
    async with stations(bob), connected(bob) as eve:
        eve.send_batch([encode(Announce(b"these"))] * 2000)
        await heard(eve)
        await until(lambda: bob.refusals, "it is counted")

        assert bob.parts == []


async def test_a_stranger_may_send_no_more_of_unknown_kinds_than_of_others() -> None:
    bob = Station("bob", "tea")
    async with stations(bob), connected(bob) as eve:
        eve.send_batch([b"\x7a\x01x"] * 2000)
        await heard(eve)
        await until(lambda: bob.refusals, "it is counted")

        assert [reason for _, reason in bob.refusals] == [
            "too many frames before any proof of a channel"
        ]
        assert len(bob.skips) <= STRAY_BURST + 1


async def test_of_a_frame_that_a_stranger_begins_little_is_kept() -> None:
    bob = Station("bob", "tea")
    async with stations(bob), connected(bob) as eve, connected(bob, "mallory", "tea") as member:
        large = length_prefixed(bytes(100_000))
        for stream in (eve, member):
            stream._writer.write(sealed(stream, large[:50_000]))
        await heard(eve)
        member._writer.write(sealed(member, large[50_000:]))
        await until(lambda: len(bob.refusals) == 2, "the whole of the other's is read")

        by_peer = dict(bob.refusals)
        assert "bytes of one frame" in by_peer[identity("eve").peer_id]
        assert "cannot be read" in by_peer[identity("mallory").peer_id]
