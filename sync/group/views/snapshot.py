"""The snapshot of a channel, as the session that brings it sees it."""

from typing import TYPE_CHECKING

from sync.machine import Nanos
from sync.sessions.page_values import LogPlace

if TYPE_CHECKING:
    from sync.group.machines import Machines


class SnapshotOf:
    """See `sync.calimero.log.snapshot_news.SnapshotView`."""

    def __init__(self, group: "Machines") -> None:
        self._group = group

    @property
    def cursor(self) -> LogPlace | None:
        """See `SnapshotView`."""
        return self._group.snapshots.cursor

    @property
    def floor(self) -> Nanos | None:
        """See `SnapshotView`."""
        return self._group.snapshots.floor

    @property
    def may_begin(self) -> bool:
        """See `SnapshotView`."""
        snapshots = self._group.snapshots
        free = snapshots.session is None and not snapshots.swapping
        return free and self._group.messages.is_empty
