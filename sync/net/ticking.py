"""What happens by the clock alone: pings, redials, the reference clock, and what its jumps mean."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sync.machine import MILLISECOND, SECOND, Nanos
from sync.net.clock import Clock
from sync.net.mesh import Mesh
from sync.net.online import Online
from sync.net.roster import Roster
from sync.view import Event, Notice

TICK: Final = 0.25
"""Seconds between looks at pings, redials and the clock."""

JUMP: Final[Nanos] = 10 * SECOND
"""A gap between two ticks, or a step of the wall clock, that means sleep or a set clock."""

CLOCK_STEP: Final[Nanos] = 50 * MILLISECOND
"""Changes of the reference clock smaller than this are left alone."""


@dataclass(slots=True)
class Ticking:
    """Looks at the clock four times a second.

    Attributes:
        clock: of this computer.
        mesh: whose peers tell theirs.
        online: is begun anew after a jump, and follows the interfaces.
        roster: knows who has not been heard of for too long.
        tell: takes note of an event.
        set_reference: is told how far the reference clock is ahead of ours, when that changes.
        flush_trace: writes down what was traced, once a second.
        offset: how far the reference clock is ahead of ours.
    """

    clock: Clock
    mesh: Mesh
    online: Online
    roster: Roster
    tell: Callable[[Event], None]
    set_reference: Callable[[Nanos], None]
    flush_trace: Callable[[], None]
    offset: Nanos = 0

    async def tick_forever(self) -> None:
        """Tick until cancelled."""
        clock = self.clock
        last, drift = clock.now(), clock.wall() - clock.now()
        ticks = 0
        while True:
            await asyncio.sleep(TICK)
            now, now_drift = clock.now(), clock.wall() - clock.now()
            ticks += 1
            if now - last > JUMP or abs(now_drift - drift) > JUMP:
                await self._after_jump(now - last, now_drift - drift)
            elif ticks % 8 == 0:
                await self.online.follow()
            last, drift = now, now_drift
            self.mesh.tick()
            for shown in self.roster.overdue(now):
                self.tell(shown)
            self._follow_reference_clock()
            if ticks % 4 == 0:
                self.flush_trace()

    async def _after_jump(self, gap: Nanos, step: Nanos) -> None:
        """The computer slept, or its clock was set: begin anew with everybody."""
        seconds = round(max(gap, abs(step)) / SECOND)
        self.tell(
            Notice(f"The clock jumped by {seconds} s (sleep, or it was set); reconnecting to all.")
        )
        await self.online.begin_anew("the clock jumped")

    def _follow_reference_clock(self) -> None:
        """Median of our own and all peers' wall clocks; ties go to our own (DESIGN 5)."""
        offset = self.clock.wall() - self.clock.now() + self.mesh.clock_offset()
        if abs(offset - self.offset) >= CLOCK_STEP:
            self.offset = offset
            self.set_reference(offset)
