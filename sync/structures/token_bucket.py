"""Token buckets: how much of something each of many peers may do, in bursts and on average."""

from dataclasses import dataclass, field
from typing import Final

from sync.machine import SECOND, Nanos

KEYS_MAX: Final = 1024
"""Peers remembered; a bucket that is forgotten was most likely full."""


@dataclass(slots=True)
class Buckets:
    """One bucket a key, full at first.

    Attributes:
        per_second: tokens that flow in.
        burst: tokens a bucket holds.
    """

    per_second: float
    burst: float
    _levels: dict[str, tuple[float, Nanos]] = field(default_factory=dict)

    def take_token(self, key: str, now: Nanos) -> bool:
        """Take one token of `key`; False, and nothing taken, where there is none."""
        level, since = self._levels.pop(key, (self.burst, now))
        level = min(self.burst, level + (now - since) * self.per_second / SECOND)
        enough = level >= 1
        self._levels[key] = (level - 1 if enough else level, now)
        if len(self._levels) > KEYS_MAX:
            del self._levels[next(iter(self._levels))]
        return enough
