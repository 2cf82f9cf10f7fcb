"""Writes what a person writes, and writes again what could not count as it was."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct

from sync.entries import changes
from sync.entries.changes import Change
from sync.entries.entry import Kind
from sync.errors import LocalError
from sync.group import values
from sync.machine import ChannelId, MessageId
from sync.net.engine.engine import Engine
from sync.net.engine.own_inputs import Outcome
from sync.runner.journal import Journal
from sync.runner.runner import Runner
from sync.sds.channel import NOT_WAITING
from sync.sds.message import HistoryEntry
from sync.view.view import Event, ReplacedShown


class Writing(Struct, frozen=True):
    """Gives messages of ours to the engine; `spawn` runs work under the node's care."""

    runner: Runner
    journal: Journal
    engine: Engine
    listener: Callable[[Event], None]
    spawn: Callable[[str, Coroutine[Any, Any, None]], object]

    async def submit(
        self, channel: ChannelId, kind: int, body: bytes, about: MessageId | None = None
    ) -> MessageId:
        """Write a message, about another one if it says so; returns once it is committed.

        Raises:
            LocalError: the disk refused it, too much waits already, or the other one is not here
                or waits for its place.
        """
        names = () if about is None else (await self._named(channel, about),)
        return await self.engine.submit(channel, kind, body, names)

    async def submit_all(
        self, channel: ChannelId, kind: int, bodies: Sequence[bytes]
    ) -> Sequence[Outcome]:
        """Write messages about no other ones; returns what became of each, in order."""
        return await self.engine.submit_all(channel, kind, bodies)

    async def change(self, channel: ChannelId, change: Change) -> MessageId:
        """Edit, hide or react to a message that is here; returns once that is committed.

        Raises:
            LocalError: as `submit`, or the message waits for its place, or a limit.
        """
        body = changes.encode(change)
        return await self.submit(channel, changes.kind_of(change), body, change.target)

    def send_again(self, channel: ChannelId, message_id: MessageId) -> None:
        """Send an own, unacknowledged message again.

        Raises:
            LocalError: it does not wait for anything.
        """
        group = self.runner.groups[channel]
        if message_id not in group.sds.outgoing.pending:
            raise LocalError(NOT_WAITING)
        self.engine.queue_input(channel, values.SendAgain(message_id))

    def is_set_aside(self, channel: ChannelId, message_id: MessageId) -> bool:
        """Return whether a message is our own and set aside until its time, which is far ahead."""
        return message_id in self.runner.groups[channel].aside.own()

    async def write_anew(self, channel: ChannelId, message_id: MessageId) -> MessageId:
        """Write again, as a message of now, what was stamped with a wrong clock.

        Raises:
            LocalError: as `submit`.
        """
        loaded = await self.journal.load(channel, [message_id])
        written: list[MessageId] = []
        for one in changes.anew(loaded[message_id].entry):
            about: tuple[HistoryEntry, ...] = ()
            if one.about is not None and self._can_name(channel, one.kind, one.about):
                about = (await self._named(channel, one.about),)
            entry = (one.kind, one.body, about, one.replaces)
            written.append(await self.engine.submit(channel, *entry))
        self.listener(ReplacedShown(channel, message_id, written[0]))
        return written[0]

    def write_again(self, channel: ChannelId, message_ids: Sequence[MessageId]) -> None:
        """Write anew, in this order, what of ours waited with the times of a wrong clock."""

        async def write() -> None:
            for message_id in message_ids:
                await self.write_anew(channel, message_id)

        self.spawn("lines that waited", write())

    async def _named(self, channel: ChannelId, about: MessageId) -> HistoryEntry:
        """Return how another message names one that is here.

        Raises:
            LocalError: it is not here.
        """
        loaded = await self.journal.load(channel, [about])
        if about not in loaded:
            raise LocalError(changes.NOT_HERE)
        return loaded[about].named

    def _can_name(self, channel: ChannelId, kind: int, about: MessageId) -> bool:
        """Return whether a message written anew is about another one still.

        A reply whose target is set aside, or was written anew itself, becomes a text like others.
        """
        return kind != Kind.TEXT or about in self.runner.groups[channel].sds.log.order
