"""Whole nodes on 127.0.0.1 whose disks refuse: nobody loses anything, and all see what is true."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from sync.errors import StorageError
from sync.manager.registry import WITH_STATE
from sync.net.refusals import Refusals
from sync.view.view import MessageShown, PeerState
from tests.support.sync.nodes import TEA, Host, host, meet, texts, until, write_all

pytestmark = pytest.mark.net

older = partial(host, protocols=WITH_STATE)
"""Node that begins without a handshake: what it lacks comes by Waku Sync, pushed."""


@asynccontextmanager
async def full_disk(of: Host) -> AsyncIterator[None]:
    """While inside, the database of `of` may not grow: SQLite itself says that the disk is full."""

    def limit(db: sqlite3.Connection, pages: str) -> None:
        (now,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages or now}")

    await of.database.read(lambda db: limit(db, ""))
    yield
    await of.database.read(lambda db: limit(db, "1000000"))


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


async def test_who_cannot_store_keeps_its_links_and_catches_up_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sync.runner.input_queue.CROWDED", 4)
    monkeypatch.setattr(
        "sync.runner.input_queue.QUEUE_MAX", 60
    )  # so that what piles up breaks a link
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        lines = texts(100, 3_000)
        async with full_disk(bob):
            for line in lines:
                await alice.write(TEA, line)
            await until(lambda: "free some space" in bob.notices(), "bob's disk is full")
            stored = await bob.database.read(
                lambda db: int(db.execute("SELECT count(*) FROM messages").fetchone()[0])
            )

            assert len(bob.texts()) == stored < len(lines)
        await until(lambda: sorted(bob.texts()) == sorted(lines), "bob catches up")

        assert bob.states(alice) == alice.states(bob) == [PeerState.UP]


async def test_whose_disk_refuses_still_sees_what_there_is_and_who_is_here(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        await alice.write(TEA, "before")
        await until(bob.texts, "bob reads it")
        groups = alice.node._runner.groups
        before = groups[TEA]
        async with full_disk(alice):
            with pytest.raises(StorageError, match="free some space"):
                await alice.write(TEA, "x" * 15_000)
            await until(lambda: groups[TEA] is not before, "her machines are made anew")
            info = alice.node.channel_info(TEA)

            assert info is not None
            assert (info.messages, info.peers) == (1, (bob.me,))
        await alice.write(TEA, "after")
        await until(lambda: bob.texts() == ["before", "after"], "bob reads that, too")


async def test_nobody_is_blamed_for_a_transfer_that_a_full_disk_broke_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, reasons = texts(3_000), list[str]()
    refused = Refusals.refused

    def noted(refusals: Refusals, who: str, reason: str) -> None:
        reasons.append(reason)
        refused(refusals, who, reason)

    monkeypatch.setattr(Refusals, "refused", noted)
    async with older(tmp_path, "alice", "tea") as alice:
        await write_all(alice, lines)
        async with older(tmp_path, "bob", "tea") as bob:
            await meet(alice, bob)
            await until(bob.texts, "bob has some")
            async with full_disk(bob):
                await until(lambda: "free some space" in bob.notices(), "his disk is full")
            assert len(bob.texts()) < len(lines)
            await until(lambda: len(bob.texts()) == len(lines), "bob has everything")

            assert not [one for one in reasons if "went on after" in one or "ended early" in one]
