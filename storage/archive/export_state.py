"""State of an export so far, so that the next one, or the same one again, only adds to it.

`export.json` holds that of a finished export (in `more`); `PROGRESS` beside it, a JSON value a
line, that of an interrupted one.
"""

import fcntl
import json
import os
from pathlib import Path
from typing import IO, Any, Self, TypeAlias

from storage.archive.parquet import has_both_ends, make_directory
from storage.archive.tables import (
    BEFORE,
    BOOTS,
    DAYS,
    LOG_DIR,
    LOG_IN_PART,
    MAJOR,
    NOTE,
    PROGRESS,
    SINCE,
    Note,
    read_format,
)
from sync.errors import LocalError
from sync.machine import Nanos, PeerId

Mark: TypeAlias = dict[str, Any]
"""Notes of a day: of history its mark, of a log the first and last row by run."""


class State:
    """Of the export of `me` in `out`, which is made if it is not there; a context manager.

    Raises:
        LocalError: it is another profile's or something else, or another export writes there.
        OSError: it cannot be read or written.
    """

    def __init__(self, out: Path, me: PeerId) -> None:
        self.boots: dict[tuple[str, int], dict[str, Any]] = {}
        self.log_in_part = False
        """Whether rows of the log were left out as the person wished."""
        self.before: set[str] = set()
        """Ids of held messages that were left out, and that exported ones depend on."""
        self.since: dict[str, Nanos] = {}
        """By channel, from when on it was exported the last time; of others, all was."""
        self._out = out
        self._me = me
        self._days: dict[str, Mark] = {}
        self._progress: IO[str] | None = None

    def __enter__(self) -> Self:
        make_directory(self._out)
        names = {path.name for path in self._out.iterdir()}
        if names and not names & {NOTE, PROGRESS}:
            raise LocalError(
                f"{self._out} holds other files than an export: name a new or an empty directory."
            )
        self._read_note()
        self._progress = (self._out / PROGRESS).open("a+")
        try:
            self._take_up(self._progress)
            self._forget_lost()
        except BaseException:
            self._progress.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._progress is not None
        self._progress.close()

    def of(self, where: Path) -> Mark:
        """Return what is noted of a day; empty if that was never exported."""
        return self._days.get(str(where), {})

    def noted(self) -> list[Path]:
        """Return the days that were exported."""
        return [Path(where) for where, mark in self._days.items() if mark]

    def note_mark(self, where: Path, mark: Mark) -> None:
        """Note that a day is written; an empty mark, that it is removed."""
        assert self._progress is not None
        self._days[str(where)] = mark
        self._progress.write(json.dumps([str(where), mark]) + "\n")
        self._progress.flush()

    def more(self) -> dict[str, Any]:
        """Return what `export.json` keeps of this."""
        days = {where: mark for where, mark in sorted(self._days.items()) if mark}
        more: dict[str, Any] = {DAYS: days}
        more[BOOTS] = [self.boots[key] for key in sorted(self.boots)]
        if self.log_in_part:
            more[LOG_IN_PART] = True
        if self.before:
            more[BEFORE] = sorted(self.before)
        if self.since:
            more[SINCE] = dict(sorted(self.since.items()))
        return more

    def finish(self, note: Note) -> None:
        """Say that the export is whole."""
        note.write_files(self._out)
        (self._out / PROGRESS).unlink()

    def _read_note(self) -> None:
        path = self._out / NOTE
        if not path.exists():
            return
        try:
            note = json.loads(path.read_text())
            major, _ = read_format(note["format"])
            nodes, more = note["nodes"], note["more"]
            days, boots = dict(more.get(DAYS, {})), list(more.get(BOOTS, ()))
            self.boots = {(one["run"], one["boot"]): dict(one) for one in boots}
            self.log_in_part = bool(more.get(LOG_IN_PART))
            self.before = set(more.get(BEFORE, ()))
            self.since = dict(more.get(SINCE, {}))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LocalError(
                f"{path} cannot be read ({error}): remove {self._out} and export again."
            ) from error
        if major != MAJOR:
            raise LocalError(
                f"{path} is of another version of chat-tui: name a new directory to export to."
            )
        self._require(nodes == [self._me])
        self._days = days

    def _take_up(self, progress: IO[str]) -> None:
        """Go on where an interrupted export was."""
        try:
            fcntl.flock(progress, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LocalError(
                f"Another export writes to {self._out}: wait until it is done."
            ) from error
        progress.seek(0)
        sound = 0
        for line in progress.read().splitlines(keepends=True):
            if not line.endswith("\n"):
                break
            try:
                value = json.loads(line)
                if not sound:
                    self._require(value == self._me)
                else:
                    where, mark = value
                    self._days[where] = dict(mark)
            except (ValueError, TypeError):
                break
            sound += len(line.encode())
        # Of a line that was cut off, or is none, and those behind it, the days are written again.
        os.truncate(progress.fileno(), sound)
        if not sound:
            progress.write(json.dumps(self._me) + "\n")
            progress.flush()

    def _forget_lost(self) -> None:
        """Forget the days whose files were taken away or cut off since, as by half a copy."""
        for where, mark in [*self._days.items()]:
            files = (self._out / where).glob("*.parquet")
            sound = [file.stem for file in files if has_both_ends(file)]
            if where.startswith(f"{LOG_DIR}/"):  # each run has a file, and others beside that one
                self._days[where] = {run: rows for run, rows in mark.items() if run in sound}
            if not sound:
                del self._days[where]

    def _require(self, ours: bool) -> None:  # noqa: FBT001  # the condition itself
        if not ours:
            raise LocalError(
                f"{self._out} is the export of another profile: name a new directory for this one."
            )
