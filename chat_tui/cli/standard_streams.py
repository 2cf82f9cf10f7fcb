"""Standard input, output and errors that are closed (`<&-`, `>&-`), or lack some characters."""

import codecs
import errno
import io
import os
import sys
from typing import Final

NUMBERS: Final = {"stdin": 0, "stdout": 1, "stderr": 2}

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""The system's words for a disk that takes no more."""

ESCAPED: Final = "escaped as in JSON"
"""Name of the way to handle characters that a coding lacks."""


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


def escape_what_output_lacks() -> None:
    """Write what the coding of standard output lacks (an emoji in Latin-1) as JSON escapes it.

    Whoever writes an emoji would end a chat in line mode. A line of JSON stays one.
    """
    file = sys.stdout
    if isinstance(file, io.TextIOWrapper) and codecs.lookup(file.encoding).name != "utf-8":
        codecs.register_error(ESCAPED, _escaped)
        file.reconfigure(errors=ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """See `codecs.register_error`; beyond 16 bits JSON has pairs."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    digits = [lacking[at : at + 4] for at in range(0, len(lacking), 4)]
    return "".join(f"\\u{four}" for four in digits), error.end


def write_nowhere() -> None:
    """Have what is still to be written to standard output written nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
