"""The traffic of a run: every frame that was on its way, and every wait, by the time they began."""

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from sync.machine import MessageId, Nanos
from sync.manager.payload_kinds import PayloadKind
from sync.sim.watch import Cause, Flight, Step
from sync.view.view import RepairInfo

FLIGHTS_KEPT: Final = 20_000
"""Frames of a run that are kept: ten times those of any scenario without a crowd."""

WAITS_KEPT: Final = 2_000
"""Waits of a run that are kept: one for each message that anybody lacked."""

LOOK_BACK: Final = 512
"""Frames among which the one is looked for that came where nobody heard it."""


@dataclass(slots=True)
class Wait:
    """Participant `who` waits from `began` for `until`, then asks for a message, or answers.

    `ended` is when it was over; None while it goes on. Less than `until` if somebody was faster.
    """

    who: int
    asks: bool
    message_id: MessageId
    began: Nanos
    until: Nanos
    ended: Nanos | None = None


class Traffic:
    """Grows while a run is played; `trip` is how long a frame takes that is lost as it sets out."""

    def __init__(self, trip: Nanos) -> None:
        self.flights: list[Flight] = []
        self.waits: list[Wait] = []
        self._trip = trip
        self._open: dict[tuple[int, bool, MessageId], Wait] = {}

    def note_flights(self, begun: list[Flight], lost: list[Flight], now: Nanos) -> None:
        """Note what set out, and what was lost: as it set out, or where nobody hears it."""
        self.flights += begun
        for flight in lost:
            if flight.sent_at:
                self.flights.append(replace(flight, at=flight.sent_at + self._trip))
            else:
                self._note_unheard(flight, now)
        del self.flights[:-FLIGHTS_KEPT]

    def _note_unheard(self, lost: Flight, now: Nanos) -> None:
        for place in range(len(self.flights) - 1, max(-1, len(self.flights) - LOOK_BACK), -1):
            one = self.flights[place]
            same = (one.sender, one.receiver) == (lost.sender, lost.receiver)
            if same and one.at == now and not one.lost:
                self.flights[place] = replace(one, lost=True)
                return

    def note_step(self, step: Step) -> None:
        """Note the waits that began or ended in a step of somebody's machines."""
        if step.after is None or step.after is step.before:
            return
        now_on = _times(step.node, step.after)
        for key, until in now_on.items():
            wait = self._open.get(key)
            if wait is not None and wait.until == until:
                continue
            if wait is not None:
                wait.ended = step.at
            if until > step.at:
                self._open[key] = wait = Wait(*key, began=step.at, until=until)
                self.waits.append(wait)
        for key in [one for one in self._open if one[0] == step.node and one not in now_on]:
            self._open.pop(key).ended = step.at
        del self.waits[:-WAITS_KEPT]


def ends_of(wait: Wait) -> Nanos:
    """Return when a wait is over, as far as is known."""
    return wait.until if wait.ended is None else min(wait.until, wait.ended)


def _times(who: int, info: RepairInfo) -> dict[tuple[int, bool, MessageId], Nanos]:
    times = {(who, True, one.message_id): one.t_req for one in info.requests}
    times |= {(who, False, one.message_id): one.t_resp for one in info.answers}
    return times


WORDS: Final = {
    Cause.NEW: "message",
    Cause.SYNC: "sync",
    Cause.TYPING: "typing",
    Cause.RESEND: "again",
    Cause.ANSWER: "answer",
    Cause.SESSION: PayloadKind.OTHER.value,
    Cause.TRANSFER: "transfer",
    Cause.STATE: PayloadKind.ENTRY.value,
    Cause.ROOT: "root",
    Cause.OPERATION: "operation",
    Cause.HEADS: "heads",
    Cause.ASKS_OPS: PayloadKind.WANT.value,
}
"""One word for each kind of frame; who asks for something says so instead, and payloads say what
they carry."""

ASKS: Final = PayloadKind.WANT.value

QUICK: Final = frozenset((
    WORDS[Cause.SYNC], WORDS[Cause.TYPING], WORDS[Cause.ROOT], WORDS[Cause.HEADS],
    PayloadKind.CHECK.value,
))  # fmt: skip
"""Kinds that say nothing new: nobody has to see where each of them goes."""


def kind_of(flight: Flight) -> str:
    """Return what kind of frame it is, in one word."""
    if flight.carries is not None:
        return flight.carries.value
    return ASKS if flight.asks else WORDS[flight.cause]
