"""Index of the edits, redactions and reactions that count, kept beside the messages.

The rules are those of `sync.entries.changes`; here they are answered from indexes, so that a page
of history takes as long as its lines, however often they were changed. A change may be stored long
before its target, or delivered long after it was stored.

Rule: a change counts once it is delivered; a redaction as soon as it is here, for what its author
took back is not shown while that waits for its place.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from storage.sqlite.columns import STATUS, delivery_of, from_u64, message_id
from storage.sqlite.looks import (
    ANY_COUNTS,
    REPLACES,
    TAKES_BACK,
    WRITES,
    looks_of,
    not_taken_back,
    readable,
    withheld_among,
)
from storage.sqlite.payloads import entry_of
from storage.sqlite.rows import Row, execute_for_rows, select_for_rows
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from storage.sqlite.writes.storing import Stored
from sync.entries.changes import (
    CHANGING,
    UNCHANGED,
    Change,
    Look,
    Reactions,
    Redaction,
    Replacement,
    TakenBack,
    may_touch,
    nobody_hides,
    touched_by,
)
from sync.entries.entry import Entry, Kind, Text
from sync.group.records import Altered
from sync.group.status import Status
from sync.machine import ChannelId, PeerId

Key: TypeAlias = tuple[bytes, bytes, int, bytes]
"""Channel, target, what it does (edits or hides: 0, reacts: 1, replaces: 2, takes back: 3), author:
of these one change counts at most."""

Touch: TypeAlias = Change | Replacement | TakenBack

ANY: Final = "SELECT EXISTS (SELECT 1 FROM changes), EXISTS (SELECT 1 FROM withheld)"
STORE: Final = """
    INSERT INTO changes (
        message_id, channel, target, reacts, author, lamport, number, counts, hides
    ) VALUES
"""

# CROSS JOIN keeps the order of the tables: few rows are asked for.
OF_TARGETS: Final = "SELECT column1, column2 FROM (VALUES"
OF_TARGETS_REST: Final = f") WHERE {ANY_COUNTS}"
OF_MESSAGES: Final = "SELECT channel, target, reacts, author FROM (VALUES"
OF_MESSAGES_REST: Final = ") CROSS JOIN changes ON message_id = column2 WHERE channel = column1"
TARGETS: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        number, kind, status, after_gap, delivery FROM (VALUES
"""
TARGETS_REST: Final = ") CROSS JOIN messages ON message_id = column2 WHERE channel = column1"

UNCOUNT: Final = "UPDATE changes SET counts = 0 FROM (VALUES"
UNCOUNT_REST: Final = """
    ) WHERE channel = column1 AND target = column2 AND reacts = column3 AND author = column4
        AND counts
"""
NEWEST: Final = "SELECT changes.message_id FROM (VALUES"
NEWEST_REST: Final = f"""
    ) CROSS JOIN changes ON changes.message_id = (
        SELECT newest.message_id FROM changes AS newest CROSS JOIN messages
            ON messages.number = newest.number
        WHERE newest.channel = column1 AND newest.target = column2 AND newest.reacts = column3
            AND newest.author = column4 AND (
                messages.status = {STATUS[Status.DELIVERED]}
                OR messages.kind = {int(Kind.REDACTION)} AND messages.status IN (
                    {STATUS[Status.WAITING]}, {STATUS[Status.LOADING]}
                )
            ) AND {not_taken_back("newest")}
        ORDER BY newest.lamport DESC, newest.message_id DESC LIMIT 1
    )
"""  # noqa: S608  # numbers of ours
COUNT: Final = "UPDATE changes SET counts = 1 FROM (VALUES"
COUNT_REST: Final = ") WHERE message_id = column1"

SHOWN: Final = (STATUS[Status.DELIVERED], STATUS[Status.LOADING])
"""Statuses of messages that are on somebody's screen, or may be."""

INDEX: Final = "INSERT INTO texts (texts, rowid, nick, text) VALUES"
FORGET: Final = "delete"
"""Words that the search index is told to forget: it has no copy of them."""

# Whatever is no edit any more hid something, for all that anybody can tell.
WITHHOLD: Final = f"""
    INSERT OR IGNORE INTO withheld (channel, target, author, lamport, message_id, hides)
    SELECT changes.channel, target, changes.author, changes.lamport, changes.message_id, hides
    FROM changes CROSS JOIN messages ON messages.number = changes.number
    WHERE changes.channel = ? AND changes.message_id = ? AND reacts = {WRITES}
        AND kind != {int(Kind.EDIT)} AND status != {STATUS[Status.PARKED]}
"""  # noqa: S608  # numbers of ours
FORGET_CHANGE: Final = "DELETE FROM changes WHERE channel = ? AND message_id = ?"

PLACES: Final = "SELECT channel, message_id FROM messages WHERE number > ? AND number <= ?"

CHANGING_ROWS: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload, number
    FROM messages WHERE kind IN (2, 3, 4)
"""


class _Target(Struct, frozen=True):
    """A line that is changed."""

    channel: bytes
    message_id: bytes
    author: bytes
    lamport: int
    created_ns: int
    waku_hash: bytes
    body_size: int
    payload: bytes
    number: int
    kind: int
    status: int
    after_gap: int
    delivery: int | None

    @property
    def place(self) -> Place:
        return (self.channel, self.message_id)

    @property
    def written(self) -> Text | None:
        """The text as it was before any change."""
        return readable(self.kind, self.payload[len(self.payload) - self.body_size :])


def settle(
    db: sqlite3.Connection,
    stored: Sequence[Stored],
    moved: Sequence[Place],
    hides: Callable[[Entry], bool] = nobody_hides,
    me: PeerId | None = None,
) -> list[Altered]:
    """Work out what counts now that messages were stored, and others have another status.

    Also keeps the search index to what is shown: the words of what was stored are in it. `hides`
    says of a redaction whether its author might hide lines of others, `me` whose disk this is.
    """
    changing = [
        (one, change)
        for one in stored
        if may_touch(one.columns.kind, one.body) and (change := touched_by(one.entry)) is not None
    ]
    if not changing and not any(db.execute(ANY).fetchone()):
        return []
    lines = [_place(one) for one in stored if one.columns.kind not in CHANGING]
    came = select_for_rows(db, OF_TARGETS, [*lines, *moved], OF_TARGETS_REST)
    came += withheld_among(db, [*lines, *moved])
    keys = {_key(one, change) for one, change in changing}
    keys |= set(select_for_rows(db, OF_MESSAGES, moved, OF_MESSAGES_REST))
    keys |= _taken_back_by(db, keys)
    targets = _targets(db, {*came, *[key[:2] for key in keys]})
    before = _looks(db, targets, me)
    execute_for_rows(db, STORE, [_row(one, change, hides) for one, change in changing])
    _recount(db, sorted(keys))
    after = _looks(db, targets, me)
    _index(db, targets, _but(before, lines), after)
    shown = _but(before, [*lines, *moved])
    return [altered for one in targets for altered in _difference(one, shown, after)]


def adopt(db: sqlite3.Connection, hides: Callable[[Entry], bool] = nobody_hides) -> None:
    """Take up the changes among the messages: those of a version that knew none, or all anew."""
    rows = [row for row in db.execute(CHANGING_ROWS).fetchall() if is_sound(*row[:CLAIMS])]
    settle(db, [Stored.of(row[-1], row[0], entry_of(row[CLAIMS - 1])) for row in rows], (), hides)


def _taken_back_by(db: sqlite3.Connection, keys: Iterable[Key]) -> set[Key]:
    """Return the keys of what these take back: something else counts there."""
    back = [key[:2] for key in keys if key[2] == TAKES_BACK]
    return set(select_for_rows(db, OF_MESSAGES, back, OF_MESSAGES_REST))


def _place(one: Stored) -> Place:
    return (one.channel, one.columns.message_id)


def _key(one: Stored, change: Touch) -> Key:
    target = bytes.fromhex(change.target)
    match change:
        case Reactions():
            reacts = 1
        case Replacement():
            reacts = REPLACES
        case TakenBack():
            reacts = TAKES_BACK
        case _:
            reacts = 0
    return (one.channel, target, reacts, one.columns.author)


def _row(one: Stored, change: Touch, hides: Callable[[Entry], bool]) -> Row:
    hiding = isinstance(change, Redaction) and hides(one.entry)
    columns = one.columns
    lamport = from_u64(columns.lamport)
    return (columns.message_id, *_key(one, change), lamport, one.number, 0, hiding)


def _targets(db: sqlite3.Connection, places: Collection[Row]) -> list[_Target]:
    """Return the lines at these places; what only changes lines is never changed itself.

    Of a line that is damaged nobody can say how it looks, until it has come again.
    """
    rows = select_for_rows(db, TARGETS, sorted(places), TARGETS_REST)
    found = [_Target(*row) for row in rows if is_sound(*row[:CLAIMS])]
    return [target for target in found if target.kind not in CHANGING]


def recounted(db: sqlite3.Connection, gone: Place) -> bool:
    """Forget a change that is set aside; returns whether another text is shown now.

    The change before it counts again. But what a redaction hid stays hidden: it was deleted, and
    nobody knows when the redaction comes again.
    """
    keys = select_for_rows(db, OF_MESSAGES, [gone], OF_MESSAGES_REST)
    hid = db.execute(WITHHOLD, gone).rowcount
    db.execute(FORGET_CHANGE, gone)
    every = {*keys, *_taken_back_by(db, keys)}
    _recount(db, sorted(every))
    return not hid and any(not reacts for _, _, reacts, _ in every)


def words_of(db: sqlite3.Connection, after: int, until: int) -> list[tuple[int, str, str]]:
    """Return what the search index takes of the lines with these numbers, as they look now."""
    places = db.execute(PLACES, (after, until)).fetchall()
    targets = _targets(db, places)
    looks = _looks(db, targets)
    found = [(one.number, _words(one, looks.get(one.place, UNCHANGED))) for one in targets]
    return [(number, words.nick, words.text) for number, words in found if words is not None]


def _looks(
    db: sqlite3.Connection, targets: Sequence[_Target], me: PeerId | None = None
) -> dict[Place, Look]:
    return looks_of(db, [(*target.place, target.author) for target in targets], me)


def _recount(db: sqlite3.Connection, keys: Sequence[Key]) -> None:
    execute_for_rows(db, UNCOUNT, keys, UNCOUNT_REST)
    newest = select_for_rows(db, NEWEST, keys, NEWEST_REST)
    execute_for_rows(db, COUNT, newest, COUNT_REST)


def _but(looks: dict[Place, Look], places: Iterable[Place]) -> dict[Place, Look]:
    """Return the looks of all but these places, which nobody has seen changed."""
    unseen = frozenset(places)
    return {place: look for place, look in looks.items() if place not in unseen}


def _difference(
    target: _Target, before: dict[Place, Look], after: dict[Place, Look]
) -> Iterable[Altered]:
    old, new = before.get(target.place, UNCHANGED), after.get(target.place, UNCHANGED)
    if old != new and target.status in SHOWN:
        yield Altered(
            channel=ChannelId(target.channel.hex()),
            message_id=message_id(target.message_id),
            entry=entry_of(target.payload),
            after_gap=bool(target.after_gap),
            delivery=None if target.delivery is None else delivery_of(target.delivery),
            look=new,
            rewritten=(old.text, old.hidden, old.hidden_by)
            != (new.text, new.hidden, new.hidden_by),
            reacted=old.reacted != new.reacted,
            loading=target.status == STATUS[Status.LOADING],
        )


def _index(
    db: sqlite3.Connection,
    targets: Sequence[_Target],
    before: dict[Place, Look],
    after: dict[Place, Look],
) -> None:
    """Have a search find the words that are shown, and no others."""
    forgotten: list[Row] = []
    found: list[Row] = []
    for target in targets:
        old = _words(target, before.get(target.place, UNCHANGED))
        new = _words(target, after.get(target.place, UNCHANGED))
        if old is not None and old != new:
            forgotten.append((FORGET, target.number, old.nick, old.text))
        if new is not None and old != new:
            found.append((None, target.number, new.nick, new.text))
    execute_for_rows(db, INDEX, forgotten)
    execute_for_rows(db, INDEX, found)


def _words(target: _Target, look: Look) -> Text | None:
    if look.hidden:
        return None
    written = target.written
    if look.text is None:
        return written
    return Text("" if written is None else written.nick, look.text)
