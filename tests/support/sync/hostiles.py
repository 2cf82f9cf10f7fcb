"""A member of a simulated group that says what nobody honest would, by way of its own links."""

import hashlib
from collections.abc import Iterable, Sequence

from sync.group import values
from sync.machine import MILLISECOND, MessageId
from sync.sds.message import HistoryEntry, Message
from sync.sds.wire import encode
from sync.sim.world import World
from tests.support.sync.entries import Author


def never_written(name: str) -> MessageId:
    """The id of a message that nobody wrote."""
    return MessageId(hashlib.sha256(f"never written {name}".encode()).hexdigest())


class Mallory:
    """Speaks over the links of node `number` of `world`, whose own program goes on beside it."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self._number = number
        self.peer_id = world.nodes[number].identity.peer_id

    def author(self, name: str) -> Author:
        """Somebody that Mallory invents: keys are free."""
        return Author(f"{name} of {self.peer_id[:8]}", self._world.channel)

    def send(self, payload: bytes, to: Iterable[int] | None = None) -> None:
        """Let a frame go out over the links to `to`, or to everybody."""
        others = range(len(self._world.nodes)) if to is None else to
        for number in others:
            if number != self._number:
                self._world.give(number, values.Arrived(self.peer_id, payload))

    def name_what_nobody_wrote(
        self, author: Author, lines: Sequence[str], ghosts: Sequence[str] = ("ghost",)
    ) -> None:
        """Send `lines` of `author`, each of which builds on all the `ghosts`, never sent."""
        for line in lines:
            lamport = self._world.now // MILLISECOND
            never_sent = [
                self.author("nobody").write(f"{line} {one}", lamport=lamport) for one in ghosts
            ]
            self.send(author.write(line, after=never_sent, lamport=lamport + 1).payload)

    def flood(self, author: Author, lines: int) -> None:
        """Send so many lines of `author` at once, each of which builds on the two before."""
        receivers = [one.number for one in self._world.nodes if one.number != self._number]
        for _ in range(lines):
            lamport = self._world.now // MILLISECOND + len(author.entries) % lines
            line = author.write("flood", after=author.entries[-2:], lamport=lamport)
            self._world.send(self._number, line.payload, receivers)

    def ask(self, entries: Sequence[HistoryEntry], to: Iterable[int] | None = None) -> None:
        """Send a sync message that asks for `entries`."""
        lamport = self._world.now // MILLISECOND
        one = MessageId(hashlib.sha256(f"{entries} {lamport}".encode()).hexdigest())
        message = Message(
            self.peer_id, one, self._world.channel, lamport, repair_request=tuple(entries)
        )
        self.send(encode(message), to)
