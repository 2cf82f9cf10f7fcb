"""Scripts beside real chats: what they read, where they write, and the bot of BOTS.md."""

import asyncio
import json
import os
import re
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.processes import ROOT, PlainProcess, everyone_sees_everyone, run
from tests.support.programs import channel_of_its_own, person

pytestmark = [pytest.mark.net, pytest.mark.slow]


def messages(output: str) -> list[tuple[str, bool]]:
    told = [json.loads(line) for line in output.splitlines()]
    return [(one["text"], one["old"]) for one in told if one["event"] == "message"]


async def test_what_was_there_before_is_old_and_can_be_left_out(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    first = await run(alice.plain("--no-discovery"), said="one\ntwo\nthree\n")
    ids = [json.loads(line)["id"] for line in first.stdout.splitlines() if '"message"' in line]

    async def told(*options: str) -> list[tuple[str, bool]]:
        finished = await run(alice.plain("--no-discovery", *options), said="now\n")
        assert finished.code == 0, finished.stderr
        return messages(finished.stdout)

    assert await told("--history", "2") == [("two", True), ("three", True), ("now", False)]
    assert await told("--since", "now") == [("now", False)]
    behind = await told("--since", ids[0][:12])
    assert behind[:2] == [("two", True), ("three", True)]
    assert (await told("--since", "2000-01-01"))[:2] == [("one", True), ("two", True)]
    wrong = await run(alice.plain("--no-discovery", "--since", "f" * 12), said="")
    assert "No message here begins with" in wrong.stderr


async def test_a_script_writes_elsewhere_and_stays_where_it_is(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    bob = person("bob", tmp_path, alice.channel)
    async with PlainProcess(alice) as writer, PlainProcess(bob) as reader:
        await everyone_sees_everyone([writer, reader])
        await writer.ask("/msg bob psst")
        [here] = await writer.say("to everybody")
        await writer.send(json.dumps({"channel": "@bob", "text": "/quit is no command here"}))
        alone = await reader.wait_for("message", text="/quit is no command here")
        await writer.send(json.dumps({"channel": "#nowhere", "text": "lost?"}))
        error = await writer.wait_for("error")
        mark = writer.mark()
        await writer.send(json.dumps({"chanel": "@bob", "text": "for bob alone"}))
        wrong = await writer.wait_for("error", since=mark)
        await reader.wait_for("message", text=(await writer.say("after it"))[0]["text"])

    assert "'chanel' is no field of a message" in wrong["message"]
    assert "for bob alone" not in str(reader.seen)
    assert here["channel"] == writer.channel
    assert alone["channel"] == "@alice"
    assert "You are not in #nowhere" in error["message"]


async def test_a_script_answers_and_what_it_answers_stands_above_it_in_text(
    tmp_path: Path,
) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    bob = person("bob", tmp_path, alice.channel)
    async with PlainProcess(alice) as writer, PlainProcess(bob) as reader:
        await everyone_sees_everyone([writer, reader])
        [asked] = await writer.say("who comes?")
        await reader.wait_for("message", id=asked["id"])
        await reader.send(json.dumps({"text": "/I do", "reply_to": asked["id"]}))
        answer = await writer.wait_for("message", text="/I do")
        await reader.send(json.dumps({"text": "to nobody", "reply_to": "f" * 64}))
        error = await reader.wait_for("error")
        sent = await run(
            replace(alice, channel=None).command("send", "me too", "--reply-to", asked["id"][:12])
        )
        second = await reader.wait_for("message", text="me too")
    words = alice.plain("--no-discovery", "--history", "9")
    as_text = [one for one in words if one != "--json"]
    printed = await run(as_text, said="")

    assert answer["reply_to"] == asked["id"]
    assert asked["reply_to"] is None
    assert (sent.code, second["reply_to"]) == (0, asked["id"])
    assert "No message here has an id" in error["message"]
    lines = printed.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith("bob: /I do"))
    assert lines[at - 1] == "↪ alice: who comes?"


async def test_send_reads_standard_input_reaches_one_person_and_joins_only_if_asked(
    tmp_path: Path,
) -> None:
    channel = channel_of_its_own()
    alice, bob = person("alice", tmp_path, channel), person("bob", tmp_path, channel)
    async with PlainProcess(alice) as writer, PlainProcess(bob) as reader:
        await everyone_sees_everyone([writer, reader])
        alice = replace(alice, channel=None)
        sent = await run(alice.command("send", "-", "--channel", "@bob"), said="a\nb\n")
        direct = await reader.wait_for("message", text="a\nb")
        unknown = await run(alice.command("send", "x", "--channel", "#other", "--wait", "0"))
        joined = await run(
            alice.command("send", "x", "--channel", "#other", "--wait", "0", "--join")
        )
        status = await run(alice.command("status"))
        chosen = await run(alice.command("status", "--channel", "other"))
        nowhere = await run(alice.command("status", "--channel", "#nowhere"))
        named = await run(
            alice.command("send", "x", "--name", "other", "--join", "--channel", "@bob")
        )
    words = [one for one in alice.plain("--no-discovery", "--history", "9") if one != "--json"]
    printed = await run([*words, "--channel", "@bob"], said="")

    assert [chosen.code, nowhere.code, named.code] == [0, 1, 0], named.stderr
    assert "#other" in chosen.stdout
    assert channel not in chosen.stdout
    assert "You are not in #nowhere" in nowhere.stderr
    assert "--name" in named.stderr
    assert "alice: x" in printed.stdout
    assert sent.code == 0, sent.stderr
    assert direct["channel"] == "@alice"
    assert "--join joins it" in unknown.stderr
    assert joined.stderr.strip() == "unacknowledged"
    assert "Here: bob." in status.stdout
    assert "#other: 1 message, 1 not acknowledged" in status.stdout


async def test_leaving_is_one_line_whoever_was_there(tmp_path: Path) -> None:
    channel = channel_of_its_own()
    alice = person("alice", tmp_path, channel)
    async with (
        PlainProcess(alice) as leaving,
        PlainProcess(person("bob", tmp_path, channel)) as bob,
        PlainProcess(person("carol", tmp_path, channel)) as carol,
    ):
        await everyone_sees_everyone([leaving, bob, carol])
        mark = leaving.mark()
        await leaving.send("/history 3", "/quit")
        await leaving.wait_for("left")
        assert await leaving.close() == 0

    after = [one["event"] for one in leaving.seen[mark:] if one["event"] in {"peer", "left"}]
    assert after == ["left"]


async def test_who_closes_the_terminal_leaves(tmp_path: Path) -> None:
    channel = channel_of_its_own()
    async with (
        PlainProcess(person("alice", tmp_path, channel)) as alice,
        PlainProcess(person("bob", tmp_path, channel)) as bob,
    ):
        await everyone_sees_everyone([alice, bob])
        alice._running.send_signal(signal.SIGHUP)
        await alice.wait_for("left")
        await bob.wait_for("peer", nick="alice", state="down")


async def test_the_bot_of_the_page_answers_what_is_asked_now(tmp_path: Path) -> None:
    page = (ROOT / "BOTS.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    bot = tmp_path / "bot.py"
    bot.write_text(code.replace('["chat-tui"', f'["{sys.executable}", "-m", "chat_tui"'))
    channel = channel_of_its_own()
    options = ["--profile", "bot", "--name", "bot", "--data-dir", str(tmp_path / "bot")]
    where = ["--interface", "127.0.0.1", "--channel", channel]
    async with PlainProcess(person("alice", tmp_path, channel)) as alice:
        await alice.say("!ping before the bot")
        program = await asyncio.create_subprocess_exec(
            sys.executable, str(bot), *options, *where, cwd=ROOT, start_new_session=True
        )
        try:
            await alice.wait_for("peer", nick="bot", state="up")
            await alice.say("!ping")
            await alice.wait_for("message", text="pong", own=False)
            for nonsense in ("!roll", "!roll \u00b2", f"!roll {'1' * 5000}", "!roll 0"):
                await alice.say(nonsense)  # anybody may write it, and it ends no bot
            await alice.say("!roll 1")
            await alice.wait_for("message", text="1 of 1", own=False)
        finally:
            os.killpg(program.pid, 15)
            await program.wait()

    assert len(code.splitlines()) <= 30


async def test_two_that_send_at_once_both_send(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    await run(alice.plain("--no-discovery"), said="first\n")
    words = ("--no-discovery", "--interface", "127.0.0.1", "--wait", "3")

    finished = await asyncio.gather(
        run(alice.command("send", "one", *words)), run(alice.command("send", "two", *words))
    )
    kept = await run(alice.plain("--no-discovery", "--history", "9"), said="")

    assert [(one.code, one.stderr) for one in finished] == [(1, "unacknowledged\n")] * 2
    assert sorted(text for text, _ in messages(kept.stdout)) == ["first", "one", "two"]
