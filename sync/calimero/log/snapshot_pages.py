"""Checks of a snapshot's page, before any of it is kept: digest, form, order, channel, signatures.

Pure, and apart from the machines: drivers run it off their loop, for signatures take most of the
time. What follows from other entries is judged when the snapshot is swapped in.
"""

from collections.abc import Callable
from typing import Protocol

from sync.calimero.governance.ops import GroupId
from sync.calimero.log.snapshot_messages import SnapshotChunk, decode
from sync.calimero.state.entry import open_entry
from sync.entries.columns import Signed, open_columns
from sync.errors import RemoteError
from sync.machine import ChannelId, MessageId, PeerId
from sync.sessions.page_values import CheckedPage, LogPlace


class PageGate(Protocol):
    """Checks of a channel's entries by their bytes alone; see `sync.group.ingest.Gate`."""

    @property
    def channel(self) -> ChannelId:
        """The channel."""

    def check_columns(self, signed: Signed) -> None:
        """Refuse an entry of another channel, or not signed by its author.

        Raises:
            RemoteError: it is.
        """


def wait_for_nothing() -> None:
    """Go on at once."""


def check_page(
    gate: PageGate,
    me: PeerId,
    payload: bytes,
    stand_aside: Callable[[], None] = wait_for_nothing,
) -> CheckedPage:
    """Check a page of a snapshot, and return its content in short.

    Args:
        gate: checks entries of the channel.
        me: whose entries are told apart: those of a log of ours that we do not know.
        payload: the page as it came.
        stand_aside: is called before each of its messages, twice: a thread that computes may wait.

    Raises:
        RemoteError: no honest peer sends it; says why.
    """
    chunk = decode(payload)
    if not isinstance(chunk, SnapshotChunk):
        raise RemoteError("another message instead of a page of a snapshot")
    if chunk.head.of_state:
        return _check_state(gate, chunk)
    last: tuple[int, bytes] | None = None
    first: tuple[int, bytes] | None = None
    ours = bytes.fromhex(me)
    own: set[int] = set()
    opened: list[Signed] = []
    for record in chunk.records:
        stand_aside()
        signed = open_columns(record)
        opened.append(signed)
        columns = signed.columns
        place = (columns.lamport, columns.message_id)
        if last is not None and place >= last:
            raise RemoteError("the messages of a page are not in falling order")
        first, last = first or place, place
        if columns.author == ours:
            own.add(columns.log)
    # Signatures come last: what is wrong with the rest of a page costs none.
    for signed in opened:
        stand_aside()
        gate.check_columns(signed)
    ends = _named(last)
    if chunk.head.cursor != ends:
        raise RemoteError("a page whose cursor is not the place of its last message")
    return CheckedPage(_named(first), ends, len(chunk.records), 0, tuple(sorted(own)))


def _named(place: tuple[int, bytes] | None) -> LogPlace | None:
    return None if place is None else (place[0], MessageId(place[1].hex()))


def _check_state(gate: PageGate, chunk: SnapshotChunk) -> CheckedPage:
    if chunk.head.cursor is not None:
        raise RemoteError("a page of state with the place of a message")
    group = GroupId(bytes.fromhex(gate.channel))
    for record in chunk.records:
        open_entry(record, group)
    return CheckedPage(None, None, 0, len(chunk.records))
