"""A member of a simulated group that says what nobody honest would, by way of its own links."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from sync.entries.entry import encode_content, open_content
from sync.entries.identity import Identity
from sync.group import values
from sync.group.ingest import message_of
from sync.machine import MILLISECOND, MessageId
from sync.sds.message import HistoryEntry, Message
from sync.sds.wire import encode, encode_canonical
from sync.sim.world import World
from tests.support.sync.entries import Author

ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""Of the base point of Ed25519."""


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


def signed_again(name: str, stored: values.StoredMessage) -> bytes:
    """Return the payload of a message of `Author(name)`, signed in another way.

    Ed25519 lets an author choose the first half of a signature.
    """
    entry = stored.entry
    seed = hashlib.sha256(f"signing {name}".encode()).digest()
    chosen = hashlib.sha256(entry.header_bytes).digest()
    first = Identity.from_seed(chosen, chosen).public_key
    public = bytes.fromhex(entry.header.author)
    hashed = int.from_bytes(hashlib.sha512(first + public + entry.header_bytes).digest(), "little")
    second = (_scalar(chosen) + hashed * _scalar(seed)) % ORDER
    signature = first + second.to_bytes(32, "little")
    content = encode_content(entry.header_bytes, signature, entry.body)
    return encode_canonical(message_of(open_content(content)))


def _scalar(seed: bytes) -> int:
    """Return the secret scalar of a seed (RFC 8032, section 5.1.5)."""
    bits = bytearray(hashlib.sha512(seed).digest()[:32])
    bits[0] &= 248
    bits[31] = bits[31] & 63 | 64
    return int.from_bytes(bits, "little")
