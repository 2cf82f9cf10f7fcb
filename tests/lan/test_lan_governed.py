"""Governed channels between real programs: removals during a cut, old codes, joins, power cuts."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from sync.calimero.governance.ops import Join, Op, Remove, SetPolicy
from sync.calimero.governance.wire import decode
from tests.lan.governed import WITHIN_S, code_of, do, entered, founded, reads
from tests.lan.lab import Lab
from tests.lan.people import person_on
from tests.support.processes import PlainProcess, everyone_sees_everyone

pytestmark = [pytest.mark.lan, pytest.mark.slow]


def database(process: PlainProcess) -> Path:
    return process.person.data_dir / process.person.name / "chat.db"


def contents(process: PlainProcess) -> list[bytes]:
    """Return the signed ops on somebody's disk, in the order in which they came."""
    db = sqlite3.connect(f"file:{database(process)}?mode=ro", uri=True)
    try:
        rows = db.execute("SELECT content FROM group_ops ORDER BY number").fetchall()
    finally:
        db.close()
    return [content for (content,) in rows]


def ops(process: PlainProcess) -> list[Op]:
    """Return what was done by these ops."""
    return [decode(content).signed.op for content in contents(process)]


def texts(process: PlainProcess) -> set[str]:
    return {str(message["text"]) for message in process.messages.values()}


async def knows_removal(process: PlainProcess) -> None:
    """Wait until somebody's disk has a removal."""
    async with asyncio.timeout(WITHIN_S):
        while not any(isinstance(op, Remove) for op in ops(process)):
            await do(process, "/members")


async def test_who_is_removed_during_a_cut_is_told_and_learns_nothing_after_it(
    lab: Lab, tmp_path: Path
) -> None:
    frames = tmp_path / "frames.jsonl"
    async with (
        PlainProcess(person_on(lab, tmp_path, 1)) as alice,
        PlainProcess(person_on(lab, tmp_path, 2)) as bob,
        PlainProcess(person_on(lab, tmp_path, 3)) as mallory,
        PlainProcess(person_on(lab, tmp_path, 4)) as newcomer,
    ):
        await everyone_sees_everyone([alice, bob, mallory, newcomer])
        code = await founded(alice)
        await entered(bob, code, alice)
        await entered(mallory, code, alice, bob)
        await do(mallory, f"/wire record {frames}")

        lab.partition([1, 2, 4], [3])
        await alice.until(
            lambda: mallory.participant not in alice.peers_up, "cut", within_s=WITHIN_S
        )
        await do(alice, "/kick host3 spam")
        await alice.say("a-word-after-the-removal")
        await reads(bob, "a-word-after-the-removal")
        await entered(newcomer, code_of(await do(alice, "/invite")), alice, bob)
        recorded = len(frames.read_text().splitlines())
        lab.merge()

        await mallory.until(
            lambda: {alice.participant, bob.participant} <= mallory.peers_up,
            "together again",
            within_s=WITHIN_S,
        )
        await knows_removal(mallory)
        await alice.say("another-word")
        await reads(bob, "another-word")
        refused = await mallory.ask("/add host4")
        await do(mallory, "/wire stop")

        assert not refused["ok"]
        assert isinstance(ops(mallory)[-1], Remove)
        assert sum(isinstance(op, Join) for op in ops(alice)) == 3
        assert sum(isinstance(op, Join) for op in ops(mallory)) == 2
        assert bytes.fromhex(newcomer.participant) not in b"".join(contents(mallory))
        assert texts(mallory).isdisjoint({"a-word-after-the-removal", "another-word"})
        after = [json.loads(line) for line in frames.read_text().splitlines()[recorded:]]
        came = b"".join(
            bytes.fromhex(frame["hex"])
            for frame in after
            if frame["way"] == "in" and frame["channel"] != mallory.channel
        )
        assert came, "the removal came"
        for secret in (b"after-the-removal", b"another-word", b"host4"):
            assert secret not in came
        assert bytes.fromhex(newcomer.participant) not in came


async def test_a_sybil_with_an_old_code_gets_a_bare_notice_and_no_op(
    lab: Lab, tmp_path: Path
) -> None:
    async with (
        PlainProcess(person_on(lab, tmp_path, 1)) as alice,
        PlainProcess(person_on(lab, tmp_path, 5)) as sybil,
    ):
        await everyone_sees_everyone([alice, sybil])
        code = await founded(alice)
        await do(alice, "/invite end")
        since = sybil.mark()
        await do(sybil, code)

        await sybil.wait_for(
            lambda event: "no longer valid" in str(event.get("message", "")),
            since=since,
            within_s=WITHIN_S,
        )
        await alice.say("nothing for you")

        assert ops(sybil) == []
        assert "nothing for you" not in texts(sybil)


async def test_a_newcomer_is_let_in_while_the_inviter_is_away(lab: Lab, tmp_path: Path) -> None:
    async with PlainProcess(person_on(lab, tmp_path, 2)) as bob:
        async with PlainProcess(person_on(lab, tmp_path, 1)) as alice:
            await everyone_sees_everyone([alice, bob])
            code = await founded(alice)
            await entered(bob, code, alice)
            given = code_of(await do(alice, "/invite"))
            async with asyncio.timeout(WITHIN_S):
                while len(ops(bob)) < len(ops(alice)):
                    await do(bob, "/members")
            await alice.close()
        async with PlainProcess(person_on(lab, tmp_path, 3)) as carol:
            await everyone_sees_everyone([bob, carol])
            await entered(carol, given, bob)

            assert any(isinstance(op, Join) for op in ops(bob)[-1:])


@pytest.mark.parametrize("kills", [12, pytest.param(50, marks=pytest.mark.grid)])
async def test_an_act_told_as_done_survives_kill_9_at_any_moment(
    lab: Lab, tmp_path: Path, kills: int
) -> None:
    """An op is on the disk before anybody hears of it: the person, or another program."""
    alice = person_on(lab, tmp_path, 1)
    async with PlainProcess(person_on(lab, tmp_path, 2)) as bob:
        async with PlainProcess(alice) as first:
            await everyone_sees_everyone([first, bob])
            await entered(bob, await founded(first), first)
            await first.close()
        done = 0
        for number in range(kills):
            async with PlainProcess(alice, "--channel", "plans") as again:
                who = "admins" if number % 2 == 0 else "members"
                await again.send(f"/policy pins {who}", f"/policy invite {who}")
                await asyncio.wait_for(_any_of(again, number), WITHIN_S)
                await again.kill()
                done += len([one for one in again.events("result") if one["ok"]])
                assert set(contents(bob)) <= set(contents(again))
                assert sum(isinstance(op, SetPolicy) for op in ops(again)) >= done
        async with PlainProcess(alice, "--channel", "plans") as last:
            async with asyncio.timeout(WITHIN_S):
                while len(ops(bob)) < len(ops(last)):
                    await do(bob, "/members")
            assert set(contents(bob)) == set(contents(last))
    assert done > 0


async def _any_of(process: PlainProcess, number: int) -> None:
    """Wait for a moment that is another one each time: for so many further events."""
    since = process.mark()
    await process.until(lambda: len(process.seen) > since + number % 3, "an answer")
