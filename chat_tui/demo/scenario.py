"""A scenario of the demo as a value: who is there, what happens when, and what must be true."""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct, field

from chat_tui.demo.acts import Act
from sync.group.values import SessionEnded
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.manager.registry import WAKU_ONLY
from sync.sim.network import Link
from sync.sim.world import Terms, World

LINK: Final = Link(delay=(20 * MILLISECOND, 60 * MILLISECOND))
"""40 ms ± 20: slow enough to see a frame on its way."""

JOINING: Final[Nanos] = 8 * SECOND
"""All have found each other by then, and have compared their empty histories."""

SEED: Final = 4
SEED_MAX: Final = 2**31 - 1


class At(NamedTuple):
    """An act, and when: since the scenario began."""

    after: Nanos
    act: Act


class Verdict(Struct, frozen=True):
    """Result of a check: a claim, whether it holds, and the counts or the reason why not."""

    claim: str
    holds: bool
    because: str


class Past(NamedTuple):
    """Record of a run for the checks, beside the world: who was shown what, in which order."""

    world: World
    names: tuple[str, ...]
    shown: list[list[str]]
    """Per node, the message ids it was shown, in the order of time."""
    history: frozenset[str]
    """Messages that were there when the scenario began."""
    sessions: list[tuple[int, SessionEnded]]
    """Reconciliations that ended since then, with the node that says so."""
    answers: list[tuple[str, Nanos]]
    """Answers to repair requests: for which message, and when."""
    trip: Nanos
    """The longest time that an answer is on its way, its commit included."""
    absent: frozenset[int]
    """Those who were not there when it began."""


Check: TypeAlias = Callable[[Past], Verdict]


class Scenario(Struct, frozen=True):
    """See the module docstring.

    Attributes:
        number: from 1 on.
        about: what to look at, in one or two sentences.
        names: the participants with a panel; the others, up to `people`, are only counted.
        acts: what its script does, rising.
        lasts: when it is over, if nobody waits for anything any more.
        history: lines written before it begins, by turns; who is `absent` is off meanwhile.
        rooms: sizes of rooms with one link to the next; empty where each reaches each.
        told: whether each line that is written and shown is told; in a crowd only repairs are.
    """

    number: int
    title: str
    about: str
    names: tuple[str, ...]
    acts: tuple[At, ...]
    lasts: Nanos
    checks: tuple[Check, ...]
    people: int = 0
    joined: bool = True
    """Whether all have found each other when it begins."""
    history: int = 0
    absent: frozenset[int] = frozenset()
    link: Link = LINK
    terms: Terms = field(default_factory=partial(Terms, protocols=WAKU_ONLY))
    told: bool = True
    rooms: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Number of participants."""
        return max(self.people, len(self.names))
