"""Standard input and output that the shell has closed, or that take nothing."""

import asyncio
import json
import os
import shlex
import signal
from asyncio.subprocess import DEVNULL, PIPE
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.support.processes import ROOT, Person, run
from tests.support.programs import channel_of_its_own, person

pytestmark = [pytest.mark.net, pytest.mark.slow]

FULL = "The output cannot be written (No space left on device)"


@dataclass(frozen=True)
class Ended:
    code: int
    stdout: str
    stderr: str


async def in_shell(words: list[str], odd: str) -> Ended:
    """Run a command in a shell, with `odd` behind it."""
    process = await asyncio.create_subprocess_exec(
        "bash", "-o", "pipefail", "-c", f"{shlex.join(words)} {odd}",
        stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=ROOT, start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_S):
            stdout, stderr = await process.communicate()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    assert process.returncode is not None
    return Ended(process.returncode, stdout.decode(), stderr.decode())


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return person("alice", tmp_path, channel_of_its_own())


@pytest.mark.parametrize(
    ("words", "odd", "code", "said"),
    [
        (["plain", "--json", "--no-discovery"], ">&-", 0, ""),
        (["plain", "--json", "--no-discovery"], "<&-", 0, ""),
        (["chat", "--no-discovery"], "<&-", 0, ""),
        (["send", "-", "--wait", "0", "--no-discovery"], "<&-", 1, "Standard input has no text"),
        (["keys", "--list"], ">&-", 0, ""),
        (["keys", "--list"], "> /dev/full", 1, FULL),
        (["plain", "--json", "--no-discovery"], "> /dev/full", 1, FULL),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
async def test_commands_say_what_is_wrong_or_do_without(
    alice: Person, words: list[str], odd: str, code: int, said: str
) -> None:
    ended = await in_shell(alice.command(*words), odd)

    assert ended.code == code, ended.stderr
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("odd", "said"), [("| head -1", ""), ("> /dev/full", FULL)], ids=["pipe", "disk"]
)
async def test_tail_ends_without_a_word_of_python(alice: Person, odd: str, said: str) -> None:
    lines = "".join(f"line {number} {'x' * 5000}\n" for number in range(100))  # beyond any buffer
    await run(alice.plain("--no-discovery"), said=lines)

    ended = await in_shell(alice.command("tail", "--history", "100", "--no-discovery"), odd)

    assert ended.code == 1
    assert said in ended.stderr
    assert "Error" not in ended.stderr


async def test_what_the_coding_of_a_stream_lacks_is_written_as_json_escapes_it(
    alice: Person,
) -> None:
    def words(*more: str) -> list[str]:
        named = alice.command("plain", "--no-discovery", "--name", "\u00e4\U0001f389", *more)
        return ["env", "PYTHONIOENCODING=latin-1", *named]

    as_text = await in_shell(words(), "| iconv -f latin1 -t utf8")
    as_json = await in_shell(words("--json"), "| iconv -f latin1 -t utf8")

    assert [as_text.code, as_json.code] == [0, 0], as_text.stderr
    assert "You are \u00e4\\ud83c\\udf89 in" in as_text.stdout
    assert json.loads(as_json.stdout.splitlines()[0])["nick"] == "\u00e4\U0001f389"
