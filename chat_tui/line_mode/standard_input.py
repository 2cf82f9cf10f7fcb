"""Lines of standard input, whatever it is: a pipe, a file or a terminal."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

CHUNK_SIZE: Final = 64 * 1024
"""Bytes read at once."""

LINE_MAX: Final = 1024 * 1024
"""Bytes of a line without an end; more is taken for a line."""


async def input_lines() -> AsyncIterator[list[str]]:
    """Yield the lines of standard input, those together that came together."""
    pending = b""
    async for chunk in chunks(sys.stdin.fileno()):
        *lines, pending = (pending + chunk).split(b"\n")
        if len(pending) > LINE_MAX:
            lines.append(pending)
            pending = b""
        yield [line.decode(errors="replace").rstrip("\r") for line in lines]
    if pending:
        yield [pending.decode(errors="replace")]


async def chunks(descriptor: int) -> AsyncGenerator[bytes, None]:
    """Yield what can be read, as it comes, until the end of input.

    The loop is told once to look at the descriptor, and not for each chunk. Where nobody takes the
    last chunk it no longer looks, so whoever writes waits.
    """
    loop = asyncio.get_running_loop()
    unread: list[bytes] = []
    came = asyncio.Event()
    watched = False

    def read_on() -> None:
        nonlocal watched
        if unread:
            loop.remove_reader(descriptor)
            watched = False
        else:
            unread.append(_read(descriptor))
            came.set()

    try:
        while True:
            if not watched:
                try:
                    loop.add_reader(descriptor, read_on)
                    watched = True
                except PermissionError:  # a file: it is never waited for
                    await asyncio.sleep(0)
                    unread.append(_read(descriptor))
                    came.set()
            await came.wait()
            came.clear()
            chunk = unread.pop()
            if not chunk:
                return
            yield chunk
    finally:
        if watched:
            loop.remove_reader(descriptor)


def _read(descriptor: int) -> bytes:
    """Return what is there; nothing at the end of input."""
    try:
        return os.read(descriptor, CHUNK_SIZE)
    except OSError:  # the terminal is gone
        return b""
