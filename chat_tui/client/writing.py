"""Writing in the live chat: lines, changes and reactions, where the person may; and sending again.

Each act returns once it is committed on this disk, before anybody else has it.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chat_tui.client.memberships import Memberships
from chat_tui.client.message_changes import edit_of, redaction_of, refuse_answering, toggled
from chat_tui.client.people import People
from chat_tui.wording import rights
from chat_tui.wording.sentences import find
from sync.entries.entry import Kind, Text, encode_text
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.view.governance_infos import Right
from sync.view.view import History, Snapshot

if TYPE_CHECKING:
    from sync.net.engine.own_inputs import Outcome
    from sync.net.node import Node


class Writing:
    """See the module docstring.

    Args:
        memberships: our channels.
        people: know to whom nothing must be sent.
        history: has the messages that are answered and changed.
        node: makes the network's side, if it was not needed before.
        snapshot: tells what we may do in a governed channel.
    """

    def __init__(
        self,
        memberships: Memberships,
        people: People,
        history: History,
        node: "Callable[[], Node]",
        snapshot: Callable[[], Snapshot],
    ) -> None:
        self._memberships = memberships
        self._people = people
        self._history = history
        self._node = node
        self._snapshot = snapshot
        self._reacting = asyncio.Lock()

    async def send_text(
        self, channel: ChannelId, text: str, reply_to: MessageId | None = None
    ) -> MessageId:
        """See `chat_tui.client.chat.Chat`."""
        self._refuse_lines(channel)
        if reply_to is not None:
            await refuse_answering(self._history, channel, reply_to)
        node = self._node()
        body = encode_text(Text(node.nick, text, reply_to=reply_to or ""))
        return await node.writing.submit(channel, Kind.TEXT, body, reply_to)

    async def send_texts(self, channel: ChannelId, texts: Sequence[str]) -> list["Outcome"]:
        """See `chat_tui.client.live.Client`."""
        try:
            self._refuse_lines(channel)
        except LocalError as error:
            return [error for _ in texts]
        node = self._node()
        bodies: list[bytes] = []
        refused: dict[int, LocalError] = {}
        for at, text in enumerate(texts):
            try:
                bodies.append(encode_text(Text(node.nick, text)))
            except LocalError as error:
                refused[at] = error
        written = iter(await node.writing.submit_all(channel, Kind.TEXT, bodies))
        return [refused[at] if at in refused else next(written) for at in range(len(texts))]

    async def edit(self, channel: ChannelId, message_id: MessageId, text: str) -> None:
        """See `chat_tui.client.chat.Chat`."""
        self._refuse(channel, Right.WRITE)
        change = await edit_of(self._history, channel, message_id, text)
        await self._node().writing.change(channel, change)

    async def react(self, channel: ChannelId, message_id: MessageId, emoji: str) -> bool:
        """See `chat_tui.client.chat.Chat`."""
        self._refuse(channel, Right.REACT)
        async with self._reacting:  # each names all of ours: the next has to know of this one
            reactions = await toggled(self._history, channel, message_id, emoji)
            await self._node().writing.change(channel, reactions)
        return emoji in reactions.emojis

    async def redact(self, channel: ChannelId, message_id: MessageId) -> None:
        """See `chat_tui.client.chat.Chat`."""
        hides = self._may(channel, Right.HIDE)
        change = await redaction_of(self._history, channel, message_id, hides_others=hides)
        await self._node().writing.change(channel, change)

    async def resend(self, channel: ChannelId, message_id: MessageId) -> MessageId:
        """See `chat_tui.client.chat.Chat`."""
        writing = self._node().writing
        if writing.is_set_aside(channel, message_id):
            return await writing.write_anew(channel, message_id)
        writing.send_again(channel, message_id)
        return message_id

    def _refuse_lines(self, channel: ChannelId) -> None:
        self._people.refuse_writing(channel)
        self._refuse(channel, Right.WRITE)

    def _refuse(self, channel: ChannelId, right: Right) -> None:
        """Stop what the person may not do in a governed channel.

        Raises:
            LocalError: they may not; says why, and what to do.
        """
        if self._memberships.is_governed(channel):  # else a snapshot would be made for each line
            rights.refuse(self._snapshot(), channel, right)

    def _may(self, channel: ChannelId, right: Right) -> bool:
        """Return whether the person has a right that only a governed channel gives."""
        if not self._memberships.is_governed(channel):
            return False
        info = find(self._snapshot(), channel)
        return info is not None and info.governance is not None and info.governance.may(right)
