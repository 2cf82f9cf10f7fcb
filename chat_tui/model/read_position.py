"""Read position of a conversation, and messages that came while nobody looked: positions alone.

Rule: a conversation is read up to one position. Messages after it are new; those that arrive
before it came late.
"""

from collections.abc import Sequence

from sync.machine import Nanos
from sync.view.view import Position


class Attention:
    """Follows where the reader is; every method that moves the separator says where it stood."""

    def __init__(self) -> None:
        self.watched = False
        """Whether somebody sees the newest messages."""
        self.unread = 0
        """Messages of others that came below while nobody looked."""
        self.earlier = 0
        """Messages of others that came above what was read already, while nobody looked."""
        self._read_to: Position | None = None
        self._newest: Position | None = None
        self._new_from: Position | None = None
        self._new_count = 0
        self._in_sight = False
        """True while the separator is on the screen."""
        self._is_seen = False
        """True if somebody has had time to see it."""
        self._earlier_from: Position | None = None
        self._goes_on = False
        """True if the separator counts what comes below it, though somebody looks already."""
        self._away_until: Nanos = 0
        """Time of the start before which nobody can have looked; 0 once that is over."""

    @property
    def first_unread(self) -> Position | None:
        """Position of the first message that came while nobody looked."""
        waiting = [one for one in (self._earlier_from, self._new_from) if one is not None]
        return min(waiting, default=None)

    @property
    def read_to(self) -> Position | None:
        """Position of the last message somebody saw; None if nobody has seen any."""
        return self._newest if self.watched else self._read_to

    def new_at(self, position: Position) -> int:
        """Return how many unread messages begin at a place; 0 at all but one."""
        return self._new_count if position == self._new_from else 0

    def heard(self, position: Position) -> None:
        """Note that a message stands there."""
        self._newest = max(self._newest or position, position)

    def look(self) -> None:
        """Note that somebody sees the newest messages; the separator stays until `look_away`."""
        self.watched = True
        self.unread = 0
        self.look_back()

    def glance(self) -> None:
        """Note that all is in sight for now; what comes next is new, the separator stays."""
        self.unread, self._read_to = 0, self._newest

    def take_up(self, position: Position) -> None:
        """Note that the person acted on a message: if nothing else is new, nothing is."""
        if self.unread == 1 and position == self._newest:
            self.glance()

    def look_back(self) -> None:
        """Note that somebody went to see what came above."""
        self.earlier, self._earlier_from = 0, None

    def see(self, first: Position, last: Position) -> None:
        """Note that what stands between these places is in sight."""
        self._in_sight = self._new_from is not None and first <= self._new_from <= last
        if self._in_sight and not self.watched:
            self._is_seen = True  # somebody went there

    def look_away(self) -> Position | None:
        """Note that nobody sees the newest messages: what comes from now on is new.

        The separator goes once it was seen: whoever looks away may be about to go there.
        """
        if not self.watched:
            return None
        self.watched, self._away_until = False, 0
        self._read_to, separator = self._newest, self._new_from
        if not self._is_seen and not self._in_sight:
            return None
        self._new_from, self._new_count = None, 0
        self._goes_on = False
        return separator

    def resume(
        self, read_to: Position, new: Sequence[Position], away_until: Nanos
    ) -> Position | None:
        """Go on from another run; returns where the separator stands, as what is new begins.

        What was written before `away_until` is new, whenever it comes; 0 of who read nothing yet.
        """
        self._read_to, self._away_until = read_to, away_until
        self._newest = max(self._newest or read_to, read_to, *new[-1:])
        self._new_from, self._new_count = (new[0] if new else None), len(new)
        self._is_seen = False
        self._goes_on = bool(new)
        if not self.watched:
            self.unread = len(new)
        return self._new_from

    def wrote(self) -> None:
        """Note that the person wrote: what comes from now on is said to their face."""
        self._goes_on, self._away_until, self._is_seen = False, 0, True

    def catch_up(
        self, position: Position, written_ns: Nanos
    ) -> tuple[Position | None, Position | None]:
        """Count a message of somebody else that came while somebody looks.

        After a start, others bring what was written meanwhile when the screen is open already: it
        is as new as what the disk had. Returns where the separator stood and stands.
        """
        before = self._new_from
        counts = self._goes_on or written_ns < self._away_until
        if counts and self._read_to is not None and position > self._read_to:
            self._new_count += 1
            self._begin_at(position)
        elif self._in_sight:
            self._is_seen = True  # before this one, which is said to their face
        return before, self._new_from

    def miss(self, position: Position) -> Position | None:
        """Count a message of somebody else that came while nobody looked."""
        if self._read_to is not None and position < self._read_to:
            self.earlier += 1
            self._earlier_from = min(self._earlier_from or position, position)
            return None
        self.unread += 1
        self._new_count += 1
        before = self._new_from
        self._begin_at(position)
        return before

    def _begin_at(self, position: Position) -> None:
        """Put the separator above a new message, if it does not stand further up."""
        if self._new_from is None or position < self._new_from:
            self._new_from, self._in_sight, self._is_seen = position, False, False
