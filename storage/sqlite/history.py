"""Pages of history and search, from disk, in the order of (lamport, message id)."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from storage.sqlite.columns import STATUS, U64_MAX, from_u64, message_id
from storage.sqlite.database import Database
from storage.sqlite.line_rows import UNKNOWN, read_lines
from storage.sqlite.looks import REPLACES, readable
from storage.sqlite.queries import UNSENT
from storage.sqlite.soundness import Place
from sync.entries.entry import HASH_SIZE
from sync.entries.replies import named_target
from sync.group.status import Status
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.finding import Wanted, words_in
from sync.view.governance_infos import NickOf, Person, nameless
from sync.view.view import Answers, CausalNode, Line, Position, Predecessor, Unshown

if TYPE_CHECKING:
    from storage.sqlite.stored_governance import StoredGovernance
    from sync.calimero.governance.dag import Act
    from sync.group.records import StoredMessage
    from sync.view.message_infos import StoredInfo

BEFORE: Final = """
    SELECT * FROM lines WHERE channel = ? AND (lamport, message_id) < (?, ?)
    ORDER BY lamport DESC, message_id DESC LIMIT ?
"""
AFTER: Final = """
    SELECT * FROM lines WHERE channel = ? AND (lamport, message_id) > (?, ?)
    ORDER BY lamport, message_id LIMIT ?
"""
PARKED: Final = f"""
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        number, after_gap, delivery, kind FROM held_back AS aside
    WHERE channel = ? AND status = {STATUS[Status.PARKED]} AND kind NOT IN (2, 3, 4)
        AND author NOT IN (SELECT participant FROM peers WHERE blocked_ns IS NOT NULL)
        AND NOT EXISTS (
            SELECT 1 FROM changes JOIN messages AS hiding ON hiding.number = changes.number
            WHERE changes.channel = aside.channel AND target = aside.message_id AND reacts = 0
                AND (changes.author = aside.author OR hides) AND counts AND hiding.kind = 4
        )
        AND NOT EXISTS (
            SELECT 1 FROM withheld
            WHERE withheld.channel = aside.channel AND target = aside.message_id
                AND (withheld.author = aside.author OR hides)
        )
        AND NOT EXISTS (
            SELECT 1 FROM changes
            WHERE changes.channel = aside.channel AND target = aside.message_id
                AND reacts = {REPLACES} AND changes.author = aside.author AND counts
                AND changes.lamport < aside.lamport
        )
    ORDER BY lamport, message_id LIMIT ?
"""  # noqa: S608  # numbers of ours
"""Messages that their author hid or wrote anew meanwhile are not among them."""

GOVERNED: Final = "SELECT EXISTS (SELECT 1 FROM group_ops WHERE channel = ?)"
PENDING: Final = "SELECT EXISTS (SELECT 1 FROM pending_entries WHERE channel = ?)"
COUNT: Final = "SELECT count(*) FROM lines WHERE channel = ?"

# The sign before `channel` keeps SQLite from reading all of the channel: few ids begin alike.
NAMED: Final = """
    SELECT * FROM lines WHERE +channel = ? AND message_id BETWEEN ? AND ?
    ORDER BY message_id LIMIT ?
"""

ID_PREFIX: Final = "[0-9a-f]{0,64}"

MESSAGE_ID: Final = "[0-9a-f]{64}"

END: Final[Position] = (U64_MAX, MessageId("ff" * 33))
"""After every message there can be: an id has 32 bytes."""

POSITION: Final = attrgetter("lamport", "message_id")


class Query(NamedTuple):
    """A query for lines of a channel; of a search, also the words that acts are asked for."""

    statement: str
    parameters: tuple[bytes | int | str, ...]
    channel: ChannelId
    words: tuple[str, ...] = ()


ActsOf: TypeAlias = "Callable[[StoredGovernance], Sequence[Act]]"
"""Returns the acts that may stand among the lines of a query."""


class SqliteHistory:
    """The `sync.view.view.History` of the profile that `database` belongs to and `me` owns."""

    def __init__(self, database: Database, me: PeerId, called: NickOf = nameless) -> None:
        self._database = database
        self._me = me
        self._called = called

    async def page(self, channel: ChannelId, *, before: Position | None, limit: int) -> list[Line]:
        """Return up to `limit` lines just before `before` (None: the newest), oldest first."""
        place = before or END
        query = Query(BEFORE, (_id(channel), *_position(place), limit), channel)
        lines = await self._lines(query, lambda stored: stored.before(place, limit))
        return lines[-limit:]

    async def page_after(self, channel: ChannelId, *, after: Position, limit: int) -> list[Line]:
        """Return up to `limit` lines just after `after`, oldest first."""
        query = Query(AFTER, (_id(channel), *_position(after), limit), channel)
        lines = await self._lines(query, lambda stored: stored.after(after, limit))
        return lines[:limit]

    async def parked(self, channel: ChannelId, *, limit: int) -> list[Line]:
        """Return up to `limit` lines that are set aside until their time, by that time."""
        lines = await self._lines(Query(PARKED, (_id(channel), limit), channel))
        unsent = await self._database.read(
            lambda db: {message_id(stored) for (stored,) in db.execute(UNSENT, (_id(channel),))}
        )
        return [replace(line, parked=True, waits=line.message_id in unsent) for line in lines]

    async def pending(self, channel: ChannelId, *, limit: int) -> list[Line]:
        """Return up to `limit` lines that wait for ops of governance, by their place."""

        def read(db: sqlite3.Connection) -> list[Line]:
            if not db.execute(PENDING, (_id(channel),)).fetchone()[0]:
                return []
            from storage.sqlite.governance import (  # noqa: PLC0415  # nearly always nothing waits
                pending_shown,
            )

            return [_pending(self._me, one) for one in pending_shown(channel, db, limit=limit)]

        return sorted(await self._database.read(read), key=POSITION)

    async def predecessor(self, channel: ChannelId) -> Predecessor | None:
        """See `sync.view.view.History`."""

        def read(db: sqlite3.Connection) -> Predecessor | None:
            if not db.execute(GOVERNED, (_id(channel),)).fetchone()[0]:
                return None
            stored = self._database.governances.of(channel, db)
            return None if stored is None else stored.predecessor

        return await self._database.read(read)

    async def count(self, channel: ChannelId) -> int:
        """Return how many messages of the channel are delivered."""
        (count,) = await self._database.read(
            lambda db: db.execute(COUNT, (_id(channel),)).fetchone()
        )
        return int(count)

    async def named(self, channel: ChannelId, prefix: str, *, limit: int) -> list[Line]:
        """Return up to `limit` lines whose message id begins with `prefix` (hex), by id."""
        if not re.fullmatch(ID_PREFIX, prefix):
            return []
        first, last = (bytes.fromhex(prefix.ljust(2 * HASH_SIZE, digit)) for digit in "0f")
        query = Query(NAMED, (_id(channel), first, last, limit), channel)
        lines = await self._lines(query, lambda stored: stored.named(prefix, limit))
        return sorted(lines, key=lambda line: line.message_id)[:limit]

    async def find(self, wanted: Wanted, *, limit: int) -> list[Line]:
        """See `sync.view.view.History`."""
        from storage.sqlite.search.finding import find, newest_of  # noqa: PLC0415  # no start searches

        if wanted.words and not words_in(wanted.words):
            return []
        found = await self._database.read_apart(lambda db: find(self._me, wanted, limit, db))
        self._database.damage.note_damaged(found.damaged)
        lines = await self._database.read(partial(self._with_acts, wanted, found.lines))
        return newest_of(lines, limit)

    def _with_acts(
        self, wanted: Wanted, lines: Sequence[Line], db: sqlite3.Connection
    ) -> list[Line]:
        """Return lines that were found, late ones marked, and the acts that are wanted."""
        words = () if wanted.is_of_texts else tuple(words_in(wanted.words))
        shown: list[Line] = []
        for channel in wanted.channels:
            here = [line for line in lines if line.channel == channel]
            if db.execute(GOVERNED, (_id(channel),)).fetchone()[0]:
                query = Query("", (), channel, words)
                here = self._governed(query, here, _newest_acts if words else _no_acts, db)
            shown += [line for line in here if wanted.is_in_time(line.created_ns)]
        return shown

    async def fitting(self, wanted: Wanted) -> int | None:
        """See `sync.view.view.History`."""
        from storage.sqlite.search.finding import count_of  # noqa: PLC0415  # as above

        return await self._database.read_apart(partial(count_of, wanted))

    async def answered(
        self, channel: ChannelId, message_ids: Sequence[MessageId]
    ) -> dict[MessageId, Line | Unshown]:
        """See `sync.view.view.History`."""
        from storage.sqlite.relations import replies  # noqa: PLC0415  # few messages answer others

        found: dict[MessageId, Line | Unshown] = {}
        for ids in replies.in_parts(message_ids):
            statement, parameters = replies.asked(channel, ids)
            lines = await self._lines(Query(statement, parameters, channel), lambda _: ())
            found |= {line.message_id: line for line in lines}
            unshown = partial(replies.why_unshown, channel, replies.missing_in(ids, found))
            found |= await self._database.read(unshown)
        return found

    async def answers(self, channel: ChannelId, message_id: MessageId, *, limit: int) -> Answers:
        """See `sync.view.view.History`."""
        from storage.sqlite.relations import replies  # noqa: PLC0415  # as above

        if not re.fullmatch(MESSAGE_ID, message_id):
            return Answers()
        read = partial(replies.replies_to, channel, message_id, limit)
        depths, more = await self._database.read(read)
        lines = await self.answered(channel, [one for one, _ in depths])
        shown = [(lines[one], depth) for one, depth in depths]
        return Answers(tuple([(line, at) for line, at in shown if isinstance(line, Line)]), more)

    async def causal(
        self, channel: ChannelId, message_id: MessageId, *, depth: int, limit: int
    ) -> list[CausalNode]:
        """See `sync.view.view.History`."""
        if not re.fullmatch(MESSAGE_ID, message_id):
            return []
        from storage.sqlite.relations.causal import around  # noqa: PLC0415  # no first paint needs a graph

        return await self._database.read(partial(around, channel, message_id, depth, limit))

    async def stored(self, channel: ChannelId, message_id: MessageId) -> "StoredInfo | None":
        """See `sync.view.view.History`."""
        if not re.fullmatch(MESSAGE_ID, message_id):
            return None
        return await self._database.read(partial(self._stored, channel, message_id))

    def _stored(
        self, channel: ChannelId, message_id: MessageId, db: sqlite3.Connection
    ) -> "StoredInfo | None":
        from storage.sqlite.late_lines import goes_back  # noqa: PLC0415  # few channels are governed
        from storage.sqlite.stored import stored_in  # noqa: PLC0415  # nor the bytes of a message

        found = stored_in(channel, message_id, db)
        governance = self._database.governances.of(channel, db)
        if found is None or governance is None:
            return found
        return replace(found, goes_back=goes_back(message_id, governance, db))

    async def _lines(self, query: "Query", acts: "ActsOf | None" = None) -> list[Line]:
        """Return the lines that a query finds, and acts among them, in their one order."""

        def read(db: sqlite3.Connection) -> tuple[list[Line], list[Place]]:
            lines, damaged = read_lines(self._me, query.statement, query.parameters, db)
            if any(line.hidden_by is not None for line in lines):
                lines = self._named(query.channel, lines, db)
            if acts is not None and db.execute(GOVERNED, (_id(query.channel),)).fetchone()[0]:
                lines = sorted(self._governed(query, lines, acts, db), key=POSITION)
            elif lines and lines[0].position > lines[-1].position:
                lines.reverse()
            return lines, damaged

        lines, damaged = await self._database.read(read)
        self._database.damage.note_damaged(damaged)
        return lines

    def _named(
        self, channel: ChannelId, lines: Sequence[Line], db: sqlite3.Connection
    ) -> list[Line]:
        """Return lines with the names of the admins who have hidden them."""
        from storage.sqlite.stored_governance import Names  # noqa: PLC0415  # few lines are hidden

        names = Names(channel, self._called, db)
        return [
            line
            if line.hidden_by is None
            else replace(
                line, hidden_by=Person(line.hidden_by.peer, names.nick_of(line.hidden_by.peer))
            )
            for line in lines
        ]

    def _governed(
        self, query: "Query", lines: list[Line], acts: "ActsOf", db: sqlite3.Connection
    ) -> list[Line]:
        """Return lines of a governed channel, late ones marked, and with its acts.

        Of a search these are the acts that match its words.
        """
        from storage.sqlite.late_lines import marked  # noqa: PLC0415  # few channels are governed
        from storage.sqlite.stored_governance import lines_of, matches  # noqa: PLC0415

        stored = self._database.governances.of(query.channel, db)
        if stored is None:
            return lines
        found = lines_of(stored, acts(stored), self._me, self._called, db)
        if query.words:
            found = [line for line in found if matches(line, query.words)]
        return [*marked(lines, stored, db), *found]


def _newest_acts(stored: "StoredGovernance") -> "Sequence[Act]":
    return stored.newest_first()


def _no_acts(_stored: "StoredGovernance") -> "Sequence[Act]":
    return ()


def _pending(me: PeerId, waiting: "StoredMessage") -> Line:
    header, body = waiting.entry.header, waiting.entry.body
    text = readable(header.kind, body) or UNKNOWN
    return Line(
        channel=waiting.channel,
        message_id=waiting.entry.message_id,
        author=header.author,
        nick=text.nick,
        text=text.text,
        lamport=header.lamport,
        created_ns=header.created_ns,
        own=header.author == me,
        after_gap=False,
        delivery=None,
        pending=True,
        reply_to=named_target(waiting.entry, text),
    )


def _id(channel: ChannelId) -> bytes:
    return bytes.fromhex(channel)


def _position(position: Position) -> tuple[int, bytes]:
    lamport, message_id = position
    return from_u64(lamport), bytes.fromhex(message_id)
