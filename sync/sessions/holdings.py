"""Ids that a channel holds, as reconciliation sees them: the ordered set and its digest.

An id goes in with the input that stores its message. Payloads that mention it are released after
that input's commit, so nothing tells of what a power cut could take away.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from sync.structures.log_spans import LogHeight
from sync.structures.ordered_set import ORIGIN, OrderedSet, SyncId
from sync.structures.set_digest import LEAF_BITS, Digest, Held


def _nobody(_: SyncId) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Holdings:
    """Ids of all stored messages but the parked ones, and the heights of their logs."""

    heights: Callable[[], tuple[LogHeight, ...]] = tuple
    """Returns the heights of now, ascending; they are put in order when somebody asks."""
    items: OrderedSet = field(default_factory=OrderedSet)
    added: Callable[[SyncId], None] = _nobody
    """Is told of each id that is added; not of those that are restored."""
    _freezing: OrderedSet | None = None
    """Ids of some time ago, while their digest is made."""
    _since: set[int] = field(default_factory=set)
    """Buckets of the digest that ids were added to since."""
    _digest: Digest | None = None
    """None until a session wants it: a million ids take some 0.1 s, in slices."""

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return self.items.added > 0  # to count them would merge those that wait to be

    def add(self, sync_id: SyncId) -> None:
        """A message is stored that was not here."""
        self.items.add(sync_id)
        self.added(sync_id)
        if self._freezing is not None:
            self._since.add(sync_id.timestamp >> LEAF_BITS)
        elif self._digest is not None:
            self._digest.changed(sync_id.timestamp)

    def restore(self, rows: bytes) -> None:
        """Take up what the disk holds; see `OrderedSet.restore`."""
        self.items.restore(rows)

    def frozen(self) -> tuple[OrderedSet, Held]:
        """Return what is here now, to be compared, and to be proved."""
        while not self.settle():
            pass
        assert self._freezing is not None
        assert self._digest is not None
        self._digest.refresh(self._freezing)  # it is whole
        items, digest = self._freezing, self._digest.copy()
        self.let_go()
        return items, Held(items, digest)

    def settle(self) -> bool:
        """Do a slice of what `frozen` needs; returns whether nothing is left of it.

        From the first slice on it is of what was here then: else, while much comes, it would never
        be done.
        """
        if self._freezing is None:
            self._freezing = self.items.frozen()
        if self._digest is None:
            self._digest = Digest()
            for part in self._freezing.parts(ORIGIN):
                self._digest.changed_all(part.timestamps)
        return self._digest.refresh_some(self._freezing)

    def let_go(self) -> None:
        """Nobody waits for what `settle` began."""
        self._freezing = None
        for index in self._since:
            assert self._digest is not None
            self._digest.changed(index << LEAF_BITS)
        self._since.clear()
