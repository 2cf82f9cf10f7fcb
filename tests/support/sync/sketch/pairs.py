"""Two members of a channel that keep symbols of what they hold, and sessions by these."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pytest

from sync.group import values
from sync.group.values import StoredMessage
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.manager.payload_kinds import read
from sync.sessions import selection
from sync.sketch import prefix
from sync.sketch.messages import Message
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.pairs import Pair

FEW = 4
"""Messages above which members of tests keep symbols."""


def from_few(monkeypatch: pytest.MonkeyPatch, few: int = FEW) -> None:
    """Have symbols kept of more than a few messages, which takes no time to make."""
    monkeypatch.setattr(prefix, "SKETCH_IDS_MIN", few)
    monkeypatch.setattr(selection, "SKETCH_IDS_MIN", few)


def lines(count: int, name: str = "writer", step: Nanos = MILLISECOND) -> list[StoredMessage]:
    """Return lines of one author, so much after each other."""
    author = Author(name)
    return [
        author.write(f"{name} {at}", created_ns=NOW + at * step, lamport=NOW_MS + at)
        for at in range(count)
    ]


@dataclass
class SketchPair(Pair):
    """A pair of which both keep symbols."""

    said: list[tuple[str, Message]] = field(default_factory=list)
    """Messages of the exchange so far, each with who said it."""

    def hold(self, one: Member, told: Sequence[StoredMessage], but: Collection[int] = ()) -> None:
        """Let somebody hear lines, but those at some places, and its symbols become ready."""
        for at, line in enumerate(told):
            if at not in but:
                one.hear(line)
        one.advance(NOW + SECOND)

    def meet(self, opener: Member | None = None, now: Nanos = NOW + SECOND) -> None:
        """Let one of them begin a session by sketch, and run it to its end."""
        begins = opener or self.one
        self.ended.clear()
        self.said.clear()
        self.carried.clear()
        peer = self.beside(begins)
        start = values.StartSession(self.number(), peer.peer_id, "test", None, "sketch")
        self.queue.append((begins, start))
        self.run(now)

    def step(self, now: Nanos = NOW) -> None:
        """Let one thing arrive; messages of the exchange are noted."""
        hears, event = self.queue[0]
        if isinstance(event, values.SessionPayload):
            session = hears.group.sessions.numbered(event.session)
            if session is not None and session.check_stream != event.session:
                message = read(event.payload)
                if isinstance(message, Message):
                    self.said.append((self.beside(hears).name, message))
        super().step(now)

    def kinds(self) -> list[type[Message]]:
        """Return the kinds of the messages of the exchange, in order."""
        return [type(one) for _, one in self.said]

    @property
    def converged(self) -> bool:
        """True if both ended with the proof that they hold the same."""
        return [one.converged for one in self.ended] == [True, True]

    @property
    def same(self) -> bool:
        """True if both hold the same bytes."""
        one, other = (
            {at: row.message.payload for at, row in member.disk.rows.items()}
            for member in (self.one, self.other)
        )
        return one == other


def sketch_pair() -> SketchPair:
    """Return two members, the one with the smaller key first."""
    one, other = sorted((Member("alice"), Member("bob")), key=lambda made: made.peer_id)
    return SketchPair(one, other)
