"""Errors of SQLite and of the system as sentences that say what to do."""

import errno
import shutil
import sqlite3
from pathlib import Path
from typing import Final

from sync.errors import StorageError

ROOM_MIN: Final = 128 * 1024
"""Bytes free on a disk that is not full: SQLite makes a file of 32 kB before it writes anything."""

AS_SQLITE_SAYS: Final = {
    errno.EROFS: sqlite3.SQLITE_READONLY,
    errno.EACCES: sqlite3.SQLITE_READONLY,
    errno.EPERM: sqlite3.SQLITE_READONLY,
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
}
"""The system's message for a file that exists, in SQLite's words."""

BEYOND_READING: Final = (
    "The history in {} is damaged: put that file back from a backup, or move it away and join your "
    "channels again; what others hold comes back from them."
)

PRIMARY_CODE: Final = 0xFF
"""SQLite's result codes: the low byte is the kind of error, the rest its details."""


class DamagedError(StorageError):
    """A database is not what SQLite wrote."""


def _is_full(directory: Path) -> bool:
    """Return whether the disk has no room; SQLite names another cause where it makes a file."""
    try:
        return shutil.disk_usage(directory).free < ROOM_MIN
    except OSError:
        return False


def code_of(error: Exception) -> int:
    """Return SQLite's result code; only errors that it reports itself have one."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & PRIMARY_CODE


def explained(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    """Return the sentence for the person about what SQLite or the system refused."""
    code = code_of(error)
    if isinstance(error, OSError):
        code = AS_SQLITE_SAYS.get(error.errno or 0, 0) if path.is_file() else 0
        if not code:
            return StorageError(
                f"Cannot open {path}: {error.strerror or error}. Put that right, or choose another "
                "place with --data-dir."
            )
    if code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and _is_full(path.parent):
        code = sqlite3.SQLITE_FULL
    match code:
        case sqlite3.SQLITE_FULL:
            sentence = (
                "The disk is full: free some space; "
                "nothing you wrote is lost that was shown as sent."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            sentence = (
                f"The history in {path} cannot be written: make that file and its directory "
                "writable, or choose another place with --data-dir."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            sentence = f"Another program keeps {path} locked: close that program, then try again."
        case sqlite3.SQLITE_NOTADB:
            return DamagedError(BEYOND_READING.format(path))
        case sqlite3.SQLITE_CORRUPT:
            return DamagedError(
                f"The history in {path} is damaged: `chat-tui doctor --deep` takes over what can "
                "be read of it. Or put that file back from a backup."
            )
        case sqlite3.SQLITE_IOERR:
            sentence = (
                f"The disk failed while {path} was in use ({error}): check that it is neither "
                "full nor broken, then start again."
            )
        case _:
            sentence = f"SQLite refused to work on {path} ({error}): start again, and report this."
    return StorageError(sentence)
