"""Has the protocol log of the running node written down, about once a second, off the event loop.

Rule: whatever happens to the file, the chat goes on; the person is told once.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import PROTOCOL_LOG, Setting
from storage.sqlite.protocol_log import FILE_NAME, LogFile
from sync.errors import StorageError
from sync.runner.log_notes import Chunk
from sync.runner.logbook import Logbook
from sync.view.view import Level, Notice

EVERY_S: Final = 1.0
"""Between two looks; what a power cut takes."""

ROWS_AT_ONCE: Final = 512
"""Rows written in one go. The thread shares the interpreter with the event loop: a second of a
thousand lines, 3,000 rows, kept lines waiting for 30 ms."""

REST_S: Final = 0.02
"""Between two goes, while more waits: 20,000 rows a second, more than the fastest chat notes."""


class LogKeeper:
    """Keeps the log of the profile in `directory` while the setting wants it.

    Args:
        directory: of the profile.
        settings: whether there is a log follows them.
        draw: gives that many random bytes.
        tell: is given the notice that the file cannot be written.
    """

    def __init__(
        self,
        directory: Path,
        settings: Preferences,
        draw: Callable[[int], bytes],
        tell: Callable[[Notice], None],
    ) -> None:
        self._file = LogFile(directory / FILE_NAME, draw)
        self._settings = settings
        self._tell = tell
        self._told = False
        self._logbook: Logbook | None = None
        settings.subscribe(self._follow)

    def keep(self, logbook: Logbook) -> None:
        """Write this down from now on."""
        self._logbook = logbook
        logbook.on = self._settings[PROTOCOL_LOG]

    async def write_forever(self) -> None:
        """Write down what was noted, again and again, until cancelled."""
        while True:
            chunks = self._take(ROWS_AT_ONCE)
            if chunks:
                self._report(await asyncio.to_thread(self._written, chunks))
            more = self._logbook is not None and self._logbook.waiting >= ROWS_AT_ONCE
            await asyncio.sleep(REST_S if more else EVERY_S)

    async def close(self) -> None:
        """Write down the last of it; nobody is there any more to hear that this failed."""
        chunks = self._take()
        if chunks:
            await asyncio.to_thread(self._written, chunks)
        await asyncio.to_thread(self._file.close)

    def _take(self, most: int | None = None) -> list[Chunk]:
        return [] if self._logbook is None else self._logbook.take_chunks(most)

    def _written(self, chunks: list[Chunk]) -> StorageError | None:
        """Write rows down; returns what went wrong."""
        try:
            anchor = None if self._logbook is None else self._logbook.anchor
            self._file.append(chunks, anchor)
        except StorageError as error:
            return error
        return None

    def _report(self, error: StorageError | None) -> None:
        if error is not None and not self._told:
            self._told = True
            self._tell(Notice(str(error), Level.ERROR))

    def _follow(self, setting: Setting[Any]) -> None:
        if setting is PROTOCOL_LOG and self._logbook is not None:
            self._logbook.on = self._settings[PROTOCOL_LOG]
