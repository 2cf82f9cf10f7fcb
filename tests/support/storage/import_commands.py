"""Runs of `chat-tui import`, and what was imported."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner, Result

from chat_tui.cli import main
from storage.profile.members import Members
from storage.profile.profile import Profile
from storage.sqlite.database import Database
from sync.entries.membership import Membership
from sync.net import clock


def profile(data_dir: Path, *memberships: Membership) -> None:
    """A profile that is in these channels and holds nothing."""

    async def join(path: Path) -> None:
        database = await Database.open(path)
        for one in memberships:
            await Members(database).add_channel(one, log=1)
        await database.close()

    made = Profile.open(data_dir, "default", clock.draw)
    asyncio.run(join(made.database))
    made.close()


def imported(data_dir: Path, source: Path, *options: str) -> Result:
    words = ["import", str(source), "--data-dir", str(data_dir), *options]
    return CliRunner().invoke(main.cli, words)


def count(data_dir: Path) -> int:
    with closing(sqlite3.connect(data_dir / "default" / "chat.db")) as db:
        return int(db.execute("SELECT count(*) FROM messages").fetchone()[0])


def lines(result: Result) -> Sequence[str]:
    return result.output.splitlines()
