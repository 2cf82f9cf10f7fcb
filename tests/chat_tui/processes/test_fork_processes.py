"""A copied profile writes on: everybody keeps both messages, and is told of it once."""

import shutil
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.processes import Person, PlainProcess, everyone_sees_everyone

pytestmark = [pytest.mark.net, pytest.mark.slow]


async def test_a_copied_profile_is_told_of_once_with_both_messages(tmp_path: Path) -> None:
    channel = f"#test-{uuid.uuid4().hex[:12]}"
    alice, bob = (
        Person(name, tmp_path / name, interface="127.0.0.1", channel=channel)
        for name in ("alice", "bob")
    )
    async with PlainProcess(alice, "--no-discovery") as one:
        [first] = await one.say("first")
        await one.close()
    copied = replace(alice, data_dir=tmp_path / "copied")
    shutil.copytree(alice.data_dir, copied.data_dir)
    async with PlainProcess(copied, "--no-discovery") as copy:
        [theirs] = await copy.say("said by the copy")
        await copy.close()

    async with PlainProcess(bob) as two:
        async with PlainProcess(alice, "--no-discovery") as one:
            [ours] = await one.say("said by the first")
            await one.ask(f"/connect 127.0.0.1:{two.port}")
            await two.wait_for("message", id=ours["id"])
        async with PlainProcess(copied) as copy:
            await everyone_sees_everyone([copy, two])
            told = await two.wait_for("fork")
            await two.wait_for("message", id=theirs["id"])
            assert told["what"] == "fork"
            assert set(told["ids"]) == {ours["id"], theirs["id"]}
            assert told["participant"] == first["author"]
            since = two.mark()
            await two.send("/whois alice")
            whois = await two.wait_for("result", since=since)
            assert "signed two messages as number 2 of one log" in whois["text"]
            await two.never("fork", since=since, for_s=1)

    async with PlainProcess(bob, "--no-discovery") as two:
        await two.say("later")
        whois = await two.ask("/whois alice")
        assert "signed two messages as number 2 of one log" in whois["text"]
        assert two.events("fork") == []
