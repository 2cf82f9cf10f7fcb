"""Policy about a wrong clock, as settings and options name it."""

from enum import Enum


class Policy(Enum):
    """Policy by which the question about our clock is answered."""

    ASK = "ask"
    FOLLOW = "follow"
    STAY = "stay"
    NOBODY = "nobody"
    """There is no person: two with standing are followed."""
