"""Author logs of a channel: how far each one is sound, worked out as entries come.

Height: exactly one entry is held at each number from 1 up to it, and names the right ones before
it. What contradicts itself at a number (two entries there, or one that names other entries than
are held) freezes the height below that number.

Rules:
1. All is a function of the set of entries held: the order of arrival and restarts change nothing.
2. No entry is kept. Neighbours make a run, which knows what others may still ask of it: the ids of
   those that later entries link to, and what its own entries say of earlier ones.
3. Nothing leaves: where entries are taken out, the logs are made anew from the disk.
"""

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from sync.entries.entry import Header, lipmaa
from sync.machine import MessageId, PeerId
from sync.structures.log_spans import LogHeight, LogSpan

RUNS_MAX: Final = 64
"""Runs of one log, the first ones. History comes in pages of neighbours, so a log has a few; one
that is full of holes gets no higher than the last of these until the next start."""

ID_BYTES: Final = 32

ENDS_KNOWN: Final = 4096
"""Heights whose anchors are remembered; people's logs grow through the same ones."""


BLOCKS: Final = tuple([(3**power - 1) // 2 for power in range(1, 42)])
"""Sizes of the blocks that `lipmaa` divides a log into, up to the largest number there is."""


class LogPlace(Struct, frozen=True):
    """Words of an entry about its place: which log of its author, which number, what it names."""

    log: int
    seq: int
    backlink: MessageId | None
    skiplink: MessageId | None


class Claim(NamedTuple):
    """Words of a run about an earlier entry that is not in it.

    `by` is the lowest number that names it, by the id `named`; `but` the lowest one that names
    another id, None if all agree.
    """

    target: int
    by: int
    named: bytes
    but: int | None = None


class Run(Struct, frozen=True):
    """Neighbouring entries of a log, from number `first` to `last`.

    `anchors` are the ids of those that entries above `last` link to, 32 bytes each, ascending
    (`linked_from_above`); empty where the next number contradicts itself, which ends the log.
    """

    first: int
    last: int
    anchors: bytes
    claims: tuple[Claim, ...] = ()
    """Ascending."""


class LogState(NamedTuple):
    """One log: its highest number `top`, the lowest `fault`, and the runs below that."""

    key: bytes
    log: int
    top: int
    fault: int | None
    runs: tuple[Run, ...]


@lru_cache(ENDS_KNOWN)
def linked_from_above(height: int) -> tuple[int, ...]:
    """Return the numbers up to `height` that entries above it link to, ascending.

    In the blocks of `lipmaa`: the end of the last block of each size, and of the first of all,
    which the block around it skips to.
    """
    largest = bisect_right(BLOCKS, height)
    ends, rest = [BLOCKS[largest - 1]], height
    while rest:
        rest %= BLOCKS[bisect_right(BLOCKS, rest, 0, largest) - 1]
        if height - rest != ends[-1]:
            ends.append(height - rest)
    return tuple(ends)


def naming(seq: int) -> list[int]:
    """Return the numbers of the entries that link to that of one number, ascending."""
    above = {seq + 1, 3 * seq + 1, *[seq + size for size in BLOCKS]}
    return [one for one in sorted(above) if seq in {one - 1, lipmaa(one)}]


@lru_cache(ENDS_KNOWN)
def _step_to(seq: int) -> tuple[int, int]:
    """Return how an entry changes the anchors of the run it goes on with, in bytes.

    So far from their end is the one that it skips back to, 0 if it names none; so many at their end
    are linked to by nobody above it.
    """
    before, after = linked_from_above(seq - 1), linked_from_above(seq)
    target = lipmaa(seq)
    skip = 0 if target in {0, seq - 1} else len(before) - before.index(target)
    return skip * ID_BYTES, (len(before) + 1 - len(after)) * ID_BYTES


def place_of(header: Header) -> LogPlace:
    """Return what an entry says of its place."""
    return LogPlace(header.log, header.seq, header.backlink, header.skiplink)


def is_formed(place: LogPlace) -> bool:
    """Return whether an entry has the links that its number wants, and no others (PROTOCOL 2)."""
    backlink, skiplink = place.backlink is not None, place.skiplink is not None
    return has_its_links(place.seq, backlink=backlink, skiplink=skiplink)


def has_its_links(seq: int, *, backlink: bool, skiplink: bool) -> bool:
    """Return `is_formed` of an entry with this number that has these links."""
    if seq == 1:
        return not backlink and not skiplink
    skips = lipmaa(seq) not in {0, seq - 1}
    return backlink and skiplink is skips


class _Log:
    """One author log."""

    __slots__ = ("fault", "runs", "top")

    def __init__(self, runs: Iterable[Run] = (), fault: int | None = None, top: int = 0) -> None:
        self.runs = list(runs)
        self.fault = fault
        self.top = top

    @property
    def height(self) -> int:
        runs = self.runs
        return runs[0].last if runs and runs[0].first == 1 else 0

    def add(self, place: LogPlace, message_id: MessageId) -> None:
        seq, runs = place.seq, self.runs
        self.top = max(self.top, seq)
        if self.fault is not None and seq >= self.fault:
            return
        at = bisect_right(runs, seq, key=_first)
        if at and runs[at - 1].last >= seq:
            self._break(seq)
        elif self._goes_on(at - 1, place, message_id):
            pass
        elif is_formed(place):
            self._insert(at, _run_of(place, message_id))
        else:
            self._break(seq)

    def _goes_on(self, at: int, place: LogPlace, message_id: MessageId) -> bool:
        """Take an entry as the next one of a run, as most are, if nothing is to be said of it."""
        seq, backlink, skiplink = place.seq, place.backlink, place.skiplink
        if at < 0 or self.runs[at].last + 1 != seq or backlink is None:
            return False
        if at + 1 < len(self.runs) and self.runs[at + 1].first == seq + 1:
            return False
        run = self.runs[at]
        anchors, claims = run.anchors, run.claims
        skip, unlinked = _step_to(seq)
        if bytes.fromhex(backlink) != anchors[-ID_BYTES:] or (skiplink is None) is (skip > 0):
            return False
        if skiplink is not None:
            named, place_of_it = bytes.fromhex(skiplink), len(anchors) - skip
            if place_of_it < 0:
                claims = _with_claim(claims, Claim(lipmaa(seq), seq, named))
            elif anchors[place_of_it : place_of_it + ID_BYTES] != named:
                return False
        kept = anchors[: max(len(anchors) - unlinked, 0)]
        grown = Run(run.first, seq, kept + bytes.fromhex(message_id), claims)
        self.runs[at] = _ended(grown, self.fault)
        return True

    def _insert(self, at: int, run: Run) -> None:
        """Put a run of one entry among the others, and join it to its neighbours."""
        runs, start, end = self.runs, at, at
        fault: int | None = None
        if at and runs[at - 1].last + 1 == run.first:
            start = at - 1
            run, fault = _joined(runs[start], run)
        if at < len(runs) and runs[at].first == run.last + 1:
            end = at + 1
            run, above = _joined(run, runs[at])
            fault = above if fault is None else fault
        runs[start:end] = [_ended(run, self.fault)]
        del runs[RUNS_MAX:]
        if fault is not None:
            self._break(fault)

    def _break(self, fault: int) -> None:
        """The log contradicts itself at a number, lower than any before."""
        self.fault = fault
        self.runs = [_ended(run, fault) for run in self.runs if run.first < fault]


class ChannelLogs:
    """All author logs of a channel."""

    def __init__(self) -> None:
        self._logs: dict[tuple[bytes, int], _Log] = {}
        self._authors: set[bytes] = set()
        self._heights: tuple[LogHeight, ...] | None = None

    def __len__(self) -> int:
        return len(self._logs)

    def add(self, author: PeerId, message_id: MessageId, place: LogPlace) -> None:
        """An entry is held from now on that was not before."""
        key = (bytes.fromhex(author), place.log)
        log = self._logs.get(key)
        if log is None:
            log = self._logs[key] = _Log()
            self._authors.add(key[0])
        log.add(place, message_id)
        self._heights = None

    def restore(self, states: Iterable[LogState]) -> None:
        """Take up what the disk holds."""
        self._heights = None
        self._logs = {(one.key, one.log): _Log(one.runs, one.fault, one.top) for one in states}
        self._authors = {key for key, _ in self._logs}

    def has_author(self, key: bytes) -> bool:
        """Return whether anything of an author is held."""
        return key in self._authors

    def authors(self) -> set[bytes]:
        """Return the keys of all of whom anything is held."""
        return set(self._authors)

    def has_other_author(self, key: bytes) -> bool:
        """Return whether there is a log of somebody else than this author."""
        return len(self._authors) > (key in self._authors)

    def states(self) -> tuple[LogState, ...]:
        """Return everything, ascending: what `restore` takes."""
        rows = sorted(self._logs.items())
        return tuple([LogState(*key, log.top, log.fault, tuple(log.runs)) for key, log in rows])

    def heights(self) -> tuple[LogHeight, ...]:
        """Return the heights of all logs that have one, ascending."""
        if self._heights is None:
            rows = [(*key, log.height) for key, log in self._logs.items()]
            self._heights = tuple([LogHeight(*row) for row in sorted(rows) if row[2]])
        return self._heights

    def height(self, key: bytes, log: int) -> int:
        """Return how far a log is sound, 0 for one of which nothing is."""
        known = self._logs.get((key, log))
        return 0 if known is None else known.height

    def above(self, key: bytes, log: int) -> LogSpan | None:
        """Return where entries of a log are held above its height, if any are."""
        known = self._logs.get((key, log))
        if known is None or known.top == known.height:
            return None
        return LogSpan(key, log, known.height, known.top)

    def all_above(self) -> list[LogSpan]:
        """Return where entries are held above the heights of their logs, ascending."""
        return [
            LogSpan(*key, log.height, log.top)
            for key, log in sorted(self._logs.items())
            if log.top > log.height
        ]

    def fault(self, key: bytes, log: int) -> int | None:
        """Return the lowest number at which a log contradicts itself, None where it does not."""
        known = self._logs.get((key, log))
        return None if known is None else known.fault


def _first(run: Run) -> int:
    return run.first


def _run_of(place: LogPlace, message_id: MessageId) -> Run:
    seq, claims = place.seq, []
    if place.skiplink is not None:
        claims.append(Claim(lipmaa(seq), seq, bytes.fromhex(place.skiplink)))
    if place.backlink is not None:
        claims.append(Claim(seq - 1, seq, bytes.fromhex(place.backlink)))
    return Run(seq, seq, bytes.fromhex(message_id), tuple(claims))


def _joined(lower: Run, upper: Run) -> tuple[Run, int | None]:
    """Return two runs, one right behind the other, as one, and the first that is contradicted."""
    ids, claims = _ids_of(lower), lower.claims
    fault: int | None = None
    for claim in upper.claims:
        if claim.target < lower.first:
            claims = _with_claim(claims, claim)
            continue
        wrong = claim.but if ids[claim.target] == claim.named else claim.by
        if wrong is not None and (fault is None or wrong < fault):
            fault = wrong
    if not upper.anchors:
        return Run(lower.first, upper.last, b"", claims), fault
    ids.update(_ids_of(upper))
    linked = [one for one in linked_from_above(upper.last) if one >= lower.first]
    return Run(lower.first, upper.last, b"".join([ids[one] for one in linked]), claims), fault


def _ids_of(run: Run) -> dict[int, bytes]:
    """Return the anchors of a run by number; none where the next number ends the log."""
    linked = [one for one in linked_from_above(run.last) if one >= run.first]
    ids = [run.anchors[at : at + ID_BYTES] for at in range(0, len(run.anchors), ID_BYTES)]
    return dict(zip(linked, ids, strict=bool(ids)))


def _with_claim(claims: tuple[Claim, ...], more: Claim) -> tuple[Claim, ...]:
    """Return claims with one of higher entries more."""
    for at, known in enumerate(claims):
        if known.target == more.target:
            if known.but is None:
                but = more.but if more.named == known.named else more.by
                return (*claims[:at], known._replace(but=but), *claims[at + 1 :])
            return claims
    return tuple(sorted([*claims, more]))


def _ended(run: Run, fault: int | None) -> Run:
    """Return what of a run is below the number where its log contradicts itself."""
    if fault is None or run.last + 1 < fault:
        return run
    claims = [
        one if one.but is None or one.but < fault else one._replace(but=None)
        for one in run.claims
        if one.by < fault
    ]
    return Run(run.first, fault - 1, b"", tuple(claims))
