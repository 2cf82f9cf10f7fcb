"""Disks that rot: bytes of a closed `chat.db` changed, as a bad block or a bad cable would."""

import sqlite3
from contextlib import closing
from pathlib import Path

FLIPPED = 0x01
"""One bit: a letter stays a letter, so that nothing but a hash can tell."""


def rot(
    path: Path, text: str, *, replaced: bytes = b"", offset: int = 0, message_id: str = ""
) -> None:
    """Flip a bit of the one stored message that has `text`, in the row where its bytes are.

    Args:
        path: the database, which nobody has open.
        text: what the message says; the bit is in its first letter.
        replaced: what to look for instead, in the message that has `text`.
        offset: how many bytes further on the bit is.
        message_id: which message, where `text` does not tell.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        found = db.execute(
            "SELECT number, payload FROM messages WHERE instr(payload, ?)",
            ((message_id or text).encode(),),
        ).fetchall()
        [(number, payload)] = found
        at = payload.index(replaced or text.encode()) + offset
        spoiled = payload[:at] + bytes([payload[at] ^ FLIPPED]) + payload[at + 1 :]
        db.execute("UPDATE messages SET payload = ? WHERE number = ?", (spoiled, number))


def rot_values(path: Path, statement: str, *parameters: object) -> None:
    """Change one row beside the messages, or one column of a message, by an SQL statement."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute(statement, parameters).rowcount == 1, statement


def author_key(path: Path, text: str) -> bytes:
    """The key of the author of the message that has `text`: it stands in the signed header."""
    with closing(sqlite3.connect(path)) as db:
        [(key,)] = db.execute(
            "SELECT author FROM messages WHERE instr(payload, ?)", (text.encode(),)
        )
        return bytes(key)


def hide_index(path: Path, index: str) -> tuple[object, ...]:
    """Have SQLite not know of an index for a while; returns what `bring_back` needs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        schema: tuple[object, ...]
        [schema] = db.execute("SELECT * FROM sqlite_schema WHERE name = ?", (index,))
        db.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
        return schema


def bring_back(path: Path, schema: tuple[object, ...]) -> None:
    """Have SQLite know of an index again: it lacks what was stored meanwhile."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", schema)


def scribble(path: Path, table_or_index: str) -> None:
    """Overwrite the first page of a table or index."""
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table_or_index,)
        ).fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\x5a" * size)
