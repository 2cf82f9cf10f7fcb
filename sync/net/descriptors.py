"""Room for descriptors: each link, session and dial is one, and the disk needs some."""

import resource
from contextlib import suppress
from typing import Final

WANTED: Final = 2_048
"""Over 512 links, 128 strangers, 140 sessions and pushes and 32 dials; the rest is for files. Many
systems allow a program 1,024 of its own accord, macOS 256, and more to one that asks."""


def make_room() -> None:
    """Ask the system for as many descriptors as we may need, if it allows fewer.

    Without effect where it refuses: then connections end, with an error, once they are spent.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= WANTED:
        return
    most = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
