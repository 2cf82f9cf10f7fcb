"""Two members that share a past with holes, and what delta sync says between them."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sync.calimero.log.delta_messages import DeltaEntries, Message, decode
from sync.group import values
from sync.group.values import StoredMessage
from sync.machine import SECOND, Nanos
from sync.manager.registry import WITH_CALIMERO
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.pairs import Pair

HEARD_EVERY = 20
"""Lines after which the clocks of those who hear them are let run."""


def conversation(
    count: int, seed: int = 1, writers: int = 6, parents: int = 2
) -> list[StoredMessage]:
    """Return lines, each of which names those before it."""
    rng = random.Random(seed)
    people = [Author(f"writer {number}") for number in range(writers)]
    lines: list[StoredMessage] = []
    for number in range(count):
        after = lines[max(0, number - parents) :]
        lines.append(rng.choice(people).write(f"{number}", after=after, lamport=NOW_MS + number))
    return lines


def member(name: str) -> Member:
    """Return a member that speaks all there is."""
    return Member(name, protocols=WITH_CALIMERO)


@dataclass
class DeltaPair(Pair):
    """A pair whose clock goes on while they hear lines."""

    now: Nanos = NOW
    spoken: list[tuple[str, Message]] = field(default_factory=list)
    """Messages of delta sync so far, each with who said it."""
    _begun: set[tuple[str, int]] = field(default_factory=set)
    """Streams on which the handshake has come."""

    def hear(self, one: Member, lines: Sequence[StoredMessage], but: Collection[int] = ()) -> None:
        """Let somebody hear lines, but those at some places, a second each."""
        for number, line in enumerate(lines):
            if number not in but:
                one.hear(line, NOW + number * SECOND)
            if number % HEARD_EVERY == 0:
                one.advance(NOW + number * SECOND)
        self.now = max(self.now, NOW + len(lines) * SECOND)

    def meet(self, opener: Member | None = None) -> None:
        """Let one of them begin a session, and run it to its end."""
        begins = opener or self.one
        self.ended.clear()
        self.carried.clear()
        self.spoken.clear()
        peer = self.beside(begins)
        start = values.StartSession(self.number(), peer.peer_id, "test", None, "delta")
        self.queue.append((begins, start))
        self.run(self.now)

    def step(self, now: Nanos = NOW) -> None:
        """Let one thing arrive; messages of delta sync are noted."""
        hears, event = self.queue[0]
        if isinstance(event, values.SessionPayload) and self._is_of_exchange(hears, event):
            if (hears.name, event.session) in self._begun:
                self.spoken.append((self.beside(hears).name, decode(event.payload)))
            self._begun.add((hears.name, event.session))
        super().step(now)

    @staticmethod
    def _is_of_exchange(hears: Member, event: values.SessionPayload) -> bool:
        session = hears.group.sessions.numbered(event.session)
        return session is not None and session.check_stream != event.session

    def said(self, kind: type[Message], by: Member | None = None) -> list[Message]:
        """Return the messages of a kind, of one of them or both."""
        return [
            one
            for name, one in self.spoken
            if isinstance(one, kind) and (by is None or name == by.name)
        ]

    @property
    def entries(self) -> int:
        """Number of entries that went either way."""
        return sum(len(one.contents) for _, one in self.spoken if isinstance(one, DeltaEntries))

    @property
    def pushed(self) -> int:
        """Number of messages that the check had pushed."""
        return sum(len(one.ids) for one in self.carried if isinstance(one, values.Push))

    @property
    def converged(self) -> bool:
        """True if both ended with the proof that they hold the same."""
        return [one.converged for one in self.ended] == [True, True]


def pair() -> DeltaPair:
    """Return two members, the one with the smaller key first."""
    one, other = sorted((member("alice"), member("bob")), key=lambda made: made.peer_id)
    return DeltaPair(one, other)
