"""Log rows of the nodes of a channel, as columns of numbers."""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from storage.pipeline.synthetic.plan import BEGIN, Plan
from storage.pipeline.synthetic.traffic import Times, Traffic
from sync.machine import SECOND
from sync.runner.log_rows import LogKind

KINDS: Final = list(LogKind)
CODE: Final = {kind: code for code, kind in enumerate(KINDS)}

NONE: Final = -1
"""In place of a peer, a message, a session or a round."""

AGAIN_S: Final = (0.001, 0.5)
"""When another copy comes, after the first."""

ASK_S: Final = (1.0, 20.0)
"""When a missing dependency is asked for, after it is noticed."""

ANSWER_S: Final = 0.02
"""From an answer to its arrival."""

POSSIBLY: Final = 0.7
"""Of a node's messages: a filter has them before a causal history does."""

SESSION_EVERY_S: Final = 3600.0
ROUNDS: Final = 2


@dataclass(slots=True)
class Events:
    """Rows of a log, one position each; `message` counts the messages of all channels."""

    ts_ns: NDArray[np.int64]
    node: NDArray[np.int32]
    peer: NDArray[np.int32]
    kind: NDArray[np.int8]
    message: NDArray[np.int32]
    session: NDArray[np.int32]
    round: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.ts_ns)


def joined(parts: list[Events]) -> Events:
    """Return the rows of all parts, in their order."""
    columns: list[Any] = [
        np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Events)
    ]
    return Events(*columns)


class Noting:
    """Turns what happened in a channel into rows; `first` is the number of its first message."""

    def __init__(self, traffic: Traffic, first: int, dice: np.random.Generator) -> None:
        self.traffic = traffic
        self.first = first
        self.dice = dice
        self.members = traffic.plan.members
        self.parts: list[Events] = []

    def note(self, plan: Plan, ghosts: dict[int, int]) -> Events:
        """Return the rows, those of one moment in the order in which they happen.

        Args:
            plan: the shares that are drawn.
            ghosts: the number of the unknown dependency, by message.
        """
        traffic, dice = self.traffic, self.dice
        shape = traffic.received.shape
        at, author = np.arange(shape[0]), traffic.authors
        sent = traffic.received[at, author]
        others = np.isfinite(traffic.received)
        others[at, author] = False
        self._add(LogKind.SENT, at, author, sent)
        self._acknowledge(at, author, sent)
        self._matrix(LogKind.RECEIVED, others, traffic.received, self._senders(others))
        again = others & (dice.random(shape) < plan.duplicates)
        late = traffic.received + dice.uniform(*AGAIN_S, shape)
        self._matrix(LogKind.DUPLICATE, again, late, dice.integers(shape[1], size=again.sum()))
        self._repairs(others)
        self._matrix(LogKind.BUFFERED, others & (traffic.delivered > traffic.received))
        self._ghosts(ghosts)
        self._matrix(LogKind.DELIVERED, others, traffic.delivered)
        self._sessions(plan)
        return joined(self.parts)

    def _acknowledge(self, at: NDArray[np.int64], author: NDArray[np.int64], sent: Times) -> None:
        possibly = self.dice.random(len(at)) < POSSIBLY
        soon = sent + self.dice.uniform(1, 5, len(at))
        self._add(LogKind.POSSIBLY_ACKNOWLEDGED, at[possibly], author[possibly], soon[possibly])
        self._add(LogKind.ACKNOWLEDGED, at, author, soon + self.dice.uniform(1, 30, len(at)))

    def _senders(self, others: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return who a first copy comes from: the author, and somebody else if it was lost."""
        message, member = np.nonzero(others)
        anybody = self.dice.integers(others.shape[1], size=len(message))
        return np.where(self.traffic.lost[message, member], anybody, self.traffic.authors[message])

    def _repairs(self, others: NDArray[np.bool_]) -> None:
        """Note what was noticed to be missing, and what came of it."""
        traffic = self.traffic
        missing = traffic.noticed < traffic.received
        missing[np.arange(len(missing)), traffic.authors] = False
        self._matrix(LogKind.MISSING, missing, traffic.noticed)
        asked = traffic.noticed + self.dice.uniform(*ASK_S, missing.shape)
        asking = missing & (asked < np.minimum(traffic.received, traffic.given_up))
        self._matrix(LogKind.REPAIR_REQUESTED, asking, asked)
        message, member = np.nonzero(asking & others)
        answered = traffic.received[message, member] - ANSWER_S
        self._add(LogKind.REPAIR_ANSWERED, message, traffic.authors[message], answered)
        self._matrix(LogKind.REPAIRED, missing & others, traffic.received)
        self._matrix(
            LogKind.LOST, missing & (traffic.given_up < traffic.received), traffic.given_up
        )

    def _ghosts(self, ghosts: dict[int, int]) -> None:
        """Note the dependencies that nobody ever wrote."""
        for at, ghost in ghosts.items():
            receivers = np.flatnonzero(np.isfinite(self.traffic.received[at]))
            receivers = receivers[receivers != self.traffic.authors[at]]
            numbers = np.full(len(receivers), ghost - self.first)
            came = self.traffic.received[at, receivers]
            self._add(LogKind.MISSING, numbers, receivers, came)
            # what waits for others as well is delivered later than this one is given up
            given_up = self.traffic.delivered[at, receivers]
            self._add(LogKind.LOST, numbers, receivers, given_up)

    def _sessions(self, plan: Plan) -> None:
        """Note that each member compares what it holds with another one, once an hour."""
        members = len(self.members)
        for number in range(int(plan.hours * 3600 / SESSION_EVERY_S)):
            began = SESSION_EVERY_S * number + self.dice.uniform(0, SESSION_EVERY_S, members)
            joined_at = (self.traffic.plan.joined_ns - BEGIN) / SECOND
            node = np.flatnonzero(began > joined_at)
            peer = (node + self.dice.integers(1, members, len(node))) % members
            steps = [
                (LogKind.SESSION_STARTED, 0),
                *[(LogKind.SESSION_ROUND, step + 1) for step in range(ROUNDS)],
                (LogKind.SESSION_ENDED, ROUNDS),
            ]
            for step, (kind, round_) in enumerate(steps):
                rows = self._rows(kind, node, peer, began[node] + step * ANSWER_S)
                rows.session[:] = number + 1
                rows.round[:] = round_
                self.parts.append(rows)

    def _matrix(
        self,
        kind: LogKind,
        where: NDArray[np.bool_],
        times: Times | None = None,
        peers: NDArray[np.int64] | None = None,
    ) -> None:
        """Note one row wherever `where` is true; by default, when it is received."""
        message, member = np.nonzero(where)
        when = (self.traffic.received if times is None else times)[message, member]
        self._add(kind, message, member, when, peers)

    def _add(
        self,
        kind: LogKind,
        message: NDArray[np.int64],
        member: NDArray[np.int64],
        when: Times,
        peers: NDArray[np.int64] | None = None,
    ) -> None:
        rows = self._rows(kind, member, peers, when)
        rows.message[:] = message + self.first
        self.parts.append(rows)

    def _rows(
        self,
        kind: LogKind,
        member: NDArray[np.int64],
        peers: NDArray[np.int64] | None,
        when: Times,
    ) -> Events:
        count = len(member)
        if peers is not None:
            peers = np.where(peers == member, (peers + 1) % len(self.members), peers)
        return Events(
            ts_ns=BEGIN + np.rint(when * SECOND).astype(np.int64),
            node=self.members[member].astype(np.int32),
            peer=np.full(count, NONE, np.int32)
            if peers is None
            else self.members[peers].astype(np.int32),
            kind=np.full(count, CODE[kind], np.int8),
            message=np.full(count, NONE, np.int32),
            session=np.full(count, NONE, np.int32),
            round=np.full(count, NONE, np.int8),
        )
