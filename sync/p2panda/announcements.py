"""Announcements: what a peer takes part in by its word, and what of ours we told it (section 1).

Rules:
1. The newest announcement replaces all before; one that is not newer is ignored.
2. Of versions other than ours nothing is requested; they are kept, to be shown.
3. We announce to a peer what it has proved to be in, and only if that has changed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sync.machine import ChannelId, Nanos
from sync.p2panda.messages import SCHEMAS_MAX, Announce

VERSION: Final = 1

PREFIX: Final = "chat_"
"""Of the schema ids of channels; what is no chat takes another one."""

_CHANNEL: Final = re.compile(PREFIX + "([0-9a-f]{32})")


def schema_id(channel: ChannelId) -> str:
    """Return the schema id of a channel's log entries."""
    return PREFIX + channel


def channel_of(schema: str) -> ChannelId | None:
    """Return the channel that a schema id is of, None if it is of no channel."""
    found = _CHANNEL.fullmatch(schema)
    return ChannelId(found[1]) if found else None


def next_counter(last: int, now: Nanos) -> int:
    """Return the counter of our next announcement: above the last one, whatever the clock says.

    To be committed before it is sent.
    """
    return max(last + 1, now)


@dataclass(slots=True)
class Announcements:
    """The last announcements of a peer and to it; both are gone with the last link to it."""

    theirs: Announce | None = None
    ours: frozenset[str] = field(default_factory=frozenset)

    def receive(self, announce: Announce) -> bool:
        """Take an announcement of the peer; return False if it is not newer than what we have."""
        if self.theirs is not None and announce.timestamp <= self.theirs.timestamp:
            return False
        self.theirs = announce
        return True

    @property
    def requestable(self) -> frozenset[str]:
        """Schema ids that may be requested of the peer."""
        if self.theirs is None or self.theirs.version != VERSION:
            return frozenset()
        return frozenset(self.theirs.schemas)

    def may_request(self, schemas: Iterable[str]) -> bool:
        """Return True for a rising set, not empty, of what the peer announced last."""
        wanted = list(schemas)
        return (
            bool(wanted) and wanted == sorted(set(wanted)) and self.requestable.issuperset(wanted)
        )

    def answers(self, schemas: Iterable[str]) -> bool:
        """Return True if all that a peer requests is in what we announced to it last."""
        wanted = list(schemas)
        return bool(wanted) and self.ours.issuperset(wanted)

    def announce(self, channels: Iterable[ChannelId], counter: int) -> Announce | None:
        """Return the announcement of these channels, None if the peer knows it already.

        Without channels it takes back all that was announced. The counter comes from
        `next_counter`; the first `SCHEMAS_MAX` channels are told.
        """
        schemas = tuple(sorted({schema_id(channel) for channel in channels})[:SCHEMAS_MAX])
        if frozenset(schemas) == self.ours:
            return None
        self.ours = frozenset(schemas)
        return Announce(VERSION, counter, schemas)
