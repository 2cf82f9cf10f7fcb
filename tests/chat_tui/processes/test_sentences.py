"""Inputs that once caused a traceback or a hang: the real commands end with a sentence."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.support.processes import ROOT, Finished, Person
from tests.support.programs import person
from tests.support.storage.archived import export
from tests.support.storage.archives import archive

pytestmark = [pytest.mark.net, pytest.mark.slow]


async def run(command: Sequence[str | bytes], said: bytes | None = None) -> Finished:
    """Run a command line, whose words may be any bytes, to its end."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL if said is None else PIPE, stdout=PIPE, stderr=PIPE, cwd=ROOT
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            stdout, stderr = await process.communicate(said)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    finished = Finished(process.returncode, stdout.decode(), stderr.decode())
    assert "Traceback" not in finished.stderr, finished.stderr
    return finished


async def said_by(*commands: Sequence[str | bytes]) -> list[Finished]:
    """Run some commands at the same time, which have different profiles."""
    return await asyncio.gather(*(run(command) for command in commands))


def alone(tmp_path: Path, name: str) -> Person:
    return Person(name, tmp_path, interface="127.0.0.1")


async def test_bytes_that_are_no_text_are_refused_or_replaced(tmp_path: Path) -> None:
    ann, bob = alone(tmp_path, "ann"), alone(tmp_path, "bob")
    text, name, setting = await said_by(
        [*ann.command("send", "--interface", "127.0.0.1"), b"caf\xe9"],
        [*bob.command("send", "hi", "--interface", "127.0.0.1"), "--name", b"caf\xe9"],
        [*bob.command("settings"), "--set", b"name=caf\xe9"],
    )
    for refused in (text, name, setting):
        assert refused.code == 2
        assert "it is not UTF-8 text" in refused.stderr

    piped = await run(ann.plain(), b"caf\xe9\n\xff\xfe\n\xed\xa0\x80\n")

    assert piped.code == 0
    assert '"text": "caf\ufffd"' in piped.stdout


async def test_settings_that_cannot_be_read_are_said_and_the_chat_goes_on(tmp_path: Path) -> None:
    deep, damaged = alone(tmp_path, "deep"), alone(tmp_path, "damaged")
    for one in (deep, damaged):
        await run(one.plain(), b"")
    (tmp_path / "deep" / "settings.toml").write_text("a = 1\nx = " + "[" * 10_000 + "]" * 10_000)
    kept = tmp_path / "damaged" / "settings.json"
    kept.write_bytes(kept.read_bytes()[:7] + b"\x00\xff")

    of_deep, of_damaged = await asyncio.gather(
        run(deep.plain(), b"one\n"), run(damaged.plain(), b"two\n")
    )

    assert (of_deep.code, of_damaged.code) == (0, 0)
    assert "line 2: something in it is nested too deeply" in of_deep.stderr
    assert "settings.json cannot be read: it is damaged" in of_damaged.stderr
    assert '"text": "one"' in of_deep.stdout
    assert '"text": "two"' in of_damaged.stdout
    assert kept.with_name("settings.json.damaged").exists()
    assert kept.read_text().startswith('{"nick": "damaged"')


async def test_a_pipe_in_an_archive_is_not_waited_for(tmp_path: Path) -> None:
    ann = person("ann", tmp_path, "plans")
    export(tmp_path / "export", archive("ann", 3))
    [file] = (tmp_path / "export").rglob("*.parquet")
    file.unlink()
    os.mkfifo(file)
    await run(ann.plain(), b"")

    imported = await run(ann.command("import", str(tmp_path / "export"))[:-2])

    assert imported.code
    assert "no ordinary file" in imported.stdout + imported.stderr


async def test_a_trace_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "trace").symlink_to(tmp_path / "victim")

    refused = await run(alone(tmp_path, "ann").plain("--trace", str(tmp_path / "trace")), b"")
    began = await run(alone(tmp_path, "ann").plain(), f"/trace on {tmp_path}/trace\n".encode())

    assert refused.code == 1
    assert "is a link, and no link is followed" in refused.stderr
    assert "is a link, and no link is followed" in began.stdout
    assert not (tmp_path / "victim").exists()


async def test_windows_gets_a_sentence(tmp_path: Path) -> None:
    """As Python is there: without the modules that only Unix has."""
    program = (
        "import sys\n"
        "for name in ('fcntl', 'termios', 'tty', 'pwd', 'grp', 'resource'):\n"
        "    sys.modules[name] = None\n"
        "from chat_tui.cli.main import main\n"
        f"sys.argv = ['chat-tui', 'plain', '--data-dir', {str(tmp_path)!r}]\n"
        "main()\n"
    )

    refused = await run([sys.executable, "-c", program])

    assert refused.code == 1
    assert "not on Windows yet" in refused.stderr
    assert os.listdir(tmp_path) == []  # noqa: PTH208  # it does not wait
