"""State of one channel in its group: the one way in for state entries, and ours.

Rules:
1. Every entry takes one way in, `receive`: size, form, channel, rank, time, signature, verdict. The
   cheap checks come first, and none depends on the order of arrival.
2. An entry far ahead of the reference clock is not kept; whoever has it offers it again when it is
   due. One of ours that is far ahead is signed anew.
3. Where anybody can make keys, in open channels, an author's entries wait, out of the tree, until a
   message of theirs is stored here.
4. Where somebody governs, an entry has the verdict at the cut that it names; without one it waits.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from sync.calimero.governance.ops import GroupId, Key, OpId, Verdict
from sync.calimero.governance.refusal import SENTENCES, Refusal
from sync.calimero.governance.verdicts import Doing
from sync.calimero.state.contents import KINDS, Content, StateKind, encode
from sync.calimero.state.entry import (
    DOMAIN,
    SIGNATURE_SIZE,
    RegisterKey,
    Signable,
    StateEntry,
    check_signature,
    parse,
    sign,
)
from sync.calimero.state.registers import REGISTERS_OF_AUTHOR_MAX, Kept, Registers
from sync.errors import DecodeError, LocalError, RemoteError
from sync.group.future_entries import CLOCK_AHEAD_MAX
from sync.group.state_values import SetState, StateArrived
from sync.machine import MILLISECOND, Nanos
from sync.structures.token_bucket import Buckets

WAITING_MAX: Final = 1_024
"""Entries of a channel that wait, for a message of their author or for governance."""

WAITING_OF_AN_AUTHOR_MAX: Final = 16
"""The same of one author: the newest; whoever makes up keys pushes out the oldest of all."""

AHEAD_MAX: Final = 256
"""Entries far ahead that are counted: one is enough to know why two states differ."""

LIVE_PER_SECOND: Final = 2.0
LIVE_BURST: Final = 256.0
"""Entries that a peer may tell on its link: all of its registers after a start, then a mark now and
then, and pins as fast as somebody can set them."""

TOO_MANY: Final = "more state entries than a person sets"

SCOPE_SIZE: Final = 32

RENEWED_FROM: Final = REGISTERS_OF_AUTHOR_MAX - 32
"""Registers of ours that are newer than one that is live: beyond so many it is signed anew, long
before it is pushed out."""

DOING: Final = {
    StateKind.PROFILE: Doing.REACT,
    StateKind.READ: Doing.REACT,
    StateKind.HELD: Doing.REACT,
    StateKind.TOPIC: Doing.TOPIC,
    StateKind.PIN: Doing.PIN,
}
"""Right that setting a register needs: readers have a profile and marks."""

LIVE_ALWAYS: Final = (StateKind.PROFILE, StateKind.READ, StateKind.HELD, StateKind.TOPIC)
"""Kinds of which an author has one register each, which must not fall behind its pins."""

MAY_NOT: Final = {
    StateKind.TOPIC: "Only admins set the topic here.",
    StateKind.PIN: "Only admins pin here.",
}
WRITE_FIRST: Final = (
    "Write something here first: in an open channel what people set counts once they have."
)
NOT_IN: Final = SENTENCES[Refusal.NOT_A_MEMBER]
FULL: Final = "This channel keeps no more of what people state: take something back, or wait."

Judge = Callable[[Key, tuple[OpId, ...], Doing], Verdict]
"""Returns the verdict on doing something at a cut."""


class Taken(NamedTuple):
    """An entry that stands now, and those that it took the place of."""

    entry: StateEntry
    kept: Kept


class StateNews(Struct, frozen=True):
    """Outcome of entries that came.

    Attributes:
        taken: those that stand now, in the order in which they came.
        refused: reasons, of those that no honest peer sends.
        lacking: heads of governance that others wait for.
    """

    taken: tuple[Taken, ...] = ()
    refused: tuple[str, ...] = ()
    lacking: tuple[OpId, ...] = ()


def signed_part(content: bytes) -> bytes:
    """Return the bytes that the author of an entry signed, of the entry as it is sent."""
    return DOMAIN + content[:-SIGNATURE_SIZE]


class Unsettled:
    """Entries that are in no tree yet, by author; each author's newest."""

    def __init__(self) -> None:
        self._of: OrderedDict[Key, dict[bytes, StateEntry]] = OrderedDict()
        self.count = 0

    def __len__(self) -> int:
        return self.count

    def add(self, entry: StateEntry) -> None:
        """Keep an entry; over the bounds the oldest of the author, or of the first author, goes."""
        theirs = self._of.setdefault(entry.author, {})
        held = theirs.get(entry.key)
        if held is not None and held.rank >= entry.rank:
            return
        self.count += held is None
        theirs[entry.key] = entry
        if len(theirs) > WAITING_OF_AN_AUTHOR_MAX:
            oldest = min(theirs.values(), key=lambda one: one.rank)
            del theirs[oldest.key]
            self.count -= 1
        while self.count > WAITING_MAX:
            _, gone = self._of.popitem(last=False)
            self.count -= len(gone)

    def take_of(self, author: Key) -> tuple[StateEntry, ...]:
        """Return the entries of somebody, and let go of them."""
        theirs = self._of.pop(author, {})
        self.count -= len(theirs)
        return tuple(theirs.values())

    def take_all(self) -> tuple[StateEntry, ...]:
        """Return all, and let go of them."""
        everything = tuple([entry for theirs in self._of.values() for entry in theirs.values()])
        self._of.clear()
        self.count = 0
        return everything


class Stating:
    """See the module docstring.

    Args:
        group: the channel.
        me: our key.
        signer: signs with it.
        judge: verdicts, where somebody governs; None where nobody does.
        knows: returns whether a message of somebody was ever stored here; None where everybody who
            can be here has state.
        heads: returns our heads of governance.
    """

    def __init__(
        self,
        group: GroupId,
        me: Key,
        signer: Callable[[bytes], bytes],
        judge: Judge | None = None,
        knows: Callable[[Key], bool] | None = None,
        heads: Callable[[], tuple[OpId, ...]] = tuple,
    ) -> None:
        self.registers = Registers()
        self.strangers = Unsettled()
        """Entries whose authors have written nothing yet that is stored here."""
        self.pending = Unsettled()
        """Entries without a verdict."""
        self._ahead: dict[RegisterKey, Nanos] = {}
        """Registers of which an entry came that is far ahead, and its time."""
        self._rate = Buckets(LIVE_PER_SECOND, LIVE_BURST)
        self._group = group
        self._me = me
        self._sign = signer
        self._judge = judge
        self._knows = knows
        self._heads = heads
        self.outside = 0
        """Changes that no session made."""

    def scope(self) -> bytes:
        """Return SHA-256 of our sorted heads of governance; zeros where nobody governs."""
        if self._judge is None:
            return bytes(SCOPE_SIZE)
        return hashlib.sha256(b"".join(sorted(self._heads()))).digest()

    def knows(self, author: Key) -> bool:
        """Return whether what somebody sets counts: in open channels once they have written."""
        return self._knows is None or self._knows(author)

    @property
    def aside(self) -> int:
        """Number of entries that came and are in no tree; those far ahead are only counted."""
        return len(self.strangers) + len(self.pending) + len(self._ahead)

    def restore(self, contents: Iterable[bytes]) -> None:
        """Take up what the disk holds; no signature is checked again, and nothing judged."""
        self.registers = Registers([parse(content) for content in contents])

    # --- What others set -----------------------------------------------------------------------

    def on_live(self, event: StateArrived, reference: Nanos, now: Nanos) -> StateNews:
        """Take in what an author tells on its link: its own entries, at a rate that has a limit.

        Raises:
            RemoteError: of somebody else, or too many.
        """
        for content in event.contents:
            if not self._rate.take_token(event.peer, now):
                raise RemoteError(TOO_MANY)
            if parse(content).author.hex() != event.peer:
                raise RemoteError("a state entry on the link of somebody else")
        return self.receive(event.contents, reference)

    def on_brought(self, contents: Sequence[bytes], reference: Nanos) -> StateNews:
        """Take in what a session brought; whoever's it is."""
        outside = self.outside
        news = self.receive(contents, reference)
        self.outside = outside
        return news

    def receive(self, contents: Sequence[bytes], reference: Nanos) -> StateNews:
        """Take in signed entries; one that is refused does not stop the others.

        Args:
            contents: entries as they were sent.
            reference: the reference clock, nanoseconds since 1970.
        """
        taken: list[Taken] = []
        refused: list[str] = []
        lacking: dict[OpId, None] = {}
        for content in contents:
            try:
                entry = self._checked(content, reference)
            except DecodeError as error:
                refused.append(str(error))
                continue
            if entry is not None:
                taken += self._let_in(entry, lacking)
        return StateNews(tuple(taken), tuple(refused), tuple(lacking))

    def on_author_known(self, author: Key) -> StateNews:
        """A message of somebody is stored here: what they have set counts now."""
        return self._settle(self.strangers.take_of(author))

    def on_governed(self) -> StateNews:
        """Governance changed: judge again what waits for it."""
        return self._settle(self.pending.take_all())

    def _settle(self, entries: Sequence[StateEntry]) -> StateNews:
        lacking: dict[OpId, None] = {}
        taken = [one for entry in entries for one in self._let_in(entry, lacking)]
        return StateNews(tuple(taken), (), tuple(lacking))

    def _checked(self, content: bytes, reference: Nanos) -> StateEntry | None:
        """Return a sound entry that might stand; None if it would not, or not yet.

        Raises:
            DecodeError: no honest peer sends it.
        """
        entry = parse(content)
        if entry.signed.group != self._group:
            raise DecodeError("a state entry of another channel")
        if (self._judge is not None) is not bool(entry.signed.governance):
            raise DecodeError("a state entry that names heads where nobody governs, or none")
        if not self.registers.would_keep(entry):
            return None
        ahead = entry.stamped > reference + CLOCK_AHEAD_MAX
        check_signature(entry)
        if ahead:
            self._note_ahead(entry, reference)
        return None if ahead else entry

    def _note_ahead(self, entry: StateEntry, reference: Nanos) -> None:
        """Count an entry that is not kept until it is due, while there is room to."""
        due = [key for key, at in self._ahead.items() if at <= reference + CLOCK_AHEAD_MAX]
        for key in due:
            del self._ahead[key]
        if len(self._ahead) < AHEAD_MAX:
            self._ahead[entry.key] = entry.stamped

    def _let_in(self, entry: StateEntry, lacking: dict[OpId, None]) -> list[Taken]:
        if not self.knows(entry.author):
            self.strangers.add(entry)
            return []
        if self._judge is not None:
            heads = entry.signed.governance
            match self._judge(entry.author, heads, DOING[entry.kind]):
                case Verdict.NO:
                    return []
                case Verdict.UNKNOWN:
                    self.pending.add(entry)
                    lacking.update(dict.fromkeys(heads))
                    return []
                case Verdict.YES:
                    pass
        kept = self.registers.put(entry)
        self.outside += kept is not None
        return [] if kept is None else [Taken(entry, kept)]

    # --- What we set ---------------------------------------------------------------------------

    def on_set(
        self, event: SetState, reference: Nanos, heads: tuple[OpId, ...]
    ) -> tuple[Taken, ...]:
        """Set a register of ours, and sign anew what is live and would be pushed out.

        Raises:
            LocalError: as `set`.
        """
        if not self._counts(event.kind):
            return ()
        if event.content is None:
            taken = self.delete(event.kind, reference, heads, event.name)
        else:
            taken = self.set(event.content, reference, heads, event.name)
        return (taken, *self.renewed(reference, heads))

    @property
    def counts(self) -> bool:
        """True if what we set counts with the others: in open channels once we have written."""
        return self.knows(self._me)

    def _counts(self, kind: StateKind) -> bool:
        """Return whether to set a register of ours now; a profile is set once it counts.

        Raises:
            LocalError: what a person sets would reach nobody.
        """
        if not self.counts and kind in MAY_NOT:
            raise LocalError(WRITE_FIRST)
        return self.counts

    def set(
        self,
        content: Content,
        reference: Nanos,
        heads: tuple[OpId, ...] = (),
        name: bytes = b"",
    ) -> Taken:
        """Set a register of ours.

        Args:
            content: what it says.
            reference: the reference clock.
            heads: heads of governance that we have seen.
            name: the id of the line, for a pin.

        Raises:
            LocalError: we may not; says why.
        """
        kind = KINDS[type(content)]
        try:
            value = encode(content)
        except DecodeError as error:
            raise LocalError(f"That cannot be kept: {error}.") from error
        return self._set(kind, name, value, reference, heads)

    def delete(
        self,
        kind: StateKind,
        reference: Nanos,
        heads: tuple[OpId, ...] = (),
        name: bytes = b"",
    ) -> Taken:
        """Take back what a register of ours says.

        Raises:
            LocalError: as `set`.
        """
        return self._set(kind, name, b"", reference, heads)

    def is_ahead(self, reference: Nanos) -> bool:
        """Return whether an entry of ours is so far ahead that nobody else keeps it."""
        ours = self.registers.of_author(self._me)
        return bool(ours) and ours[0].stamped > reference + CLOCK_AHEAD_MAX

    def renewed(self, reference: Nanos, heads: tuple[OpId, ...] = ()) -> tuple[Taken, ...]:
        """Sign anew what is live of ours and would be pushed out, or lies far ahead."""
        ours = self.registers.of_author(self._me)
        behind = [one for one in ours[RENEWED_FROM:] if one.kind in LIVE_ALWAYS]
        ahead = [one for one in ours if one.stamped > reference + CLOCK_AHEAD_MAX]
        for entry in ahead:  # else a new one would have to be stamped later still
            self.registers.forget(entry)
        anew = dict.fromkeys(one.key for one in (*behind, *ahead))
        by_key = {one.key: one for one in ours}
        taken: list[Taken] = []
        for key in anew:
            old = by_key[key]
            try:
                taken.append(
                    self._set(old.kind, old.signed.name, old.signed.value, reference, heads)
                )
            except LocalError:
                continue  # a right that we have no more
        return tuple(taken)

    def _set(
        self,
        kind: StateKind,
        name: bytes,
        value: bytes,
        reference: Nanos,
        heads: tuple[OpId, ...],
    ) -> Taken:
        if self._judge is not None:
            verdict = self._judge(self._me, heads, DOING[kind])
            if verdict is not Verdict.YES:
                raise LocalError(MAY_NOT.get(kind, NOT_IN))
        signed = Signable(
            self._group, self._me, kind, name, self._next_stamp(reference), heads, value
        )
        entry = sign(signed, self._sign)
        kept = self.registers.put(entry)
        if kept is None:  # ours is the newest of its author: nothing but room is missing
            raise LocalError(FULL)
        self.outside += 1
        return Taken(entry, kept)

    def _next_stamp(self, reference: Nanos) -> int:
        """Return a stamp that rises above all of ours: reference time, unless that stood still."""
        ours = self.registers.of_author(self._me)
        last = ours[0].signed.stamp if ours else 0
        return max(reference // MILLISECOND, last + 1)
