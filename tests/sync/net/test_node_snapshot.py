"""Real nodes: a newcomer takes over a history by snapshot, and shows it while it comes."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Final

import pytest

from sync.calimero.state.contents import StateKind, Topic
from sync.group.values import StoredMessage
from sync.machine import HOUR, ChannelId, MessageId
from sync.manager.registry import WITH_CALIMERO, WITH_P2PANDA
from sync.runner.journal import Swap
from sync.sessions.sync_config import CONFIG
from sync.view.view import HistoryShown, Line, MessageShown, PreviewShown, SyncShown
from tests.support.storage.archives import histories, in_causal_order
from tests.support.sync.meetings.stocks import NAME, TEA, stock
from tests.support.sync.nodes import Host, host, meet, until

pytestmark = pytest.mark.net

SOME: Final = 200
"""Messages that are staged: of several pages, the first of which are small."""

PAGE: Final = CONFIG.snapshot_chunk_size
"""Bytes of records in a page, at most."""


async def history(tmp_path: Path, logs: int, entries: int) -> list[StoredMessage]:
    """Messages of some authors, written up to two hours ago."""
    async with host(tmp_path, "clock") as member:
        ended = member.node.clock.now() - 2 * HOUR
    return in_causal_order(histories(logs, entries, ended, TEA))


def held(member: Host, channel: ChannelId = TEA) -> int:
    return len(member.node._runner.groups[channel].sds.log.order)


def root(member: Host) -> bytes:
    return member.node._runner.groups[TEA].holdings.frozen()[1].digest.root


def staged(member: Host) -> int:
    """Messages in pages of a snapshot that are on a member's disk, and not history yet."""
    found = member.node._runner.groups[TEA].snapshots.staged
    return 0 if found is None else found.count


def size(entries: Sequence[StoredMessage]) -> int:
    return sum(len(one.entry.content) for one in entries)


def snapshots(member: Host) -> list[SyncShown]:
    return [one for one in member.shown(SyncShown) if one.protocol == "snapshot"]


class SlowSwap:
    """A swap on a disk that takes its time, until it is free."""

    def __init__(self, swap: Swap, free: asyncio.Event) -> None:
        self._swap, self._free = swap, free

    async def go_on(self, is_awaited: Callable[[], bool]) -> bool:
        await self._free.wait()
        return await self._swap.go_on(is_awaited)


async def test_a_newcomer_shows_the_newest_lines_and_the_topic_before_the_rest_is_there(
    tmp_path: Path,
) -> None:
    everything = await history(tmp_path, 5, 200)
    await stock(tmp_path, "alice", everything)
    async with (
        host(tmp_path, "alice", NAME, protocols=WITH_CALIMERO) as alice,
        host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob,
    ):
        await alice.node.set_state(TEA, StateKind.TOPIC, Topic("tea at four"))
        journal, free = bob.node._journal, asyncio.Event()
        swap = journal.swap
        journal.swap = lambda *what: SlowSwap(swap(*what), free)  # type: ignore[method-assign]
        newest = everything[-1].entry.message_id
        await meet(alice, bob)
        await until(lambda: newest in previewed(bob), "bob shows what is staged")
        assert not bob.shown(HistoryShown)
        free.set()
        await until(lambda: held(bob) == len(everything), "bob has all")
        await until(lambda: bob.shown(HistoryShown), "bob is told")

        [session] = snapshots(bob)
        assert session.result == "1,000 messages"
        assert first_page(bob)[-1].message_id == newest
        assert bob.shown(MessageShown)[-1].line.message_id == newest
        [channel] = bob.node.snapshot().channels
        assert channel.state.topic is not None
        assert channel.state.topic.text == "tea at four"
        assert root(alice) == root(bob)


def previewed(newcomer: Host) -> set[MessageId]:
    return {one.line.message_id for one in newcomer.shown(PreviewShown)}


def first_page(newcomer: Host) -> list[Line]:
    """The lines shown first of what is staged, the oldest of the page first."""
    lines = [one.line for one in newcomer.shown(PreviewShown)]
    rising = takewhile(lambda two: place(two[0]) < place(two[1]), pairwise(lines))
    return [lines[0], *[later for _, later in rising]]


def place(line: Line) -> tuple[int, MessageId]:
    return line.lamport, line.message_id


@pytest.mark.slow
async def test_a_newcomer_that_is_stopped_goes_on_where_it_was_and_shows_what_it_has(
    tmp_path: Path,
) -> None:
    everything = await history(tmp_path, 5, 800)
    await stock(tmp_path, "alice", everything)
    async with host(tmp_path, "alice", NAME, protocols=WITH_CALIMERO) as alice:
        async with host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob:
            await meet(alice, bob)
            await until(lambda: staged(bob) >= SOME, "some pages are staged")
            assert held(bob) == 0, "what is staged counts nowhere"
        async with host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob:
            before = staged(bob)
            newest = everything[-1].entry.message_id
            await until(lambda: newest in previewed(bob), "it shows what it has, alone")
            assert first_page(bob)[-1].message_id == newest
            await until(lambda: len(previewed(bob)) > SOME // 2, "and of all pages")
            await meet(alice, bob)
            await until(lambda: held(bob) == len(everything), "bob has all")
            sent = sum(one.bytes_in for one in snapshots(bob))
            assert root(alice) == root(bob)
    assert before >= SOME
    assert sent < size(everything[:-before]) + PAGE, "no page came twice"


@pytest.mark.slow
async def test_where_a_source_dies_another_one_goes_on(tmp_path: Path) -> None:
    everything = await history(tmp_path, 5, 800)
    await stock(tmp_path, "alice", everything)
    await stock(tmp_path, "carol", everything)
    async with (
        host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob,
        host(tmp_path, "carol", NAME, protocols=WITH_CALIMERO) as carol,
    ):
        async with host(tmp_path, "alice", NAME, protocols=WITH_CALIMERO) as alice:
            await meet(alice, bob)
            await until(lambda: staged(bob) >= SOME, "some pages are staged")
        before = staged(bob)
        await meet(carol, bob)
        await until(lambda: held(bob) == len(everything), "bob has all")
        [last] = [one for one in snapshots(bob) if one.peer == carol.me]
        assert root(carol) == root(bob)
        assert last.bytes_in < size(everything[:-before]) + PAGE, (
            "carol began where alice had ended"
        )


@pytest.mark.slow
async def test_what_is_written_meanwhile_is_there_afterwards(tmp_path: Path) -> None:
    everything = await history(tmp_path, 5, 800)
    await stock(tmp_path, "alice", everything)
    async with (
        host(tmp_path, "alice", NAME, protocols=WITH_CALIMERO) as alice,
        host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob,
    ):
        await meet(alice, bob)
        await until(lambda: staged(bob) >= 1, "a page is staged")
        theirs = await alice.write(TEA, "from alice, meanwhile")
        ours = await bob.write(TEA, "from bob, meanwhile")
        count = len(everything) + 2
        await until(lambda: held(bob) == held(alice) == count, "both have all")

        order = bob.node._runner.groups[TEA].sds.log.order
        assert theirs in order
        assert ours in order
        assert root(alice) == root(bob)
        await until(lambda: "from alice, meanwhile" in bob.texts(), "bob shows it")


async def test_from_a_program_of_before_a_newcomer_gets_all_as_ever(tmp_path: Path) -> None:
    everything = await history(tmp_path, 5, 40)
    await stock(tmp_path, "alice", everything)
    async with (
        host(tmp_path, "alice", NAME, protocols=WITH_P2PANDA) as alice,
        host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob,
    ):
        await meet(alice, bob)
        await until(lambda: held(bob) == len(everything), "bob has all")
        assert not snapshots(bob)
        assert staged(bob) == 0


@pytest.mark.slow
async def test_who_has_a_history_takes_no_snapshot(tmp_path: Path) -> None:
    everything = await history(tmp_path, 5, 40)
    await stock(tmp_path, "alice", everything)
    await stock(tmp_path, "bob", everything[:30])
    async with (
        host(tmp_path, "alice", NAME, protocols=WITH_CALIMERO) as alice,
        host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob,
    ):
        await meet(alice, bob)
        await until(lambda: held(bob) == len(everything), "bob has all")
        bob.node.ask_sync(TEA, alice.me, "snapshot")
        await until(lambda: snapshots(bob) or alice.shown(SyncShown), "it was tried")
        assert staged(bob) == 0
        assert len(bob.shown(HistoryShown)) == 0
