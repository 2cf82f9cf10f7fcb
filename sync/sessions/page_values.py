"""Inputs and effects of sessions by which whole pages of a history are loaded and checked.

They are of snapshots (`sync.calimero.log.snapshot`): the source loads what it has from the newest
on, and who receives has each page checked off the loop, since signatures take most of the time.
"""

from typing import TypeAlias

from msgspec import Struct

from sync.machine import MessageId

LogPlace: TypeAlias = tuple[int, MessageId]
"""A place of the log: (lamport, message id)."""


class LoadNewestEntries(Struct, frozen=True):
    """Load delivered entries from the newest on, below the place `before`; `EntriesLoaded`.

    In falling order (lamport, message id), once what was sent on the session's stream has left:
    as many as have at most `most` bytes of content together, and one at least.
    """

    session: int
    before: LogPlace | None
    """None: from the newest one on."""
    most: int


class CheckPage(Struct, frozen=True):
    """Check a page off the loop (`sync.calimero.log.snapshot_pages.check_page`); `PageChecked`.

    Pages of a session are checked in the order in which this is asked for.
    """

    session: int
    number: int
    payload: bytes


class CheckedPage(Struct, frozen=True):
    """Content of a page that is sound: every entry is of the channel, and signed.

    Attributes:
        first: the place of its first entry, the newest; None of a page of state.
        last: the place of its last entry.
        entries: messages in it.
        registers: entries of state in it.
        own_logs: numbers of our own logs of which it has entries, rising.
    """

    first: LogPlace | None
    last: LogPlace | None
    entries: int
    registers: int
    own_logs: tuple[int, ...] = ()


class PageChecked(Struct, frozen=True):
    """Outcome of `CheckPage`: its content, or None and the `reason` for which it is refused."""

    session: int
    number: int
    page: CheckedPage | None
    reason: str = ""
