"""Sets of protocols that tests give to nodes."""

from typing import Final

from sync.sessions.protocol import Protocols
from sync.waku.session import WAKU_SYNC

WAKU_ONLY: Final = Protocols((WAKU_SYNC,))
"""As programs of before, which announce no author logs."""
