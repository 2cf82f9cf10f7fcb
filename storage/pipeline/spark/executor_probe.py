"""Has the Python that runs this what executors import? It needs nothing but Python itself."""

import socket
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Final

INSTALLED: Final = (
    "cryptography",
    "google.protobuf",
    "mmh3",
    "msgspec",
    "nacl",
    "pandas",
    "pyarrow",
    "xxhash",
)
"""Packages of others to install on each computer: compiled, or too large to send."""


def lacks(_: Iterable[int] = ()) -> Iterator[str]:
    """Yield what is not there, each as a clause that names the computer and its Python."""
    for module in INSTALLED:
        try:
            there = find_spec(module) is not None
        except ModuleNotFoundError:  # of its parent
            there = False
        if not there:
            yield f"{socket.gethostname()} lacks {module} for {sys.executable}"
