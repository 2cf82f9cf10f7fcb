"""Date of this program's release: set at each release, and nowhere else.

A clock that shows an earlier time cannot be right and is never followed (`sync.group.reference`).
"""

from datetime import UTC, datetime
from typing import Final

from sync.machine import SECOND, Nanos

RELEASED: Final = datetime(2026, 11, 21, tzinfo=UTC)

RELEASED_NS: Final[Nanos] = int(RELEASED.timestamp()) * SECOND

FIRST: Final = datetime(2025, 1, 1, tzinfo=UTC)
"""Before this there was no such program: whoever was met earlier was met by a wrong clock."""

FIRST_NS: Final[Nanos] = int(FIRST.timestamp()) * SECOND
