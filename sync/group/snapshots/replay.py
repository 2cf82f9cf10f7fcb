"""Replay of a snapshot: what each staged entry becomes, by the verdicts of the one way in.

Pages come with the oldest messages first, so whoever an entry builds on was judged before it. Every
signature was checked when its page was; the verdict, the stamps and the limits are judged here.

It may run in a thread: all it needs of the group it copied when it was made.
"""

import random
from collections.abc import Iterable, Iterator
from typing import Final

from sync.calimero.governance.ops import GroupId, Key, Verdict
from sync.calimero.governance.pending import Dropped
from sync.calimero.log.snapshot_messages import SnapshotChunk, decode
from sync.entries.entry import Entry, open_content
from sync.group.future_entries import Parked, admitted_from
from sync.group.governing import Governing
from sync.group.ingest import message_of, outline_of
from sync.group.machines import Machines
from sync.group.records import (
    DropState,
    EndPending,
    Record,
    SetDropped,
    StoredMessage,
    StoreMessage,
    StorePending,
    StoreState,
)
from sync.group.stating import StateNews, Stating
from sync.group.status import Status
from sync.machine import MessageId, Nanos
from sync.sds.message import Delivery

STATE_AT_ONCE: Final = 16
"""Entries of state that are judged in one step: their signatures are checked once more, in 2 ms."""


class Replay:
    """Makes the records of a snapshot: `Replay(group, now)`, then `replay(pages)`, once.

    Args:
        group: the channel, whose machines are as its disk is.
        now: the machines' clock.
    """

    def __init__(self, group: Machines, now: Nanos) -> None:
        author, aside = group.author, group.aside
        self._channel, self._me, self._gate = group.channel, author.me, group.gate
        self._reference = now + aside.offset
        self._reached = aside.reached(now)
        self._standing = frozenset(aside.reference.members)
        self._parked = Parked()
        for outline in aside.parked.outlines.values():
            self._parked.add(outline)
        self._held: set[MessageId] = set(group.held_ids())
        """Ids of all that is here, and of all delivered by now: who builds on it follows no gap."""
        self._authors: set[Key] = set()
        """Authors of messages that are stored by now."""
        self._governing: Governing | None = None
        if group.governing is not None:
            nothing = random.Random(0)  # noqa: S311  # it draws when heads are told, never here
            self._governing = Governing(group.channel, author.me, _signs_nothing, nothing)
            self._governing.governance = group.governing.governance.copied()
            self._governing.dropped = dict(group.governing.dropped)
        self._anybody = group.anybody
        self._states = tuple([one.content for one in group.stating.registers])
        self._own_written = group.writer.created_ns > 0

    def __call__(self, pages: Iterable[bytes]) -> Iterator[Record]:
        """Yield the records of staged pages, of which the last comes first."""
        of_state: list[tuple[bytes, ...]] = []
        for page in pages:
            chunk = decode(page)
            assert isinstance(chunk, SnapshotChunk), "only pages are staged"
            if chunk.head.of_state:  # who has written counts, and that is known at the end
                of_state.append(chunk.records)
                continue
            for content in reversed(chunk.records):
                yield from self._judge(open_content(content))
        stating = self._stating()
        for records in of_state:
            for at in range(0, len(records), STATE_AT_ONCE):
                news = stating.on_brought(records[at : at + STATE_AT_ONCE], self._reference)
                yield from self._stated(news)

    # --- Messages ------------------------------------------------------------------------------

    def _judge(self, entry: Entry) -> Iterator[Record]:
        if entry.message_id in self._held:
            return
        stored = self._gate.store(entry, message_of(entry))
        match Verdict.YES if self._governing is None else self._governing.judge(entry.header):
            case Verdict.YES:
                yield from self._accept(stored)
            case Verdict.UNKNOWN:
                assert self._governing is not None
                gone = self._governing.wait(stored)
                yield StorePending(stored)
                yield from [EndPending(self._channel, one) for one in gone]
            case label:
                assert isinstance(label, Dropped)
                assert self._governing is not None
                self._governing.drop(entry.message_id, label)
                self._held.add(entry.message_id)  # nobody waits for it
                yield SetDropped(self._channel, entry.message_id, label)

    def _accept(self, stored: StoredMessage) -> Iterator[Record]:
        """Deliver an entry, or keep it aside until its time; a limit may be reached."""
        entry = stored.entry
        header = entry.header
        delivery = Delivery.ACKNOWLEDGED if header.author == self._me else None
        if admitted_from(header.lamport, header.created_ns) > self._reached:
            if not self._parked.full(header.author, known=header.author in self._standing):
                self._parked.add(outline_of(stored))
                yield StoreMessage(stored, Status.PARKED, delivery=delivery)
            return
        after_gap = any(one.message_id not in self._held for one in header.parents)
        self._held.add(entry.message_id)
        self._authors.add(Key(bytes.fromhex(header.author)))
        yield StoreMessage(stored, Status.DELIVERED, after_gap, delivery)

    # --- State ---------------------------------------------------------------------------------

    def _stating(self) -> Stating:
        me = Key(bytes.fromhex(self._me))
        if self._own_written:
            self._authors.add(me)
        governing, knows = self._governing, self._authors.__contains__
        stating = Stating(
            GroupId(bytes.fromhex(self._channel)),
            me,
            _signs_nothing,
            None if governing is None else governing.verdict,
            knows if self._anybody else None,
        )
        stating.restore(self._states)
        return stating

    def _stated(self, news: StateNews) -> Iterator[Record]:
        for entry, kept in news.taken:
            yield StoreState(self._channel, entry.content)
            if kept.pushed_out is not None:
                yield DropState(self._channel, kept.pushed_out.key)


def _signs_nothing(data: bytes) -> bytes:
    raise AssertionError(f"a replay signs nothing: {len(data)} bytes")
