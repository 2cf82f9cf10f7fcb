"""Ranges of an answer in columns, before what lies between them is skipped and item sets join."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sync.structures.ordered_set import Columns, joined
from sync.structures.sorted_run import HASH_WORDS, Positions, Words
from sync.waku.ranges import FINGERPRINT, ITEM_SET, RECONCILED, SKIP, Kinds

NO_FINGERPRINTS: Final[Words] = np.empty((0, HASH_WORDS), np.uint64)


class Rows(NamedTuple):
    """Ranges that rise; their bounds have no hashes."""

    lower: Words
    upper: Words
    """Timestamps of the bounds, (n) each."""

    kinds: Kinds
    counts: Positions
    """Number of ids of each."""

    fingerprints: Words
    """Of those that have one, (k, 4)."""

    ids: Columns
    """Of all of them, rising."""


class Layout(NamedTuple):
    """Ranges as they are appended, and what becomes of the last one that was there before."""

    timestamps: Words
    kinds: Kinds
    counts: Positions
    last_upper: int
    last_count: int


def in_order(blocks: Sequence[Rows]) -> Rows:
    """Return the ranges of all blocks, which do not overlap."""
    if len(blocks) == 1:
        return blocks[0]
    lower, upper, kinds, counts, fingerprints = (
        np.concatenate([block[column] for block in blocks]) for column in range(5)
    )
    order = np.argsort(lower)
    has_one = kinds == FINGERPRINT
    numbers = np.cumsum(has_one) - 1
    ids = joined([block.ids for block in blocks])
    rising = np.argsort(ids.timestamps, kind="stable")
    return Rows(
        lower[order],
        upper[order],
        kinds[order],
        counts[order],
        fingerprints[numbers[order[has_one[order]]]],
        Columns(ids.timestamps[rising], ids.hashes[rising]),
    )


def laid_out(rows: Rows, end: int, last: tuple[int, int], joined_max: int) -> Layout:
    """Return the ranges behind those that reach up to the timestamp `end`.

    Args:
        rows: the ranges, one at least.
        end: where they go on.
        last: the kind of the last range there is, and how many ids it has.
        joined_max: see `sync.waku.division.Parameters`.
    """
    uppers = np.concatenate(([np.uint64(end)], rows.upper))
    kinds = np.concatenate((np.array(last[:1], np.uint8), rows.kinds))
    counts = np.concatenate((last[1:], rows.counts))
    gaps = rows.lower != uppers[:-1]
    listed = (rows.kinds == ITEM_SET) | (rows.kinds == RECONCILED)
    joins = np.zeros(len(kinds), np.bool_)
    joins[1:] = listed & ~gaps & (kinds[1:] == kinds[:-1])
    begins = _begins(joins, counts, joined_max)
    summed = np.add.reduceat(counts, begins)
    reach = uppers[np.append(begins[1:], len(kinds)) - 1]
    fresh = begins[1:]
    skips = gaps[fresh - 1]
    at = np.arange(len(fresh)) + np.cumsum(skips)
    size = len(fresh) + int(np.count_nonzero(skips))
    timestamps = np.empty(size, np.uint64)
    timestamps[at] = reach[1:]
    timestamps[at[skips] - 1] = rows.lower[fresh[skips] - 1]
    laid_kinds, laid_counts = np.full(size, SKIP, np.uint8), np.zeros(size, np.intp)
    laid_kinds[at], laid_counts[at] = kinds[fresh], summed[1:]
    return Layout(timestamps, laid_kinds, laid_counts, int(reach[0]), int(summed[0]))


def _begins(joins: NDArray[np.bool_], counts: Positions, most: int) -> Positions:
    """Return which ranges are not joined to the one before: a set that has over `most` is full."""
    begins = np.flatnonzero(~joins)
    before = np.cumsum(counts) - counts
    held = before - np.repeat(before[begins], np.diff(np.append(begins, len(joins))))
    if not (joins & (held > most)).any():
        return begins
    kept, size = [], 0
    for at, (may_join, count) in enumerate(zip(joins.tolist(), counts.tolist(), strict=True)):
        if may_join and size <= most:
            size += count
        else:
            kept.append(at)
            size = count
    return np.array(kept, np.intp)
