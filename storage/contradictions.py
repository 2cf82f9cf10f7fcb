"""Entries of an author log that contradict each other: found by look-ups when the later is stored.

Nothing of it is a flag, and nothing is refused for it (DESIGN 4). Told is what is found at the
commit of the second one; what there is in all is asked of the tables.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from storage.changes import Stored
from storage.columns import from_u64, message_id, peer_id, to_u64
from storage.payloads import entry_of
from storage.rows import Row, execute_for_rows, select_for_rows
from storage.soundness import CLAIMS, is_sound
from sync.entry import Entry, lipmaa
from sync.group.records import Contradiction, Contradicts
from sync.machine import ChannelId

# CROSS JOIN keeps the order of the tables: few rows are asked for.
TWINS: Final = "SELECT column5, other.message_id FROM (VALUES"
TWINS_REST: Final = """
    ) CROSS JOIN messages AS other ON other.channel = column1 AND other.author = column2
        AND other.log = column3 AND other.seq = column4 AND other.number < column5
    ORDER BY other.number DESC
"""
TARGETS: Final = "SELECT column2, other.author, other.log, other.seq FROM (VALUES"
TARGETS_REST: Final = (
    ") CROSS JOIN messages AS other ON other.message_id = column2 AND other.channel = column1"
)
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


class Link(NamedTuple):
    """Where a stored entry says that another one of its log stands; columns as they are stored."""

    number: int
    channel: bytes
    target: bytes
    place: Row
    what: Contradicts
    named_by: Entry


def found_at_commit(db: sqlite3.Connection, stored: Sequence[Stored]) -> list[Contradiction]:
    """Return what these messages, just stored, contradict of what is here."""
    if not stored:
        return []
    links = [link for one in stored for link in _links(one.number, one.channel, one.entry)]
    keys = [(link.channel, link.target) for link in links]
    here = {row[0]: row[1:] for row in select_for_rows(db, TARGETS, keys, TARGETS_REST)}
    found = [
        *_twins(db, stored),
        *_wrong(link for link in links if here.get(link.target, link.place) != link.place),
        *_awaited(db, stored),
    ]
    missing = [(link.target, link.number) for link in links if link.target not in here]
    execute_for_rows(db, AWAIT, missing)
    return found


def all_found(db: sqlite3.Connection) -> list[Contradiction]:
    """Return all that is here of forks and contradicted backlinks; reads every message's row."""
    places: dict[Row, list[bytes]] = {}
    for *place, stored_id in db.execute(FORKS):
        places.setdefault(tuple(place), []).append(stored_id)
    found = [
        _contradiction(Contradicts.FORK, place, later, first)
        for place, (first, *more) in places.items()
        for later in more
    ]
    found += [_contradiction(Contradicts.BACKLINK, row[:4], *row[4:]) for row in db.execute(LINKS)]
    return found


def _twins(db: sqlite3.Connection, stored: Sequence[Stored]) -> Iterator[Contradiction]:
    """Yield the forks: another one was here before under the same author, log and number."""
    by_number = {one.number: one for one in stored}
    rows = [(*_place(one.channel, one.entry), one.number) for one in stored]
    first: dict[int, bytes] = dict(select_for_rows(db, TWINS, rows, TWINS_REST))
    for number, other in first.items():
        one = by_number[number]
        place = _place(one.channel, one.entry)
        later = bytes.fromhex(one.entry.message_id)
        yield _contradiction(Contradicts.FORK, place, later, other)


def _awaited(db: sqlite3.Connection, stored: Sequence[Stored]) -> list[Contradiction]:
    """Return what was said of these messages before they came, and is not so."""
    if not db.execute(ANY_AWAITED).fetchone()[0]:
        return []
    places = {bytes.fromhex(one.entry.message_id): _place(one.channel, one.entry) for one in stored}
    keys = [(target,) for target in places]
    wrong: list[Link] = []
    for row in select_for_rows(db, WAITING, keys, WAITING_REST):
        if is_sound(*row[:CLAIMS]):
            links = _links(row[-1], row[0], entry_of(row[CLAIMS - 1]))
            wrong += [
                link
                for link in links
                if link.target in places and (link.channel, *link.place) != places[link.target]
            ]
    execute_for_rows(db, COME, keys, COME_REST)
    return [*_wrong(wrong)]


def _links(number: int, channel: bytes, entry: Entry) -> Iterator[Link]:
    header = entry.header
    whose = (bytes.fromhex(header.author), from_u64(header.log))
    for what, target, seq in (
        (Contradicts.BACKLINK, header.backlink, header.seq - 1),
        (Contradicts.SKIPLINK, header.skiplink, lipmaa(header.seq)),
    ):
        if target is not None:
            place = (*whose, from_u64(seq))
            yield Link(number, channel, bytes.fromhex(target), place, what, entry)


def _wrong(links: Iterable[Link]) -> Iterator[Contradiction]:
    for link in links:
        entry = link.named_by
        naming = bytes.fromhex(entry.message_id)
        place = _place(link.channel, entry)
        yield _contradiction(link.what, place, naming, link.target)


def _place(channel: bytes, entry: Entry) -> Row:
    header = entry.header
    author = bytes.fromhex(header.author)
    return (channel, author, from_u64(header.log), from_u64(header.seq))


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
