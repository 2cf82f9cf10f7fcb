"""Files of logs that may have rows in common: exported twice, or copied.

To find rows that are there twice, each has to be moved. What files say of themselves, the least and
the greatest of each column, tells which cannot share a row with any other; these are spared.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow.parquet as pq

from storage.pipeline.places.place import source

ROW: Final = ("run", "boot", "node", "seq")
"""Columns that name a row of a log: it counts once."""

PLACED: Final = ("node", "channel", "seq", "ts_ns")
"""Columns that two files with a row in common overlap in."""

READERS: Final = 8

Ends: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Extent:
    """The least and the greatest value of each of `PLACED`; none if the file does not say."""

    path: Path
    ends: tuple[Ends, ...] | None

    def meets(self, other: "Extent") -> bool:
        """Return whether the two files may have a row in common."""
        if self.ends is None or other.ends is None:
            return True
        return all(
            least <= there_most and there_least <= most
            for (least, most), (there_least, there_most) in zip(self.ends, other.ends, strict=True)
        )


def doubtful(files: Sequence[Path]) -> set[Path]:
    """Return the files of logs that may have a row in common with another one."""
    with ThreadPoolExecutor(READERS) as pool:
        extents = list(pool.map(extent, files))
    found: set[Path] = set()
    for one, other in _pairs(extents):
        if one.meets(other):
            found |= {one.path, other.path}
    return found


def extent(path: Path) -> Extent:
    """Read what a file says of its columns."""
    metadata = pq.read_metadata(source(path))
    names = [metadata.schema.column(at).path for at in range(metadata.num_columns)]
    ends: list[Ends] = []
    for name in PLACED:
        at = names.index(name)
        groups = range(metadata.num_row_groups)
        known = [metadata.row_group(group).column(at).statistics for group in groups]
        if not known or any(one is None or not one.has_min_max for one in known):
            return Extent(path, None)
        ends.append((min(one.min for one in known), max(one.max for one in known)))
    return Extent(path, tuple(ends))


def _pairs(extents: Sequence[Extent]) -> Iterator[tuple[Extent, Extent]]:
    """Yield the pairs to look at.

    Those are all of files that say nothing, or have several nodes; else those of one node, by time.
    """
    several = [one for one in extents if one.ends is None or one.ends[0][0] != one.ends[0][1]]
    single = [one for one in extents if one.ends is not None and one.ends[0][0] == one.ends[0][1]]
    for number, one in enumerate(several):
        for other in (*several[number + 1 :], *single):
            yield one, other
    for _, group in groupby(sorted(single, key=_by_node), key=_node):
        open_: list[Extent] = []
        for one in group:
            begins = _time(one)[0]
            open_ = [other for other in open_ if _time(other)[1] >= begins]
            yield from ((other, one) for other in open_)
            open_.append(one)


def _node(one: Extent) -> str:
    assert one.ends is not None
    return str(one.ends[0][0])


def _time(one: Extent) -> Ends:
    assert one.ends is not None
    return one.ends[PLACED.index("ts_ns")]


def _by_node(one: Extent) -> tuple[str, int]:
    return _node(one), _time(one)[0]
