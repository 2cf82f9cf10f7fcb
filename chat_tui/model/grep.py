"""Messages that match a regular expression, found page by page, newest first.

Rule: a pattern never stops the chat. Python's expressions can take for ever and cannot be
interrupted, so they run in a process of their own, which is ended when the time is up.
"""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from chat_tui.model import grep_worker
from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import count
from chat_tui.wording.acts import sentence
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.view.view import History, Line

PAGE: Final = 500
"""Messages matched at a time."""

FOUND_MAX: Final = 200
"""Matches listed; more says less."""

READ_MAX: Final = 100_000
"""Messages looked through."""

WITHIN_S: Final = 5.0
"""For everything; 100,000 messages take about two seconds with a plain pattern."""

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one answer; a page of the longest messages stays far below."""


@dataclass(slots=True)
class Matches:
    """Matches, newest first, the number of messages read, and why it ended early (if it did)."""

    lines: list[Line] = field(default_factory=list)
    read: int = 0
    cut: str = ""

    @property
    def said_of_none(self) -> str:
        """Sentence for where nothing matches, or nothing was looked through."""
        if self.cut and not self.read:
            return self.cut
        return f"None of {count(self.read, 'message')} matches. {self.cut}".rstrip()


async def matching(
    history: History, channels: Sequence[ChannelId], pattern: str, within_s: float = WITHIN_S
) -> Matches:
    """Return the newest messages of channels whose text matches `pattern`, whatever its case.

    Raises:
        LocalError: not a regular expression; says what is wrong with it.
    """
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", str(Path(grep_worker.__file__)),
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LINE_LIMIT,
    )  # fmt: skip
    matches = Matches()
    try:
        async with asyncio.timeout(within_s):
            await _begin(worker, pattern)
            await _read_on(worker, history, channels, matches)
    except TimeoutError:
        left_out = "older ones were left out" if matches.read else "no message was looked through"
        matches.cut = f"The pattern took longer than {within_s:g} s, so {left_out}."
    finally:
        if worker.returncode is None:
            worker.kill()
        await worker.communicate()
    return matches


async def _begin(worker: Process, pattern: str) -> None:
    answer = await _asked(worker, pattern)
    if not isinstance(answer, dict) or answer["wrong"] is not None:
        wrong = answer["wrong"] if isinstance(answer, dict) else "it is too large"
        raise LocalError(
            f"{clean_text(pattern)!r} is not a regular expression: {wrong}. "
            "/search looks for plain words."
        )


async def _read_on(
    worker: Process, history: History, channels: Sequence[ChannelId], found: Matches
) -> None:
    pages = {channel: await history.page(channel, before=None, limit=PAGE) for channel in channels}
    while pages:
        # of all channels the page that goes up to the newest line
        channel = max(pages, key=lambda one: _newest(pages[one]))
        page = pages.pop(channel)
        found.lines += reversed(await _matching(worker, page))
        found.read += len(page)
        if len(found.lines) > FOUND_MAX:
            found.cut = f"These are the newest {FOUND_MAX}; there are more."
            break
        if len(page) == PAGE:
            pages[channel] = await history.page(channel, before=page[0].position, limit=PAGE)
        if found.read >= READ_MAX and pages:
            found.cut = f"Only the newest {READ_MAX:,} messages were looked through."
            break
    found.lines.sort(key=lambda line: (line.created_ns, *line.position), reverse=True)
    del found.lines[FOUND_MAX:]


def _newest(page: Sequence[Line]) -> int:
    return max((line.created_ns for line in page), default=0)


async def _matching(worker: Process, page: Sequence[Line]) -> list[Line]:
    answer = await _asked(worker, [_words(line) for line in page])
    if not isinstance(answer, list):
        raise LocalError("The pattern needs too much memory; use a simpler one.")
    return [page[number] for number in answer]


def _words(line: Line) -> str:
    """Return the text of a message, or what an act says."""
    return clean_text(line.text) if line.act is None else sentence(line)


async def _asked(worker: Process, question: object) -> object:
    """Return the answer to a question, None if the worker is gone."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(json.dumps(question).encode() + b"\n")
        await worker.stdin.drain()
        answer = await worker.stdout.readline()
    except (BrokenPipeError, ConnectionResetError):
        return None
    return json.loads(answer) if answer else None
