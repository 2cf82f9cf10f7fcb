"""The toy as one of the protocols of `sync.sessions`."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, Nanos
from sync.sessions.cards import Round
from sync.sessions.protocol import (
    ROUND_TRIP,
    Effect,
    Finished,
    Fit,
    Opening,
    Pushed,
    Send,
    Situation,
)
from sync.sessions.values import LoadedEntry, Outcome, Plane, Stored
from sync.structures.differences import Role

SAYS: Final = b"I hold "
ANSWERS: Final = b"and I "

WITHIN: Final[Nanos] = 5 * SECOND
"""Silence after which a session ends."""


class Toy(Struct, frozen=True):
    """The toy, as it is registered."""

    name: str = "toy"
    plane: Plane = Plane.LOG
    stream: str = "/toy/1"
    transfer: str = ""
    payloads_max: int = 1
    usual: bool = False
    stays: bool = False
    family: str = ""
    chooses: bool = False
    entries_in: None = None
    contradicted: str = ""

    def suits(self, situation: Situation) -> Fit | None:
        """It is cheap, and of use to whoever only wants to know whether both are equal."""
        if situation.span is not None or situation.failures:
            return None  # whoever is known to differ needs another one
        return Fit(100 + ROUND_TRIP, "two messages say whether both are equal")

    def exchange(self, opening: Opening) -> "ToyExchange":
        return ToyExchange(opening)

    def encode_pushed(self, channel: ChannelId, payload: bytes, created_ns: Nanos) -> bytes:
        raise AssertionError("it pushes nothing")

    def decode_pushed(self, frame: bytes) -> Pushed:
        raise RemoteError(f"it pushes nothing, and not {len(frame)} bytes")


class ToyExchange:
    """One exchange: the beginner says what it holds, the answerer what it holds itself."""

    def __init__(self, opening: Opening) -> None:
        self._role = opening.role
        self._root = opening.held.digest.root
        self._ends_at = opening.at + WITHIN
        self._cards: list[Round] = []

    @property
    def cards(self) -> Sequence[Round]:
        return self._cards

    def open(self, now: Nanos) -> list[Effect]:
        del now
        return [self._send(SAYS)]

    def payload(self, payload: bytes, now: Nanos) -> list[Effect]:
        del now
        before = SAYS if self._role is Role.RESPONDER else ANSWERS
        if not payload.startswith(before):
            raise RemoteError("the toy says something else")
        equal = payload[len(before) :] == self._root
        words = "the same is here" if equal else "something else is here"
        self._cards.append(Round(sent=False, size=len(payload), words=words))
        answer: list[Effect] = [self._send(ANSWERS)] if self._role is Role.RESPONDER else []
        outcome = Outcome.CONVERGED if equal else Outcome.NOT_CONVERGED
        ended = Finished("equal" if equal else "different", rounds=1, outcome=outcome)
        return [*answer, ended]

    def go_on(self, now: Nanos) -> list[Effect]:
        raise AssertionError("it never says that there is more to do")

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> list[Effect]:
        """See `sync.sessions.protocol.Exchange`."""
        raise AssertionError("it loads nothing")

    def stored(self, one: Stored, now: Nanos, *, known: bool) -> list[Effect]:
        """Pass on nothing."""
        del one, now, known
        return []

    def leave(self, now: Nanos) -> list[Effect]:
        """Do nothing: it is never live."""
        del now
        return []

    def tick(self, now: Nanos) -> list[Effect]:
        return [Finished("timed out", rounds=0)] if now >= self._ends_at else []

    def deadline(self) -> Nanos | None:
        return self._ends_at

    def _send(self, before: bytes) -> Send:
        payload = before + self._root
        self._cards.append(Round(sent=True, size=len(payload), words="what is here"))
        return Send(payload)


TOY: Final = Toy()


class AnnouncedToy(Toy, frozen=True):
    """A toy of a family whose author logs are announced."""

    name: str = "announced toy"
    stream: str = "/toy/announced/1"
    family: str = "toys"

    def suits(self, situation: Situation) -> Fit | None:
        """It is of use only where the peer has announced the channel."""
        if not situation.offered or situation.failures:
            return None
        return Fit(100, "its author logs are offered")


class StayingToy(Toy, frozen=True):
    """A toy whose streams stay once both ends are equal, until one of them says goodbye."""

    name: str = "staying toy"
    stays: bool = True
    stream: str = "/toy/staying/1"

    def exchange(self, opening: Opening) -> "StayingExchange":
        return StayingExchange(opening)


class StayingExchange(ToyExchange):
    """One exchange that goes live."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self.heard: list[bytes] = []
        self._live = False

    def payload(self, payload: bytes, now: Nanos) -> list[Effect]:
        if not self._live:
            self._live = True
            effects = super().payload(payload, now)
            return [
                replace(one, live=True) if isinstance(one, Finished) else one for one in effects
            ]
        if payload == GOODBYE:
            return [Finished("said goodbye", rounds=1, outcome=Outcome.CONVERGED)]
        self.heard.append(payload)
        return []

    def deadline(self) -> Nanos | None:
        return None if self._live else super().deadline()


GOODBYE: Final = b"goodbye"
STAYING: Final = StayingToy()
ANNOUNCED: Final = AnnouncedToy()
