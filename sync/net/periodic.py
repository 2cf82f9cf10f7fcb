"""Work driven by the clock alone: pings, redials, and the reaction to its jumps."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sync.machine import HOUR, MINUTE, SECOND, Nanos
from sync.net.attachment import Online
from sync.net.clock import Clock
from sync.net.clocks import Clocks
from sync.net.links.mesh import Mesh
from sync.net.peer_directory import Roster
from sync.view.view import Event, Notice

TICK: Final = 0.25
"""Seconds between looks at pings, redials and the clock."""

JUMP: Final[Nanos] = 10 * SECOND
"""A gap between two ticks, or a step of the wall clock, that means sleep or a set clock."""


UNITS: Final = (
    (2 * 24 * HOUR, 24 * HOUR, "days"), (2 * HOUR, HOUR, "hours"), (2 * MINUTE, MINUTE, "minutes"),
)  # fmt: skip
"""From which length on a jump is told in a unit."""


def in_words(jump: Nanos) -> str:
    """Return how far a clock jumped: `61 s`, `12 minutes`, `3 hours`, `2 days`."""
    for least, unit, name in UNITS:
        if jump >= least:
            return f"{round(jump / unit)} {name}"
    return f"{round(jump / SECOND)} s"


@dataclass(slots=True)
class Ticking:
    """Looks at the clock four times a second.

    Attributes:
        clock: of this computer.
        mesh: whose peers tell theirs.
        online: is begun anew after a jump, and follows the interfaces.
        roster: knows who has not been heard of for too long.
        clocks: is told when our clock was set, or the computer slept.
        tell: takes note of an event.
        flush_trace: writes down what was traced, once a second.
        look_for_floods: tells who sends more than is taken in, once a second.
    """

    clock: Clock
    mesh: Mesh
    online: Online
    roster: Roster
    clocks: Clocks
    tell: Callable[[Event], None]
    flush_trace: Callable[[], None]
    look_for_floods: Callable[[], None]

    async def tick_forever(self) -> None:
        """Tick until cancelled."""
        clock = self.clock
        last, drift = clock.now(), clock.wall() - clock.now()
        awake = clock.wall() - clock.awake()
        ticks = 0
        while True:
            await asyncio.sleep(TICK)
            now, now_drift = clock.now(), clock.wall() - clock.now()
            before, awake = awake, clock.wall() - clock.awake()
            ticks += 1
            if now - last > JUMP or abs(now_drift - drift) > JUMP:
                self.clocks.tell_own(was_set=abs(awake - before) > JUMP)
                await self._after_jump(now - last, now_drift - drift)
            elif ticks % 8 == 0:
                await self.online.follow()
            last, drift = now, now_drift
            self.mesh.tick()
            for shown in self.roster.overdue(now):
                self.tell(shown)
            if ticks % 4 == 0:
                self.flush_trace()
                self.look_for_floods()

    async def _after_jump(self, gap: Nanos, step: Nanos) -> None:
        """The computer slept, or its clock was set: begin anew with everybody."""
        far = in_words(max(gap, abs(step)))
        self.tell(Notice(f"The clock jumped by {far} (sleep, or it was set); reconnecting to all."))
        await self.online.begin_anew("the clock jumped")
