"""A file that takes the place of an older one once it is whole."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def replaced(path: Path) -> Iterator[TextIO]:
    """Yield text on its way to `path`, which is changed only when this is left without an error.

    Only its owner may read it. A device, a pipe or a link is not replaced: other programs need
    what has that name.

    Raises:
        OSError: the disk refuses, or `path` is no ordinary file.
    """
    _refuse_what_is_no_file(path)
    # a name that nobody can know: a link may wait for us under any other one
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    made = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            yield file
        _refuse_what_is_no_file(path)  # it may have come meanwhile
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


def _refuse_what_is_no_file(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no ordinary file")
