"""Answers to the ranges of payloads (Waku Sync, "Responding to a `RangesData` payload").

Answering goes in steps of `WORK` at most, for whoever answers has other things to do as well. Where
the peer takes it, an answer is a turn of several payloads: what has no room in one goes on in the
next, and is put off only where the turn is full.

An item set is answered around the differences only, by default: item sets marked reconciled, each
from one difference to the last one that follows without an id between that both sides have.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sync.structures.ids import Ids
from sync.structures.ordered_set import (
    HASH_BYTES,
    ORIGIN,
    ZERO_HASH,
    Bounds,
    OrderedSet,
    SyncId,
    rows_of,
    rungs,
)
from sync.structures.sorted_run import Positions
from sync.waku.answer import RUNGS_MAX, Answer
from sync.waku.asked import Asked
from sync.waku.backlog import Backlog
from sync.waku.division import ITEMS_MAX, PART, Divider, Division, Parameters
from sync.waku.message import RANGES_MAX
from sync.waku.ranges import Content, Items, Ranges
from sync.waku.together import answered
from sync.waku.turn import BYTES_MAX

FEW: Final = 8
"""So few ranges are answered one by one where they may have no room."""


@dataclass(slots=True)
class Step:
    """Payloads that a step filled, the last one of a turn, and the differences it found."""

    payloads: list[Ranges] = field(default_factory=list)
    need_rows: bytearray = field(default_factory=bytearray)
    have_rows: bytearray = field(default_factory=bytearray)
    done: bool = False
    """Whether the payload received has its answer."""

    @property
    def need(self) -> Ids:
        """Ids that we lack."""
        return Ids(bytes(self.need_rows))

    @property
    def have(self) -> Ids:
        """Ids that the peer lacks."""
        return Ids(bytes(self.have_rows))


class Answerer:
    """Answers payloads from the snapshot `local`, in up to `payloads_max` a turn."""

    def __init__(self, local: OrderedSet, parameters: Parameters, payloads_max: int = 1) -> None:
        self._local = local
        self._parameters = parameters
        self._payloads_max = payloads_max
        self._divider = Divider(local, parameters)
        self._backlog = Backlog()
        self._answer = self._begun()
        self._closed = 0
        """Payloads of this turn that are written."""
        self._put_off_from: SyncId | None = None
        """From here on this turn is full."""
        self._end = ORIGIN
        """Where what is being answered ends."""
        self._step = Step()
        self._reserve = max(parameters.wide_partitions, parameters.partitions) + 3 * RUNGS_MAX
        """Ranges it may take to answer one more, and then to end the payload."""

    def opening(self, bounds: Bounds) -> Ranges:
        """Return one fingerprint over everything in `bounds`, after a `Skip`."""
        answer = Answer()
        answer.add(bounds, self._local.fingerprint(*bounds))
        return answer.ranges

    def take(self, received: Ranges, floor: SyncId, *, first: bool, last: bool) -> Iterator[None]:
        """Begin to answer the ranges of a payload, nothing below `floor`; `step` goes on with it.

        Who began keeps it: kept here, answerer and answer would hold each other, and what was not
        answered to its end, with all its ids, would stay until the next collection.

        Args:
            received: the ranges.
            floor: the lowest bound that is compared.
            first: whether it is of the first turn of the session.
            last: whether it is the last of the peer's turn, and ours ends with its answer.
        """
        return self._answering(received, floor, first=first, last=last)

    def step(self, steps: Iterator[None]) -> Step:
        """Go on with the answer."""
        done = True
        for _ in steps:
            done = False
            break
        step, self._step = self._step, Step()
        step.done = done
        return step

    def written(self, *, last: bool) -> list[Ranges]:
        """Return what is answered and not yet sent; nothing is answered after it.

        None where it would be one payload too many: only the last one may end a turn.
        """
        if self._answer.settles or not (last or self._closed + 1 < self._payloads_max):
            return []
        if last:
            self._answer.skip_to(self._end)
        return [self._answer.ranges]

    def _answering(
        self, received: Ranges, floor: SyncId, *, first: bool, last: bool
    ) -> Iterator[None]:
        """Answer the ranges of a payload; pauses between steps."""
        self._end = end = received.upper(-1)
        if floor > ORIGIN:
            received = self._above(floor, received)
        received = self._backlog.resumed(received)
        if self._put_off_from is not None:
            self._backlog.keep(received, 0)
        else:
            yield from self._answer_all(Asked.of(received, self._local), first=first)
        if last:
            self._end_turn(end)

    def _answer_all(self, asked: Asked, *, first: bool) -> Iterator[None]:
        """Answer step by step; what does not fit into the turn is put off."""
        pauses = asked.is_long
        for begin in range(0, len(asked.kinds), RANGES_MAX):
            if begin and self._payloads_max == 1:
                self._put_off(asked, begin)
                return
            if pauses:
                yield  # what came was decoded, or a window before this one answered
            end = begin + RANGES_MAX
            kinds, places = asked.kinds[begin:end], asked.places[begin : end + 1]
            theirs = asked.fingerprints_of(begin, end)
            numbers, parts = self._divider.compare(kinds, theirs, places, first=first)
            for at, some in enumerate(asked.steps(begin + numbers, parts)):
                if at or pauses:
                    yield
                yield from self._answer_some(asked, begin + numbers[some], parts[some])
                if self._put_off_from is not None:
                    return

    def _answer_some(self, asked: Asked, numbers: Positions, parts: Positions) -> Iterator[None]:
        """Answer the ranges of these numbers, each divided into so many parts.

        Together where all of them have room for sure; the fewer they are, the surer.
        """
        if not self._may_be_together(asked):
            yield from self._answer_each(asked, numbers, parts)
        elif self._has_room(int(parts.sum()), int(asked.counts[numbers[parts == 1]].sum())):
            found = answered(asked, numbers, parts, self._divider, self._local)
            if found is None or not self._has_room(found.room_ranges, found.room_ids):
                yield from self._answer_each(asked, numbers, parts)
                return
            self._answer.add_rows(found.rows)
            self._step.need_rows += rows_of(*found.need)
            self._step.have_rows += rows_of(*found.have)
        elif len(numbers) > FEW:
            half = len(numbers) // 2
            yield from self._answer_some(asked, numbers[:half], parts[:half])
            if self._put_off_from is None:
                yield from self._answer_some(asked, numbers[half:], parts[half:])
        else:
            yield from self._answer_each(asked, numbers, parts)

    def _may_be_together(self, asked: Asked) -> bool:
        """Return whether ranges may be answered together: see `together`."""
        no_hashes = not asked.ranges.hashes and self._answer.end.hash == ZERO_HASH
        return no_hashes and self._parameters.narrow

    def _has_room(self, ranges: int, ids: int) -> bool:
        return self._answer.has_room(self._reserve + ranges, ids)

    def _answer_each(self, asked: Asked, numbers: Positions, parts: Positions) -> Iterator[None]:
        """Answer these ranges one by one."""
        received, places = asked.ranges, asked.places
        tasks = dict(zip(numbers.tolist(), parts.tolist(), strict=True))
        divisions = self._divider.divide(received, tasks, places)
        begin = int(numbers[0])
        contents = received.contents(begin, int(numbers[-1]) + 1)
        counts: list[int] = asked.counts[begin : numbers[-1] + 1].tolist()
        whole = [at for at, into in tasks.items() if into == 1 and counts[at - begin] <= ITEMS_MAX]
        lower, upper = places[whole], places[[at + 1 for at in whole]]
        items = dict(zip(whole, self._local.items_of(lower, upper), strict=True))
        for at in tasks:
            bounds, content, count = received.bounds(at), contents[at - begin], counts[at - begin]
            if not self._make_room(count if at in items else 0):
                self._put_off(asked, at)
                return
            if at in divisions:
                self._add_parts(bounds, divisions[at])
            elif not isinstance(content, Items):
                self._add_items(bounds, items.get(at))
            elif content.reconciled or self._fits(count):
                self._answer_items(bounds, content, items.get(at, ()))
            else:
                yield from self._answer_begin(bounds, content, count)

    # --- The payloads of a turn ----------------------------------------------------------------

    def _begun(self) -> Answer:
        answer = Answer(joined_max=self._parameters.joined_max)
        if self._payloads_max > 1:
            answer.room = min(answer.room, BYTES_MAX)
        return answer

    def _make_room(self, items: int = 0) -> bool:
        """Return whether one more range has room, in another payload where it must be."""
        if self._fits(items):
            return True
        if self._closed + 1 < self._payloads_max and not self._answer.settles:
            self._close()
        return self._fits(0)

    def _fits(self, count: int) -> bool:
        """Return whether so many items have room, and what ends a payload."""
        return self._answer.has_room(self._reserve, count)

    def _close(self) -> None:
        """Let a payload be sent, and begin another one."""
        self._step.payloads.append(self._answer.ranges)
        self._answer = self._begun()
        self._closed += 1

    def _end_turn(self, end: SyncId) -> None:
        """Let the last payload be sent: it reaches as far as what it answers."""
        if self._put_off_from is not None:
            self._ask_for_the_rest(Bounds(self._put_off_from, end))
        self._answer.skip_to(end)
        if self._answer.settles and not self._closed:
            self._answer.ranges = Ranges()
        self._close()
        self._closed, self._put_off_from = 0, None
        self._backlog.end_turn()

    def _put_off(self, asked: Asked, number: int) -> None:
        """Answer the range of this number, and all behind it, in later turns."""
        self._put_off_from = asked.ranges.bounds(number).lower
        self._backlog.keep(asked.ranges, number)

    def _ask_for_the_rest(self, bounds: Bounds) -> None:
        """Put off all further ranges by a fingerprint over the whole of them."""
        lower = bounds.lower
        for upper in rungs(lower, bounds.upper):
            self._add_fingerprint(Bounds(lower, upper))
            lower = upper

    # --- Ranges --------------------------------------------------------------------------------

    def _above(self, floor: SyncId, received: Ranges) -> Ranges:
        """Skip what is below `floor`; returns the ranges above it, after a `Skip` up to there.

        Of a fingerprint that reaches across it we send our own from the floor on.
        """
        end = received.upper(-1)
        above = Ranges()
        if end > floor:
            above.append(floor, None)
            first = bisect_left(received.timestamps, floor.timestamp)
            while received.upper(first) <= floor:
                first += 1
            lower, upper = received.bounds(first)
            if lower < floor:
                above.append(upper, self._cut_content(received.content(first), floor, upper))
                first += 1
            above.extend_rest(received, first)
        self._answer.skip_to(min(max(floor, self._answer.end), end))
        return above

    def _cut_content(self, content: Content, floor: SyncId, upper: SyncId) -> Content:
        """Return what is left to be answered above `floor` of a range that reaches across it."""
        if isinstance(content, bytes):
            self._add_fingerprint(Bounds(floor, upper))
            return None
        if content is None:
            return None
        return content._replace(elements=tuple([one for one in content.elements if one >= floor]))

    def _add_parts(self, bounds: Bounds, division: Division) -> None:
        """Answer a range in parts: each by its fingerprint, or its items if they are few."""
        fresh = self._parameters.fresh_threshold
        if division.hashes is None and min(division.counts) > fresh:
            self._answer.add_parts(*bounds, division)
            return
        lower = bounds.lower
        uppers = division.uppers(bounds)
        for at, (upper, count) in enumerate(zip(uppers, division.counts, strict=True)):
            part = Bounds(lower, upper)
            lower = upper
            if count <= fresh and self._fits(count):
                items = division.few.get(at, ())
                self._answer.add(part, Items(items, reconciled=False))
            else:
                begin = HASH_BYTES * at
                self._answer.add(part, division.fingerprints[begin : begin + HASH_BYTES])

    def _add_items(self, bounds: Bounds, items: tuple[SyncId, ...] | None) -> None:
        """Answer a range with its items, or with its fingerprint if they do not fit."""
        if items is not None and self._fits(len(items)):
            self._answer.add(bounds, Items(items, reconciled=False))
        else:
            self._add_fingerprint(bounds)

    def _add_fingerprint(self, bounds: Bounds) -> None:
        self._answer.add(bounds, self._local.fingerprint(*bounds))

    # --- Item sets -----------------------------------------------------------------------------

    def _answer_items(self, bounds: Bounds, received: Items, items: tuple[SyncId, ...]) -> None:
        """Note the differences to an item set, and tell them if its sender cannot know them yet."""
        ours = theirs = frozenset[SyncId]()
        if received.elements != items:
            ours, theirs = frozenset(items), frozenset(received.elements)
            need = [one for one in received.elements if one not in ours]
            self._step.need_rows += Ids.of(need).rows
            self._step.have_rows += Ids.of([one for one in items if one not in theirs]).rows
        if received.reconciled:
            return
        if self._parameters.narrow:
            parts = list(_around_differences(bounds, items, ours, theirs))
            room = self._reserve + 2 * len(parts)  # each after a `Skip`
            if self._answer.has_room(room, len(items)):
                for around, few in parts:
                    self._answer.add(around, Items(few, reconciled=True))
                return
        self._answer.add(bounds, Items(items, reconciled=True))

    def _answer_begin(self, bounds: Bounds, received: Items, count: int) -> Iterator[None]:
        """Answer of an item set as much as fits; the rest comes in later rounds."""
        lower, elements = bounds.lower, received.elements
        if count > PART:
            division = self._divider.split(bounds, 1 + count // PART)
            for at, upper in enumerate(division.uppers(bounds)):
                if not (self._make_room(division.counts[at]) and self._fits(division.counts[at])):
                    break
                few = elements[bisect_left(elements, lower) : bisect_left(elements, upper)]
                [items] = self._local.items_of(
                    division.places[at : at + 1], division.places[at + 1 : at + 2]
                )
                self._answer_items(Bounds(lower, upper), Items(few, reconciled=False), items)
                lower = upper
                yield
        self._ask_for_the_rest(Bounds(lower, bounds.upper))


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
