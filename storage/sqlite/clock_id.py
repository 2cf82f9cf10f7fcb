"""The clock of this computer since it started, as an id: times of one id can be compared."""

import hashlib
import platform
import uuid
from functools import lru_cache
from pathlib import Path
from typing import Final

LABEL: Final = b"chat-tui clock\0"
"""So that the id says nothing of the machine's to other programs."""

SIZE: Final = 16

MACHINE: Final = Path("/etc/machine-id")
BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@lru_cache(maxsize=1)
def clock_id() -> str:
    """Return a hash of the machine and of its start; two of one host name differ."""
    return hashed(_read(MACHINE), _read(BOOT))


def hashed(machine: str, boot: str) -> str:
    """Return the id of a machine's clock since a boot; without ids, that of name and card."""
    named = machine or f"{platform.node()} {uuid.getnode():x}"
    return hashlib.sha256(LABEL + f"{named}\0{boot}".encode()).hexdigest()[: 2 * SIZE]


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""
