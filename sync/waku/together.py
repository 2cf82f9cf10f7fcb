"""Answers to many ranges together: columns in, columns out, and values only for what differs.

Here no two ids of one set have a timestamp in common, and no bound has a hash: it is so but for
floods of messages in one nanosecond, which `answerer` takes one by one. Both say the same.
"""

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sync.structures.ordered_set import Columns, OrderedSet, columns_of
from sync.structures.sorted_run import Positions, Words
from sync.waku.asked import Asked
from sync.waku.division import Divider
from sync.waku.ranges import FINGERPRINT, ITEM_SET, RECONCILED
from sync.waku.rows import NO_FINGERPRINTS, Rows, in_order

Mask: TypeAlias = NDArray[np.bool_]

NO_IDS: Final = columns_of(())


class Answers(NamedTuple):
    """Ranges that answer others, and the differences that were found."""

    rows: Rows
    need: Columns
    have: Columns
    room_ranges: int
    room_ids: int
    """Room there must be for the answer to be this one."""


def answered(
    asked: Asked, numbers: Positions, parts: Positions, divider: Divider, local: OrderedSet
) -> Answers | None:
    """Return the answers to the ranges of these numbers, each divided into so many parts.

    None if they must be answered one by one.
    """
    blocks: list[Rows] = []
    for into in np.unique(parts[parts > 1]).tolist():
        block = _divided(asked, numbers[parts == into], into, divider, local)
        if block is None:
            return None
        blocks.append(block)
    few = sum(len(block.ids.timestamps) for block in blocks)
    whole = numbers[parts == 1]
    ids = local.columns(asked.places[whole], asked.places[whole + 1])
    if not _rise(ids.timestamps):
        return None
    is_set = (asked.kinds[whole] == ITEM_SET) | (asked.kinds[whole] == RECONCILED)
    in_sets = np.repeat(is_set, asked.counts[whole])
    listed, sets = whole[~is_set], whole[is_set]
    if len(listed):
        blocks.append(_listed(asked, listed, _chosen(ids, ~in_sets)))
    need = have = NO_IDS
    around = 0
    if len(sets):
        difference = _compared(asked, sets, _chosen(ids, in_sets))
        if difference is None:
            return None
        block, need, have = difference
        around = len(block.kinds)
        blocks.append(block)
    rows = in_order(blocks)
    # Before each of them there may be a `Skip`, but between the parts of a range.
    ranges = len(rows.kinds) + len(numbers) + around
    return Answers(rows, need, have, ranges, len(ids.timestamps) + few)


def _divided(
    asked: Asked, numbers: Positions, into: int, divider: Divider, local: OrderedSet
) -> Rows | None:
    """Return the parts of ranges: of each its fingerprint, or its ids if they are few."""
    floors, uppers = asked.edges[numbers], asked.edges[numbers + 1]
    cut = divider.cut(floors, asked.places[numbers], asked.places[numbers + 1], into)
    if not cut.rising.all():
        return None
    few = cut.counts <= divider.fresh_threshold
    some = few & (cut.counts > 0)
    return Rows(
        np.concatenate((floors[:, None], cut.timestamps), axis=1).reshape(-1),
        np.concatenate((cut.timestamps, uppers[:, None]), axis=1).reshape(-1),
        np.where(few, ITEM_SET, FINGERPRINT).astype(np.uint8).reshape(-1),
        np.where(few, cut.counts, 0).reshape(-1),
        cut.fingerprints[~few],
        local.columns(cut.edges[:, :-1][some], cut.edges[:, 1:][some]),
    )


def _listed(asked: Asked, numbers: Positions, ids: Columns) -> Rows:
    """Return ranges with all our ids in them."""
    return Rows(
        asked.edges[numbers],
        asked.edges[numbers + 1],
        np.full(len(numbers), ITEM_SET, np.uint8),
        asked.counts[numbers],
        NO_FINGERPRINTS,
        ids,
    )


class _Difference(NamedTuple):
    """Ids that differ from those of item sets, and ranges to be told around them."""

    rows: Rows
    need: Columns
    have: Columns


def _compared(asked: Asked, sets: Positions, ours: Columns) -> _Difference | None:
    """Return what differs from item sets that follow each other, whose ids here are `ours`.

    Who marked its item set reconciled knows already, and is told nothing.
    """
    begin, end = asked.first_ids[sets[0]], asked.first_ids[sets[-1] + 1]
    theirs = Columns(asked.ids.timestamps[begin:end], asked.ids.hashes[begin:end])
    at = ours.timestamps.searchsorted(theirs.timestamps)
    met = np.flatnonzero(at < len(ours.timestamps))
    met = met[ours.timestamps[at[met]] == theirs.timestamps[met]]
    if (ours.hashes[at[met]] != theirs.hashes[met]).any():
        return None  # two ids with one timestamp
    only_theirs = np.ones(len(theirs.timestamps), np.bool_)
    only_theirs[met] = False
    only_ours = np.ones(len(ours.timestamps), np.bool_)
    only_ours[at[met]] = False
    need, have = _chosen(theirs, only_theirs), _chosen(ours, only_ours)
    owner = np.where(asked.kinds[sets] == ITEM_SET, np.arange(len(sets)), -1)
    needs = np.repeat(owner, asked.listed[sets])[only_theirs]
    haves = np.repeat(owner, asked.counts[sets])[only_ours]
    timestamps = np.concatenate(
        (need.timestamps[needs >= 0], have.timestamps[haves >= 0]),
    )
    order = np.argsort(timestamps)
    timestamps = timestamps[order]
    owners = np.concatenate((needs[needs >= 0], haves[haves >= 0]))[order]
    is_ours = order >= np.count_nonzero(needs >= 0)
    common = theirs.timestamps[met]
    rows = _around(timestamps, owners, common, is_ours, _chosen(have, haves >= 0))
    return _Difference(rows, need, have)


def _around(
    timestamps: Words, owners: Positions, common: Words, is_ours: Mask, ids: Columns
) -> Rows:
    """Return ranges, 1 ns longer than the differences in them, with those of our ids in each.

    Differences in one item set that follow each other, without an id between that both sides have,
    share a range. `ids` are those that are ours.
    """
    passed = common.searchsorted(timestamps)
    begins = np.ones(len(timestamps), np.bool_)
    begins[1:] = (owners[1:] != owners[:-1]) | (passed[1:] != passed[:-1])
    first = np.flatnonzero(begins)
    last = np.append(first, len(timestamps))[1:] - 1
    held = np.concatenate(([0], np.cumsum(is_ours)))
    return Rows(
        timestamps[first],
        timestamps[last] + np.uint64(1),
        np.full(len(first), RECONCILED, np.uint8),
        held[last + 1] - held[first],
        NO_FINGERPRINTS,
        ids,
    )


def _chosen(ids: Columns, which: Mask) -> Columns:
    return Columns(ids.timestamps[which], ids.hashes[which])


def _rise(timestamps: Words) -> bool:
    """Return whether no two are equal, and none is below the one before."""
    return bool((timestamps[1:] > timestamps[:-1]).all())
