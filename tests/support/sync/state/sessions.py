"""Whole sessions over state between two real `Stating`, on a stream that a test can look at."""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from sync.calimero.governance.ops import Key
from sync.calimero.state.entry import StateEntry
from sync.calimero.state.session import HASH, LEVEL, STATE, Exchange, StateSync
from sync.group.stating import Stating
from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.sessions.protocol import BringsState, Effect, Finished, GoOn, Opening, Send
from sync.structures.differences import Role
from sync.structures.ordered_set import EVERYTHING, OrderedSet
from sync.structures.set_digest import Digest, Held
from tests.support.sync.states import GROUP, person

NOW: Nanos = 1_000_000 * SECOND
SPOKEN: dict[str, StateSync] = {"state": STATE, "hash": HASH, "level": LEVEL}


def key(number: int) -> Key:
    return Key(person(number).public_key)


def stating(
    number: int, entries: Sequence[StateEntry] = (), known: Collection[Key] | None = None
) -> Stating:
    """The state of somebody's channel; of an open one they know these authors."""
    knows = None if known is None else known.__contains__
    made = Stating(GROUP, key(number), person(number).sign, knows=knows)
    made.receive([one.content for one in entries], NOW)
    return made


@dataclass
class StateEnd:
    """One end: its state, its exchange, and how it ended."""

    stating: Stating
    role: Role
    floor: Nanos = 0
    protocol: StateSync = STATE
    exchange: Exchange = field(init=False)
    finished: Finished | None = None

    def __post_init__(self) -> None:
        held = Held(OrderedSet(), Digest())
        opening = Opening(
            self.role, ChannelId(GROUP.hex()), PeerId("ab" * 32), OrderedSet(), held,
            EVERYTHING, NOW, lambda: 1_000, state=self.stating, floor=self.floor,
        )  # fmt: skip
        self.exchange = self.protocol.exchange(opening)


class StateSession:
    """A session of two; `between` is called with an end before each of its turns."""

    def __init__(
        self,
        left: Stating,
        right: Stating,
        protocol: str = "state",
        floors: tuple[Nanos, Nanos] = (0, 0),
        between: Callable[[Stating], None] | None = None,
    ) -> None:
        self.left = StateEnd(left, Role.INITIATOR, floors[0], SPOKEN[protocol])
        self.right = StateEnd(right, Role.RESPONDER, floors[1])
        self.sent: list[bytes] = []
        self._between = between

    def run(self) -> str:
        """Run it to the end; returns how it ended, which is the same at both."""
        waiting: deque[tuple[StateEnd, StateEnd, Effect]] = deque()

        def put(here: StateEnd, there: StateEnd, effects: Sequence[Effect]) -> None:
            waiting.extend((here, there, effect) for effect in effects)

        put(self.left, self.right, self.left.exchange.open(NOW))
        while waiting:
            here, there, effect = waiting.popleft()
            match effect:
                case Send(payload):
                    self.sent.append(payload)
                    put(there, here, there.exchange.payload(payload, NOW))
                case BringsState(contents):
                    assert here.stating.on_brought(contents, NOW).refused == ()
                case GoOn():
                    if self._between is not None:
                        self._between(here.stating)
                    put(here, there, here.exchange.go_on(NOW))
                case Finished():
                    here.finished = effect
                case _:
                    pass
        assert self.left.finished is not None
        assert self.right.finished is not None
        assert self.left.finished.outcome == self.right.finished.outcome
        return self.left.finished.result

    @property
    def bodies(self) -> int:
        """Number of payloads with entries."""
        return sum(payload[:1] == b"\x11" for payload in self.sent)
