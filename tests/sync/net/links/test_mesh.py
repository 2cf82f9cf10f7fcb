"""Meshes on 127.0.0.1 with real streams: who is let in, what is heard, what comes back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import pairwise

import pytest

from sync.calimero.governance.keys import EpochSecret
from sync.errors import LocalError, RemoteError
from sync.machine import SECOND, ChannelId
from sync.net.clock import draw_key
from sync.net.links.channel_proofs import Membership
from sync.net.links.channel_secrets import plain
from sync.net.links.frames import (
    Announce,
    Frame,
    Goodbye,
    Open,
    Ping,
    Pong,
    Presence,
    Proof,
    SdsFrame,
    decode,
    encode,
)
from sync.net.links.link import PINGS_BURST, PRESENCE_EVERY, PROTOCOL, STRAY_BURST
from sync.net.links.listener import STRANGERS_PER_ADDRESS_MAX
from sync.net.links.mesh import (
    DEAD_AFTER,
    FRAMES_AT_ONCE,
    LINKS_PER_PEER_MAX,
    PING_EVERY,
    PROOF_WITHIN,
)
from sync.net.links.stream import SecureStream
from sync.structures.codec import length_prefixed
from tests.support.sync.entries import identity
from tests.support.sync.nodes import HOST, Station, channel_of, stations, until
from tests.support.sync.streams import PATIENCE, record

pytestmark = pytest.mark.net

TEA, TEA_SECRET = channel_of("tea")
SECRET_PLANS, _ = channel_of("secret-plans")
LOBBY, _ = channel_of("lobby")


@asynccontextmanager
async def linked(alice: Station, bob: Station) -> AsyncIterator[None]:
    """Alice and Bob, with one link that she dialled and over which they share a channel."""
    async with stations(alice, bob):
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: alice.shared and bob.shared, "the channel is proved")
        yield


def known(channel: str) -> tuple[ChannelId, tuple[EpochSecret, ...]]:
    """Return id and secrets of a channel that everybody in the tests can be given."""
    opened, secret = channel_of(channel)
    return opened, plain(secret)


@asynccontextmanager
async def connected(
    station: Station, name: str = "eve", *channels: str, local: str = HOST
) -> AsyncIterator[SecureStream]:
    """A connection of our own to a station, which opens as a link and proves `channels`."""
    stream = await SecureStream.dial(
        HOST, station.port, identity(name), draw_key, local_address=local
    )
    proofs = Membership(stream.role, stream.handshake_hash, dict(map(known, channels)))
    stream.send_batch([encode(Open(PROTOCOL, 0)), *map(encode, map(Proof, proofs.opening()))])
    try:
        yield stream
    finally:
        stream.close()
        await stream.wait_closed()


def sealed(stream: SecureStream, plaintext: bytes) -> bytes:
    """Records of bytes that need not be whole frames."""
    step = 60_000
    return b"".join(
        record(stream._sender.encrypt(b"", plaintext[at : at + step]))
        for at in range(0, len(plaintext), step)
    )


async def heard(stream: SecureStream) -> list[Frame]:
    """All that comes over a stream until the other end closes it, in whatever manner."""
    frames: list[Frame] = []
    with suppress(RemoteError):
        while batch := await stream.receive_batch():
            frames += map(decode, batch)
    return frames


# --- Listening ---------------------------------------------------------------------------------


async def test_a_taken_port_leads_to_the_next_free_one() -> None:
    alice, bob = Station("alice"), Station("bob")
    async with stations(alice):
        first = alice.port

        async with stations(bob):
            again = await bob.mesh.listen([HOST], first)

            assert again > first
            assert again == bob.port


async def test_listening_again_keeps_the_port_and_leaves_no_listener_behind() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(alice, bob):
        before = alice.port

        for _ in range(3):
            await alice.mesh.listen([HOST], None)
        await bob.mesh.connect(HOST, before)

        assert alice.port == before
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(HOST, before)


async def test_a_mesh_whose_addresses_are_gone_accepts_nobody_until_it_listens_again() -> None:
    alice, bob = Station("alice"), Station("bob")
    async with stations(alice, bob):
        alice.mesh.deafen()
        with pytest.raises(LocalError):
            await bob.mesh.connect(HOST, alice.port)

        await alice.mesh.listen([HOST], None)

        assert await bob.mesh.connect(HOST, alice.port) == alice.me


async def test_an_address_that_is_not_ours_cannot_be_listened_on() -> None:
    alice = Station("alice")

    with pytest.raises(LocalError, match=r"192\.0\.2\.1"):
        await alice.mesh.listen(["192.0.2.1"], None)


# --- Links -------------------------------------------------------------------------------------


async def test_who_dials_each_other_at_once_keeps_one_link_over_which_frames_flow() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(alice, bob):
        await asyncio.gather(alice.mesh.connect(HOST, bob.port), bob.mesh.connect(HOST, alice.port))
        await until(
            lambda: alice.links_to(bob) == bob.links_to(alice) == 1 and alice.shared and bob.shared,
            "one link each",
        )
        alice.mesh.broadcast(TEA, b"from alice")
        alice.mesh.flush()
        bob.mesh.broadcast(TEA, b"from bob")
        bob.mesh.flush()
        await until(lambda: alice.frames and bob.frames, "both hear each other")

        assert bob.frames == [(alice.me, TEA, b"from alice")]
        assert alice.frames == [(bob.me, TEA, b"from bob")]
        assert alice.mesh.links[bob.me][0].dialled is (alice.me < bob.me)
        assert (alice.downs, bob.downs) == (0, 0)


async def test_a_second_link_of_the_same_direction_replaces_the_first_unseen() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: alice.links_to(bob) == bob.links_to(alice) == 1, "one link each")

        assert (alice.downs, bob.downs) == (0, 0)


async def test_one_peer_gets_no_more_links_than_settling_takes() -> None:
    bob, eve = Station("bob", "tea"), identity("eve").peer_id
    async with stations(bob), AsyncExitStack() as closing:
        for count in range(1, LINKS_PER_PEER_MAX + 1):
            await closing.enter_async_context(connected(bob))
            await until(lambda: len(bob.mesh.links.get(eve, [])) == count, "a link")  # noqa: B023
        one_more = await closing.enter_async_context(connected(bob))

        assert await heard(one_more) == [Goodbye("too many links")]
        assert len(bob.mesh.links[eve]) == LINKS_PER_PEER_MAX


async def test_a_silent_peer_is_dropped_and_dialled_again() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        silent = alice.mesh.links[bob.me][0]

        alice.clock.forward(DEAD_AFTER + SECOND)
        await until(lambda: alice.downs == 1, "the silence is noticed")
        alice.clock.forward(5 * SECOND)
        await until(lambda: alice.ups == 2, "dialled again")

        assert alice.mesh.links[bob.me][0] is not silent
        assert bob.shared == {(alice.me, TEA)}


async def test_a_peer_is_not_silent_while_nothing_is_read_from_it() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        link = alice.mesh.links[bob.me][0]
        alice.calm.clear()
        bob.mesh.links[alice.me][0].ping(bob.clock.now(), bob.clock.wall())
        await until(lambda: not link.is_read, "alice has too much to do")

        for _ in range(4):
            pinged = link.pinged_at
            alice.clock.forward(DEAD_AFTER // 2)
            await until(lambda: link.pinged_at > pinged, "a look at the links")  # noqa: B023
        alice.calm.set()
        await until(lambda: link.is_read, "she goes on")
        pinged = link.pinged_at
        alice.clock.forward(PING_EVERY)
        await until(lambda: link.pinged_at > pinged, "another look")

        assert alice.downs == 0


async def test_a_peer_that_answers_pings_stays_however_quiet_it_is() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        link = alice.mesh.links[bob.me][0]

        for _ in range(8):
            answered = link.answered_at
            alice.clock.forward(PING_EVERY)
            await until(lambda: link.answered_at > answered, "a pong")  # noqa: B023

        assert alice.downs == 0
        assert link.rtt is not None
        assert link.rtt < SECOND


async def test_leaving_shows_at_once_on_the_other_side() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(bob):
        async with stations(alice):
            await alice.mesh.connect(HOST, bob.port)
            await until(lambda: bob.shared, "the channel is proved")
        await until(lambda: not bob.shared, "alice is gone")

        assert bob.clock.now() - bob.mesh.addresses.known[HOST, alice.port].heard_at < DEAD_AFTER


async def test_who_is_away_is_dialled_ever_more_seldom_and_found_when_back() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(alice):
        async with stations(bob):
            await alice.mesh.connect(HOST, bob.port)
            await until(lambda: alice.shared, "the channel is proved")
            port = bob.port
        candidate = alice.mesh.addresses.known[HOST, port]
        for failures in range(3):
            alice.clock.forward(30 * SECOND)
            await until(lambda: candidate.failures > failures, "dialled in vain")  # noqa: B023

        async with stations(bob):
            alice.clock.forward(30 * SECOND)
            await until(lambda: alice.shared, "found again")


async def test_a_peer_that_hangs_up_at_once_is_not_dialled_in_a_storm() -> None:
    alice = Station("alice", "tea")
    meetings = 0

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal meetings
        meetings += 1
        stream = await SecureStream.accept(reader, writer, identity("eve"), draw_key)
        stream.close()

    server = await asyncio.start_server(hang_up, HOST, 0)
    async with server, stations(alice):
        port = server.sockets[0].getsockname()[1]
        candidate = alice.mesh.addresses.add(HOST, port, alice.clock.now())
        for failures in range(4):
            await until(lambda: candidate.failures > failures, "hung up")  # noqa: B023
            assert candidate.next_at - alice.clock.now() > SECOND // 2 << min(failures, 1)
            alice.clock.forward(candidate.next_at - alice.clock.now())

        assert meetings == 4


async def test_dialling_ourselves_is_said_and_not_repeated() -> None:
    alice = Station("alice")
    async with stations(alice):
        with pytest.raises(LocalError, match="ourselves"):
            await alice.mesh.connect(HOST, alice.port)

        alice.clock.forward(60 * SECOND)

        assert alice.mesh.addresses.due(alice.clock.now()) == []
        assert alice.refusals == []


async def test_another_key_at_a_known_address_is_noticed() -> None:
    alice, bob, eve = Station("alice", "tea"), Station("bob", "tea"), Station("eve")
    async with stations(alice):
        async with stations(bob):
            await alice.mesh.connect(HOST, bob.port)
            await until(lambda: alice.shared, "the channel is proved")
            port = bob.port
        await until(lambda: not alice.mesh.links, "bob is gone")
        async with stations(eve):
            await eve.mesh.listen([HOST], port)
            await alice.mesh.connect(HOST, port)

            assert [who for who, reason in alice.refusals if bob.me in reason] == [f"{HOST}:{port}"]
            assert alice.shared == set()


# --- Strangers ---------------------------------------------------------------------------------


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
        await until(lambda: identity("eve").peer_id in bob.mesh.links, "eve has a link")
        bob.mesh.rename("robert")
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
        link = alice.mesh.links[bob.me][0]
        link.send(SdsFrame(SECRET_PLANS, b"guessed the id"), SdsFrame(TEA, b"shared"))
        await until(lambda: bob.frames, "the shared one is heard")

        assert bob.frames == [(alice.me, TEA, b"shared")]


# --- Channels and names ------------------------------------------------------------------------


@pytest.mark.parametrize("dialler_joins_first", [True, False], ids=["dialler", "listener"])
async def test_joining_a_channel_later_shares_it_whoever_is_first(
    dialler_joins_first: bool,
) -> None:
    alice, bob = Station("alice"), Station("bob")
    first, second = (alice, bob) if dialler_joins_first else (bob, alice)
    plans, secret = channel_of("secret-plans")
    async with stations(alice, bob):
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: alice.links_to(bob) and bob.links_to(alice), "linked")

        for station in (first, second):
            station.secrets.set_plain(plans, secret)
            station.mesh.join(plans)
        await until(lambda: alice.shared and bob.shared, "the channel is shared")

        assert alice.shared == {(bob.me, plans)}
        await until(lambda: alice.mesh.nick_of(bob.me) == "bob", "his nick")
        await until(lambda: bob.mesh.nick_of(alice.me) == "alice", "her nick")


async def test_a_new_name_reaches_the_other() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        await until(lambda: bob.mesh.nick_of(alice.me) == "alice", "the first name")

        alice.mesh.rename("alicia")

        await until(lambda: bob.mesh.nick_of(alice.me) == "alicia", "the new name")


@pytest.mark.parametrize("proved", [(), ("lobby",), ("tea",)], ids=["nothing", "open", "private"])
async def test_who_floods_from_one_address_keeps_nobody_else_out(
    monkeypatch: pytest.MonkeyPatch, proved: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sync.net.links.mesh.LINKS_MAX", 6)
    monkeypatch.setattr("sync.net.links.mesh.ARRIVING_MAX", 2)
    monkeypatch.setattr("sync.structures.places.CROWD", 3)
    alice, bob, carol = (Station(name, "tea", "lobby") for name in ("alice", "bob", "carol"))
    bob.mesh.open.add(LOBBY)
    async with linked(alice, bob), stations(carol), AsyncExitStack() as closing:
        for number in range(12):
            flood = connected(bob, f"eve {number}", *proved, local="127.0.0.2")
            eve = await closing.enter_async_context(flood)
            assert await eve.receive()  # a ping, or a goodbye
            bob.clock.forward(PROOF_WITHIN // 4)
        await carol.mesh.connect(HOST, bob.port)
        await until(lambda: (bob.me, TEA) in carol.shared, "a friend gets a place all the same")
        bob.clock.forward(PROOF_WITHIN)
        await until(lambda: len(bob.mesh.links) <= 6, "the others gave way")

        assert {alice.me, carol.me} <= set(bob.mesh.links)


async def test_who_comes_has_time_to_prove_that_it_goes_after_those_who_are_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.net.links.mesh.LINKS_MAX", 3)
    bob, carol = Station("bob", "tea", "lobby"), Station("carol", "tea")
    bob.mesh.open.add(LOBBY)
    async with stations(bob, carol), AsyncExitStack() as closing:
        for number in range(3):
            guest = connected(bob, f"eve {number}", "lobby", local=f"127.0.0.{number + 2}")
            await closing.enter_async_context(guest)
        await until(lambda: len(bob.shared) == 3, "guests of an open channel take all places")

        await carol.mesh.connect(HOST, bob.port)
        await until(lambda: (bob.me, TEA) in carol.shared, "a member comes")
        await until(lambda: len(bob.mesh.links) == 3, "a guest gave way")

        assert carol.me in bob.mesh.links
        assert carol.downs == 0


async def test_of_many_addresses_strangers_give_way_and_people_known_never(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.net.links.mesh.LINKS_MAX", 3)
    monkeypatch.setattr("sync.net.links.mesh.ARRIVING_MAX", 1)
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    met, compared = (identity(name).peer_id for name in ("met", "compared"))
    bob.mesh.met.add(met)
    bob.mesh.verified.add(compared)
    async with linked(alice, bob), AsyncExitStack() as closing:
        for number, name in enumerate(("met", "compared", "eve 1", "eve 2", "eve 3"), start=2):
            stranger = connected(bob, name, local=f"127.0.0.{number}")
            stream = await closing.enter_async_context(stranger)
            assert await stream.receive()  # a ping
        bob.clock.forward(PROOF_WITHIN)
        await until(lambda: len(bob.mesh.links) <= 3, "strangers gave way")

        assert set(bob.mesh.links) == {alice.me, met, compared}


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
        assert alice.me in bob.mesh.links


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


async def test_what_a_peer_announces_is_told_once_for_each_link_and_channel() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    bob.mesh.protocols = ("toy", "another")
    async with linked(alice, bob):
        await until(lambda: alice.announcements, "bob has announced what he speaks")
        bob.mesh.rename("robert")
        await until(lambda: alice.mesh.nick_of(bob.me) == "robert", "another presence came")

        assert alice.announcements == [(bob.me, TEA, ("toy", "another"))]
        assert bob.announcements == [(alice.me, TEA, ())], "alice speaks what everybody does"


async def test_frames_of_a_later_version_are_passed_over_and_the_link_goes_on() -> None:
    later = b"\x7a\x05later"
    bob = Station("bob", "tea")
    async with stations(bob), connected(bob, "eve", "tea") as eve:
        eve.send_batch([later, encode(SdsFrame(TEA, b"said")), later, later])
        eve.send(encode(SdsFrame(TEA, b"said after it")))
        await until(lambda: len(bob.frames) == 2, "the link goes on")

        assert bob.skips == [(identity("eve").peer_id, len(later))] * 3
        assert bob.refusals == []
        assert identity("eve").peer_id in bob.mesh.links


async def test_an_announcement_comes_by_way_of_a_channel_that_its_sender_has_proved() -> None:
    alice, bob = Station("alice", "tea", "plans"), Station("bob", "tea")
    async with linked(alice, bob):
        alice.mesh.announce(bob.me, b"these")
        await until(lambda: bob.parts, "it came")

        assert bob.parts == [(alice.me, TEA, b"these")]


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


async def test_a_name_that_changes_all_the_time_is_told_once_a_second_and_last_as_it_is() -> None:
    bob = Station("bob", "tea")
    async with stations(bob), connected(bob, "eve", "tea") as eve:
        eve.send_batch([encode(Presence(TEA, f"eve {number}")) for number in range(1000)])
        eve.send(encode(SdsFrame(TEA, b"after the flood")))
        await until(lambda: bob.frames, "the flood is over")
        told = bob.renames
        bob.clock.forward(PRESENCE_EVERY)
        await until(lambda: bob.renames > told, "the last one is told")

        assert told <= 3  # it came, it told its first name, and a second may have passed
        assert bob.mesh.nick_of(identity("eve").peer_id) == "eve 999"
        assert bob.renames == told + 1


async def test_those_who_do_not_read_are_cut_where_too_much_is_queued_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.net.links.mesh.OUTBOUND_MAX", 4 * 1024 * 1024)
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob), AsyncExitStack() as closing:
        lazy = [f"eve {number}" for number in range(4)]
        for name in lazy:
            stream = await closing.enter_async_context(connected(bob, name, "tea"))
            stream._writer.transport.pause_reading()  # type: ignore[attr-defined]
        await until(lambda: len(bob.shared) == 5, "everybody shares the channel")
        for number in range(100):
            bob.mesh.broadcast(TEA, bytes(100_000))
            bob.mesh.flush()
            await until(lambda: len(alice.frames) > number, "alice reads")  # noqa: B023
        await until(lambda: len(bob.mesh.links) < 5, "some are cut")

        queued = sum(
            link.stream.outbound_bytes for links in bob.mesh.links.values() for link in links
        )
        assert queued <= 4 * 1024 * 1024
        assert alice.me in bob.mesh.links
        assert bob.downs > 0


async def test_who_is_blocked_has_done_nothing_wrong_by_dialling() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(alice, bob):
        bob.mesh.block(alice.me)
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: not alice.mesh.links, "bob hung up")

        assert bob.refusals == []


async def test_who_sends_many_frames_at_once_leaves_others_their_turns() -> None:
    alice = Station("alice", "tea")
    async with stations(alice), connected(alice, "eve", "tea") as eve:
        await until(lambda: alice.shared, "the channel is proved")
        handled: list[int] = []

        def all_here() -> bool:
            handled.append(len(alice.frames))
            return handled[-1] == many

        many = 4 * FRAMES_AT_ONCE
        eve.send_batch([encode(SdsFrame(TEA, b"x"))] * many)
        async with asyncio.timeout(PATIENCE):
            while not all_here():  # noqa: ASYNC110  # counts each turn
                await asyncio.sleep(0)

    assert max(later - before for before, later in pairwise(handled)) <= FRAMES_AT_ONCE
