"""Clock inputs and votes, the question about our clock, and the clock state kept between runs.

Offsets are against the machines' clock, which only goes forward.
"""

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sync.group.clock_policy import Policy
from sync.machine import Nanos, PeerId


class Follows(Enum):
    """By whose clock a member says it goes; the numbers are those of the wire."""

    NOBODY = 0
    OTHERS = 1
    YOU = 2


class Settled(Enum):
    """Reason why a question that nobody answered is no longer asked."""

    NONE = ""
    FOLLOWED = "followed"
    SET = "set"
    AGREE = "agree"


class Answer(Enum):
    """Answer to the question about our clock, by a person or by policy."""

    NONE = "none"
    FOLLOW = "follow"
    STAY = "stay"


class OwnClock(Struct, frozen=True):
    """Input: the wall clock of this computer, which a person may set.

    Told before `Restored`, when it jumps, and when it has drifted.
    """

    offset: Nanos
    """Lead of the wall over the machines' clock."""
    synchronised: bool = False
    """Whether the system says that it is kept right; where that is not known, it is not."""
    policy: Policy = Policy.NOBODY
    was_set: bool = False
    """Whether somebody set it since it was told last: no answer holds any more."""
    released: Nanos = 0
    """When the program was released: an earlier wall is no clock."""


class MemberClock(Struct, frozen=True):
    """Input: the wall clock of a member who is here, from a pong."""

    peer: PeerId
    offset: Nanos
    host: str
    """The address it speaks from."""
    standing: bool
    """Whether it is verified, or was met in an earlier run over a day ago."""
    follows: Follows = Follows.NOBODY


class ClockAnswered(Struct, frozen=True):
    """Input: the person answers the question about our clock."""

    follow: bool


class Vote(Struct, frozen=True):
    """A clock that counts."""

    peer: PeerId
    offset: Nanos
    standing: bool


class Question(Struct, frozen=True):
    """Question to the person: whether to follow votes that agree with each other, not with us."""

    votes: tuple[Vote, ...]
    ahead: Nanos
    """Lead of their median over our clock."""
    standing: bool


class ClockKept(Struct, frozen=True):
    """Clock state kept between runs."""

    answer: Answer = Answer.NONE
    shift: Nanos = 0
    """Lead of those we follow over our wall; 0 while we follow nobody."""
    stayed: Nanos | None = None
    """The difference at which the person stayed."""
    asked_at: Nanos = 0
    asked_ahead: Nanos | None = None
    """Last question of voters without standing, and its time; None: nothing yet."""

    def answered(self, answer: Answer, shift: Nanos, stayed: Nanos | None) -> "ClockKept":
        """Return it with another answer."""
        return replace(self, answer=answer, shift=shift, stayed=stayed)

    def asked(self, at: Nanos, ahead: Nanos) -> "ClockKept":
        """Return it with a question of voters without standing."""
        return replace(self, asked_at=at, asked_ahead=ahead)
