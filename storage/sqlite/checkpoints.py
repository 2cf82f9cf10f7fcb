"""Checkpoints beside the commits: SQLite's log goes to its file on another thread and connection.

Rules:
1. A commit has to copy the log itself only once it has `LOG_MAX` pages: where nobody rests, or the
   disk refuses here.
2. What others committed while that thread copied, the thread of the commits copies between two of
   them. So all is copied, and the log begins again: it grew to `LOG_MAX` while lines came.
3. What is committed is durable without any of this, and an error here loses nothing: the next
   commit that must copy meets it too, and says so.
"""

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

LOG_MAX: Final = 8_000
"""Pages of the log: 32 MB, which the next start reads in a tenth of a second."""

DUE: Final = 4_000
"""Pages, as estimated here, from which on the log is copied."""

PAGES_OF_COMMIT: Final = 15
ROWS_OF_PAGE: Final = 3
"""By measurement: a message alone changes 19 pages in 5 rows, one of 256 two."""


class Checkpoints:
    """See the module docstring; of one database, used on the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pages = 0
        self._copying: asyncio.Future[None] | None = None
        self._has_rest = False
        """Whether commits came, or may have, while the log was copied last."""

    def committed(self, rows: int) -> bool:
        """Count a commit that changed so many rows; copy the log if it is time.

        Returns whether the thread of the commits should copy what came meanwhile (`copy_rest`).
        """
        self._pages += PAGES_OF_COMMIT + rows // ROWS_OF_PAGE
        if self._copying is not None and not self._copying.done():
            return False
        if self._pages >= DUE:
            self._pages = 0
            self._has_rest = True
            loop = asyncio.get_running_loop()
            self._copying = loop.run_in_executor(None, _checkpoint, self._path)
            return False
        has_rest, self._has_rest = self._has_rest, False
        return has_rest

    async def settled(self) -> None:
        """Return when nothing is copied: who closes or moves the file awaits this before."""
        if self._copying is not None:
            await self._copying


def _checkpoint(path: Path) -> None:
    """Copy what of the log can be copied while others read and write."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as db,
    ):
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def copy_rest(db: sqlite3.Connection) -> None:
    """Copy what of the log is not copied yet, on the thread that commits."""
    with suppress(sqlite3.Error):
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
