"""The payloads of a session as they are shown."""

from sync.machine import SECOND
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, SyncId
from sync.waku.message import EVERYTHING, Bounds, Fingerprint, ItemSet, Range, Ranges, Skip
from sync.waku.rounds import CELLS, drawn
from tests.support.sync.waku.sets import NOW, filled, numbered

MIDDLE = SyncId(NOW + 1_000 * SECOND, ZERO_HASH)
OLDER, NEWER = Bounds(ORIGIN, MIDDLE), Bounds(MIDDLE, EVERYTHING.upper)

COMPARED = Fingerprint(OLDER, bytes(32)), Skip(NEWER)
LISTED = Skip(OLDER), ItemSet(NEWER, (numbered(1_000),), reconciled=False)


def cells(local: set[SyncId], *ranges: Range) -> str:
    """Draw adjoining ranges over a set."""
    return drawn(Ranges.of(ranges), 0, filled(local), sent=True).cells


def test_ranges_are_drawn_where_our_ids_are() -> None:
    local = {numbered(number) for number in range(2_000)}

    assert cells(local, *COMPARED) == "#" * 17 + "." * 15
    assert cells(local, *LISTED) == "." * 16 + "=" * 16


def test_over_an_empty_set_every_range_is_the_whole() -> None:
    assert cells(set(), *COMPARED) == "#" * CELLS
    assert cells(set(), *LISTED) == "=" * CELLS
    assert cells(set(), Skip(EVERYTHING)) == "." * CELLS
