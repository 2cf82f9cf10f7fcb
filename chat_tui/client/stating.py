"""Things that we set in channels besides lines: topic and pins."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from chat_tui.wording import rights
from chat_tui.wording.sentences import find
from sync.errors import LocalError
from sync.group.state_values import Content, Pin, StateKind, Topic
from sync.machine import ChannelId, MessageId
from sync.view.governance_infos import Right
from sync.view.view import Snapshot

TOPIC_MAX: Final = 120
"""Characters of a topic, as `sync.calimero.state.contents` has it."""

Setting: TypeAlias = Callable[[ChannelId, StateKind, Content | None, bytes], Awaitable[None]]
"""Sets a register of ours (`sync.net.node.Node.set_state`)."""


class Stating:
    """See `chat_tui.client.chat.Stating`.

    Args:
        set_state: sets a register of ours.
        snapshot: tells who may.
    """

    def __init__(self, set_state: Setting, snapshot: Callable[[], Snapshot]) -> None:
        self._set = set_state
        self._snapshot = snapshot

    async def set_topic(self, channel: ChannelId, text: str) -> None:
        """See `chat_tui.client.chat.Stating`."""
        self._check(channel, Right.TOPIC)
        topic = " ".join(text.split())
        if len(topic) > TOPIC_MAX:
            raise LocalError(f"The topic has {len(topic):,} characters; {TOPIC_MAX} is the most.")
        if not topic.isprintable():
            raise LocalError("A topic has printable characters alone, in one line.")
        await self._set(channel, StateKind.TOPIC, Topic(topic) if topic else None, b"")

    async def pin(self, channel: ChannelId, message_id: MessageId, *, on: bool = True) -> None:
        """See `chat_tui.client.chat.Stating`."""
        self._check(channel, Right.PIN)
        name = bytes.fromhex(message_id)
        await self._set(channel, StateKind.PIN, Pin() if on else None, name)

    def _check(self, channel: ChannelId, right: Right) -> None:
        snapshot = self._snapshot()
        info = find(snapshot, channel)
        if info is not None:
            rights.check_setting(snapshot, info, right)
