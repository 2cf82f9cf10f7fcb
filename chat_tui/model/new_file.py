"""A file that is there whole or not at all, and never takes the place of another one."""

import errno
import os
import tempfile
from pathlib import Path
from typing import Final, Self, TextIO

from sync.errors import LocalError

_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})
"""Answers of file systems without hard links, as on many USB sticks."""


class NewFile:
    """Text on its way to a file; all of this waits for the disk. Only its owner may read it.

    Raises:
        LocalError: the file is there already.
        OSError: the disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._refuse_another()
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        self._made = Path(name)
        self._file: TextIO = os.fdopen(descriptor, "w", encoding="utf-8", errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._file.close()  # which writes what is left, or fails
        finally:
            self._made.unlink(missing_ok=True)

    def add(self, text: str) -> None:
        """Write a piece."""
        self._file.write(text)

    def put(self) -> None:
        """Give the file its name: everything is written.

        Raises:
            LocalError: another file has that name by now.
            OSError: the disk refuses.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        try:
            self._path.hardlink_to(self._made)
        except FileExistsError:
            self._refuse_another()
            raise
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self._refuse_another()
            self._made.replace(self._path)

    def _refuse_another(self) -> None:
        if os.path.lexists(self._path):
            raise LocalError(
                f"{self._path} already exists and is not overwritten: name another file."
            )
