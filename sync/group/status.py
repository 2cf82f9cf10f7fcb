"""Status of a stored message; apart from the records, for a start reads it and none of these."""

from enum import Enum
from typing import Final

UNSENT: Final = -1
"""Attempts of an own message that nobody was sent yet: it waits for an answer about our clock."""


class Status(Enum):
    """Status of a stored message."""

    DELIVERED = "delivered"
    WAITING = "waiting"
    """In the incoming buffer: a dependency is missing."""
    PARKED = "parked"
    """Stamped more than five minutes ahead of the reference clock."""
    LOADING = "loading"
    """It names messages that a session is about to bring."""
