"""The only reader of the clock and of the system's randomness.

Machines get a clock that only goes forward: the wall clock at the start, carried on by the
monotonic one. A step of the wall clock moves the reference clock's offset, never a deadline.
"""

import os
import secrets
import time

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.machine import Nanos


class Clock:
    """See the module docstring."""

    def __init__(self) -> None:
        self._anchor: Nanos = time.time_ns() - time.monotonic_ns()

    def now(self) -> Nanos:
        """Return the machines' time, in nanoseconds since the epoch; it never goes back."""
        return self._anchor + time.monotonic_ns()

    def wall(self) -> Nanos:
        """Return the wall clock, in nanoseconds since the epoch; a person may set it."""
        return time.time_ns()


def draw(size: int) -> bytes:
    """Return `size` random bytes of the system, for keys and secrets."""
    return os.urandom(size)


def draw_key() -> X25519PrivateKey:
    """Return a fresh ephemeral key."""
    return X25519PrivateKey.generate()


def draw_log() -> int:
    """Return a log number: a random unsigned 64-bit integer."""
    return secrets.randbits(64)
