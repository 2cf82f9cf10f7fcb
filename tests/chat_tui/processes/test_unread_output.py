"""Chats in line mode whose output nobody reads: peers have their answers, and the chat can end."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.support.patience import PATIENCE_S
from tests.support.processes import ROOT, PlainProcess
from tests.support.programs import channel_of_its_own, person

pytestmark = [pytest.mark.net, pytest.mark.slow]

TEXTS: Final = [f"{number} {'x' * 1000}" for number in range(300)]
"""Some times what a pipe holds."""

LAST: Final = "are you there?"
ALL: Final = Counter([*TEXTS, LAST])


@dataclass
class Unread:
    """A program of alice's, and the output that it has not been read of."""

    process: Process
    output: int

    async def texts(self) -> Counter[str]:
        """Read its output until all of bob's texts are there, and return the texts.

        A session that began before may bring some after later ones.
        """

        def run() -> Counter[str]:
            texts: Counter[str] = Counter()
            with open(self.output, encoding="utf-8", closefd=False) as file:
                while len(texts) < len(ALL) and (line := file.readline()):
                    event = json.loads(line)
                    if event["event"] == "message":
                        texts[event["text"]] += 1
            return texts

        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.to_thread(run)

    async def ended(self) -> tuple[int, str]:
        """Return its exit code and what it said of errors."""
        async with asyncio.timeout(PATIENCE_S):
            _, said = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, said.decode()


@asynccontextmanager
async def beside_bob(tmp_path: Path, *words: str) -> AsyncIterator[Unread]:
    """Run a command of alice's whose output nobody reads, until bob's texts are acknowledged."""
    channel = channel_of_its_own()
    alice, bob = person("alice", tmp_path, channel), person("bob", tmp_path, channel)
    where = ["--interface", "127.0.0.1", "--name", "alice"]
    async with PlainProcess(bob) as writer:
        ours, its = os.pipe()
        process = await asyncio.create_subprocess_exec(
            *alice.command(*words), *where, stdin=PIPE, stdout=its, stderr=PIPE, cwd=ROOT
        )
        os.close(its)
        try:
            await writer.wait_for("peer", nick="alice", state="up")
            for texts in (TEXTS, [LAST]):
                *_, last = await writer.say(*texts)
                await writer.wait_for("delivery", id=last["id"], state="acknowledged")
            yield Unread(process, ours)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            os.close(ours)


async def test_peers_are_answered_and_all_is_read_later(tmp_path: Path) -> None:
    async with beside_bob(tmp_path, "plain", "--json") as alice:
        assert alice.process.stdin is not None
        alice.process.stdin.close()
        texts = await alice.texts()
        code, said = await alice.ended()

    assert texts == ALL
    assert (code, said) == (0, "")


async def test_it_ends_when_told_to_and_says_what_nobody_read(tmp_path: Path) -> None:
    async with beside_bob(tmp_path, "plain", "--json") as alice:
        alice.process.terminate()
        code, said = await alice.ended()

    assert code == 0
    assert "Nobody read the last" in said


async def test_tail_answers_peers_too(tmp_path: Path) -> None:
    async with beside_bob(tmp_path, "tail", "--json", "--history", "0") as alice:
        texts = await alice.texts()

    assert texts == ALL
