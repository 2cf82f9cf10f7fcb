"""Reconciliation and transfer between whole nodes on 127.0.0.1, and who is refused one."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from sync.errors import RemoteError
from sync.machine import SECOND
from sync.net.clock import draw_key
from sync.net.frames import Open, Proof, encode
from sync.net.listener import STRANGERS_PER_ADDRESS_MAX
from sync.net.sessions import OFFERED_PER_PEER_MAX
from sync.net.stream import SecureStream
from sync.view import MessageShown, PeerState, SyncShown
from sync.waku.message import TRANSFER, WakuMessage, content_topic, pubsub_topic
from sync.waku.wire import encode_transfer
from tests.entries import identity
from tests.nodes import (
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

EVE = identity("eve").peer_id


async def test_who_comes_late_gets_three_thousand_messages(tmp_path: Path) -> None:
    lines = texts(3_000)
    async with host(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with host(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            await until(lambda: len(bob.texts()) == len(lines), "bob has everything")
            await until(lambda: alice.shown(SyncShown) and bob.shown(SyncShown), "both are done")

            ordered = sorted(bob.shown(MessageShown), key=lambda event: event.line.position)
            assert [event.line.text for event in ordered] == [
                event.line.text
                for event in sorted(alice.shown(MessageShown), key=lambda one: one.line.position)
            ]
            assert sum(event.got for event in bob.shown(SyncShown)) == len(lines)
            assert bob.shown(SyncShown)[-1].bytes_in > len(lines) * 100
            assert bob.shown(SyncShown)[-1].elapsed_ns > 0
            assert 0 < bob.node.snapshot().longest_block_ns < SECOND


async def test_a_transfer_that_is_cut_is_repeated_until_all_is_there(tmp_path: Path) -> None:
    lines = texts(1_000, 500)
    async with host(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with host(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            await until(
                lambda: any(one.got for one in bob.node.snapshot().sessions), "the transfer runs"
            )
            for traffic in list(bob.node.streams._traffic.values()):
                for stream in traffic.streams:
                    stream.abort()
            await until(lambda: len(bob.texts()) == len(lines), "bob has everything")
            await until(lambda: bob.shown(SyncShown)[-1].result == "reconciled", "and says so")

            results = [event.result for event in bob.shown(SyncShown)]
            assert any("incomplete" in result for result in results), results


async def test_large_messages_are_transferred_however_many_there_are(tmp_path: Path) -> None:
    lines = texts(200, 14_000, "\N{MUSICAL SYMBOL G CLEF}")
    async with host(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with host(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            await until(lambda: len(bob.texts()) == len(lines), "bob has everything")

            assert [event.result for event in bob.shown(SyncShown)] == ["reconciled"]


async def test_a_crowded_engine_slows_peers_down_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sync.runner.CROWDED", 4)
    lines = texts(300)
    async with host(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with host(tmp_path, "bob", "tea") as bob:
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


async def test_one_peer_gets_no_more_than_its_share_of_sessions(tmp_path: Path) -> None:
    async with host(tmp_path, "bob", "tea") as bob, AsyncExitStack() as closing:
        for _ in range(OFFERED_PER_PEER_MAX):
            stream = await closing.enter_async_context(session(bob, TRANSFER, TEA_SECRET))
            assert isinstance(await next_frame(stream), Proof)
        one_more = await closing.enter_async_context(session(bob, TRANSFER, TEA_SECRET))
        with pytest.raises((RemoteError, EOFError)):
            await next_frame(one_more)

        assert bob.node.snapshot().refused == {EVE: 1}
    assert bob.node.streams._offered == {}


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
        [loaded] = await alice.node.load_by_hash(TEA, await hashes(alice))
        waku = WakuMessage(loaded.payload, content_topic(TEA), loaded.entry.header.created_ns)
        async with session(bob, TRANSFER, TEA_SECRET) as eve:
            await next_frame(eve)
            eve.send(encode_transfer(waku, pubsub_topic(TEA)))
            await until(lambda: bob.node.snapshot().refused, "it is refused")

        assert bob.texts() == []


async def hashes(of: Host) -> list[bytes]:
    rows = await of.database.read(
        lambda db: db.execute("SELECT waku_hash FROM messages").fetchall()
    )
    return [digest for (digest,) in rows]
