"""The kernel's word on whether something keeps the clock right: NTP or the like."""

import ctypes
import sys
from typing import Final

from sync.machine import SECOND, Nanos

UNSYNCHRONISED: Final = 0x40
"""STA_UNSYNC of `timex.status`: the kernel knows of nobody who keeps its clock right."""

IN_NANOSECONDS: Final = 0x2000
"""STA_NANO: the second part of `timex.time` counts nanoseconds."""

KERNELS_WALL_MAX: Final[Nanos] = SECOND
"""Difference between the wall we read and the kernel's: a clock that is faked is not kept right."""


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


def synchronised(wall: Nanos) -> bool:
    """Return whether the kernel says that our `wall` is kept right; no if it cannot be asked.

    Asking changes nothing.
    """
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
