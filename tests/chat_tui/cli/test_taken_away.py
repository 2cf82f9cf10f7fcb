"""Commands on a profile of which somebody took a file away."""

import asyncio
import os
from pathlib import Path

from click.testing import CliRunner, Result

from chat_tui.cli.main import cli
from chat_tui.client import disk_watch
from chat_tui.client.doctor.doctor import Doctor
from sync.errors import LocalError
from tests.support.chat_tui.chats import opened, setup_of


async def made(tmp_path: Path) -> Path:
    """The directory of a profile that a chat was open with."""
    async with opened(tmp_path, "alice") as alice:
        return alice.profile.directory


def status(tmp_path: Path) -> Result:
    words = ["status", "--profile", "alice", "--data-dir", str(tmp_path)]
    return CliRunner().invoke(cli, words)


async def test_a_script_says_that_the_history_is_gone_for_nobody_can_say_it_later(
    tmp_path: Path,
) -> None:
    os.truncate(await made(tmp_path) / "chat.db", 0)

    first, second = [await asyncio.to_thread(status, tmp_path) for _ in range(2)]

    assert first.stderr == f"{disk_watch.GONE}\n"
    assert second.stderr == ""


async def test_a_history_without_an_identity_is_no_new_profile(tmp_path: Path) -> None:
    (await made(tmp_path) / "identity").unlink()

    ended = await asyncio.to_thread(status, tmp_path)
    findings = [one async for one in Doctor(setup_of(tmp_path, "alice")).findings()]

    assert isinstance(ended.exception, LocalError)
    assert "is gone, but its history is there" in str(ended.exception)
    [data] = [one for one in findings if one.what == "profile and database"]
    assert "is gone, but its history is there" in data.fix
