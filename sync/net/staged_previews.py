"""The newest page of a snapshot on its way: shown while the rest is fetched, as what it is.

A newcomer reads while a hundred thousand lines come. What is staged counts nowhere; so this reads
the staged pages themselves, and shows their lines as ones that wait for history on its way, with
the changes of them, which are newer and so came before. Topic, pins and names are those of the
staged state, as long as the channel has none of its own.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from sync.calimero.governance.ops import Key, OpId, Verdict
from sync.calimero.governance.verdicts import Doing, verdict_at_cut
from sync.calimero.log.snapshot_messages import SnapshotChunk, decode
from sync.calimero.state.contents import StateKind
from sync.calimero.state.current import Current, fold
from sync.calimero.state.entry import StateEntry, parse
from sync.calimero.state.registers import Registers
from sync.entries.changes import CHANGING, Look, look_of, touched_by
from sync.entries.entry import Entry, Header, open_content
from sync.errors import DecodeError, StorageError
from sync.group import values
from sync.group.group import Group
from sync.group.values import LogPlace
from sync.machine import ChannelId, MessageId, PeerId
from sync.net.engine.key_priority import KeyPriority
from sync.runner.journal import Journal

PAGE_BYTES: Final = 64 * 1024
"""Bytes of lines read from the disk at once: some 140, 5 ms."""

LINES_MAX: Final = 512
"""Lines shown before the rest is here: two pages of the transcript, as of other history on its way
(`sync.group.history_loading.PREVIEWS_MAX`)."""

PAGES_MAX: Final = 64
"""Pages read for them: of those of state there may be some, and a page of long lines has few."""

Show = Callable[[ChannelId, values.Effect], None]
HistoryIsHere = Callable[[ChannelId, LogPlace | None], None]
Spawn = Callable[[str, Coroutine[Any, Any, None]], object]


class Read(NamedTuple):
    """A page, read: entries, the newest first, or entries of state."""

    entries: tuple[Entry, ...]
    state: tuple[StateEntry, ...]


class Groups(Protocol):
    """The channels of a node."""

    def get(self, channel: ChannelId, /) -> Group | None:
        """Return the machines of a channel."""


@dataclass(slots=True)
class Preview:
    """Lines and state shown of one channel's snapshot."""

    pages: int = 0
    """Pages read so far; they come in order."""
    lines: int = 0
    touching: dict[MessageId, list[Entry]] = field(default_factory=dict)
    """Entries that change others, by what they change."""
    registers: Registers = field(default_factory=Registers)
    current: Current | None = None
    """Topic, pins and appearances, once all of the state is staged."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def take(self, entry: Entry, group: Group) -> Look | None:
        """Take an entry that is older than all before; return the look of it, if it is a line."""
        if (touched := touched_by(entry)) is not None:
            self.touching.setdefault(touched.target, []).append(entry)
        if entry.header.kind in CHANGING:
            return None
        found = self.touching.get(entry.message_id, [])
        back = [two for one in found for two in self.touching.get(one.message_id, ())]
        self.lines += 1
        return look_of(entry, [*found, *back], partial(_hides, group), group.author.me)


class StagedPreviews:
    """Previews of all channels.

    Args:
        groups: their machines, which know who may write and whose clock is wrong.
        journal: has the pages that were staged before this run.
        show: shows effects.
        shown: hears that a history is here, and which place its lines were told down to; None if
            all were.
        spawn: runs what reads a page.
    """

    def __init__(
        self,
        groups: Groups,
        journal: Journal,
        keys: KeyPriority,
        show: Show,
        shown: HistoryIsHere,
        spawn: Spawn,
    ) -> None:
        self._groups, self._journal, self._keys = groups, journal, keys
        self._show, self._shown, self._spawn = show, shown, spawn
        self._of: dict[ChannelId, Preview] = {}
        self._left: dict[ChannelId, int] | None = {}
        """Pages of an earlier run, until `begin`."""

    def begin(self) -> None:
        """Show what an earlier run has staged, from now on at once."""
        left, self._left = self._left or {}, None
        for channel, pages in left.items():
            self._spawn("preview", self._resume(channel, pages))

    def staged(self, record: values.StageSnapshot) -> None:
        """A page is on the disk: show of it what there is room for."""
        preview = self._of.setdefault(record.channel, Preview())
        if preview.lines < LINES_MAX and preview.pages < PAGES_MAX:
            preview.pages += 1
            self._spawn("preview", self._read(record.channel, preview, record.chunk))

    def resume(self, channel: ChannelId, staged: values.StagedSnapshot) -> None:
        """Pages of an earlier run are on the disk."""
        if self._left is not None:
            self._left[channel] = staged.pages
        else:
            self._spawn("preview", self._resume(channel, staged.pages))

    def current(self, channel: ChannelId, group: Group) -> Current | None:
        """Return what the staged state of a channel comes to, where it has none of its own."""
        preview = self._of.get(channel)
        if preview is None or len(group.stating.registers.tree):
            return None
        return preview.current

    def over(self, channel: ChannelId) -> None:
        """The snapshot is dropped."""
        self._of.pop(channel, None)

    def swapped(self, channel: ChannelId) -> None:
        """The snapshot is history now: tell its newest lines as delivered ones, then the rest."""
        self.over(channel)
        self._spawn("history", self._deliver(channel))

    async def _resume(self, channel: ChannelId, pages: int) -> None:
        preview = self._of.setdefault(channel, Preview())
        while preview.pages < min(pages, PAGES_MAX) and preview.lines < LINES_MAX:
            number = preview.pages
            preview.pages += 1
            try:
                chunk = await self._journal.staged_page(channel, number)
            except StorageError:
                return  # it is only shown later
            if chunk is None:
                return
            await self._read(channel, preview, chunk)

    async def _read(self, channel: ChannelId, preview: Preview, chunk: bytes) -> None:
        """Read a page off the loop, and show it; pages take turns in their order."""
        async with preview.turn:
            if self._of.get(channel) is not preview:
                return
            page = await asyncio.to_thread(read_page, chunk)
            group = self._groups.get(channel)
            if page is None or group is None:
                return
            for one in page.state:
                preview.registers.put(one)
            if page.entries and preview.current is None:
                self._show_state(channel, group, preview)
            await self._show_lines(channel, group, preview, page)

    def _show_state(self, channel: ChannelId, group: Group, preview: Preview) -> None:
        governance = None if group.governing is None else group.governing.governance
        preview.current = fold(preview.registers, governance)
        if not len(preview.registers):
            return
        authors = frozenset([PeerId(key.hex()) for key in preview.registers.authors()])
        kinds = frozenset([one for one in StateKind if preview.registers.of_kind(one)])
        self._show(channel, values.StateChanged(kinds, authors))

    async def _show_lines(
        self, channel: ChannelId, group: Group, preview: Preview, page: Read
    ) -> None:
        """Show the lines of a page, the oldest first; what changes one is newer: read before."""
        lines: list[values.Previewed] = []
        async for entry in self._keys.in_slices(page.entries):
            if preview.lines >= LINES_MAX or self._of.get(channel) is not preview:
                break
            if _counts(group, entry) and (look := preview.take(entry, group)) is not None:
                lines.append(values.Previewed(entry.message_id, entry, None, look))
        async for line in self._keys.in_slices(lines[::-1]):
            if self._of.get(channel) is not preview:
                return
            self._show(channel, line)

    async def _deliver(self, channel: ChannelId) -> None:
        """Tell the newest lines on the disk, the oldest of them first.

        Those of our log were told when they were written; of an earlier one, which a profile had
        that was restored, the snapshot brought them back.
        """
        preview, before = Preview(), None
        found: list[values.Deliver] = []
        more = True
        while more and preview.lines < LINES_MAX and preview.pages < PAGES_MAX:
            try:
                page = await self._journal.newest_page(channel, before, PAGE_BYTES)
            except StorageError:
                break  # the screen reads it, once that is possible
            group = self._groups.get(channel)
            if group is None:
                return
            for one in page.entries:
                header = one.entry.header
                before = (header.lamport, one.message_id)
                look = preview.take(one.entry, group)
                if look is not None and not _is_told(group, header):
                    delivered = values.Deliver(
                        one.message_id, one.entry, one.after_gap, one.delivery, look
                    )
                    found.append(delivered)
            preview.pages += 1
            more = page.more
            await self._keys.breathe()  # reading a page has taken as long as a slice
        async for delivered in self._keys.in_slices(found[::-1]):
            self._show(channel, delivered)
        self._shown(channel, before if more else None)


def read_page(chunk: bytes) -> Read | None:
    """Return what is in a staged page; None if it cannot be read, which the swap will tell."""
    try:
        page = decode(chunk)
        if not isinstance(page, SnapshotChunk):
            return None
        if page.head.of_state:
            return Read((), tuple([parse(one) for one in page.records]))
        return Read(tuple([open_content(one) for one in page.records]), ())
    except DecodeError:
        return None


def _is_told(group: Group, header: Header) -> bool:
    return header.author == group.author.me and header.log == group.writer.log.number


def _counts(group: Group, entry: Entry) -> bool:
    """Return whether an entry will be let in, as far as can be told now."""
    if group.is_ahead(entry.header):
        return False
    return group.governing is None or group.governing.judge(entry.header) is Verdict.YES


def _hides(group: Group, redaction: Entry) -> bool:
    """Return whether the author of a redaction might hide lines of others at its cut."""
    if group.governing is None:
        return False
    author = Key(bytes.fromhex(redaction.header.author))
    heads = tuple([OpId(head) for head in redaction.header.governance])
    return verdict_at_cut(group.governing.governance, author, heads, Doing.HIDE) is Verdict.YES
