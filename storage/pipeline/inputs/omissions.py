"""Omissions that exports declare themselves, so that no job takes what they left out for lost.

A note may hold anything: values of the wrong kind excuse nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeGuard

from storage.archive.seq_ranges import Stretch, between
from storage.archive.tables import BEFORE, BIGINT_MAX, BOOTS, KEPT, LOG_IN_PART, SINCE, Note
from sync.machine import Nanos

OLDER_MAX: Final = 100_000
"""Ids, of all exports."""

HOLES: Final = "run string, boot long, node string, first long, last long"
OLDER: Final = "parent binary"
BEGINS: Final = "channel string, node string, since_ns long"


class Start(NamedTuple):
    """One start of a node, which numbers its log rows separately."""

    run: str
    boot: int
    node: str


@dataclass(frozen=True, slots=True)
class Omissions:
    """Omissions declared in `notes`, the notes of all exports."""

    notes: Sequence[Note]

    @property
    def logs_in_part(self) -> list[str]:
        """The nodes that left rows of their logs out of their exports: holes there mean nothing."""
        return sorted(
            {node for note in self.notes if note.more.get(LOG_IN_PART) for node in note.nodes}
        )

    @property
    def older(self) -> list[tuple[bytes]]:
        """The ids of messages that nodes hold, and that their exports begin after: `OLDER`."""
        named = {one for note in self.notes for one in _ids(note.more.get(BEFORE))}
        return [(one,) for one in sorted(named)[:OLDER_MAX]]

    @property
    def begins(self) -> list[tuple[str, str, Nanos]]:
        """The channels and nodes whose exports leave out what is older than some time: `BEGINS`."""
        latest: dict[tuple[str, str], Nanos] = {}
        for note in self.notes:
            for channel, since in _times(note.more.get(SINCE)):
                for node in map(str, note.nodes):
                    latest[channel, node] = max(since, latest.get((channel, node), 0))
        return [(*place, since) for place, since in sorted(latest.items())]

    @property
    def forgotten(self) -> list[tuple[str, int, str, int, int]]:
        """The rows that logs forgot after one export and before the next, as holes: `HOLES`."""
        kept: dict[Start, list[Stretch]] = {}
        for note in self.notes:
            for start, stretches in _kept(note.more.get(BOOTS)):
                kept.setdefault(start, []).extend(stretches)
        return [(*start, *hole) for start, had in sorted(kept.items()) for hole in between(had)]


def _ids(value: object) -> Iterator[bytes]:
    for one in value if isinstance(value, list) else ():
        with suppress(TypeError, ValueError):
            yield bytes.fromhex(one)


def _times(value: object) -> Iterator[tuple[str, Nanos]]:
    for channel, since in value.items() if isinstance(value, dict) else ():
        if _is_number(since):
            yield str(channel), since


def _kept(value: object) -> Iterator[tuple[Start, list[Stretch]]]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and _is_number(boot := one.get("boot")):
            yield Start(str(one.get("run")), boot, str(one.get("node"))), [*_stretches(one)]


def _stretches(start: Mapping[str, Any]) -> Iterator[Stretch]:
    told = start.get(KEPT, [[start.get("first"), start.get("last")]])
    for one in told if isinstance(told, list) else ():
        with suppress(TypeError, ValueError):
            first, last = one
            if _is_number(first) and _is_number(last) and first <= last:
                yield first, last


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and 0 <= value <= BIGINT_MAX
