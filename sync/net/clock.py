"""The only reader of the clock and of the system's randomness.

Machines get a clock that only goes forward: the wall clock at the start, carried on by the
monotonic one. A step of the wall clock moves the reference clock's offset, never a deadline.
"""

import os
import time
from typing import TYPE_CHECKING, Final

from sync.machine import Nanos

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

_SLEEPLESS: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock:
    """See the module docstring."""

    def __init__(self) -> None:
        self.anchor: Nanos = time.time_ns() - time.monotonic_ns()

    def now(self) -> Nanos:
        """Return the machines' time, in nanoseconds since the epoch; it never goes back."""
        return self.anchor + time.monotonic_ns()

    def awake(self) -> Nanos:
        """Return a clock that goes on while the computer sleeps, and that nobody sets."""
        return time.clock_gettime_ns(_SLEEPLESS)

    def synchronised(self) -> bool:
        """Return whether the system reports the wall clock as synchronised, by NTP or the like."""
        from sync.net import kernel_clock  # noqa: PLC0415  # with ctypes: no start waits for it

        return kernel_clock.synchronised(self.wall())

    def wall(self) -> Nanos:
        """Return the wall clock, in nanoseconds since the epoch; a person may set it."""
        return time.time_ns()


def worked() -> Nanos:
    """Return the processor time that the thread which asks has used."""
    return time.thread_time_ns()


def elapsed() -> Nanos:
    """Return a clock without a date, for how long something took."""
    return time.monotonic_ns()


def draw(size: int) -> bytes:
    """Return `size` random bytes of the system, for keys and secrets."""
    return os.urandom(size)


def draw_key() -> "X25519PrivateKey":
    """Return a fresh ephemeral key."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import (  # noqa: PLC0415  # for links
        X25519PrivateKey,
    )

    return X25519PrivateKey.generate()


def draw_log() -> int:
    """Return a log number: a random unsigned 64-bit integer."""
    return int.from_bytes(draw(8), "big")
