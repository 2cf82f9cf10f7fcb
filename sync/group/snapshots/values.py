"""Records and effects of a snapshot: pages are staged, then swapped in at once."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sessions.page_values import LogPlace

Renewed: TypeAlias = Callable[[], Sequence[bytes] | None]
"""Returns the state that is stored, if some of it may be new since a swap began, or since it was
last asked for."""


def unchanged() -> None:
    """Return that no state was stored meanwhile."""
    return


class StageSnapshot(Struct, frozen=True):
    """Record: a checked page of a snapshot. What is staged counts nowhere until it is swapped in.

    Attributes:
        channel: the channel.
        number: of the page, rising from 0 without a gap, over all sessions that bring pages.
        chunk: the page as it came (`sync.calimero.log.snapshot_messages.decode`).
        cursor: the place below which the next page begins; None while none has a message.
        count: messages staged so far, those of this page among them.
        scope: SHA-256 of our heads of governance.
        floor: nothing older is in it, in nanoseconds; 0 where everything is.
    """

    channel: ChannelId
    number: int
    chunk: bytes
    cursor: LogPlace | None
    count: int
    scope: bytes
    floor: Nanos


class DropSnapshot(Struct, frozen=True):
    """Record: the staged pages of a channel are of no use any more."""

    channel: ChannelId


class StagedSnapshot(Struct, frozen=True):
    """Staged pages of a channel, as they are found after a start; see `StageSnapshot`.

    Attributes:
        scope: of the page staged last.
        floor: of all pages.
        cursor: the place below which the next page begins.
        count: messages in them.
        pages: how many they are, numbered from 0 on.
        swapping: whether some of it is history already: then nothing of it is missing, and the rest
            is swapped in before anything else.
    """

    scope: bytes
    floor: Nanos
    cursor: LogPlace | None
    count: int
    pages: int
    swapping: bool = False


class PushedOut(Struct, frozen=True):
    """Effect: messages that are shown and wait for a snapshot have no room to wait any more.

    They are here no more. A session after the snapshot brings them again.
    """

    message_ids: tuple[MessageId, ...]


class SnapshotSwapped(Struct, frozen=True):
    """Input: the channel's history came by snapshot, and its machines have begun anew.

    Attributes:
        source: who sent the last page of it.
        newest: authors of the newest messages, with each one's `created_ns`.
    """

    source: PeerId
    newest: tuple[tuple[PeerId, Nanos], ...]


class SwapSnapshot(Struct, frozen=True):
    """Effect: put what is staged in the place of nothing (`sync.group.snapshots`).

    All records of the replay and the end of the staged pages are one transaction, or several where
    somebody writes meanwhile: each of them ends for the line that waits. Of these the last one ends
    the staged pages; then the channel's machines begin anew from the disk.
    """

    channel: ChannelId


class SnapshotCame(Struct, frozen=True):
    """Effect: all that a channel's first history brings is here, and is about to be swapped in.

    Attributes:
        peer: whose session brought the last of it; None if nobody went on with it in time.
    """

    peer: PeerId | None
