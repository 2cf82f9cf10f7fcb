"""Answers to the ranges of a payload (Waku Sync, "Responding to a `RangesData` payload").

An item set is answered around the differences only, by default: item sets marked reconciled, each
from one difference to the last one that follows without an id between that both sides have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sync.structures.ordered_set import (
    HASH_BYTES,
    ORIGIN,
    ZERO_HASH,
    OrderedSet,
    Places,
    SyncId,
    rungs,
)
from sync.waku.backlog import Backlog
from sync.waku.division import ITEMS_MAX, PART, Divider, Division, Parameters
from sync.waku.message import (
    BOUND_HASH_BYTES_MAX,
    ITEM_BYTES_MAX,
    PAYLOAD_BYTES_MAX,
    RANGE_BYTES_MAX,
    RANGES_MAX,
    Bounds,
    Content,
    Fingerprint,
    Items,
    ItemSet,
    Range,
    Ranges,
    Skip,
)

HEADER_BYTES_MAX: Final = 1024
"""Cluster and shards of our own payloads: ours name one shard."""

RUNGS_MAX: Final = 1 + HASH_BYTES
"""Ranges it may take to reach a bound (`sync.structures.ordered_set.rungs`)."""


@dataclass(slots=True)
class Answer:
    """A payload being written, and the differences found on the way."""

    ranges: Ranges = field(default_factory=Ranges)
    end: SyncId = ORIGIN
    """Up to here the ranges reach."""

    room: int = PAYLOAD_BYTES_MAX - HEADER_BYTES_MAX
    """Bytes the ranges still to come may take."""

    items_left: int = ITEMS_MAX
    """Ids the item sets still to come may have."""

    need: list[SyncId] = field(default_factory=list)
    have: list[SyncId] = field(default_factory=list)
    settles: bool = True
    """Whether it is nothing but `Skip`."""

    joined_max: int = -1
    """See `Parameters`."""

    def add(self, bounds: Bounds, content: bytes | Items) -> None:
        """Append a range, after a `Skip` over what lies between."""
        self.settles = False
        if isinstance(content, Items):
            self.room -= ITEM_BYTES_MAX * len(content.elements)
            self.items_left -= len(content.elements)
            if self._joins(bounds, content):
                return
        if bounds.lower != self.end:
            self.skip_to(bounds.lower)
        self._append(bounds.upper, content)

    def add_parts(self, lower: SyncId, upper: SyncId, division: Division) -> None:
        """Append the parts of a range, all of them as fingerprints; their bounds have no hash."""
        if lower != self.end:
            self.skip_to(lower)
        every = range(0, len(division.fingerprints), HASH_BYTES)
        self.ranges.timestamps += division.timestamps
        self.ranges.contents += [division.fingerprints[at : at + HASH_BYTES] for at in every[:-1]]
        self.room -= RANGE_BYTES_MAX * (len(every) - 1)
        self.settles = False
        self._append(upper, division.fingerprints[-HASH_BYTES:])

    def skip_to(self, bound: SyncId) -> None:
        """Append the `Skip` ranges, mostly one or none, that lead up to `bound`."""
        for rung in rungs(self.end, bound):
            self._append(rung, None)

    def _joins(self, bounds: Bounds, content: Items) -> bool:
        """Return whether `content` was joined to the item set before it, saving 12 bytes."""
        contents = self.ranges.contents
        last = contents[-1] if contents else None
        if (
            not isinstance(last, Items)
            or bounds.lower != self.end
            or last.reconciled != content.reconciled
            or len(last.elements) > self.joined_max
            or bounds.upper.hash != ZERO_HASH
            or self.end.hash != ZERO_HASH
        ):
            return False
        contents[-1] = Items(last.elements + content.elements, last.reconciled)
        self.ranges.timestamps[-1] = bounds.upper.timestamp
        self.end = bounds.upper
        return True

    def has_room(self, ranges: int, items: int = 0) -> bool:
        """Return whether so many more ranges and items fit, whatever they are."""
        if items > self.items_left:
            return False
        most = ranges * (RANGE_BYTES_MAX + BOUND_HASH_BYTES_MAX) + items * ITEM_BYTES_MAX
        return most <= self.room and len(self.ranges) + ranges <= RANGES_MAX

    def _append(self, upper: SyncId, content: Content) -> None:
        self.ranges.append(upper, content)
        self.end = upper
        self.room -= RANGE_BYTES_MAX
        if upper.hash != ZERO_HASH:
            self.room -= BOUND_HASH_BYTES_MAX


class Answerer:
    """Answers payloads from the snapshot `local`."""

    def __init__(self, local: OrderedSet, parameters: Parameters) -> None:
        self._local = local
        self._parameters = parameters
        self._divider = Divider(local, parameters)
        self._backlog = Backlog()
        self._reserve = max(parameters.wide_partitions, parameters.partitions) + 3 * RUNGS_MAX
        """Ranges it may take to answer one more, and then to end the payload."""

    def opening(self, bounds: Bounds) -> Ranges:
        """Return one fingerprint over everything in `bounds`, after a `Skip`."""
        answer = Answer()
        self._add_fingerprint(bounds, answer)
        return answer.ranges

    def answer(self, received: Ranges, floor: SyncId, *, first: bool) -> Answer:
        """Write the answer to ranges, nothing below `floor`; `first` of the session or not."""
        answer = Answer(joined_max=self._parameters.joined_max)
        if not received:
            return answer
        end = received.upper(-1)
        if floor > ORIGIN:
            received = self._above(floor, received, answer)
        if received:
            self._answer_all(self._backlog.resumed(received), answer, first=first)
        answer.skip_to(end)
        return answer

    def _answer_all(self, received: Ranges, answer: Answer, *, first: bool) -> None:
        """Answer range by range; what does not fit, or is too much for one payload, is put off."""
        looked_at = received.first(RANGES_MAX)
        places = self._places(looked_at)
        counts: list[int] = (places[1:] - places[:-1]).sum(axis=1).tolist()
        differs, divisions, full_at = self._divider.compare(looked_at, places, first=first)
        items = [at for at, one in enumerate(looked_at.contents) if isinstance(one, Items)]
        for at in sorted((*differs, *items)):
            bounds = looked_at.bounds(at)
            content = looked_at.contents[at]
            if not answer.has_room(self._reserve) or at == full_at:
                self._put_off(received, at, answer)
                return
            if isinstance(content, Items):
                self._answer_items(bounds, content, places[at : at + 2], counts[at], answer)
            elif at in divisions:
                self._add_parts(bounds, divisions[at], answer)
            else:
                self._add_items(bounds, places[at : at + 2], counts[at], answer)
        if len(looked_at) < len(received):
            self._put_off(received, len(looked_at), answer)

    def _put_off(self, received: Ranges, first: int, answer: Answer) -> None:
        """Answer the range of this number, and all behind it, in later payloads."""
        lower = received.bounds(first).lower
        self._ask_for_the_rest(Bounds(lower, received.upper(-1)), answer)
        self._backlog.keep(received, first)

    def _above(self, floor: SyncId, received: Ranges, answer: Answer) -> Ranges:
        """Skip what is below `floor`; returns the ranges above it, after a `Skip` up to there.

        Of a fingerprint that reaches across it we send our own from the floor on.
        """
        end = received.upper(-1)
        above: list[Range] = []
        for entry in received:
            if entry.bounds.upper <= floor:
                continue
            lower = max(entry.bounds.lower, floor)
            bounds = Bounds(lower, entry.bounds.upper)
            if lower == entry.bounds.lower:
                above.append(entry)
            elif isinstance(entry, Skip):
                above.append(Skip(bounds))
            elif isinstance(entry, Fingerprint):
                self._add_fingerprint(bounds, answer)
                above.append(Skip(bounds))
            else:
                kept = tuple([one for one in entry.elements if one >= floor])
                above.append(ItemSet(bounds, kept, entry.reconciled))
        answer.skip_to(min(max(floor, answer.end), end))
        return Ranges.of([Skip(Bounds(ORIGIN, floor)), *above]) if above else Ranges()

    def _places(self, received: Ranges) -> Places:
        """Return where the ranges begin and end, (n + 1, 2)."""
        places = self._local.places_of(np.array([0, *received.timestamps], np.uint64))
        for at in received.hashes:
            places[at + 1] = self._local.places([received.upper(at)])[0]
        return places

    def _add_parts(self, bounds: Bounds, division: Division, answer: Answer) -> None:
        """Answer a range in parts: each by its fingerprint, or its items if they are few."""
        fresh = self._parameters.fresh_threshold
        if division.hashes is None and min(division.counts) > fresh:
            answer.add_parts(*bounds, division)
            return
        lower = bounds.lower
        uppers = division.uppers(bounds)
        for at, (upper, count) in enumerate(zip(uppers, division.counts, strict=True)):
            part = Bounds(lower, upper)
            lower = upper
            if count <= fresh and self._fits(count, answer):
                items = self._items(division.places[at : at + 2]) if count else ()
                answer.add(part, Items(items, reconciled=False))
            else:
                begin = HASH_BYTES * at
                answer.add(part, division.fingerprints[begin : begin + HASH_BYTES])

    def _add_items(self, bounds: Bounds, places: Places, count: int, answer: Answer) -> None:
        """Answer a range with its items, or with its fingerprint if they no longer fit."""
        if self._fits(count, answer):
            answer.add(bounds, Items(self._items(places), reconciled=False))
        else:
            self._add_fingerprint(bounds, answer)

    def _add_fingerprint(self, bounds: Bounds, answer: Answer) -> None:
        answer.add(bounds, self._local.fingerprint(*bounds))

    def _ask_for_the_rest(self, bounds: Bounds, answer: Answer) -> None:
        """Put off all further ranges by a fingerprint over the whole of them."""
        lower = bounds.lower
        for upper in rungs(lower, bounds.upper):
            self._add_fingerprint(Bounds(lower, upper), answer)
            lower = upper

    # --- Item sets -----------------------------------------------------------------------------

    def _answer_items(
        self, bounds: Bounds, received: Items, places: Places, count: int, answer: Answer
    ) -> None:
        """Note the differences to an item set, and tell them if its sender cannot know them yet."""
        if not received.reconciled and not self._fits(count, answer):
            self._answer_begin(bounds, received, count, answer)
            return
        items = self._items(places)
        ours = theirs = frozenset[SyncId]()
        if received.elements != items:
            ours, theirs = frozenset(items), frozenset(received.elements)
            answer.need += [one for one in received.elements if one not in ours]
            answer.have += [one for one in items if one not in theirs]
        if received.reconciled:
            return
        if self._parameters.narrow:
            parts = list(_around_differences(bounds, items, ours, theirs))
            if answer.has_room(self._reserve + 2 * len(parts), count):  # each after a `Skip`
                for around, few in parts:
                    answer.add(around, Items(few, reconciled=True))
                return
        answer.add(bounds, Items(items, reconciled=True))

    def _answer_begin(self, bounds: Bounds, received: Items, count: int, answer: Answer) -> None:
        """Answer of an item set as much as fits; the rest comes in later rounds."""
        lower = bounds.lower
        if count > PART:
            division = self._divider.split(bounds, 1 + count // PART)
            for at, upper in enumerate(division.uppers(bounds)):
                part = Bounds(lower, upper)
                if not self._fits(division.counts[at], answer):
                    break
                elements = tuple([one for one in received.elements if lower <= one < upper])
                places = division.places[at : at + 2]
                items = Items(elements, reconciled=False)
                self._answer_items(part, items, places, division.counts[at], answer)
                lower = upper
        self._ask_for_the_rest(Bounds(lower, bounds.upper), answer)

    def _items(self, places: Places) -> tuple[SyncId, ...]:
        lower, upper = places.tolist()
        return tuple(self._local.items_at(lower, upper))

    def _fits(self, count: int, answer: Answer) -> bool:
        """Return whether so many items fit into the answer and leave enough room to end it."""
        return answer.has_room(self._reserve, count)


def _around_differences(
    bounds: Bounds, items: Sequence[SyncId], ours: frozenset[SyncId], theirs: frozenset[SyncId]
) -> Iterator[tuple[Bounds, tuple[SyncId, ...]]]:
    """Yield ranges, 1 ns longer than the differences in them, with all of our items in each.

    Differences that follow each other, without an id between that both have, share a range.
    """
    different = sorted(ours ^ theirs)
    if not different:
        return
    common = sorted(ours & theirs)
    mine = iter(items)
    following, end, at = next(mine, None), bounds.lower, 0
    index = 0
    while index < len(different):
        first = last = different[index]
        while at < len(common) and common[at] < first:
            at += 1
        limit = common[at] if at < len(common) else None
        while index < len(different) and (limit is None or different[index] < limit):
            last = different[index]
            index += 1
        lower = max(end, SyncId(first.timestamp, ZERO_HASH))
        end = min(bounds.upper, SyncId(last.timestamp + 1, ZERO_HASH))
        while index < len(different) and different[index] < end:
            index += 1
        few = []
        while following is not None and following < end:
            if following >= lower:
                few.append(following)
            following = next(mine, None)
        yield Bounds(lower, end), tuple(few)
