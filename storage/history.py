"""Pages of history and search, from disk, in the order of (lamport, message id)."""

import re
import sqlite3
from functools import partial
from typing import Final

from storage.columns import DELIVERY_OF, from_u64, message_id, peer_id, to_u64
from storage.database import Database
from sync.entry import Kind, Text, decode_text
from sync.errors import DecodeError
from sync.machine import ChannelId, PeerId
from sync.view import Line, Position

UNKNOWN: Final = Text("", "(a kind of message this version does not know)")
"""What is shown of a message that is no text."""

LINE: Final = (
    "delivered.channel, message_id, author, lamport, created_ns, after_gap, delivery, kind, "
    "substr(payload, length(payload) - body_size + 1)"
)
"""Columns of a line. The canonical form ends in the body (DESIGN 3): no other byte is parsed."""

WORDS_MAX: Final = 32
"""Words of a search; each costs a look-up in the index, and nobody remembers more of a message."""


class SqliteHistory:
    """The `sync.view.History` of the profile that `database` belongs to and `me` owns."""

    def __init__(self, database: Database, me: PeerId) -> None:
        self._database = database
        self._me = me

    async def page(self, channel: ChannelId, *, before: Position | None, limit: int) -> list[Line]:
        """Return up to `limit` lines just before `before` (None: the newest), oldest first."""
        clause = "" if before is None else "AND (lamport, message_id) < (?, ?)"
        query = (
            f"SELECT {LINE} FROM delivered WHERE channel = ? {clause} "
            "ORDER BY lamport DESC, message_id DESC LIMIT ?"
        )
        lines = await self._lines(query, _id(channel), *_position(before), limit)
        return lines[::-1]

    async def page_after(self, channel: ChannelId, *, after: Position, limit: int) -> list[Line]:
        """Return up to `limit` lines just after `after`, oldest first."""
        query = (
            f"SELECT {LINE} FROM delivered WHERE channel = ? AND (lamport, message_id) > (?, ?) "
            "ORDER BY lamport, message_id LIMIT ?"
        )
        return await self._lines(query, _id(channel), *_position(after), limit)

    async def count(self, channel: ChannelId) -> int:
        """Return how many messages of the channel are delivered."""
        query = "SELECT count(*) FROM delivered WHERE channel = ?"
        (count,) = await self._database.read(
            lambda db: db.execute(query, (_id(channel),)).fetchone()
        )
        return int(count)

    async def search(self, channel: ChannelId, query: str, *, limit: int) -> list[Line]:
        """Return the newest `limit` lines that match `query`, oldest first.

        A line matches if its text or nick has, for every word of `query`, a word that begins so;
        case and accents do not count. Nothing in `query` is an operator.
        """
        expression = _match(query)
        if not expression:
            return []
        # CROSS JOIN keeps the order of the tables: the index of words first.
        statement = (
            f"SELECT {LINE} FROM texts CROSS JOIN delivered ON delivered.number = texts.rowid "
            "WHERE texts MATCH ? AND delivered.channel = ? "
            "ORDER BY lamport DESC, message_id DESC LIMIT ?"
        )
        lines = await self._lines(statement, expression, _id(channel), limit)
        return lines[::-1]

    async def _lines(self, query: str, *parameters: bytes | int | str) -> list[Line]:
        return await self._database.read(partial(_read_lines, self._me, query, parameters))


def _id(channel: ChannelId) -> bytes:
    return bytes.fromhex(channel)


def _position(position: Position | None) -> tuple[int | bytes, ...]:
    """Return the SQL parameters that stand for a position: two, or none for no position."""
    if position is None:
        return ()
    lamport, message_id = position
    return from_u64(lamport), bytes.fromhex(message_id)


def _match(query: str) -> str:
    """Return an FTS5 expression that takes every word of `query` as the beginning of a word.

    In double quotes nothing has a meaning to FTS5 but the quote itself. A NUL would end its input,
    and half a surrogate pair has no UTF-8. A word without a letter or digit would match nothing.
    """
    words = re.split(r'[\s"\0\ud800-\udfff]+', query)
    wanted = [word for word in words if any(map(str.isalnum, word))]
    return " ".join(f'"{word}"*' for word in wanted[:WORDS_MAX])


def _read_lines(
    me: PeerId, query: str, parameters: tuple[bytes | int | str, ...], db: sqlite3.Connection
) -> list[Line]:
    return [_line(me, *row) for row in db.execute(query, parameters)]


def _line(  # noqa: PLR0913  # one argument a column, in the order of LINE
    me: PeerId,
    channel: bytes,
    stored_id: bytes,
    author: bytes,
    lamport: int,
    created_ns: int,
    after_gap: int,
    delivery: int | None,
    kind: int,
    body: bytes,
) -> Line:
    text = _text(kind, body)
    writer = peer_id(author)
    return Line(
        channel=ChannelId(channel.hex()),
        message_id=message_id(stored_id),
        author=writer,
        nick=text.nick,
        text=text.text,
        lamport=to_u64(lamport),
        created_ns=to_u64(created_ns),
        own=writer == me,
        after_gap=bool(after_gap),
        delivery=DELIVERY_OF[delivery],
    )


def _text(kind: int, body: bytes) -> Text:
    if kind != Kind.TEXT:
        return UNKNOWN
    try:
        return decode_text(body)
    except DecodeError:
        return UNKNOWN
