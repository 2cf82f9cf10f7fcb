"""Waiting for a file to appear: the kernel says when, so nothing sleeps and nothing polls."""

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

IN_CREATE: Final = 0x100
IN_MOVED_TO: Final = 0x80
HEAD: Final = struct.Struct("iIII")
"""Of an event: watch, mask, cookie, and the bytes of the name that follows."""


class Appearing:
    """Names that appear in a directory, from when this is made."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._names: list[str] = []

    def next(self, suffix: str, within_s: float, maker: int) -> str:
        """Wait for the next name that ends so, which the process `maker` is to make.

        Raises:
            AssertionError: none came in time, or the process ended.
        """
        ended = os.pidfd_open(maker)
        try:
            return self._next(suffix, within_s, ended)
        finally:
            os.close(ended)

    def _next(self, suffix: str, within_s: float, ended: int) -> str:
        while True:
            while self._names:
                name = self._names.pop(0)
                if name.endswith(suffix):
                    return name
            ready, _, _ = select.select([self._descriptor, ended], [], [], within_s)
            assert self._descriptor in ready, f"nothing named *{suffix} appeared: " + (
                "its process ended" if ready else f"not within {within_s} s"
            )
            self._read()

    def _read(self) -> None:
        events = os.read(self._descriptor, 64 * 1024)
        at = 0
        while at < len(events):
            size = HEAD.unpack_from(events, at)[3]
            at += HEAD.size
            self._names.append(events[at : at + size].rstrip(b"\0").decode())
            at += size


@contextmanager
def appearing(directory: Path) -> Iterator[Appearing]:
    """Hear of what appears in `directory` (inotify)."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init()
    try:
        watch = libc.inotify_add_watch(descriptor, bytes(directory), IN_CREATE | IN_MOVED_TO)
        assert watch >= 0, os.strerror(ctypes.get_errno())
        yield Appearing(descriptor)
    finally:
        os.close(descriptor)
