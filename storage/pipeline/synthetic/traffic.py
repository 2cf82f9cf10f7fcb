"""One channel: what its members write, signed, and who gets it, delivers it and lacks it when.

Times are float64 seconds after `BEGIN` in matrices of (message, member), infinite for never; float
seconds keep a tenth of a microsecond over a year.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from storage.pipeline.errors import PipelineError
from storage.pipeline.synthetic.plan import BEGIN, ChannelPlan, Plan, Role
from sync.entries.entry import Entry, Header, Kind, Parent, Text, encode_text, seal
from sync.entries.identity import Identity, verify
from sync.group.author_log import AuthorLog
from sync.group.ingest import Gate, history_of
from sync.group.values import StoredMessage
from sync.machine import MILLISECOND, SECOND, MessageId
from sync.sds.message import Message

LATENCY_S: Final = 0.03
"""Median; the spread is that of a busy radio network."""

REPAIR_S: Final = (30.0, 90.0)
"""When what was lost comes after all, after it was sent."""

GIVE_UP_S: Final = 120.0
"""Time for which a missing dependency is waited for."""

LATE: Final = 0.01
"""Of what is lost: comes after it was given up, which is nobody's fault."""

LATE_S: Final = 900.0
LOOK_BACK: Final = 64
"""Messages back among which an author finds what it builds on."""

PARENTS: Final = 2

Times = NDArray[np.float64]


@dataclass(slots=True)
class Traffic:
    """Traffic of a channel; matrices of (message, member), see the module docstring."""

    plan: ChannelPlan
    messages: list[StoredMessage]
    authors: NDArray[np.int64]
    """Position of the author among the members, by message."""
    parents: list[tuple[int, ...]]
    """Positions of the parents, by message."""
    lost: NDArray[np.bool_]
    received: Times
    delivered: Times
    noticed: Times
    """When a child came."""
    given_up: Times
    ghosts: dict[int, bytes] = field(default_factory=dict)
    """By message: the id of a dependency that nobody ever wrote."""
    forks: list[tuple[int, int]] = field(default_factory=list)
    """Two messages with one place in their author's log."""
    backward: list[tuple[int, int]] = field(default_factory=list)
    """A message, and a parent whose Lamport time is not below its own."""

    @classmethod
    def of(cls, plan: Plan, channel: ChannelPlan, dice: np.random.Generator) -> "Traffic":
        """Return a channel in which nothing is written yet: when things would come is drawn."""
        shape = len(channel.created_ns), plan.members
        sent = (channel.created_ns - BEGIN) / SECOND
        lost = dice.random(shape) < plan.loss
        delay = dice.lognormal(np.log(LATENCY_S), 0.6, shape)
        again = dice.uniform(*REPAIR_S, shape)
        again[dice.random(shape) < LATE] = LATE_S
        again[dice.random(shape) < plan.never] = np.inf
        received = sent[:, None] + np.where(lost, again, delay)
        there = channel.created_ns[:, None] >= channel.joined_ns[None, :]
        received[~there] = np.inf
        return cls(
            channel,
            [],
            _authors(there, dice),
            [],
            lost,
            received,
            np.full(shape, np.inf),
            np.full(shape, np.inf),
            np.full(shape, np.inf),
        )


def _authors(there: NDArray[np.bool_], dice: np.random.Generator) -> NDArray[np.int64]:
    """Draw an author for each message out of those who are there."""
    authors: NDArray[np.int64] = (dice.random(there.shape) * there).argmax(axis=1)
    return authors


class Writing:
    """Has the members of a channel write, one message after the other, and delivers it to them."""

    def __init__(
        self, traffic: Traffic, members: list[Identity], dice: np.random.Generator
    ) -> None:
        self.traffic = traffic
        self.members = members
        self.dice = dice
        self.gate = Gate.of(traffic.plan.channel, verify)
        self.logs = [AuthorLog(int(dice.integers(2**64, dtype=np.uint64))) for _ in members]
        self.last: dict[int, int] = {}
        self.forked: set[int] = set()

    def write_rows(self) -> None:
        """Write all messages."""
        roles = self.traffic.plan.roles
        for at in range(len(roles)):
            self._write(at, Role(int(roles[at])))

    def _write(self, at: int, role: Role) -> None:
        traffic = self.traffic
        if role is Role.EQUIVOCATION:
            traffic.authors[at] = self._unforked(at)
        author = int(traffic.authors[at])
        sent = (int(traffic.plan.created_ns[at]) - BEGIN) / SECOND
        traffic.lost[at, author] = False
        traffic.received[at, author] = sent
        parents = self._known(at, author, sent)
        named = [self._parent(parent) for parent in parents]
        if role is Role.UNKNOWN_DEPENDENCY:
            traffic.ghosts[at] = ghost = self.dice.bytes(32)
            named.append(
                Parent(MessageId(ghost.hex()), self.members[author].peer_id, self.dice.bytes(32))
            )
        lamport = self._lamport(at, parents)
        if role is Role.CAUSAL_VIOLATION and parents:
            wronged = max(parents, key=lambda parent: self._header(parent).lamport)
            lamport = self._header(wronged).lamport - int(self.dice.integers(2))
            traffic.backward += [
                (at, parent) for parent in parents if self._header(parent).lamport >= lamport
            ]
        self._append(at, author, lamport, named, role)
        traffic.parents.append(tuple(parents))
        self._deliver(at, parents)
        traffic.delivered[at, author] = sent

    def _known(self, at: int, author: int, sent: float) -> list[int]:
        """Return the last messages that the author has delivered."""
        first = max(0, at - LOOK_BACK)
        known = np.flatnonzero(self.traffic.delivered[first:at, author] <= sent)
        return [first + int(position) for position in known[-PARENTS:]]

    def _unforked(self, at: int) -> int:
        """Return somebody whose last entry has its place in the log for itself."""
        there = self.traffic.plan.created_ns[at] >= self.traffic.plan.joined_ns
        unforked = [
            author
            for author in sorted(self.last)
            if there[author] and self.last[author] not in self.forked
        ]
        if not unforked:
            raise PipelineError("Too many equivocations for so few messages; name fewer.")
        return int(self.dice.choice(unforked))

    def _append(
        self, at: int, author: int, lamport: int, parents: list[Parent], role: Role
    ) -> None:
        log, who = self.logs[author], self.members[author]
        body = encode_text(Text(f"node {author}", f"message {at} of channel {self.gate.channel}"))
        seq, (backlink, skiplink) = log.next_seq, log.links()
        if role is Role.EQUIVOCATION:
            other = self.last[author]
            old = self._header(other)
            seq, backlink, skiplink = old.seq, old.backlink, old.skiplink
            self.traffic.forks.append((other, at))
            self.forked.add(other)
        header = Header(
            author=who.peer_id,
            channel_id=self.gate.channel,
            log=log.number,
            seq=seq,
            backlink=backlink,
            skiplink=skiplink,
            created_ns=int(self.traffic.plan.created_ns[at]),
            lamport=lamport,
            parents=tuple(parents),
            kind=Kind.TEXT,
            body_size=len(body),
            body_hash=hashlib.sha256(body).digest(),
        )
        entry = seal(header, body, who.sign)
        if role is not Role.EQUIVOCATION:
            log.append(entry.message_id)
            self.last[author] = at
        self.traffic.messages.append(self.gate.store(entry, _message(entry)))

    def _lamport(self, at: int, parents: list[int]) -> int:
        """Return the time by the clock in ms, but above all that is known (SDS)."""
        known = max((self._header(parent).lamport for parent in parents), default=0)
        return max(int(self.traffic.plan.created_ns[at]) // MILLISECOND, known + 1)

    def _deliver(self, at: int, parents: list[int]) -> None:
        """Work out when each member delivers a message: after its parents, or without them."""
        traffic = self.traffic
        received = traffic.received[at]
        ready = received.copy()
        if at in traffic.ghosts:
            ready += GIVE_UP_S
        for parent in parents:
            came = traffic.received[parent]
            np.minimum(traffic.noticed[parent], received, out=traffic.noticed[parent])
            given_up = np.where(came > received, received + GIVE_UP_S, np.inf)
            np.minimum(traffic.given_up[parent], given_up, out=traffic.given_up[parent])
            in_vain = traffic.given_up[parent] < came
            ready = np.maximum(
                ready, np.where(in_vain, traffic.given_up[parent], traffic.delivered[parent])
            )
        traffic.delivered[at] = np.where(np.isinf(received), np.inf, ready)

    def _header(self, at: int) -> Header:
        return self.traffic.messages[at].entry.header

    def _parent(self, at: int) -> Parent:
        message = self.traffic.messages[at]
        header = message.entry.header
        return Parent(message.entry.message_id, header.author, message.waku_hash)


def _message(entry: Entry) -> Message:
    return Message(
        sender_id=entry.header.author,
        message_id=entry.message_id,
        channel_id=entry.header.channel_id,
        lamport=entry.header.lamport,
        causal_history=history_of(entry),
        content=entry.content,
    )
