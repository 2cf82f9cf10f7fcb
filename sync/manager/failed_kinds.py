"""Kinds of sessions that ended without agreement, of each peer and plane, until both agreed.

A kind that failed is not picked again; once the last resort of a plane has failed too, all are
tried anew.
"""

from typing import Final

from sync.machine import ChannelId, PeerId
from sync.sessions.handshake import SyncKind, kind_named
from sync.sessions.values import Plane, SessionKey

LAST_RESORTS: Final = {
    Plane.LOG: frozenset({SyncKind.WAKU}),
    Plane.STATE: frozenset({SyncKind.HASH, SyncKind.LEVEL}),
}
"""Kinds after whose failure nothing else is left."""


class FailedKinds:
    """See the module docstring; `SyncKind.CHOOSE` stands for the handshake itself."""

    def __init__(self) -> None:
        self._failed: dict[SessionKey, frozenset[SyncKind]] = {}

    def of(self, key: SessionKey) -> frozenset[SyncKind]:
        """Return the kinds that failed, `CHOOSE` among them."""
        return self._failed.get(key, frozenset())

    def failed(self, key: SessionKey, protocol: str) -> None:
        """A session by a protocol of this name ended without agreement."""
        failed = self.of(key) | {kind_named(protocol)}
        if failed >= LAST_RESORTS[key.plane]:
            self._failed.pop(key, None)
        else:
            self._failed[key] = failed

    def agreed(self, key: SessionKey) -> None:
        """Both sides hold the same."""
        self._failed.pop(key, None)

    def left(self, channel: ChannelId, peer: PeerId) -> None:
        """No link to a peer carries a channel any more."""
        for plane in Plane:
            self._failed.pop(SessionKey(channel, peer, plane), None)
