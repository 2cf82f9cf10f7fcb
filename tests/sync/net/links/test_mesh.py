"""Meshes on 127.0.0.1 with real streams: who is let in, what is heard, what comes back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise

import pytest

from sync.errors import LocalError
from sync.machine import SECOND
from sync.net.clock import draw_key
from sync.net.links.addresses import BESIDE_A_LINK
from sync.net.links.frames import Goodbye, Presence, SdsFrame, encode
from sync.net.links.link import PRESENCE_EVERY, PRESENCES_BURST
from sync.net.links.linked_peers import LINKS_PER_PEER_MAX, REMEMBERED
from sync.net.links.mesh import DEAD_AFTER, FRAMES_AT_ONCE, PING_EVERY
from sync.net.links.stream import SecureStream
from tests.support.processes import free_port
from tests.support.sync.alone.linked import TEA, connected, heard, linked
from tests.support.sync.entries import identity
from tests.support.sync.nodes import HOST, Station, channel_of, stations, until
from tests.support.sync.streams import PATIENCE

pytestmark = pytest.mark.net


@asynccontextmanager
async def session(station: Station, name: str) -> AsyncIterator[tuple[SecureStream, SecureStream]]:
    """Both ends of a connection beside the link, whose bytes the station counts."""
    accepted: asyncio.Queue[SecureStream] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stream = await SecureStream.accept(reader, writer, station.identity, draw_key)
        accepted.put_nowait(stream)

    async with await asyncio.start_server(answer, HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]
        dialled = await SecureStream.dial(HOST, port, identity(name), draw_key)
        answered = await accepted.get()
        station.mesh.received.watch(answered)
        try:
            yield dialled, answered
        finally:
            station.mesh.received.forget(answered)
            for stream in (dialled, answered):
                stream.abort()
                await stream.wait_closed()


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
        assert alice.mesh.peers.links[bob.me][0].dialled is (alice.me < bob.me)
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
            await until(lambda: len(bob.mesh.peers.links.get(eve, [])) == count, "a link")  # noqa: B023
        one_more = await closing.enter_async_context(connected(bob))

        assert await heard(one_more) == [Goodbye("too many links")]
        assert len(bob.mesh.peers.links[eve]) == LINKS_PER_PEER_MAX


async def test_a_silent_peer_is_dropped_and_dialled_again() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        silent = alice.mesh.peers.links[bob.me][0]

        alice.clock.forward(DEAD_AFTER + SECOND)
        await until(lambda: alice.downs == 1, "the silence is noticed")
        alice.clock.forward(5 * SECOND)
        await until(lambda: alice.ups == 2, "dialled again")

        assert alice.mesh.peers.links[bob.me][0] is not silent
        assert bob.shared == {(alice.me, TEA)}


async def test_a_peer_is_not_silent_while_nothing_is_read_from_it() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        link = alice.mesh.peers.links[bob.me][0]
        alice.calm.clear()
        bob.mesh.peers.links[alice.me][0].ping(bob.clock.now(), bob.clock.wall())
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


async def test_a_peer_whose_history_comes_is_not_silent_though_its_link_is() -> None:
    """On a slow network a transfer keeps the link's own frames waiting."""
    bob, eve = Station("bob", "tea"), identity("eve").peer_id
    async with stations(bob), connected(bob, "eve", "tea"), session(bob, "eve") as (hers, his):
        await until(lambda: bob.ups == 1, "the channel is proved")
        [link] = bob.mesh.peers.links[eve]

        for _ in range(4):
            bob.clock.forward(DEAD_AFTER // 2)
            heard_at = link.heard_at
            hers.send(bytes(1_000))
            assert await his.receive() == bytes(1_000)
            await until(lambda: link.heard_at > heard_at, "a look at the links")  # noqa: B023
        assert bob.downs == 0

        bob.clock.forward(DEAD_AFTER + SECOND)
        await until(lambda: bob.downs == 1, "the silence is noticed")


async def test_the_way_to_a_peer_is_as_slow_after_its_link_was_lost() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        [old] = alice.mesh.peers.links[bob.me]
        old.remember([2 * SECOND] * 3)
        assert (alice.mesh.peers.trip_to(bob.me), old.trip) == (0, 2 * SECOND)

        old.stream.abort()
        await until(lambda: alice.downs == 1, "it is lost")
        assert alice.mesh.peers.trip_to(bob.me) == 2 * SECOND
        assert alice.mesh.peers.trip_from(HOST) == 2 * SECOND
        assert alice.mesh.peers.trip_from("127.0.0.2") == 0
        alice.clock.forward(5 * SECOND)
        await until(lambda: alice.ups == 2, "dialled again")
        [new] = alice.mesh.peers.links[bob.me]
        assert new is not old
        assert new.trip == 2 * SECOND

        await until(lambda: new.rtt is not None, "a trip of its own")
        alice.clock.forward(REMEMBERED)
        assert alice.mesh.peers.trip_to(bob.me) == 0


async def test_a_peer_that_answers_pings_stays_however_quiet_it_is() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        link = alice.mesh.peers.links[bob.me][0]

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


async def test_another_program_with_our_key_is_told_of_and_our_own_address_is_not() -> None:
    alice, copy = Station("alice", "lobby"), Station("alice", "lobby")
    async with stations(alice, copy):
        for port in (alice.port, copy.port):
            alice.mesh.addresses.announce(HOST, port, alice.clock.now())

        await until(lambda: alice.twins, "it is noticed")
        known = alice.mesh.addresses.known
        await until(lambda: all(one.ourselves for one in known.values()), "both were dialled")

        assert alice.twins == [(HOST, copy.port)]


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
        await until(lambda: not alice.mesh.peers.links, "bob is gone")
        async with stations(eve):
            await eve.mesh.listen([HOST], port)
            await alice.mesh.connect(HOST, port)

            assert [who for who, reason in alice.refusals if bob.me in reason] == [f"{HOST}:{port}"]
            assert alice.shared == set()


async def test_who_was_given_anothers_old_address_is_dialled_there_once_announced() -> None:
    alice, bob, carol = Station("alice", "tea"), Station("bob", "tea"), Station("carol", "tea")
    async with stations(alice, bob, carol):
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: bob.links_to(alice), "both have the link")
        old = bob.port
        alice.mesh.addresses.announce(HOST, old, alice.clock.now(), "bobs")
        await bob.mesh.listen([HOST], free_port())
        bob.mesh.hang_up("moved")
        await until(lambda: not alice.mesh.peers.links, "bob has moved")
        await carol.mesh.listen([HOST], old)
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: alice.links_to(bob), "they are linked")
        alice.clock.forward(BESIDE_A_LINK)

        alice.mesh.addresses.announce(HOST, old, alice.clock.now(), "carols")
        alice.mesh.dial_due()

        await until(lambda: alice.links_to(carol) and alice.links_to(bob), "both are linked")


async def test_who_began_anew_at_their_address_is_not_dialled_beside_their_link() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(alice, bob):
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: alice.links_to(bob), "they are linked")
        alice.clock.forward(BESIDE_A_LINK)

        candidate = alice.mesh.addresses.announce(HOST, bob.port, alice.clock.now(), "another")
        alice.mesh.dial_due()

        assert candidate.renewed
        assert not candidate.dialling
        assert alice.mesh.addresses.due(alice.clock.now()) == []


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
            station.mesh.channels.join(plans)
        await until(lambda: alice.shared and bob.shared, "the channel is shared")

        assert alice.shared == {(bob.me, plans)}
        await until(lambda: alice.mesh.peers.nick_of(bob.me) == "bob", "his nick")
        await until(lambda: bob.mesh.peers.nick_of(alice.me) == "alice", "her nick")


async def test_a_new_name_reaches_the_other() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with linked(alice, bob):
        await until(lambda: bob.mesh.peers.nick_of(alice.me) == "alice", "the first name")

        alice.mesh.channels.rename("alicia")

        await until(lambda: bob.mesh.peers.nick_of(alice.me) == "alicia", "the new name")


async def test_what_a_peer_announces_is_told_once_for_each_link_and_channel() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    bob.mesh.channels.protocols = ("toy", "another")
    async with linked(alice, bob):
        await until(lambda: alice.announcements, "bob has announced what he speaks")
        bob.mesh.channels.rename("robert")
        await until(lambda: alice.mesh.peers.nick_of(bob.me) == "robert", "another presence came")

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
        assert identity("eve").peer_id in bob.mesh.peers.links


async def test_an_announcement_comes_by_way_of_a_channel_that_its_sender_has_proved() -> None:
    alice, bob = Station("alice", "tea", "plans"), Station("bob", "tea")
    async with linked(alice, bob):
        alice.mesh.announce(bob.me, b"these")
        await until(lambda: bob.parts, "it came")

        assert bob.parts == [(alice.me, TEA, b"these")]


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
        assert bob.mesh.peers.nick_of(identity("eve").peer_id) == "eve 999"
        assert bob.renames == told + 1


async def test_presences_that_say_something_else_each_time_are_looked_at_now_and_then() -> None:
    bob, eve_id = Station("bob", "tea"), identity("eve").peer_id
    async with stations(bob), connected(bob, "eve", "tea") as eve:
        sent = [Presence(TEA, "eve", features=(f"x{number % 7}",)) for number in range(2000)]
        eve.send_batch([encode(one) for one in sent])
        eve.send(encode(SdsFrame(TEA, b"after the flood")))
        await until(lambda: bob.frames, "the flood is over")
        told = bob.renames
        [link] = bob.mesh.peers.links[eve_id]
        await until(lambda: link.features == {"x4"}, "the last one counts")

    assert told < PRESENCES_BURST + 10


async def test_second_links_from_one_address_leave_others_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.net.links.linked_peers.DUPLICATES_MAX", 4)
    bob, carol = Station("bob", "tea"), identity("carol").peer_id
    async with stations(bob), AsyncExitStack() as closing:
        for number in range(6):
            for _ in range(2):
                eve = connected(bob, f"eve {number}", local="127.0.0.2")
                assert await (await closing.enter_async_context(eve)).receive()
        assert sum(map(len, bob.mesh.peers.links.values())) - len(bob.mesh.peers.links) == 4

        for _ in range(2):
            await closing.enter_async_context(connected(bob, "carol"))
        links = bob.mesh.peers.links
        await until(lambda: len(links.get(carol, ())) == 2, "carol has a second link")


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
        await until(lambda: len(bob.mesh.peers.links) < 5, "some are cut")

        queued = sum(
            link.stream.outbound_bytes for links in bob.mesh.peers.links.values() for link in links
        )
        assert queued <= 4 * 1024 * 1024
        assert alice.me in bob.mesh.peers.links
        assert bob.downs > 0


async def test_who_is_blocked_has_done_nothing_wrong_by_dialling() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    async with stations(alice, bob):
        bob.mesh.block(alice.me)
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: not alice.mesh.peers.links, "bob hung up")

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
