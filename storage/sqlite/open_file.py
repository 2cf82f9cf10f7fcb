"""The file that a connection has open: whether it still is the one that has its name.

Writes to a file without a name are gone when the program ends, and SQLite does not notice. Two or
three calls of `stat`, 4 us, against the 5 ms that a commit takes.
"""

import os
from pathlib import Path

from sync.errors import StorageError

TAKEN = {
    "deleted": "was deleted or moved away",
    "replaced": "was replaced by another one",
    "emptied": "was emptied or cut off",
}


def log_of(path: Path) -> Path:
    """Return where SQLite's log of a database is; the last one to close it takes that away."""
    return path.with_name(f"{path.name}-wal")


def mended_of(path: Path) -> Path:
    """Return where a whole copy of a damaged database is until it takes its place."""
    return path.with_name(f"{path.name}.mended")


class OpenFile:
    """The database at `path` and its log, from when it was opened on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at, self._log = str(path), str(log_of(path))  # twice as quick as through `Path`
        found = path.stat()
        self._identity = (found.st_dev, found.st_ino)
        self._size = found.st_size
        self._log_identity: tuple[int, int] | None = None

    def require(self) -> None:
        """See that what is committed now can be found at the next start.

        Raises:
            StorageError: it cannot; the sentence says what to do.
        """
        happened = self._happened()
        if happened:
            raise StorageError(
                f"The history in {self._path} {TAKEN[happened]} ({happened}) while the chat is "
                "open: nothing that is written now would be there at the next start. Put that file "
                "back, or close the chat and start again; what others hold comes back from them."
            )

    def _happened(self) -> str:
        try:
            found = os.stat(self._at)  # noqa: PTH116
        except OSError:
            return "deleted"
        if (found.st_dev, found.st_ino) != self._identity:
            return "replaced"
        if found.st_size < self._size:  # nothing of ours makes it smaller
            return "emptied"
        self._size = found.st_size
        return self._happened_to_log()

    def _happened_to_log(self) -> str:
        """The log is there from the first change on until the last connection is closed."""
        try:
            found = os.stat(self._log)  # noqa: PTH116
        except OSError:
            return "deleted" if self._log_identity is not None else ""
        identity = (found.st_dev, found.st_ino)
        if self._log_identity is None:
            self._log_identity = identity
        return "" if identity == self._log_identity else "replaced"
