"""Disks that rot under real programs: nobody sees, or is given, what somebody else never wrote."""

import asyncio
import uuid
from pathlib import Path

import pytest

from tests.support.processes import Person, PlainProcess, equal_logs, everyone_sees_everyone, texts
from tests.support.storage.rotting import author_key, rot

pytestmark = [pytest.mark.net, pytest.mark.slow]


async def test_rotten_bytes_are_nobodys_words_and_come_back_from_the_others(tmp_path: Path) -> None:
    channel = f"#test-{uuid.uuid4().hex[:12]}"
    alice, bob, carol = (
        Person(name, tmp_path / name, interface="127.0.0.1", channel=channel)
        for name in ("alice", "bob", "carol")
    )
    async with PlainProcess(alice) as one, PlainProcess(bob) as two:
        await everyone_sees_everyone([one, two])
        for text in ("first", "second", "third", "fourth"):
            await (one if text == "third" else two).say(text)
            await one.wait_for("message", text=text)
            await two.wait_for("message", text=text)
        await one.close()
        await two.close()
    database = alice.data_dir / "alice" / "chat.db"
    rot(database, "second")
    rot(database, "third", replaced=author_key(database, "third"), offset=40)

    async with PlainProcess(alice, "--history", "50") as one, PlainProcess(carol) as three:
        told = await one.wait_for("error")
        await everyone_sees_everyone([one, three])
        await three.wait_for("message", text="first")
        await one.wait_for("sync", result="equal")
        assert set(texts(one)) == {"first", "fourth"}, "the rest is nobody's words"
        assert set(texts(three)) <= {"first", "fourth"}
        assert "2 messages" in told["message"]
        [discarded] = one.events("discarded")
        assert len(discarded["ids"]) == 2

        async with PlainProcess(bob) as two:
            await everyone_sees_everyone([one, two, three])
            await asyncio.gather(
                *(one.wait_for("message", text=text) for text in ("second", "third")),
                *(three.wait_for("message", text=text) for text in ("second", "third", "fourth")),
            )
            assert await equal_logs([one, three]) == ["first", "second", "third", "fourth"]
