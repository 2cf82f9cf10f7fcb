"""Reconciliation and transfer between whole nodes on 127.0.0.1, and who is refused one."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest

from storage.sqlite.columns import to_u64
from sync.check.message import CHECK
from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, PeerId
from sync.manager.registry import WITH_STATE
from sync.net.clock import draw_key
from sync.net.links.frames import Open, Proof, encode
from sync.net.links.listener import STRANGERS_PER_ADDRESS_MAX
from sync.net.links.session_streams import PUSHES_MAX
from sync.net.links.stream import SecureStream
from sync.structures.ordered_set import SyncId
from sync.view.view import MessageShown, PeerState, SyncShown
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    RECONCILIATION,
    TRANSFER,
    Fingerprint,
    Ranges,
    RangesData,
    WakuMessage,
    content_topic,
    pubsub_topic,
    shard,
)
from sync.waku.session import WakuExchange
from sync.waku.turn import PAYLOADS_MAX
from sync.waku.wire import encode_ranges, encode_transfer
from tests.support.sync.entries import identity
from tests.support.sync.nodes import (
    HOST,
    TEA,
    TEA_SECRET,
    Host,
    host,
    meet,
    next_frame,
    session,
    texts,
    until,
    write_all,
)

pytestmark = pytest.mark.net

older = partial(host, protocols=WITH_STATE)
"""Node that begins without a handshake: what it lacks comes by Waku Sync, pushed."""

EVE = identity("eve").peer_id


async def test_who_comes_late_gets_three_thousand_messages(tmp_path: Path) -> None:
    lines = texts(3_000)
    async with older(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with older(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            await until(lambda: len(bob.texts()) == len(lines), "bob has everything")
            await until(lambda: alice.shown(SyncShown) and bob.shown(SyncShown), "both are done")

            ordered = sorted(bob.shown(MessageShown), key=lambda event: event.line.position)
            assert [event.line.text for event in ordered] == [
                event.line.text
                for event in sorted(alice.shown(MessageShown), key=lambda one: one.line.position)
            ]
            # on a busy machine some come by SDS-R before a session brings them
            got = sum(event.got for event in bob.shown(SyncShown))
            assert 0.9 * len(lines) <= got <= len(lines)
            # one session, or on a busy computer two
            assert sum(event.bytes_in for event in bob.shown(SyncShown)) > len(lines) * 100
            assert bob.shown(SyncShown)[-1].elapsed_ns > 0
            assert 0 < bob.node.snapshot().longest_block_ns < SECOND


async def test_who_comes_late_among_three_does_not_fetch_all_from_each(
    tmp_path: Path,
) -> None:
    lines = texts(2_000)
    async with AsyncExitStack() as stack:
        alice, bob, carol, late = [
            await stack.enter_async_context(older(tmp_path, name, "tea"))
            for name in ("alice", "bob", "carol", "late")
        ]
        await write_all(alice, lines)
        for other in (bob, carol):
            await meet(alice, other)
        await until(
            lambda: all(len(other.texts()) == len(lines) for other in (bob, carol)),
            "they share everything",
        )
        pushed = {one.name: counted(one) for one in (alice, bob, carol)}

        await meet(late, alice, bob, carol)
        await until(lambda: len(late.texts()) == len(lines), "the late one has everything")

        # what waits in buffers of a fast network may come twice, but not from each of them
        assert sum(map(len, pushed.values())) <= 2 * len(lines)


def counted(sender: Host) -> list[bytes]:
    """The messages that a node pushes from now on."""
    sent: list[bytes] = []
    tell = sender.node._inlet.pushed

    def pushed(channel: ChannelId, peer: PeerId, payload: bytes) -> None:
        sent.append(payload)
        tell(channel, peer, payload)

    sender.node._inlet.pushed = pushed  # type: ignore[method-assign]
    return sent


async def test_a_transfer_that_is_cut_is_repeated_until_all_is_there(tmp_path: Path) -> None:
    lines = texts(1_000, 500)
    async with older(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with older(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            await until(
                lambda: any(one.got for one in bob.node.snapshot().sessions), "the transfer runs"
            )
            for traffic in list(bob.node.streams._traffic.values()):
                for stream in traffic.streams:
                    stream.abort()
            await until(lambda: len(bob.texts()) == len(lines), "bob has everything")
            await until(
                lambda: (
                    {"reconciled", "both have the same"}
                    & {event.result for event in bob.shown(SyncShown)}
                ),
                "and says so",
            )

            results = [event.result for event in bob.shown(SyncShown)]
            assert any("incomplete" in result for result in results), results


async def test_large_messages_are_transferred_however_many_there_are(tmp_path: Path) -> None:
    lines = texts(200, 14_000, "\N{MUSICAL SYMBOL G CLEF}")
    async with older(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with older(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            await until(lambda: len(bob.texts()) == len(lines), "bob has everything")

            first, *later = [event.result for event in bob.shown(SyncShown)]
            assert first == "reconciled", "one session brings all of it"
            assert set(later) <= {"equal"}


async def test_a_crowded_engine_slows_peers_down_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sync.runner.input_queue.CROWDED", 4)
    lines = texts(300)
    async with older(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with older(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            live = [f"live {line}" for line in lines]
            await write_all(alice, live)
            await until(lambda: len(bob.texts()) == 2 * len(lines), "bob has everything")

            assert sorted(bob.texts()) == sorted([*lines, *live])
            assert bob.states(alice) == [PeerState.UP]


async def test_a_session_of_an_unknown_protocol_is_refused(tmp_path: Path) -> None:
    async with host(tmp_path, "bob", "tea") as bob, session(bob, "/sync/9", TEA_SECRET) as eve:
        with pytest.raises((RemoteError, EOFError)):
            await next_frame(eve)

        assert bob.node.snapshot().refused == {EVE: 1}


async def test_a_session_that_proves_no_channel_of_ours_gets_no_answer(tmp_path: Path) -> None:
    async with host(tmp_path, "bob", "tea") as bob, session(bob, TRANSFER, bytes(32)) as eve:
        with pytest.raises((RemoteError, EOFError)):
            await next_frame(eve)

        assert bob.node.snapshot().refused == {EVE: 1}


@pytest.mark.parametrize("protocol", [TRANSFER, CHECK])
async def test_a_transfer_or_a_check_without_a_session_gets_no_place(
    tmp_path: Path, protocol: str
) -> None:
    async with host(tmp_path, "bob", "tea") as bob, session(bob, protocol, TEA_SECRET) as eve:
        with pytest.raises((RemoteError, EOFError)):
            await next_frame(eve)

        assert bob.node.snapshot().refused == {EVE: 1}
        assert bob.node.streams._offered.holders == {}


async def test_one_peer_gets_no_more_than_its_share_of_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sync.net.links.session_streams.OFFERED_PER_PEER_MAX", 3)
    async with host(tmp_path, "bob", "tea") as bob, AsyncExitStack() as closing:
        for protocol in (RECONCILIATION, TRANSFER, TRANSFER):
            stream = await closing.enter_async_context(session(bob, protocol, TEA_SECRET))
            assert isinstance(await next_frame(stream), Proof)
            await until(lambda: bob.node._inlet.receives_from(EVE, TEA), "there is a session")
        one_more = await closing.enter_async_context(session(bob, TRANSFER, TEA_SECRET))
        with pytest.raises((RemoteError, EOFError)):
            await next_frame(one_more)

        assert bob.node.snapshot().refused == {EVE: 1}
    assert bob.node.streams._offered.holders == {}


async def test_idle_connections_of_one_address_do_not_stop_reconciliation(tmp_path: Path) -> None:
    lines = texts(30)
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
        AsyncExitStack() as closing,
    ):
        await write_all(alice, lines)
        bob.node.streams._answered.room = 6
        for number in range(12):
            idle = session(bob, RECONCILIATION, TEA_SECRET, f"eve {number}", "127.0.0.2")
            await closing.enter_async_context(idle)
        places = bob.node.streams._answered.holders
        await until(lambda: len(places) == 6, "all places are taken")
        await meet(alice, bob)
        await until(lambda: sorted(bob.texts()) == sorted(lines), "bob has everything")

        assert len(places) <= 6


async def test_a_transfer_ends_soon_after_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sync.net.links.session_streams.STALL_MAX", 600.0)
    monkeypatch.setattr("sync.net.links.session_streams.STALL_LOOKS", 6000)
    async with (
        host(tmp_path, "bob", "tea") as bob,
        session(bob, RECONCILIATION, TEA_SECRET) as eve,
    ):
        assert isinstance(await next_frame(eve), Proof)
        await until(lambda: bob.node._inlet.receives_from(EVE, TEA), "there is a session")
        async with session(bob, TRANSFER, TEA_SECRET) as pushing:
            assert isinstance(await next_frame(pushing), Proof)
            eve.close()
            await until(lambda: not bob.node._inlet.receives_from(EVE, TEA), "it is over")
            with pytest.raises((RemoteError, EOFError)):
                await next_frame(pushing)

            await until(lambda: bob.node.streams._offered.holders == {}, "its place is free")
            assert bob.node.snapshot().refused == {EVE: 1}


async def test_a_session_is_not_read_while_its_payloads_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sync.runner.input_queue.CROWDED_BY_ONE", 0)  # they always wait
    again = Ranges.of([Fingerprint(EVERYTHING, b"\1" * 32)])
    payload = encode_ranges(RangesData(CLUSTER, (shard(TEA),), again))
    async with (
        host(tmp_path, "bob", "tea") as bob,
        session(bob, RECONCILIATION, TEA_SECRET) as eve,
    ):
        assert isinstance(await next_frame(eve), Proof)
        eve.send_batch([payload] * 10)
        sessions = bob.node._runner.groups[TEA].sessions
        await until(
            lambda: EVE in sessions.by_peer and sessions.by_peer[EVE].payloads, "the first is read"
        )
        for number in range(3):  # turns of the engine
            await bob.write(TEA, f"line {number}")

        assert sessions.by_peer[EVE].payloads == 2  # one received, one sent
        monkeypatch.setattr("sync.runner.input_queue.CROWDED_BY_ONE", 100)
        await bob.write(TEA, "another turn")
        await until(lambda: sessions.by_peer[EVE].payloads == 20, "the others follow")


@pytest.mark.parametrize(("takes", "sent"), [(1, 1), (2, 2), (10**6, PAYLOADS_MAX)])
async def test_both_sides_say_how_many_payloads_of_an_answer_they_take(
    tmp_path: Path, takes: int, sent: int
) -> None:
    async with (
        host(tmp_path, "bob", "tea") as bob,
        session(bob, RECONCILIATION, TEA_SECRET, payloads_max=takes) as eve,
    ):
        proof = await next_frame(eve)
        sessions = bob.node._runner.groups[TEA].sessions
        await until(lambda: EVE in sessions.by_peer, "the session has begun")
        exchange = sessions.by_peer[EVE].exchange

        assert isinstance(proof, Proof)
        assert proof.payloads_max == PAYLOADS_MAX
        assert isinstance(exchange, WakuExchange)
        assert exchange._machine._answerer._payloads_max == sent


async def test_of_peers_that_are_pushed_to_a_friend_comes_before_guests(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea", "lobby") as alice, AsyncExitStack() as closing:
        streams = alice.node.streams
        turns: list[PeerId] = []

        async def hold(peer: PeerId) -> None:
            task = await streams._turn_to_push(TEA, peer)
            turns.append(peer)
            try:
                await asyncio.Event().wait()
            finally:
                streams._pushes.leave(task)
                streams._pushed.set()

        def holding(name: str) -> asyncio.Task[None]:
            task = asyncio.ensure_future(hold(identity(name).peer_id))
            closing.callback(task.cancel)
            return task

        guests = [holding(f"eve {number}") for number in range(PUSHES_MAX)]
        await until(lambda: len(turns) == PUSHES_MAX, "all places are taken")
        waiting = holding("one guest more")
        alice.node.mesh.peers.verified.add(identity("bob").peer_id)
        holding("bob")
        await until(lambda: identity("bob").peer_id in turns, "a friend has his turn")
        assert guests[-1].cancelled()
        assert identity("one guest more").peer_id not in turns
        guests[0].cancel()
        await until(lambda: identity("one guest more").peer_id in turns, "and then the next one")

        assert not waiting.done()


async def test_who_proves_no_channel_stays_a_stranger_whatever_its_key(tmp_path: Path) -> None:
    async with host(tmp_path, "bob", "tea") as bob, AsyncExitStack() as closing:
        for number in range(STRANGERS_PER_ADDRESS_MAX):
            key = identity(f"eve {number}")
            stream = await SecureStream.dial(HOST, bob.port, key, draw_key)
            closing.callback(stream.abort)
            stream.send(encode(Open(TRANSFER, 0)))
        reader, writer = await asyncio.open_connection(HOST, bob.port)
        closing.callback(writer.close)

        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        assert bob.node.snapshot().refused == {HOST: 1}


async def test_a_message_pushed_outside_a_session_is_not_taken(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await alice.write(TEA, "stored")
        [loaded] = await alice.node.loads.load_by_sync_ids(TEA, await sync_ids(alice))
        waku = WakuMessage(loaded.payload, content_topic(TEA), loaded.entry.header.created_ns)
        async with (
            session(bob, RECONCILIATION, TEA_SECRET) as begun,
            AsyncExitStack() as closing,
        ):
            await next_frame(begun)
            await until(lambda: bob.node._inlet.receives_from(EVE, TEA), "there is a session")
            eve = await closing.enter_async_context(session(bob, TRANSFER, TEA_SECRET))
            await next_frame(eve)
            begun.close()
            await until(lambda: not bob.node._inlet.receives_from(EVE, TEA), "it is over")
            eve.send(encode_transfer(waku, pubsub_topic(TEA)))
            await until(lambda: bob.node.snapshot().refused, "it is refused")

        assert bob.texts() == []


async def sync_ids(of: Host) -> list[SyncId]:
    rows = await of.database.read(
        lambda db: db.execute("SELECT created_ns, waku_hash FROM messages").fetchall()
    )
    return [SyncId(to_u64(created_ns), digest) for created_ns, digest in rows]
