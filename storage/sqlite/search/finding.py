"""Finding lines, the newest first, in a history of any size.

What is common is among the newest lines: those are read, and looked at one by one. Only where they
have too few is the index of words asked, by the words that are long enough: SQLite puts the places
of all words with one beginning together before it returns the first, two seconds for one letter
among a million lines. Of very many places those that came last are looked at.
"""

import heapq
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from storage.sqlite.columns import from_u64
from storage.sqlite.line_rows import lines_of_rows
from storage.sqlite.rows import Row
from storage.sqlite.soundness import Place
from sync.machine import ChannelId, Nanos, PeerId
from sync.view.finding import Wanted, words_in
from sync.view.view import Line

WALKED: Final = 1_000
"""Of the newest lines looked at one by one at most, 20 us each; after each step only if enough
will be found at this rate. What a fifth of all lines have is found so."""

STEP: Final = 200
"""Lines looked at together."""

PLACES: Final = 2_000
"""Places of the index that are looked at, those that came last, until there are enough lines; each
is a row somewhere in the file, which costs 30 us or more."""

SET_MAX: Final = 50_000
"""Lines of channels whose numbers are compared with the places of the index, one by one."""

SHORT: Final = 2
"""Letters of words for which the index is not asked, if there are longer ones."""

COLUMNS: Final = """channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
    number, after_gap, delivery, kind"""
SHOWN: Final = """status = 0 AND kind NOT IN (2, 3, 4)
    AND author NOT IN (SELECT participant FROM peers WHERE blocked_ns IS NOT NULL)"""

# The term `status != 2` lets SQLite use the index of times, which has it.
WALK: Final = f"""
    SELECT {COLUMNS} FROM messages INDEXED BY messages_by_time
    WHERE channel = ? AND status != 2 AND created_ns >= ? AND created_ns < ? AND {SHOWN}
    ORDER BY created_ns DESC
"""  # noqa: S608  # ours
NUMBERED: Final = f"SELECT {COLUMNS} FROM messages WHERE number = ? AND {SHOWN}"  # noqa: S608
PLACES_OF: Final = "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid <= ? ORDER BY rowid DESC"
COUNT: Final = "SELECT count(*) FROM texts WHERE texts MATCH ?"
NUMBERS: Final = "SELECT number FROM messages WHERE channel = ? AND status = 0 LIMIT ?"
NEWEST: Final = "SELECT max(number) FROM messages"
AROUND: Final = """
    SELECT number FROM messages INDEXED BY messages_by_time
    WHERE channel = ? AND status != 2 AND created_ns < ? ORDER BY created_ns DESC LIMIT 50
"""
"""Numbers of the lines before a moment. They are given in the order of arrival."""

OTHERS: Final = "SELECT channel FROM channels"

LATEST: Final[Nanos] = (1 << 64) - 1


class Found(NamedTuple):
    """Lines, the newest first, and the places of those that are not what was stored."""

    lines: list[Line]
    damaged: list[Place]


def find(
    me: PeerId, wanted: Wanted, limit: int, db: sqlite3.Connection, *, walked: int = WALKED
) -> Found:
    """Return up to `limit` lines that are wanted, acts not among them.

    `walked` of the newest ones are looked at before the index is asked.
    """
    lines, damaged, is_all = _among_newest(me, wanted, limit, walked, db)
    if not is_all and len(lines) < limit and (expression := _expression(wanted)):
        known = {line.message_id: line for line in lines}
        places = _places(wanted, expression, db)
        for _ in range(0, PLACES, STEP):
            rows = [row for number in islice(places, STEP) for row in _row(number, wanted, db)]
            shown, rotten = lines_of_rows(me, rows, db)
            known |= {one.message_id: one for one in shown if wanted.fits(one)}
            damaged += rotten
            if len(known) >= limit:
                break
        lines = list(known.values())
    return Found(newest_of(lines, limit), damaged)


def newest_of(lines: Sequence[Line], limit: int) -> list[Line]:
    """Return the newest lines by the time of writing, the newest first."""
    return heapq.nlargest(limit, lines, key=_when)


def count_of(wanted: Wanted, db: sqlite3.Connection) -> int | None:
    """Return how many lines a search fits, None where that takes reading them."""
    others = {row[0].hex() for row in db.execute(OTHERS)} - set(wanted.channels)
    bound = wanted.since, wanted.before
    if others or bound != (None, None) or wanted.links or wanted.is_of_people or wanted.naming:
        return None
    words = words_in(wanted.words)
    if not words or min(map(len, words)) <= SHORT:
        return None  # seconds, for a letter that a million words begin with
    return int(db.execute(COUNT, (_beginning(words),)).fetchone()[0])


def _when(line: Line) -> tuple[Nanos, int, str]:
    return (line.created_ns, line.lamport, line.message_id)


def _bounds(wanted: Wanted) -> tuple[Nanos, Nanos]:
    before = LATEST if wanted.before is None else wanted.before
    return max(0, wanted.since or 0), min(max(0, before), LATEST)


def _among_newest(
    me: PeerId, wanted: Wanted, limit: int, walked: int, db: sqlite3.Connection
) -> tuple[list[Line], list[Place], bool]:
    """Return those of the newest lines that are wanted, and whether there were no other lines."""
    lines: list[Line] = []
    damaged: list[Place] = []
    newest = _newest_rows(wanted, db)
    # without any word the index cannot help: who wants all lines of a time gets them from here
    indexed = bool(_expression(wanted))
    most = walked if indexed else max(limit, walked)
    looked = 0
    for _ in range(0, most, STEP):
        rows = list(islice(newest, STEP))
        shown, rotten = lines_of_rows(me, rows, db)
        lines += [line for line in shown if wanted.fits(line)]
        damaged += rotten
        if len(rows) < STEP:
            return lines, damaged, True
        looked += STEP
        if len(lines) >= limit or (indexed and len(lines) * most < limit * looked):
            break
    return lines, damaged, False


def _newest_rows(wanted: Wanted, db: sqlite3.Connection) -> Iterator[Row]:
    since, before = (from_u64(one) for one in _bounds(wanted))
    walks = [
        db.execute(WALK, (bytes.fromhex(channel), since, before)) for channel in wanted.channels
    ]
    return heapq.merge(*walks, key=lambda row: row[4], reverse=True)


def _places(wanted: Wanted, expression: str, db: sqlite3.Connection) -> Iterator[int]:
    """Yield numbers of lines that the index has, the last first; some may not be wanted."""
    last = _last_number(wanted, db)
    ours = _numbers(wanted.channels, db)
    for (number,) in db.execute(PLACES_OF, (expression, last)):
        if ours is None or number in ours:
            yield number


def _row(number: int, wanted: Wanted, db: sqlite3.Connection) -> list[Row]:
    rows = db.execute(NUMBERED, (number,)).fetchall()
    return [row for row in rows if row[0].hex() in wanted.channels]


def _last_number(wanted: Wanted, db: sqlite3.Connection) -> int:
    """Return the number of the newest line that can be wanted, as far as arrival tells."""
    newest = db.execute(NEWEST).fetchone()[0] or 0
    if wanted.before is None:
        return newest
    before = from_u64(_bounds(wanted)[1])
    around = [
        number
        for channel in wanted.channels
        for (number,) in db.execute(AROUND, (bytes.fromhex(channel), before))
    ]
    return max(around, default=0)


def _numbers(channels: Sequence[ChannelId], db: sqlite3.Connection) -> set[int] | None:
    """Return the numbers of all lines of channels, None if they have too many."""
    if not {row[0].hex() for row in db.execute(OTHERS)} - set(channels):
        return None
    numbers: set[int] = set()
    for channel in channels:
        rows = db.execute(NUMBERS, (bytes.fromhex(channel), SET_MAX + 1)).fetchall()
        numbers.update(number for (number,) in rows)
        if len(numbers) > SET_MAX:
            return None
    return numbers


def _expression(wanted: Wanted) -> str:
    """Return what is asked of the index, empty if it has nothing to do with what is wanted."""
    words = words_in(wanted.words)
    long = [word for word in words if len(word) > SHORT] or words
    parts = [_beginning(long)] if long else []
    named = [_all_of(nick) for nick in sorted(wanted.nicks) if words_in(nick)]
    if named:
        parts.append(f"{{nick}} : ({' OR '.join(named)})")
    if wanted.links:
        parts.append('{text} : ("http" OR "https")')
    if wanted.naming and (name := _all_of(wanted.naming)):
        parts.append(f"{{text}} : {name}")
    return " AND ".join(f"({part})" for part in parts)


def _beginning(words: Sequence[str]) -> str:
    """Return an FTS5 expression that takes every word as the beginning of a word.

    In double quotes nothing has a meaning to FTS5 but the quote itself. A NUL would end its input,
    and half a surrogate pair has no UTF-8. A word without a letter or digit would match nothing.
    """
    return " AND ".join(f'"{word}"*' for word in words)


def _all_of(name: str) -> str:
    words = [f'"{word}"' for word in words_in(name)]
    return f"({' AND '.join(words)})" if words else ""
