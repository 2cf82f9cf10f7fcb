"""Standard input, output and errors where the shell has closed them (`<&-`, `>&-`)."""

import errno
import os
import sys
from typing import Final

NUMBERS: Final = {"stdin": 0, "stdout": 1, "stderr": 2}

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""The system's words for a disk that takes no more."""


def open_closed_streams() -> None:
    """Read nothing, and write nowhere, by those that are closed.

    Python has None in their place; and the next file that is opened, a database or a socket, would
    get the number of one, for whoever writes to it.
    """
    for name, number in NUMBERS.items():
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            stream = open(number, "r" if number == 0 else "w")  # noqa: SIM115, PTH123  # for good
            setattr(sys, name, stream)


def write_nowhere() -> None:
    """Have what is still to be written to standard output written nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
