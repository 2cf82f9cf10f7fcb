"""Whole nodes on 127.0.0.1 with real disks: what people see when things go wrong."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sync.errors import LocalError, RemoteError, StorageError
from sync.identity import short_fingerprint
from sync.machine import MINUTE, SECOND
from sync.net.clock import draw, draw_key
from sync.net.discovery import Discovery
from sync.net.frames import Frame, Open, Proof, decode, encode
from sync.net.link import PROTOCOL
from sync.net.listener import STRANGERS_PER_ADDRESS_MAX
from sync.net.membership import Membership
from sync.net.mesh import DEAD_AFTER
from sync.net.node import Options
from sync.net.roster import SILENT_MAX
from sync.net.sessions import OFFERED_PER_PEER_MAX
from sync.net.stream import SecureStream
from sync.view import MessageShown, PeerShown, PeerState, SyncShown
from sync.waku.message import RECONCILIATION, TRANSFER, WakuMessage, content_topic, pubsub_topic
from sync.waku.wire import encode_transfer
from tests.entries import identity
from tests.nodes import HOST, PATIENCE_S, Host, channel_of, host, meet, until

pytestmark = pytest.mark.net

TEA, TEA_SECRET = channel_of("tea")
EVE = identity("eve").peer_id


@asynccontextmanager
async def session(to: Host, protocol: str, secret: bytes) -> AsyncIterator[SecureStream]:
    """Eve's connection for a session with `to`, with her proof of a channel sent."""
    stream = await SecureStream.dial(HOST, to.port, identity("eve"), draw_key)
    membership = Membership(stream.role, stream.handshake_hash, {TEA: secret})
    stream.send_batch([encode(Open(protocol, 0)), *map(encode, map(Proof, membership.opening()))])
    try:
        yield stream
    finally:
        stream.close()
        await stream.wait_closed()


@asynccontextmanager
async def full_disk(of: Host) -> AsyncIterator[None]:
    """While inside, the database of `of` may not grow: SQLite itself says that the disk is full."""

    def limit(db: sqlite3.Connection, pages: str) -> None:
        (now,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages or now}")

    await of.database.read(lambda db: limit(db, ""))
    yield
    await of.database.read(lambda db: limit(db, "1000000"))


@asynccontextmanager
async def link_of_eve(to: Host) -> AsyncIterator[SecureStream]:
    """Eve's link to `to`: she proves the channel, and says nothing else."""
    async with session(to, PROTOCOL, TEA_SECRET) as stream:
        yield stream


async def next_frame(stream: SecureStream) -> Frame:
    """The next frame on a stream; `EOFError` when there is none."""
    async with asyncio.timeout(PATIENCE_S):
        data = await stream.receive()
    if data is None:
        raise EOFError
    return decode(data)


def texts(count: int, size: int = 0, filler: str = ".") -> list[str]:
    return [f"line {number}".ljust(size, filler) for number in range(count)]


async def write_all(writer: Host, lines: list[str]) -> None:
    """Write many lines, a few hundred at a time, as a person's queue allows."""
    for start in range(0, len(lines), 500):
        await asyncio.gather(*(writer.write(TEA, line) for line in lines[start : start + 500]))


# --- Meeting -----------------------------------------------------------------------------------


async def test_two_people_see_each_other_by_name_and_read_each_other(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        await alice.write(TEA, "hello")
        await until(lambda: bob.texts() == ["hello"], "bob reads it")

        assert [shown.nick for shown in bob.shown(PeerShown)] == ["alice"]
        [seen] = alice.node.snapshot().peers
        assert (seen.peer, seen.nick, seen.state) == (bob.me, "bob", PeerState.UP)
        assert seen.address == f"{HOST}:{bob.port}"


async def test_who_leaves_is_shown_as_away_at_once(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice:
        async with host(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            before = alice.node.clock.now()
        await until(lambda: alice.states(bob) == [PeerState.UP, PeerState.DOWN], "bob is away")

        assert alice.node.clock.now() - before < DEAD_AFTER // 2


async def test_a_new_name_is_shown_once(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea", "plans") as alice,
        host(tmp_path, "bob", "tea", "plans") as bob,
    ):
        await meet(alice, bob)

        bob.node.mesh.rename("robert")
        await until(lambda: alice.shown(PeerShown)[-1].nick == "robert", "the new name")

        assert [shown.nick for shown in alice.shown(PeerShown)] == ["bob", "robert"]


async def test_nobody_is_in_a_channel_unseen(tmp_path: Path) -> None:
    async with host(tmp_path, "bob", "tea") as bob:
        async with link_of_eve(bob) as eve:
            await until(lambda: bob.node.mesh.shares(EVE), "eve shares the channel")
            assert bob.shown(PeerShown) == []
            bob.clock.forward(SILENT_MAX)
            await until(lambda: bob.shown(PeerShown), "eve is shown")
            eve.close()
        await until(lambda: len(bob.shown(PeerShown)) == 2, "eve is gone")

        shown, gone = bob.shown(PeerShown)
        assert (shown.peer, shown.nick) == (EVE, short_fingerprint(EVE))
        assert (gone.state, gone.nick) == (PeerState.DOWN, shown.nick)


async def test_without_the_code_nobody_can_read_join_or_probe_a_private_channel(
    tmp_path: Path,
) -> None:
    plans, _ = channel_of("plans")
    async with (
        host(tmp_path, "alice", "plans") as alice,
        host(tmp_path, "bob", "plans") as bob,
        host(tmp_path, "eve", "tea") as eve,
    ):
        await meet(alice, bob)
        for other in (alice, bob):
            await eve.node.mesh.connect(HOST, other.port)
        await alice.write(plans, "meet at noon")
        await until(lambda: bob.texts() == ["meet at noon"], "bob reads it")
        async with session(bob, RECONCILIATION, b"guess" * 8) as probing:
            with pytest.raises((RemoteError, EOFError)):
                await next_frame(probing)

        assert eve.texts() == []
        assert eve.shown(PeerShown) == []
        assert eve.node.snapshot().peers == ()
        assert alice.states(eve) == bob.states(eve) == []
        with pytest.raises(LocalError, match="/join"):
            await eve.write(plans, "let me in")


async def test_an_error_in_one_task_is_said_and_the_chat_goes_on(tmp_path: Path) -> None:
    async def broken() -> None:
        raise ZeroDivisionError("nobody thought of this")

    async with host(tmp_path, "alice", "tea") as alice:
        alice.node._spawn("a connection", broken())
        await until(lambda: "nobody thought of this" in alice.notices(), "the error is said")

        await alice.write(TEA, "goes on")
        assert alice.texts() == ["goes on"]


async def test_who_leaves_leaves_no_task_and_no_socket_behind(tmp_path: Path) -> None:
    def descriptors() -> list[str]:
        links = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.exists()]
        return [link for link in links if link.startswith("socket:")]

    tasks, sockets = asyncio.all_tasks(), descriptors()
    options = Options(interface=HOST)
    async with (
        host(tmp_path, "alice", "tea", options=options) as alice,
        host(tmp_path, "bob", "tea", options=options) as bob,
    ):
        await until(lambda: alice.is_up(bob) and bob.is_up(alice), "found by mDNS")
        first = len(descriptors())
        for jumps in range(1, 4):
            alice.clock.forward(MINUTE)
            await until(
                lambda: alice.notices().count("jumped") == jumps,  # noqa: B023
                "the jump is said",
            )
        await alice.write(TEA, "all here?")
        await until(lambda: "all here?" in bob.texts(), "bob reads it")
        await until(lambda: len(descriptors()) <= first, "what was opened anew is closed")

    assert asyncio.all_tasks() == tasks
    assert descriptors() == sockets


# --- Clocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("slept", [True, False], ids=["slept", "was set"])
async def test_after_a_jump_of_the_clock_everybody_is_dialled_anew(
    tmp_path: Path, slept: bool
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        before = alice.node.mesh.link_to(bob.me)

        if slept:
            alice.clock.forward(MINUTE)
        else:
            alice.clock.set_wall(-MINUTE)
        await until(lambda: "jumped by 6" in alice.notices(), "the jump is said")
        await until(
            lambda: alice.is_up(bob) and alice.node.mesh.link_to(bob.me) not in (None, before),
            "dialled anew",
        )
        await alice.write(TEA, "back")
        await until(lambda: "back" in bob.texts(), "bob reads it")

        assert alice.notices().count("jumped") == 1


async def test_after_a_jump_the_announcement_is_made_again(tmp_path: Path) -> None:
    found: list[int] = []
    tasks: set[asyncio.Task[None]] = set()

    def spawn(name: str, work: Coroutine[Any, Any, None]) -> object:
        tasks.add(asyncio.create_task(work, name=name))
        return None

    listening = Discovery(draw(8).hex(), lambda _, __, port: found.append(port), spawn)
    options = Options(interface=HOST)
    async with host(tmp_path, "alice", options=options) as alice:
        await listening.start([HOST], 1)
        resolving = asyncio.create_task(listening.resolve_forever())
        try:
            await until(lambda: alice.port in found, "the first announcement")
            found.clear()

            alice.clock.forward(MINUTE)

            await until(lambda: alice.port in found, "another announcement")
        finally:
            resolving.cancel()
            await listening.stop()
            await asyncio.gather(resolving, *tasks, return_exceptions=True)


async def test_messages_are_stamped_with_the_median_of_all_clocks(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
        host(tmp_path, "carol", "tea") as carol,
    ):
        bob.clock.set_wall(2 * MINUTE)
        carol.clock.set_wall(MINUTE)
        for other in (bob, carol):
            await until(lambda: "jumped" in other.notices(), "the clock is set")  # noqa: B023
        await meet(alice, bob, carol)
        await until(lambda: abs(alice.node._offset - MINUTE) < SECOND, "the median is taken up")
        await alice.write(TEA, "what time is it?")
        stamp = alice.shown(MessageShown)[-1].line.created_ns

        assert abs(stamp - alice.clock.wall() - MINUTE) < SECOND


# --- Disks -------------------------------------------------------------------------------------


async def test_what_a_full_disk_refuses_is_said_to_its_writer_and_did_not_happen(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        async with full_disk(alice):
            with pytest.raises(StorageError, match="free some space"):
                await alice.write(TEA, "x" * 15_000)
        first = await alice.write(TEA, "after that")
        await until(bob.texts, "bob reads the next line")

        assert "free some space" in alice.notices()
        assert alice.texts() == ["after that"]
        assert bob.texts() == ["after that"]
        assert [event.line.message_id for event in bob.shown(MessageShown)] == [first]


async def test_who_cannot_store_keeps_its_links_and_catches_up_later(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        lines = texts(40, 3_000)
        async with full_disk(bob):
            await write_all(alice, lines)
            await until(lambda: "free some space" in bob.notices(), "bob's disk is full")
            stored = await bob.database.read(
                lambda db: int(db.execute("SELECT count(*) FROM messages").fetchone()[0])
            )

            assert len(bob.texts()) == stored < len(lines)
        await until(lambda: sorted(bob.texts()) == sorted(lines), "bob catches up")

        assert bob.states(alice) == alice.states(bob) == [PeerState.UP]


# --- Sessions ----------------------------------------------------------------------------------


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
            await until(bob.texts, "the transfer runs")
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
