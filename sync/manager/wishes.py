"""Sessions that are wanted: when, why, and how they are tried again."""

from dataclasses import dataclass

from msgspec import Struct

from sync.machine import Nanos

AGAIN_MAX = 3
"""Times that a peer is asked to stay again whose places were all taken, or for a session that a
person wants and that gave way to another."""

PUSHED_MANY = 256
"""Messages that come by one session, after which it is compared by author logs what came: that
acknowledges them at once."""

NEW_LINK = "new link"
MISSING = "messages are missing"
ASKED = "asked by the person"
REGULAR = "every five minutes"
REGULAR_WHOLE = "every hour"
CUT_SHORT = "a session that the peer began was cut short"
OTHER_STATE = "another state was told"
MANY_CAME = f"over {PUSHED_MANY} messages came at once"


class Wish(Struct):
    """A session we want: when, why, how often it failed already, and how far back it looks."""

    at: Nanos
    why: str
    failures: int = 0
    span: Nanos | None = None
    once: bool = False
    """See `Sought`."""
    protocol: str = ""
    """The only one that is wanted; empty for any."""
    moved: int = 0
    """Number of times in a row that the compared sets changed meanwhile."""
    by_logs: bool = False
    """Whether whole author logs are to be compared, where the peer offers them."""
    then: str = ""
    """Why a session over whole author logs follows this one; empty if none does."""
    live: bool = False
    """Whether it is to stay, to pass on what is new."""
    chosen: str = ""
    """Why by `protocol`, by the handshakes of a session before it; empty if no session was."""
    estimate: int = 0
    """Bytes that it is expected to take, by the same."""

    @property
    def is_asked(self) -> bool:
        """True if a person waits for it."""
        return self.why == ASKED

    @property
    def is_search(self) -> bool:
        """True if any peer may serve it."""
        return self.why == MISSING

    @property
    def is_tried_again(self) -> bool:
        """True if one that gave way is to begin anew as it was."""
        return self.live or (self.is_asked and self.failures < AGAIN_MAX)


@dataclass(slots=True)
class Regular:
    """Regular comparison of a channel: when the next one is due, and how many there were."""

    at: Nanos
    count: int = 0
