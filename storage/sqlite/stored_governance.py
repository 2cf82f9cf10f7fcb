"""Governance of channels for whoever reads history: made from the disk, and led on as that grows.

It is the reader's own, beside that of the running machines: pages are read before these are there,
and on another thread. A channel that nobody governs costs one look-up.
"""

import re
import sqlite3
import unicodedata
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from storage.sqlite.governance import has_ops, ops_after
from storage.sqlite.looks import readable
from storage.sqlite.soundness import is_sound
from sync.calimero.governance.dag import Act, founder
from sync.calimero.governance.governance import Governance, TakenOp
from sync.calimero.governance.ops import GroupId, Key, OpId, Verdict
from sync.calimero.governance.verdicts import Doing, verdict_at_cut
from sync.calimero.governance.wire import decode
from sync.entries.entry import Entry, Kind
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.acts import ActLines
from sync.view.governance_infos import NickOf
from sync.view.view import Line, Position, Predecessor

CHANNELS_KEPT: Final = 8
"""Channels whose governance is kept from page to page: one of 10,000 ops takes 10 MB."""

NICK: Final = """
    SELECT nick FROM peers WHERE participant = ? AND nick <> '' AND blocked_ns IS NULL
"""
BLOCKED: Final = "SELECT EXISTS (SELECT 1 FROM peers WHERE participant = ? AND blocked_ns NOTNULL)"
NO_WORD: Final = re.compile(r"[\W_]+")
LAST_TEXT: Final = f"""
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages WHERE channel = ? AND author = ? AND kind = {int(Kind.TEXT)}
    ORDER BY log DESC, seq DESC LIMIT 1
"""  # noqa: S608  # a number of ours


class StoredGovernance:
    """Governance of one channel, as far as it was read."""

    def __init__(self, channel: ChannelId) -> None:
        self.channel = channel
        self.governance = Governance(GroupId(bytes.fromhex(channel)))
        self._read_to = 0
        """Number of the last op that was read."""
        self._places: list[tuple[int, OpId]] = []
        """Lamport time and id of all ops, in the order of the transcript."""

    def read_on(self, db: sqlite3.Connection) -> None:
        """Take in what was stored since.

        An op without one of its parents, whose bytes have rotted, is left out until it comes again.
        """
        known = self.governance.dag.numbers
        for number, stored in ops_after(bytes.fromhex(self.channel), self._read_to, db):
            self._read_to = number
            op = decode(stored.content)
            if op.id in known or not all(parent in known for parent in op.signed.parents):
                continue
            self.governance.follow(TakenOp(op, stored.judgement))
            insort(self._places, (op.signed.lamport, op.id))

    @property
    def predecessor(self) -> Predecessor | None:
        """The channel that this one goes on from."""
        first = self.governance.dag.acts[0]
        older = founder(first).predecessor
        if older is None:
            return None
        founded = (first.lamport, MessageId(first.id.hex()))
        return Predecessor(ChannelId(older.hex()), founded)

    def before(self, position: Position, limit: int) -> list[Act]:
        """Return the last `limit` acts before a place, in the order of the transcript."""
        end = bisect_left(self._places, _place(position))
        return self._acts(self._places[max(0, end - limit) : end])

    def after(self, position: Position, limit: int) -> list[Act]:
        """Return the first `limit` acts after a place."""
        begin = bisect_right(self._places, _place(position))
        return self._acts(self._places[begin : begin + limit])

    def named(self, prefix: str, limit: int) -> list[Act]:
        """Return up to `limit` acts whose id begins with `prefix` (hex), by id."""
        ids = sorted(op for _, op in self._places if op.hex().startswith(prefix))
        return [self.governance.act(op) for op in ids[:limit]]

    def newest_first(self) -> list[Act]:
        """Return all acts, the last of the transcript first."""
        return self._acts(self._places[::-1])

    def _acts(self, places: Sequence[tuple[int, OpId]]) -> list[Act]:
        return [self.governance.act(op) for _, op in places]


def _place(position: Position) -> tuple[int, OpId]:
    lamport, message_id = position
    return lamport, OpId(bytes.fromhex(message_id))


class StoredGovernances:
    """Governance of the channels that were read last; for the thread of the database alone."""

    def __init__(self) -> None:
        self._kept: dict[ChannelId, StoredGovernance] = {}

    def of(self, channel: ChannelId, db: sqlite3.Connection) -> StoredGovernance | None:
        """Return the governance of a channel as it is stored now; None if nobody governs it."""
        kept = self._kept.pop(channel, None)
        if kept is None:
            if not has_ops(bytes.fromhex(channel), db):
                return None
            kept = StoredGovernance(channel)
        self._kept[channel] = kept
        if len(self._kept) > CHANNELS_KEPT:
            del self._kept[next(iter(self._kept))]
        kept.read_on(db)
        return kept if kept.governance.dag.acts else None

    def hides(self, db: sqlite3.Connection) -> Callable[[Entry], bool]:
        """Return what says whether the author of a redaction might hide lines of others.

        That is so if they were admin at the cut that it names.
        """

        def hides(redaction: Entry) -> bool:
            header = redaction.header
            if not header.governance:
                return False
            stored = self.of(ChannelId(header.channel_id), db)
            heads = tuple([OpId(head) for head in header.governance])
            author = Key(bytes.fromhex(header.author))
            return stored is not None and (
                verdict_at_cut(stored.governance, author, heads, Doing.HIDE) is Verdict.YES
            )

        return hides


def lines_of(
    stored: StoredGovernance,
    acts: Sequence[Act],
    me: PeerId,
    called: NickOf,
    db: sqlite3.Connection,
) -> list[Line]:
    """Return acts as lines; the reason that somebody blocked gave is not among their words."""
    if not acts:
        return []
    names = Names(stored.channel, called, db)
    lines = ActLines(stored.channel, stored.governance, me, names.nick_of)
    return [_without_blocked(lines.line(act), db) for act in acts]


class Names:
    """Names of people, as they are known or else as they wrote last in a channel."""

    def __init__(self, channel: ChannelId, called: NickOf, db: sqlite3.Connection) -> None:
        self._channel, self._called, self._db = channel, called, db
        self._found: dict[PeerId, str] = {}

    def nick_of(self, peer: PeerId) -> str:
        """Return what somebody is called, in their own bytes; empty if that is unknown."""
        nick = self._found.get(peer)
        if nick is None:
            nick = self._found[peer] = self._called(peer) or self._met(peer) or self._wrote(peer)
        return nick

    def _met(self, peer: PeerId) -> str:
        row = self._db.execute(NICK, (bytes.fromhex(peer),)).fetchone()
        return "" if row is None else str(row[0])

    def _wrote(self, peer: PeerId) -> str:
        places = (bytes.fromhex(self._channel), bytes.fromhex(peer))
        row = self._db.execute(LAST_TEXT, places).fetchone()
        if row is None or not is_sound(*row):
            return ""
        *_, size, payload = row
        text = readable(Kind.TEXT, payload[len(payload) - size :])
        return "" if text is None else text.nick


def _without_blocked(line: Line, db: sqlite3.Connection) -> Line:
    if line.act is None or not line.act.reason:
        return line
    blocked = db.execute(BLOCKED, (bytes.fromhex(line.author),)).fetchone()[0]
    return replace(line, act=replace(line.act, reason="")) if blocked else line


def matches(line: Line, words: Sequence[str]) -> bool:
    """Return whether the names and the reason of an act have, for every word, one that begins so.

    Case and accents do not count, as in the index of the messages.
    """
    assert line.act is not None
    people = [line.nick, *[one.nick for one in line.act.people]]
    told = _folded(" ".join([*people, line.act.reason, line.act.name, line.act.kind.value]))
    begins = [word for word in NO_WORD.split(told) if word]
    return all(any(one.startswith(_folded(word)) for one in begins) for word in words)


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFD", text).casefold()
    return "".join(one for one in letters if unicodedata.category(one) != "Mn")
