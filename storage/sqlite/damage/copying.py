"""Copies that take the place of damaged databases."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from storage.sqlite.connections import prepare
from storage.sqlite.damage.mending import copy_sound
from storage.sqlite.open_file import log_of, mended_of
from storage.sqlite.sqlite_errors import BEYOND_READING, DamagedError, code_of, explained
from sync.errors import StorageError

BEYOND: Final = frozenset({
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT,
})  # fmt: skip
"""SQLite's words for a needed table that cannot be read, or has no name, or has a false row."""

WITHOUT_LOG: Final = "PRAGMA journal_mode = MEMORY"
"""Has a commit of the copy end in its file. A log would be copied there as the connection is
closed, which says nothing of a disk that has no room for that, and half a copy would take the
history's place."""


def replace_by_copy(path: Path) -> frozenset[str]:
    """Put a copy of what can be read in the place of a damaged database that cannot be opened.

    Nobody has it open. The damaged one is kept beside it.

    Returns:
        The tables that could not be read to the end.

    Raises:
        StorageError: one that is needed cannot be read, or the disk refused.
    """
    try:
        copy, lost = copy_of(path)
    except OSError as error:
        raise explained(error, path) from error
    except sqlite3.Error as error:
        if code_of(error) in BEYOND:
            raise DamagedError(BEYOND_READING.format(path)) from error
        raise explained(error, path) from error
    put_in_place(copy, path)
    return lost


def copy_of(path: Path) -> tuple[Path, frozenset[str]]:
    """Return a copy of what a damaged database has in its tables, and which were not read whole."""
    copy = path.with_name(f"{path.name}.copy")
    _remove(copy)
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(
            sqlite3.connect(copy.absolute().as_uri(), uri=True, isolation_level=None)
        ) as new:
            prepare(new)
            new.execute(WITHOUT_LOG)
            lost = copy_sound(path, new)
    except BaseException:
        _remove(copy)
        raise
    return copy, lost


def _remove(copy: Path) -> None:
    """Take a copy away, and what SQLite keeps beside it."""
    for left in (copy, log_of(copy), copy.with_name(f"{copy.name}-shm")):
        left.unlink(missing_ok=True)


def put_in_place(copy: Path, path: Path) -> None:
    """Put a copy in the place of a database that is closed, which is kept beside it.

    Its log goes: it is in the copy, and SQLite would take it for the copy's. From the first step on
    the next start goes on where this one was stopped.

    Raises:
        StorageError: the disk refused. While the damaged one has its place, its copy is gone: who
            goes on may write more.
    """
    mended = mended_of(path)
    try:
        copy.replace(mended)
        finish(path)
    except (OSError, StorageError) as error:
        if path.exists():
            _remove(mended)
        if isinstance(error, OSError):
            raise explained(error, path) from error
        raise


def finish(path: Path) -> None:
    """Put the mended copy of a database in its place, once it is whole.

    Of damaged ones the first is kept, which has most, and the last.

    Raises:
        StorageError: the disk refused; the next start tries again.
    """
    last = path.with_name(f"{path.name}.damaged")
    first = last.with_name(f"{last.name}-first")
    try:
        if path.exists():
            if last.exists() and not first.exists():
                last.replace(first)
            path.replace(last)
        for name in ("-wal", "-shm"):
            path.with_name(f"{path.name}{name}").unlink(missing_ok=True)
        mended_of(path).replace(path)
    except OSError as error:
        raise explained(error, path) from error
