"""Files that a person has something recorded to, at a place that others may write to as well."""

import os
import stat
from pathlib import Path
from typing import IO, Final

from sync.errors import LocalError

FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""No link is followed, and a pipe that nobody reads does not stop us."""

FOR_OWNER: Final = 0o600
"""Rights of a new file: what is recorded holds what everybody wrote."""


def open_recording(path: Path, begins: bytes) -> IO[str]:
    """Open `path` to write after what is there; it is made if there is nothing.

    Args:
        path: where to.
        begins: the first bytes of a recording of this kind.

    Raises:
        OSError: the system refuses.
        LocalError: it is a link, no ordinary file, another user's, or has another name as well:
            whoever can write to its directory may have put it there for us to write to. Or it holds
            something else, such as the keys of a profile, which would not survive a word more.
    """
    if path.is_symlink():
        raise LocalError(f"{path} is a link, and no link is followed")
    descriptor = os.open(path, FLAGS, FOR_OWNER)
    try:
        _require_ours(path, os.fstat(descriptor))
        _require_recording(path, os.pread(descriptor, len(begins), 0), begins)
        return os.fdopen(descriptor, "a", encoding="utf-8")
    except BaseException:
        os.close(descriptor)
        raise


def _require_ours(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise LocalError(f"{path} is no ordinary file")
    if found.st_uid != os.geteuid():
        raise LocalError(f"{path} belongs to another user")
    if found.st_nlink != 1:
        raise LocalError(f"{path} is the same file as another one, by a hard link")


def _require_recording(path: Path, found: bytes, begins: bytes) -> None:
    if found not in {b"", begins}:
        raise LocalError(f"{path} holds something else")
