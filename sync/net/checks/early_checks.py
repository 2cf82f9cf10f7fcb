"""Checks messages that wait to be handled on threads: signatures take half of a message's time.

libsodium lets go of the interpreter's lock while it verifies. So what waits is checked while a
batch is committed, when the event loop has little to do, and the loop awaits what is left then.

Rules:
1. Order is kept: messages are handled after their check, in the order in which they wait.
2. A message that was not looked at is checked where it is handled, as one by itself always is.
3. Verdicts are known of what waits alone: at most `LOOKED_AT_MAX`, whoever sent it.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from sync.group.inputs.foreseen import (
    ENTRY_BYTES,
    ForeseeingGate,
    Foresight,
    Verdict,
    Waiting,
    verdict_of,
)
from sync.net.clock import Clock
from sync.runner.runner import Runner

THREADS: Final = 2
"""Messages checked at once: more threads would only wait for each other to decode."""

CHECKED_FROM: Final = 32
"""Messages from which on a thread is worth waking, which takes as long as to check a few."""

BYTES_FROM: Final = CHECKED_FROM * ENTRY_BYTES
"""The same in bytes of what waits."""

BOTH_FROM: Final = 96
"""Messages from which on two threads are: they wait for each other in between, which takes a
twentieth of their time."""

LOOKED_AT_MAX: Final = 512
BYTES_MAX: Final = 4 * 1024 * 1024
"""Inputs that are looked at, and bytes of their frames: as many as one commit has."""

HURRIED_MAX: Final = 64
"""The same while somebody waits for a line or a key: a few milliseconds."""

Found: TypeAlias = list[tuple[ForeseeingGate, Verdict]]


class EarlyChecks:
    """See the module docstring; it checks what waits for `runner`."""

    def __init__(self, runner: Runner, clock: Clock, stand_aside: Callable[[], None]) -> None:
        """Begin; threads call `stand_aside` before each input, and wait in it for the loop."""
        self._runner, self._clock, self._stand_aside = runner, clock, stand_aside
        self._threads: ThreadPoolExecutor | None = None
        """Made for the first burst."""
        self._running: list[asyncio.Future[Found]] = []
        self._knowing: dict[int, ForeseeingGate] = {}
        """Gates that have verdicts, by identity: of hundreds of channels a few have any."""
        self._looked_until = 0
        """Number of inputs taken once all that were looked at are."""
        self._closed = False

    @property
    def _is_much(self) -> bool:
        """True if so much waits that it may be worth a thread: a payload may have many messages."""
        runner = self._runner
        return runner.waiting >= CHECKED_FROM or runner.inputs.bytes_waiting >= BYTES_FROM

    @property
    def is_ahead(self) -> bool:
        """True if what comes next was looked at, or is too little to be checked here."""
        if self._running:
            return False
        return not self._is_much or self._runner.inputs.taken < self._looked_until

    async def check(self, *, hurried: bool = False) -> None:
        """Return once what comes next is checked, if it is much."""
        if not self.is_ahead:
            self.begin(hurried=hurried)
        while self._running:
            found = await self._running[0]
            del self._running[0]
            for gate, verdict in found:
                gate.learn(verdict)
                self._knowing[id(gate)] = gate

    def begin(self, *, hurried: bool = False) -> None:
        """Begin to check what waits, if it is much."""
        if self._running:
            return
        waits = self._runner.waiting
        if not self._is_much and not self._knowing:
            return
        if 2 * (self._looked_until - self._runner.inputs.taken) > waits:
            return  # to look at the others now would be to look at most of them twice
        waiting = self._look(HURRIED_MAX if hurried else LOOKED_AT_MAX)
        messages = sum([one.messages for one in waiting])
        if messages < CHECKED_FROM:
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, "early check")
        loop = asyncio.get_running_loop()
        threads = THREADS if messages >= BOTH_FROM else 1
        self._running = [
            loop.run_in_executor(self._threads, self._found, waiting[number::threads])
            for number in range(threads)
        ]

    def close(self) -> None:
        """Check nothing more."""
        self._closed = True
        self._running.clear()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _look(self, most: int) -> list[Waiting]:
        """Return what of the next inputs is to be checked; verdicts on others are forgotten."""
        foresight, left, looked_at = Foresight(self._clock.now), BYTES_MAX, 0
        inputs, groups = self._runner.inputs, self._runner.groups
        for addressed in inputs.next_ones(most):
            looked_at += 1
            if (group := groups.get(addressed.channel)) is not None:
                left -= foresight.look(group, addressed.event)
            if left <= 0:
                break
        self._looked_until = inputs.taken + looked_at
        self._keep(foresight.frames)
        return foresight.waiting

    def _keep(self, frames: Collection[bytes]) -> None:
        """Forget verdicts on other frames."""
        for gate in self._knowing.values():
            gate.keep(frames)
        self._knowing = {number: gate for number, gate in self._knowing.items() if len(gate)}

    def _found(self, waiting: Sequence[Waiting]) -> Found:
        """Return verdicts. It runs in a thread, and ends early where nobody needs them any more."""
        found: Found = []
        for one in waiting:
            if self._closed:
                break
            self._stand_aside()
            if (verdict := verdict_of(one)) is not None:
                found.append((one.gate, verdict))
        return found
