"""Looks of single messages that the reader chose: unfolded, or without markup."""

from typing import Final

from chat_tui.transcript.text_layout import AS_USUAL, Look
from sync.machine import MessageId

KEPT: Final = 1_000
"""Messages remembered, the last ones; the others look as usual again."""


class Opened:
    """See the module docstring."""

    def __init__(self) -> None:
        self._looks: dict[MessageId, Look] = {}

    def __getitem__(self, message_id: MessageId) -> Look:
        return self._looks.get(message_id, AS_USUAL)

    def __setitem__(self, message_id: MessageId, look: Look) -> None:
        self._looks.pop(message_id, None)
        if look == AS_USUAL:
            return
        self._looks[message_id] = look
        if len(self._looks) > KEPT:
            del self._looks[next(iter(self._looks))]
