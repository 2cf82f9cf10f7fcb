"""Entries of an author log that contradict each other: found by look-ups when the later is stored.

Findings are noted beside the messages; they refuse nothing and change nothing that is shown
(PROTOCOL 3). Nearly every entry goes on where its log was, of which memory tells: see `Runs`.
"""

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from storage.sqlite.columns import from_u64, message_id, peer_id, to_u64
from storage.sqlite.payloads import entry_of
from storage.sqlite.rows import Row, execute_for_rows, select_for_rows
from storage.sqlite.soundness import CLAIMS, is_sound
from storage.sqlite.writes.storing import Stored
from sync.entries.columns import Columns, columns_of
from sync.entries.entry import lipmaa
from sync.group.logs import has_its_links
from sync.group.records import Contradiction, Contradicts
from sync.machine import ChannelId

# The first one alone is asked for: somebody may sign thousands for one place.
TWINS: Final = """
    SELECT column5, (
        SELECT message_id FROM messages
        WHERE channel = column1 AND author = column2 AND log = column3 AND seq = column4
            AND number < column5
        ORDER BY number LIMIT 1
    ) FROM (VALUES
"""
TWINS_REST: Final = ")"
NEXT_ABOVE: Final = """
    SELECT column1, column2, column3, (
        SELECT seq FROM messages
        WHERE channel = column1 AND author = column2 AND log = column3 AND seq > column4
        ORDER BY seq LIMIT 1
    ) FROM (VALUES
"""
NEXT_ABOVE_REST: Final = ")"
# CROSS JOIN keeps the order of the tables: few rows are asked for.
TARGETS: Final = "SELECT column2, other.author, other.log, other.seq FROM (VALUES"
TARGETS_REST: Final = (
    ") CROSS JOIN messages AS other ON other.message_id = column2 AND other.channel = column1"
)
ONE: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages WHERE message_id = ? AND channel = ?
"""
AWAIT: Final = "INSERT OR IGNORE INTO awaited_links (target, child) VALUES"
ANY_AWAITED: Final = "SELECT EXISTS (SELECT 1 FROM awaited_links)"
WAITING: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload, number
    FROM (VALUES
"""
WAITING_REST: Final = """
    ) CROSS JOIN awaited_links ON target = column1 CROSS JOIN messages ON number = child
"""
COME: Final = "DELETE FROM awaited_links WHERE target IN (SELECT column1 FROM (VALUES"
COME_REST: Final = "))"

NOTE: Final = """
    INSERT INTO contradictions (channel, author, what, log, seq, message_id, other) VALUES
"""
NOTED: Final = """
    SELECT channel, author, what, log, seq, message_id, other FROM contradictions ORDER BY number
"""

FORKS: Final = """
    SELECT channel, author, log, seq, message_id FROM messages
    WHERE (channel, author, log, seq) IN (
        SELECT channel, author, log, seq FROM messages
        GROUP BY channel, author, log, seq HAVING count(*) > 1
    ) ORDER BY channel, author, log, seq, number
"""
LINKS: Final = """
    SELECT later.channel, later.author, later.log, later.seq, later.message_id, other.message_id
    FROM messages AS later CROSS JOIN messages AS other
        ON other.message_id = later.backlink AND other.channel = later.channel
    WHERE (other.author, other.log, other.seq) != (later.author, later.log, later.seq - 1)
"""

NOTHING: Final = b""
"""Target that never comes: of an entry whose links are not those that its number wants, or that may
name one that rotted. Its links are read again at every start."""

LOGS_KEPT: Final = 1024
"""Author logs whose ends are remembered; a group of two hundred has some hundreds. Who makes more
keys than that has the disk asked, which is 30 us a message."""

IDS_KEPT: Final = 16
"""Ids remembered a log: eight of nine skiplinks go no further back."""

Log: TypeAlias = tuple[bytes, bytes, int]
"""Channel, author and number of a log."""


@dataclass(slots=True)
class _Run:
    """Entries of a log without a gap, up to the one stored last."""

    seq: int
    """Number of that one."""
    ids: deque[bytes]
    """Of that one, and of those before it; the newest last."""
    above: int | None
    """The lowest number above it that is stored; None if there is none."""


class Runs:
    """Ends of author logs where they grow, as the thread that commits has stored them.

    An entry that names such an end, has the next number, and is below what is stored above has no
    twin, and its backlink is true. So it is also where a newcomer has the newest page of a log, and
    fills it from the oldest entry on. Entries that the disk refused after all, or that are set
    aside, may stay among these: they were signed for that place, and nothing is stored in between.
    """

    def __init__(self) -> None:
        self._runs: dict[Log, _Run] = {}
        self.any_awaited = True
        """Whether links may wait for entries that are not here."""

    def check_entry(self, channel: bytes, entry: Columns) -> bool:
        """Take note of an entry just stored; whether it is the next one of its run."""
        log = (channel, entry.author, entry.log)
        run = self._runs.get(log)
        if run is None:
            return False
        seq = run.seq + 1
        if entry.seq != seq or entry.backlink != run.ids[-1] or seq == run.above:
            del self._runs[log]  # what comes after it in this commit is looked up as well
            return False
        run.seq = seq
        run.ids.append(entry.message_id)
        return True

    def is_behind(self, channel: bytes, entry: Columns) -> bool:
        """Return whether the remembered ids confirm the skiplink of the newest entry."""
        ids = self._runs[channel, entry.author, entry.log].ids
        back = entry.seq - lipmaa(entry.seq)
        return back < len(ids) and ids[-1 - back] == entry.skiplink

    def look_up(self, db: sqlite3.Connection, stored: Sequence[Stored]) -> None:
        """Learn where the logs of these go on: behind the one of them that was stored last."""
        if len(self._runs) > LOGS_KEPT:
            self._runs.clear()
        last = {(one.channel, one.columns.author, one.columns.log): one.columns for one in stored}
        rows = [_place(channel, entry) for (channel, *_), entry in last.items()]
        for channel, author, log, above in select_for_rows(db, NEXT_ABOVE, rows, NEXT_ABOVE_REST):
            key = (channel, author, to_u64(log))
            end, next_above = last[key], None if above is None else to_u64(above)
            self._runs[key] = _Run(end.seq, deque([end.message_id], IDS_KEPT), next_above)


class Link(NamedTuple):
    """Place that a stored entry claims for another one of its log; columns as they are stored."""

    number: int
    channel: bytes
    target: bytes
    place: Row
    what: Contradicts
    named_by: Columns


def found_at_commit(
    db: sqlite3.Connection, stored: Sequence[Stored], runs: Runs
) -> list[Contradiction]:
    """Return, and note, what these messages, just stored, contradict of what is here."""
    loose: list[Stored] = []
    links: list[Link] = []
    odd = [(NOTHING, one.number) for one in stored if not _is_formed(one.columns)]
    execute_for_rows(db, AWAIT, odd)
    for one in stored:
        entry = one.columns
        if not runs.check_entry(one.channel, entry):
            loose.append(one)
        elif entry.skiplink is None or runs.is_behind(one.channel, entry):
            continue
        links += _links(one.number, one.channel, entry)
    found: list[Contradiction] = []
    if loose:
        found += _twins(db, loose)
        runs.look_up(db, loose)
    if links:
        found += _untrue(db, links, runs)
    if runs.any_awaited:
        found += _awaited(db, stored, runs)
    execute_for_rows(db, NOTE, [_row(one) for one in found])
    return found


def all_found(db: sqlite3.Connection) -> list[Contradiction]:
    """Return all that was ever found, the oldest first."""
    return [
        _contradiction(Contradicts(what), (channel, author, log, seq), stored_id, other)
        for channel, author, what, log, seq, stored_id, other in db.execute(NOTED)
    ]


def note_all(db: sqlite3.Connection) -> None:
    """Note the forks and the backlinks of a history that was kept before they were (a migration).

    Reads every message's row; skiplinks are in no column.
    """
    places: dict[Row, list[bytes]] = {}
    for *place, stored_id in db.execute(FORKS):
        places.setdefault(tuple(place), []).append(stored_id)
    found = [
        _contradiction(Contradicts.FORK, place, later, first)
        for place, (first, *more) in places.items()
        for later in more
    ]
    found += [_contradiction(Contradicts.BACKLINK, row[:4], *row[4:]) for row in db.execute(LINKS)]
    execute_for_rows(db, NOTE, [_row(one) for one in found])


def _untrue(db: sqlite3.Connection, links: Sequence[Link], runs: Runs) -> Iterator[Contradiction]:
    """Yield which of these links name an entry of another place; what is not here yet waits."""
    keys = [(link.channel, link.target) for link in links]
    here = {row[0]: row[1:] for row in select_for_rows(db, TARGETS, keys, TARGETS_REST)}
    missing = [(link.target, link.number) for link in links if link.target not in here]
    if missing:
        execute_for_rows(db, AWAIT, missing)
        runs.any_awaited = True
    yield from _wrong(
        link
        for link in links
        if here.get(link.target, link.place) != link.place
        and _signed_place(db, link.channel, link.target) not in {None, (link.channel, *link.place)}
    )


def _twins(db: sqlite3.Connection, stored: Sequence[Stored]) -> Iterator[Contradiction]:
    """Yield the forks: another one was here before under the same author, log and number."""
    by_number = {one.number: one for one in stored}
    rows = [(*_place(one.channel, one.columns), one.number) for one in stored]
    for number, other in select_for_rows(db, TWINS, rows, TWINS_REST):
        if other is None:
            continue
        one = by_number[number]
        place = _place(one.channel, one.columns)
        if _signed_place(db, one.channel, other) == place:
            yield _contradiction(Contradicts.FORK, place, one.columns.message_id, other)


def _signed_place(db: sqlite3.Connection, channel: bytes, stored_id: bytes) -> Row | None:
    """Return what the bytes of a message say of its place: nobody is accused by columns alone."""
    row = db.execute(ONE, (stored_id, channel)).fetchone()
    if row is None or not is_sound(*row):
        return None
    return _place(channel, columns_of(entry_of(row[-1])))


def _awaited(
    db: sqlite3.Connection, stored: Sequence[Stored], runs: Runs
) -> Iterable[Contradiction]:
    """Return what was said of these messages before they came, and is not so."""
    runs.any_awaited = bool(db.execute(ANY_AWAITED).fetchone()[0])
    if not runs.any_awaited:
        return ()
    places = {one.columns.message_id: _place(one.channel, one.columns) for one in stored}
    keys = [(target,) for target in places]
    wrong: list[Link] = []
    for row in select_for_rows(db, WAITING, keys, WAITING_REST):
        if is_sound(*row[:CLAIMS]):
            links = _links(row[-1], row[0], columns_of(entry_of(row[CLAIMS - 1])))
            wrong += [
                link
                for link in links
                if link.target in places and (link.channel, *link.place) != places[link.target]
            ]
    execute_for_rows(db, COME, keys, COME_REST)
    return _wrong(wrong)


def _links(number: int, channel: bytes, entry: Columns) -> Iterator[Link]:
    whose = (entry.author, from_u64(entry.log))
    for what, target, seq in (
        (Contradicts.BACKLINK, entry.backlink, entry.seq - 1),
        (Contradicts.SKIPLINK, entry.skiplink, lipmaa(entry.seq)),
    ):
        if target is not None:
            place = (*whose, from_u64(seq))
            yield Link(number, channel, target, place, what, entry)


def _wrong(links: Iterable[Link]) -> Iterator[Contradiction]:
    for link in links:
        entry = link.named_by
        place = _place(link.channel, entry)
        yield _contradiction(link.what, place, entry.message_id, link.target)


def _place(channel: bytes, entry: Columns) -> Row:
    return (channel, entry.author, from_u64(entry.log), from_u64(entry.seq))


def _is_formed(entry: Columns) -> bool:
    backlink, skiplink = entry.backlink is not None, entry.skiplink is not None
    return has_its_links(entry.seq, backlink=backlink, skiplink=skiplink)


def _contradiction(what: Contradicts, place: Row, stored_id: bytes, other: bytes) -> Contradiction:
    channel, author, log, seq = place
    return Contradiction(
        ChannelId(channel.hex()),
        peer_id(author),
        what,
        to_u64(log),
        to_u64(seq),
        message_id(stored_id),
        message_id(other),
    )


def _row(found: Contradiction) -> Row:
    return (
        bytes.fromhex(found.channel),
        bytes.fromhex(found.author),
        found.what.value,
        from_u64(found.log),
        from_u64(found.seq),
        bytes.fromhex(found.message_id),
        bytes.fromhex(found.other),
    )
