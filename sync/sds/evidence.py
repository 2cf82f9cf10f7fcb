"""Holders of the newest messages, with the evidence for each, to be shown.

Statements are kept as they came, in order, and put together when somebody looks.
"""

from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import Final

from sync.machine import MessageId, PeerId
from sync.sds.message import HistoryEntry

TOLD_MAX: Final = 256
"""Messages and sync messages remembered with what they name: 1.5 MB where each names 16."""

HINTS_MAX: Final = 256
"""Messages of which weaker evidence is remembered."""

HOLDERS_MAX: Final = 64
"""Participants of whom it is remembered for one message."""


class Evidence(Enum):
    """Kind of evidence that somebody has a message, strongest first."""

    WROTE = "wrote"
    NAMED = "named"
    SENT = "sent"
    PROVED = "proved"
    """A reconciliation with it ended with the proof that it holds what we held, or a mark it signed
    says that it has the message, or has read it."""
    FILTER = "filter"
    """Its filter may hold the message: maybe."""


class Holders:
    """Holders of each of the newest messages."""

    def __init__(self) -> None:
        self._told: deque[tuple[PeerId, MessageId | None, tuple[HistoryEntry, ...]]] = deque(
            maxlen=TOLD_MAX
        )
        self._last_sync: dict[PeerId, tuple[HistoryEntry, ...]] = {}
        self._hints: dict[MessageId, dict[PeerId, Evidence]] = {}

    def told(
        self, by: PeerId, message_id: MessageId | None, history: tuple[HistoryEntry, ...]
    ) -> None:
        """`by` wrote a message, or a sync message (None), that names `history`.

        Sync messages that say the same for hours push nothing else out.
        """
        if message_id is None:
            if self._last_sync.get(by) == history:
                return
            self._last_sync[by] = history
            if len(self._last_sync) > TOLD_MAX:
                del self._last_sync[next(iter(self._last_sync))]
        self._told.append((by, message_id, history))

    def add_evidence(self, message_id: MessageId, peer: PeerId, evidence: Evidence) -> None:
        """`peer` may have a message: it sent it, or its filter seems to hold it."""
        hints = self._hints.get(message_id)
        if hints is None:
            hints = self._hints[message_id] = {}
            if len(self._hints) > HINTS_MAX:
                del self._hints[next(iter(self._hints))]
        if hints.get(peer, Evidence.FILTER) is Evidence.FILTER and len(hints) < HOLDERS_MAX:
            hints[peer] = evidence

    def newest(self, count: int) -> list[tuple[MessageId, Mapping[PeerId, Evidence]]]:
        """Return the last `count` messages with who has them, newest first."""
        holders: dict[MessageId, dict[PeerId, Evidence]] = {}
        for by, message_id, _ in reversed(self._told):
            if len(holders) == count:
                break
            if message_id is not None:
                holders.setdefault(message_id, {by: Evidence.WROTE})
        for by, _, history in self._told:
            for entry in history:
                if (named := holders.get(entry.message_id)) is not None:
                    named.setdefault(by, Evidence.NAMED)
        for message_id, known in holders.items():
            for peer, evidence in self._hints.get(message_id, {}).items():
                known.setdefault(peer, evidence)
        return list(holders.items())

    def of(
        self, message_id: MessageId
    ) -> tuple[dict[PeerId, Evidence], list[tuple[PeerId, MessageId | None]]]:
        """Return who has a message, and who named it in which message (None: a sync message)."""
        known: dict[PeerId, Evidence] = {}
        named: list[tuple[PeerId, MessageId | None]] = []
        for by, told, history in self._told:
            if told == message_id:
                known[by] = Evidence.WROTE
            elif any(entry.message_id == message_id for entry in history):
                known.setdefault(by, Evidence.NAMED)
                named.append((by, told))
        for peer, evidence in self._hints.get(message_id, {}).items():
            known.setdefault(peer, evidence)
        return known, named
