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
from sync.entries.columns import Columns, read_columns
from sync.entries.entry import open_content
from sync.group.future_entries import Parked, admitted_from
from sync.group.governing import Governing
from sync.group.ingest import outline_of
from sync.group.machines import Machines
from sync.group.records import (
    DropState,
    EndPending,
    Replayed,
    SetDropped,
    StoreChecked,
    StoredMessage,
    StorePending,
    StoreState,
)
from sync.group.snapshots.values import Renewed, unchanged
from sync.group.stating import StateNews, Stating
from sync.group.status import Status
from sync.machine import Nanos, PeerId
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
        self._channel, self._gate = group.channel, group.gate
        self._me = bytes.fromhex(author.me)
        self._reference = now + aside.offset
        self._reached = aside.reached(now)
        self._standing = frozenset(aside.reference.members)
        self._parked = Parked()
        for outline in aside.parked.outlines.values():
            self._parked.add(outline)
        self._here = frozenset([bytes.fromhex(one) for one in group.held_ids()])
        """Ids of all that is here. After a start that is also what an ended swap has written."""
        self._held = set(self._here.difference(map(bytes.fromhex, group.waiting_ids())))
        """Those of them that do not wait, and of all delivered by now: who builds on these follows
        no gap."""
        self._authors = group.logs.authors()
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

    def __call__(self, pages: Iterable[bytes], renewed: Renewed = unchanged) -> Iterator[Replayed]:
        """Yield the records of staged pages, of which the last comes first.

        Args:
            pages: as they are staged.
            renewed: returns the state that is stored, where some may be new meanwhile.
        """
        of_state: list[tuple[bytes, ...]] = []
        for page in pages:
            chunk = decode(page)
            assert isinstance(chunk, SnapshotChunk), "only pages are staged"
            if chunk.head.of_state:  # who has written counts, and that is known at the end
                of_state.append(chunk.records)
                continue
            for content in reversed(chunk.records):
                yield from self._judge(read_columns(content), content)
        stating = self._stating(self._states)
        for records in of_state:
            for at in range(0, len(records), STATE_AT_ONCE):
                if (states := renewed()) is not None:
                    stating = self._stating(states)
                news = stating.on_brought(records[at : at + STATE_AT_ONCE], self._reference)
                yield from self._stated(news)

    # --- Messages ------------------------------------------------------------------------------

    def _judge(self, columns: Columns, content: bytes) -> Iterable[Replayed]:
        if columns.message_id in self._here:
            return ()
        payload, waku_hash = self._gate.wrap(columns, content)
        if self._governing is None:
            return self._accept(columns, content, waku_hash, payload)
        stored = StoredMessage(self._channel, open_content(content), waku_hash, payload)
        match self._governing.judge(stored.entry.header):
            case Verdict.YES:
                return self._accept(columns, content, waku_hash, payload)
            case Verdict.UNKNOWN:
                gone = self._governing.wait(stored)
                return [StorePending(stored), *[EndPending(self._channel, one) for one in gone]]
            case label:
                assert isinstance(label, Dropped)
                message_id = stored.entry.message_id
                self._governing.drop(message_id, label)
                self._held.add(columns.message_id)  # nobody waits for it
                return [SetDropped(self._channel, message_id, label)]

    def _accept(
        self, columns: Columns, content: bytes, waku_hash: bytes, payload: bytes
    ) -> Iterable[Replayed]:
        """Deliver an entry, or keep it aside until its time; a limit may be reached."""
        delivery = Delivery.ACKNOWLEDGED if columns.author == self._me else None
        if admitted_from(columns.lamport, columns.created_ns) > self._reached:
            author = PeerId(columns.author.hex())
            if self._parked.full(author, known=author in self._standing):
                return ()
            entry = open_content(content)
            self._parked.add(outline_of(StoredMessage(self._channel, entry, waku_hash, payload)))
            status, after_gap = Status.PARKED, False
        else:
            held = self._held
            status, after_gap = Status.DELIVERED, False
            for parent, _, _ in columns.parents:  # a quarter of the time of a generator
                after_gap |= parent not in held
            held.add(columns.message_id)
            self._authors.add(columns.author)
        return (
            StoreChecked(
                self._channel, columns, content, waku_hash, payload, status, after_gap, delivery
            ),
        )

    # --- State ---------------------------------------------------------------------------------

    def _stating(self, states: Iterable[bytes]) -> Stating:
        me = Key(self._me)
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
        stating.restore(states)
        return stating

    def _stated(self, news: StateNews) -> Iterator[Replayed]:
        for entry, kept in news.taken:
            yield StoreState(self._channel, entry.content)
            if kept.pushed_out is not None:
                yield DropState(self._channel, kept.pushed_out.key)


def _signs_nothing(data: bytes) -> bytes:
    raise AssertionError(f"a replay signs nothing: {len(data)} bytes")
