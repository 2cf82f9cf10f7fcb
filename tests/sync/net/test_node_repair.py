"""SDS-R and wrong clocks between real nodes with real disks, on 127.0.0.1."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sync.entries.entry import Kind
from sync.group.clock_policy import Policy
from sync.group.records import StoredMessage
from sync.machine import DAY, MINUTE, SECOND, MessageId
from sync.sds.message import Kind as SdsKind
from sync.view.view import (
    FoundShown,
    MessageShown,
    MissingShown,
    PreviewShown,
    ReplacedShown,
    WithdrawnShown,
)
from tests.support.sync.entries import Author
from tests.support.sync.eve import Eve, joined
from tests.support.sync.nodes import TEA, Host, host, meet, stations, until

pytestmark = pytest.mark.net


async def test_an_answer_comes_from_the_whole_history_on_the_disk(tmp_path: Path) -> None:
    eve = Eve()
    async with host(tmp_path, "alice", "tea") as alice, stations(eve):
        first = await alice.write(TEA, "the first line")
        for number in range(50):
            await alice.write(TEA, f"line {number}")
        await joined(eve, alice)

        eve.ask_for(first, alice)
        await until(lambda: first in [one.message_id for one in eve.heard()], "the answer")

        [answer] = [one for one in eve.heard() if one.message_id == first]
        assert (answer.bloom_filter, answer.repair_request) == (None, ())
        assert answer.sender_id == alice.me


async def test_what_is_missing_is_asked_for_and_shown_in_its_place(tmp_path: Path) -> None:
    eve = Eve()
    lost, later = _two_lines(eve.author)
    async with host(tmp_path, "alice", "tea") as alice, stations(eve):
        await joined(eve, alice)
        eve.say(later.payload)
        await until(lambda: alice.shown(MissingShown), "alice misses the first line")
        alice.clock.forward(6 * SECOND)
        await until(lambda: _requests(eve), "alice asks for it")
        eve.say(lost.payload)
        await until(lambda: len(alice.texts()) == 2, "both are shown")

        assert _requests(eve) == {lost.entry.message_id}
        assert alice.texts() == ["lost on the way", "builds on it"]
        assert [event.lost for event in alice.shown(FoundShown)] == [False]


@asynccontextmanager
async def unreadable_disk(of: Host) -> AsyncIterator[None]:
    """While inside, SQLite refuses to read the bytes of any message; what comes is still stored."""

    def refuse(action: int, table: str | None, column: str | None, *_: str | None) -> int:
        read = (action, table, column) == (sqlite3.SQLITE_READ, "messages", "payload")
        return sqlite3.SQLITE_DENY if read else sqlite3.SQLITE_OK

    await of.database.read(lambda db: db.set_authorizer(refuse))
    yield
    await of.database.read(lambda db: db.set_authorizer(None))


async def test_what_is_committed_is_shown_however_long_the_disk_cannot_be_read(
    tmp_path: Path,
) -> None:
    eve = Eve()
    lost = eve.author.write("lost on the way")
    later = Author("dan", TEA).write("builds on it", after=[lost])
    async with host(tmp_path, "alice", "tea") as alice, stations(eve):
        await joined(eve, alice)
        eve.say(later.payload)
        await until(lambda: alice.shown(MissingShown), "alice misses the first line")
        async with unreadable_disk(alice):
            eve.say(lost.payload)
            await until(alice.notices, "the disk refuses to give what waited")
            assert alice.texts() == []
        await until(lambda: len(alice.texts()) == 2, "both are shown")

        assert alice.texts() == ["lost on the way", "builds on it"]


async def test_a_wish_asks_at_once_and_again_when_answers_had_their_time(tmp_path: Path) -> None:
    eve = Eve()
    lost, later = _two_lines(eve.author)
    async with host(tmp_path, "alice", "tea") as alice, stations(eve):
        await joined(eve, alice)
        eve.say(later.payload)
        await until(lambda: alice.shown(MissingShown), "alice misses the first line")
        alice.node.ask_again(TEA, (lost.entry.message_id,))
        await until(lambda: _requests(eve), "alice asks for it before its time")
        [info] = alice.node.snapshot().channels
        assert info.repair is not None
        [request] = info.repair.requests
        alice.clock.forward(6 * SECOND)  # T_max: its answers had their time
        eve.frames.clear()
        await alice.node.ask_before(TEA, later.entry.message_id)
        await until(lambda: _requests(eve), "alice asks for what the other one builds on")
        eve.say(lost.payload)
        await until(lambda: len(alice.texts()) == 2, "both are shown")

        assert request.asked_at is not None
        assert request.asked_at + 6 * SECOND < request.t_req, "it would be asked for much later"
        assert alice.texts() == ["lost on the way", "builds on it"]


async def test_what_was_written_with_a_clock_a_day_ahead_is_set_aside_and_can_be_sent_anew(
    tmp_path: Path,
) -> None:
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
        host(tmp_path, "carol", "tea") as carol,
    ):
        for each in (alice, bob, carol):
            each.node.mesh.peers.met = {one.me for one in (alice, bob, carol)}
            each.node.clocks.policy = Policy.ASK
        alice.clock.set_wall(DAY)
        await until(lambda: "jumped" in alice.notices(), "alice's clock is wrong")
        early = await alice.write(TEA, "hello from tomorrow")
        await meet(alice, bob, carol)
        await until(lambda: alice.node.snapshot().clock.question, "alice is asked")
        waiting = await alice.write(TEA, "is anybody there?")
        question = alice.node.snapshot().clock.question
        assert question is not None
        assert sorted(voter.nick for voter in question.voters) == ["bob", "carol"]
        assert abs(question.ahead_ns + DAY) < MINUTE
        assert question.sets_aside == 1, "what waits is written anew"
        [shown] = alice.shown(PreviewShown)
        assert (shown.line.message_id, shown.line.waits) == (waiting, True)

        alice.node.answer_clock(follow=True)
        await until(lambda: alice.shown(WithdrawnShown), "alice is told")
        assert alice.shown(WithdrawnShown) == [WithdrawnShown(TEA, (early,))]
        assert "/resend" in alice.notices()

        await until(lambda: alice.node.writing.is_set_aside(TEA, early), "alice began anew")
        anew = await alice.node.writing.write_anew(TEA, early)
        await until(lambda: len(bob.texts()) == len(carol.texts()) == 2, "the others read both")

        assert bob.texts() == carol.texts() == ["is anybody there?", "hello from tomorrow"]
        assert [(one.message_id, one.by) for one in alice.shown(ReplacedShown)][1] == (early, anew)
        line = alice.shown(MessageShown)[-1].line
        assert line.message_id == anew
        assert bob.shown(MessageShown)[-1].line.replaces == early
        assert abs(line.created_ns - bob.clock.wall()) < MINUTE


def _two_lines(author: Author) -> tuple[StoredMessage, StoredMessage]:
    lost = author.write("lost on the way", kind=Kind.TEXT)
    return lost, author.write("builds on it", after=[lost])


def _requests(eve: Eve) -> set[MessageId]:
    """Return the ids requested from eve in sync messages."""
    return {
        entry.message_id
        for message in eve.heard()
        for entry in message.repair_request
        if message.kind is SdsKind.SYNC
    }
