"""Dialling over a slow wire: the trips of a handshake, and how long each end waits for them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sync.machine import SECOND, Nanos
from sync.sim.network import Network
from sync.structures.link_trips import grown

OPENED_WITHIN: Final[Nanos] = 5 * SECOND
"""Time after which the opening of a stream without an answer is given up, as a handshake is."""

DIALLED_WITHIN: Final[Nanos] = 3 * SECOND
"""Time after which dialling somebody behind a firewall is given up, as live programs do."""

TRIPS: Final = (60, 60, 100, 200, 300)
"""Bytes that go there and back: two until TCP is connected, two with which both have the other's
key, and what proves the dialler and its channel."""


def _not_slow(node: int, other: int) -> Nanos:
    """Return how slow a link is that nobody measures."""
    del node, other
    return 0


@dataclass(slots=True)
class Dial:
    """One of them."""

    dialler: int
    other: int
    answered: Callable[[Nanos], None]
    failed: Callable[[Nanos], None]
    trips: int = 0
    over: bool = False


@dataclass(slots=True)
class Dials:
    """See the module docstring."""

    network: Network
    schedule: Callable[[Nanos, Callable[[], None]], None]
    trip: Callable[[int, int], Nanos] = _not_slow
    """Returns how slow the link of a node to another one is, as that node measured it."""
    failures: int = 0
    """Dials that took too long."""
    _begun: int = 0

    def dial(
        self,
        dialler: int,
        other: int,
        now: Nanos,
        answered: Callable[[Nanos], None],
        failed: Callable[[Nanos], None],
    ) -> None:
        """Connect and shake hands; tells when that is done, or given up."""
        dial = Dial(dialler, other, answered, failed)
        self._begun += 1
        self._expect(dial, 2, now + grown(DIALLED_WITHIN, self.trip(dialler, other)))
        self._go(dial, self._begun, now)

    def _go(self, dial: Dial, number: int, now: Nanos) -> None:
        """Send the next of the trips."""
        wire = self.network.wire
        assert wire is not None
        size, there = TRIPS[dial.trips], dial.trips % 2 == 0
        sender = dial.dialler if there else dial.other

        def left(over: Nanos) -> None:
            at = over + self.network.latency()
            self.schedule(at, lambda: self._came(dial, number, at))

        wire.send((sender, "dial", number), size, now, left)

    def _came(self, dial: Dial, number: int, now: Nanos) -> None:
        if dial.over:
            return
        dial.trips += 1
        match dial.trips:
            case 2:
                trip = self.trip(dial.dialler, dial.other)
                self._expect(dial, 4, now + grown(OPENED_WITHIN, trip))
            case 3:
                trip = self.trip(dial.other, dial.dialler)
                self._expect(dial, 5, now + grown(OPENED_WITHIN, trip))
            case 5:
                dial.over = True
                dial.answered(now)
                return
            case _:
                pass
        self._go(dial, number, now)

    def _expect(self, dial: Dial, trips: int, until: Nanos) -> None:
        """Give up unless that many have come `until` then."""

        def look() -> None:
            if not dial.over and dial.trips < trips:
                dial.over = True
                self.failures += 1
                dial.failed(until)

        self.schedule(until, look)
