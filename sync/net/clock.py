"""The only reader of the clock and of the system's randomness.

Machines get a clock that only goes forward: the wall clock at the start, carried on by the
monotonic one. A step of the wall clock moves the reference clock's offset, never a deadline.
"""

import ctypes
import os
import secrets
import sys
import time
from typing import Final

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.machine import SECOND, Nanos

_SLEEPLESS: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

UNSYNCHRONISED: Final = 0x40
"""STA_UNSYNC of `timex.status`: the kernel knows of nobody who keeps its clock right."""

IN_NANOSECONDS: Final = 0x2000
"""STA_NANO: the second part of `timex.time` counts nanoseconds."""

KERNELS_WALL_MAX: Final[Nanos] = SECOND
"""How far the wall we read may be from the kernel's: a clock that is faked is not kept right."""


class _Timex(ctypes.Structure):
    """The `timex` structure of `ntp_adjtime`, as far as we read it; padded to fit any system's."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("constant", ctypes.c_long),
        ("precision", ctypes.c_long),
        ("tolerance", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("fraction", ctypes.c_long),
        ("rest", ctypes.c_char * 256),
    )


def _synchronised(wall: Nanos) -> bool:
    """Ask the kernel, changing nothing; where it cannot be asked, nobody keeps the clock right."""
    try:
        ask = ctypes.CDLL(None).ntp_adjtime
    except (OSError, AttributeError):
        return False
    timex = _Timex()
    if ask(ctypes.byref(timex)) < 0 or timex.status & UNSYNCHRONISED:
        return False
    if not sys.platform.startswith("linux"):
        return True  # elsewhere it tells no time
    unit = 1 if timex.status & IN_NANOSECONDS else 1000
    kernels = timex.seconds * SECOND + timex.fraction * unit
    return bool(abs(kernels - wall) <= KERNELS_WALL_MAX)


class Clock:
    """See the module docstring."""

    def __init__(self) -> None:
        self._anchor: Nanos = time.time_ns() - time.monotonic_ns()

    def now(self) -> Nanos:
        """Return the machines' time, in nanoseconds since the epoch; it never goes back."""
        return self._anchor + time.monotonic_ns()

    def awake(self) -> Nanos:
        """Return a clock that goes on while the computer sleeps, and that nobody sets."""
        return time.clock_gettime_ns(_SLEEPLESS)

    def synchronised(self) -> bool:
        """Return whether the system reports the wall clock as synchronised, by NTP or the like."""
        return _synchronised(self.wall())

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
