"""Parts of a snapshot (`sync.view.view`): our clock, and what the person is asked about it."""

from enum import Enum

from msgspec import Struct

from sync.machine import ChannelId, Nanos, PeerId


class ClockAnswer(Enum):
    """The person's answer when asked about the clock; it holds until the clock is set."""

    NONE = "none"
    FOLLOW = "follow"
    STAY = "stay"


class ClockSettled(Enum):
    """Reason why a question about our clock was dropped without an answer."""

    NONE = ""
    FOLLOWED = "followed"
    """Settled: the member asked about follows us."""
    SET = "set"
    """Our clock was set."""
    AGREE = "agree"
    """The difference is gone, or they are."""


class ClockVoter(Struct, frozen=True):
    """Somebody whose clock differs from ours; `nick` is their bytes: sanitise to render."""

    peer: PeerId
    nick: str
    ahead_ns: Nanos
    """Lead of their clock over ours; negative where ours is ahead."""
    standing: bool
    """True if they are verified, or were met in an earlier run over a day ago."""


class ClockQuestion(Struct, frozen=True):
    """The question whether to follow clocks that agree with each other but not with ours."""

    voters: tuple[ClockVoter, ...]
    """The longest known first: those with standing, or else one of each address."""
    ahead_ns: Nanos
    """Lead of all of them over us, their median; negative where our clock is ahead."""
    sets_aside: int
    """Number of messages here that following would set aside until their time."""
    standing: bool
    """True if the voters have standing; if not, this is asked once a day at most."""
    channels: tuple[ChannelId, ...]
    """Where it is asked, and what the answer is for."""


class ClockInfo(Struct, frozen=True):
    """Our clock, and what is thought of it."""

    is_clock: bool = True
    """True if it can be right at all: after this program's release, and before 2100."""
    synchronised: bool = False
    """True if the system says that it is kept right (NTP)."""
    moved_ns: Nanos = 0
    """Lead of our stamps over our clock: in the channel that moved furthest."""
    question: ClockQuestion | None = None
    """Question to the person, until it is answered or has settled itself."""
    answer: ClockAnswer = ClockAnswer.NONE
    """Answer of the person or of a setting, as long as it holds."""
    settled: ClockSettled = ClockSettled.NONE
    """Why the last question is no longer asked, if it was not answered."""
    following: tuple[ClockVoter, ...] = ()
    """Those of the people we follow who are here."""
    followed_by: tuple[PeerId, ...] = ()
    """People who say that they follow us."""
