"""Our own log in a channel: which sequence number comes next, and what it links back to."""

from collections.abc import Sequence

from sync.entries.entry import lipmaa
from sync.machine import MessageId


class AuthorLog:
    """The ids of one log by sequence number, from 1 on."""

    def __init__(self, number: int, ids: Sequence[MessageId] = ()) -> None:
        self.number = number
        self._ids = bytearray().join(bytes.fromhex(message_id) for message_id in ids)

    @property
    def next_seq(self) -> int:
        """The sequence number of the next entry."""
        return len(self._ids) // 32 + 1

    def links(self) -> tuple[MessageId | None, MessageId | None]:
        """Return backlink and skiplink of the next entry (absent where PROTOCOL 2 says so)."""
        seq = self.next_seq
        if seq == 1:
            return None, None
        skip = lipmaa(seq)
        return self._id(seq - 1), None if skip in (0, seq - 1) else self._id(skip)

    def __contains__(self, message_id: object) -> bool:
        """Return whether an id is in this log: a linear search, used only for a damaged disk."""
        if not isinstance(message_id, str):
            return False
        wanted = bytes.fromhex(message_id)
        return any(wanted == self._ids[at : at + 32] for at in range(0, len(self._ids), 32))

    def append(self, message_id: MessageId) -> None:
        """Note the id of entry `next_seq`."""
        self._ids += bytes.fromhex(message_id)

    def _id(self, seq: int) -> MessageId:
        return MessageId(self._ids[(seq - 1) * 32 : seq * 32].hex())
