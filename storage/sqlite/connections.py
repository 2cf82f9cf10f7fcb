"""Connections to the database of a profile: their settings, and tables brought up to date."""

import sqlite3
from typing import Final

from storage.sqlite.checkpoints import LOG_MAX
from storage.sqlite.migrations import MIGRATIONS
from sync.errors import StorageError

BUSY_TIMEOUT_MS: Final = 5_000
"""Nobody else writes here while the profile is locked; a backup program may read for a moment."""

CACHE_KIB: Final = 16 * 1024
"""Ids and hashes come in random order: this holds the index pages of some 100,000 messages."""

CACHE_OF_LONG_KIB: Final = 64 * 1024
"""The same while a snapshot is swapped in. Of 100,000 messages that is a sixth less work than with
16 MB, where pages are written to the log, and read from there, again and again."""

WAITS_FOR_DISK: Final = "PRAGMA synchronous = FULL"
"""Has each commit end on the disk."""

WAITS_FOR_NOTHING: Final = "PRAGMA synchronous = OFF"
"""Has a commit end in the log, which the next one that waits for the disk takes along."""

USUALLY: Final = (f"PRAGMA cache_size = -{CACHE_KIB}", "PRAGMA secure_delete = ON")
"""Settings of most of the time: deleted content is overwritten, on every build of SQLite."""

WHILE_LONG: Final = (f"PRAGMA cache_size = -{CACHE_OF_LONG_KIB}", "PRAGMA secure_delete = FAST")
"""The same while a snapshot is swapped in. Its pages are only let go of as they are deleted: what
they say is history by then, and it is half a kilobyte a message."""

PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA journal_mode = WAL",
    WAITS_FOR_DISK,
    "PRAGMA foreign_keys = ON",
    f"PRAGMA wal_autocheckpoint = {LOG_MAX}",
    *USUALLY,
)

STATEMENTS_IN_MEMORY: Final = "PRAGMA temp_store = MEMORY"
"""Keeps in memory what would undo a statement that fails half-way, some pages for each row. A
third of all that a commit of some lines wrote was a file that was made and removed for that."""

SORTED_ON_DISK: Final = "PRAGMA temp_store = FILE"
"""The same setting while indexes are made anew: a million keys are not sorted in memory."""


def prepare(connection: sqlite3.Connection) -> None:
    """Set a connection up for writing, and bring its tables up to date."""
    for pragma in PRAGMAS:
        connection.execute(pragma)
    _migrate(connection)
    connection.execute(STATEMENTS_IN_MEMORY)


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, each step in a transaction of its own.

    Of a new database the last step alone waits for the disk, which takes the others along: a slow
    one held up a first start by a wait for each. A power cut leaves some first ones of them.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise StorageError(
            f"The history of this profile was written by a newer chat-tui (version {version} of "
            f"its database; this one knows {len(MIGRATIONS)}). Update this program, or choose "
            "another profile with --profile."
        )
    if version == 0:
        connection.execute(WAITS_FOR_NOTHING)
    for step, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        if step == len(MIGRATIONS):
            connection.execute(WAITS_FOR_DISK)
        try:
            if isinstance(migration, str):
                connection.executescript(f"BEGIN IMMEDIATE; {migration}")
            else:
                connection.execute("BEGIN IMMEDIATE")
                migration(connection)
            connection.execute(f"PRAGMA user_version = {step}")
            connection.execute("COMMIT")
        except BaseException:
            roll_back(connection)
            raise


def roll_back(connection: sqlite3.Connection) -> None:
    """End a transaction without its changes."""
    # On some errors, a full disk among them, SQLite has already done so.
    if connection.in_transaction:
        connection.execute("ROLLBACK")
