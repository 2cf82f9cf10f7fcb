"""Whole nodes on 127.0.0.1 with real disks: what people see when things go wrong."""

import asyncio
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from zeroconf import ServiceInfo

from chat_tui.debug.state_sections import refusals
from sync.entries.identity import short_fingerprint
from sync.errors import LocalError, RemoteError
from sync.machine import HOUR, MINUTE, SECOND, MessageId, Nanos
from sync.net.clock import draw
from sync.net.discovery.mdns import SERVICE, TXT_VERSION, Discovery
from sync.net.links.link import PROTOCOL
from sync.net.links.mesh import DEAD_AFTER
from sync.net.links.stream import SecureStream
from sync.net.options import Options
from sync.net.peer_directory import SILENT_MAX
from sync.net.periodic import in_words
from sync.sds.message import Message
from sync.sds.wire import encode
from sync.view.view import Level, MessageShown, Notice, PeerShown, PeerState, TypingShown
from sync.waku.message import RECONCILIATION
from tests.support.sync.entries import identity
from tests.support.sync.nodes import (
    HOST,
    TEA,
    TEA_SECRET,
    Host,
    channel_of,
    host,
    meet,
    next_frame,
    session,
    until,
)

pytestmark = pytest.mark.net

EVE = identity("eve").peer_id


@asynccontextmanager
async def link_of_eve(to: Host) -> AsyncIterator[SecureStream]:
    """Eve's link to `to`: she proves the channel, and says nothing else."""
    async with session(to, PROTOCOL, TEA_SECRET) as stream:
        yield stream


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

        bob.node.mesh.channels.rename("robert")
        await until(lambda: alice.shown(PeerShown)[-1].nick == "robert", "the new name")

        assert [shown.nick for shown in alice.shown(PeerShown)] == ["bob", "robert"]


async def test_frames_of_a_later_version_count_as_bad_input_with_their_bytes(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        link = bob.node.mesh.peers.link_to(alice.me)
        assert link is not None
        link.queue(b"\x7a\x08a frame?")
        link.flush()
        await bob.write(TEA, "and a line")
        await until(lambda: alice.texts() == ["and a line"], "what comes after it")

        snapshot = alice.node.snapshot()
        assert snapshot.refused == {bob.me: 1}
        assert snapshot.skipped_bytes == {bob.me: 10}
        assert "bob: 1, 10 B of unknown kinds" in refusals(snapshot)[0].rows[0].text


async def test_an_ephemeral_message_that_says_nothing_we_know_is_counted_and_no_more(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        nonsense = Message(bob.me, MessageId("e" * 64), TEA, None, (), content=b"bob is typing")
        bob.node.mesh.broadcast(TEA, encode(nonsense))
        bob.node.mesh.flush()
        await until(lambda: alice.node.snapshot().refused, "it is refused")
        bob.node.tell_typing(TEA)
        await until(lambda: alice.shown(TypingShown), "what makes sense is shown")

        assert alice.node.snapshot().refused == {bob.me: 1}
        assert alice.shown(TypingShown) == [TypingShown(TEA, bob.me, "bob", typing=True)]
        assert alice.is_up(bob)


async def test_nobody_is_in_a_channel_unseen(tmp_path: Path) -> None:
    async with host(tmp_path, "bob", "tea") as bob:
        async with link_of_eve(bob) as eve:
            await until(lambda: bob.node.mesh.peers.shares(EVE), "eve shares the channel")
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
        alice.node.spawn("a connection", broken())
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
        for jumps in range(1, 4):
            alice.clock.forward(MINUTE)
            await until(
                lambda: alice.notices().count("jumped") == jumps,  # noqa: B023
                "the jump is said",
            )
        await alice.write(TEA, "all here?")
        await until(lambda: "all here?" in bob.texts(), "bob reads it")

    assert asyncio.all_tasks() == tasks
    assert descriptors() == sockets


# --- Clocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jump", "said"),
    [
        (61 * SECOND, "61 s"),
        (12 * MINUTE, "12 minutes"),
        (12 * HOUR + 21 * MINUTE, "12 hours"),
        (50 * HOUR, "2 days"),
    ],
)
def test_a_jump_of_the_clock_is_told_in_a_unit_that_can_be_read(jump: Nanos, said: str) -> None:
    assert in_words(jump) == said


@pytest.mark.parametrize("slept", [True, False], ids=["slept", "was set"])
async def test_after_a_jump_of_the_clock_everybody_is_dialled_anew(
    tmp_path: Path, slept: bool
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        peers = alice.node.mesh.peers
        before = peers.link_to(bob.me)

        if slept:
            alice.clock.forward(MINUTE)
        else:
            alice.clock.set_wall(-MINUTE)
        await until(lambda: "jumped by 6" in alice.notices(), "the jump is said")
        await until(
            lambda: alice.is_up(bob) and peers.link_to(bob.me) not in (None, before),
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

    listening = Discovery(draw(8).hex(), lambda _, __, port, ___: found.append(port), spawn)
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


async def test_of_what_is_announced_only_addresses_of_our_own_networks_are_dialled() -> None:
    found: list[str] = []
    tasks: set[asyncio.Task[None]] = set()

    def spawn(name: str, work: Coroutine[Any, Any, None]) -> object:
        tasks.add(asyncio.create_task(work, name=name))
        return None

    listening = Discovery(draw(8).hex(), lambda _, address, *__: found.append(address), spawn)
    await listening.start([HOST], 1)
    try:
        for forged in (["10.9.9.9", "127.0.0.5"], ["192.0.2.1", "224.0.0.1", "0.0.0.0"]):
            name = f"{draw(8).hex()}.{SERVICE}"
            info = ServiceInfo(
                SERVICE, name, port=46021, properties={b"v": TXT_VERSION}, parsed_addresses=forged
            )
            listening._report(name.removesuffix(f".{SERVICE}"), info)
    finally:
        await listening.stop()
        await asyncio.gather(*tasks, return_exceptions=True)

    assert found == ["127.0.0.5"]


async def test_messages_are_stamped_with_the_median_of_clocks_that_are_near(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
        host(tmp_path, "carol", "tea") as carol,
    ):
        for each in (alice, bob, carol):
            each.node.mesh.peers.met = {one.me for one in (alice, bob, carol)}
        bob.clock.set_wall(2 * MINUTE)
        carol.clock.set_wall(MINUTE)
        for other in (bob, carol):
            await until(lambda: "jumped" in other.notices(), "the clock is set")  # noqa: B023
        await meet(alice, bob, carol)
        await until(
            lambda: abs(alice.node.snapshot().clock.moved_ns - MINUTE) < SECOND,
            "the median is taken up",
        )
        before = alice.clock.wall()
        await alice.write(TEA, "what time is it?")
        stamp = alice.shown(MessageShown)[-1].line.created_ns

        assert before - SECOND < stamp - MINUTE < alice.clock.wall() + SECOND


async def test_a_profile_that_is_open_twice_is_told_so_once(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    async with host(tmp_path, "alice", "lobby") as alice, host(tmp_path / "copy", "alice") as copy:
        for _ in range(2):
            alice.node._inlet.twin(HOST, copy.port)
        alice.node.mesh.addresses.announce(HOST, copy.port, alice.node.clock.now())
        [found] = alice.node.mesh.addresses.known.values()
        await until(lambda: found.ourselves, "it was dialled")

        [notice] = [one for one in alice.shown(Notice) if "open twice" in one.text]
        assert f"{HOST}:{copy.port}" in notice.text
        assert notice.level is Level.ERROR


async def test_whoever_is_announced_and_takes_no_connection_is_named_while_nobody_is_here(
    tmp_path: Path,
) -> None:
    with socket.create_server((HOST, 0)) as server:
        _, closed = server.getsockname()
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        alice.node.mesh.addresses.announce(HOST, closed, alice.node.clock.now())
        words = f"{HOST}:{closed} was announced, and takes no connection: /doctor looks why."
        await until(lambda: alice.node.snapshot().network == words, "it is told")
        await meet(alice, bob)

        assert "connection" not in alice.node.snapshot().network
