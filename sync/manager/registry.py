"""The protocols by which this program compares histories, each registered with one line."""

from typing import Final

from sync.sessions.protocol import Protocols
from sync.waku.session import WAKU_SYNC

PROTOCOLS: Final = Protocols((WAKU_SYNC,))
"""All there are, the usual one first."""
