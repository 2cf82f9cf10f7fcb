"""The real screen over a real history, without a network, measured from inside its terminal.

`python -m tests.bench.measured_screen DATA_DIR` shows the first channel of the profile `PROFILE`.
At the key `BEGIN` it lets lines arrive in every way, leaves, and prints `DONE` and its figures as
JSON, in seconds of processor time, bytes and megabytes.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from chat_tui.app.app import ChatApp
from chat_tui.client.live import Client
from chat_tui.client.setup import Setup
from chat_tui.model.event_feed import PAINT_EVERY_S
from sync.machine import MILLISECOND, MINUTE, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.view import DeliveryShown, Event, Line, MessageShown

PROFILE: Final = "reader"
DONE: Final = "measured"
BEGIN: Final = b"\x07"
"""Ctrl+G, which nothing else has."""

TIMES: Final = 12
WARM_UP: Final = 3
BURST: Final = 100
SETTLE_S: Final = PAINT_EVERY_S + 0.05
"""After each, so that it is painted by itself, as when people talk."""


class Measured:
    """One run: what each way of arriving costs with its paint, in processor time."""

    def __init__(self, client: Client) -> None:
        self.figures: dict[str, float] = {}
        self.app = MeasuredApp(client, self._go_on, channel=client.first_channel)
        self.app.measure = self._measure
        self._client = client
        self._count = 0

    async def _go_on(self) -> None:
        """Called by the application once its first lines are painted."""
        self.figures["first_paint_s"] = time.process_time() - self.app.mounted_at

    async def _measure(self) -> None:
        """Let everything happen that may while somebody looks."""
        append = [[MessageShown(self._line())] for _ in range(WARM_UP + TIMES)]
        burst = [[MessageShown(self._line()) for _ in range(BURST)] for _ in range(WARM_UP + TIMES)]
        self.figures["append_s"], _ = await self._cost(append)
        self.figures["burst_s"], _ = await self._cost(burst)
        own = [MessageShown(self._line(own=True)) for _ in range(WARM_UP + TIMES)]
        await self._happen(own)
        ticks = [
            [DeliveryShown(one.line.channel, one.line.message_id, Delivery.ACKNOWLEDGED)]
            for one in reversed(own)
        ]
        self.figures["tick_s"], self.figures["tick_bytes"] = await self._cost(ticks)
        middle = [[MessageShown(self._line(back=MINUTE // 2))] for _ in range(WARM_UP + TIMES)]
        self.app.transcript.page_up()
        await asyncio.sleep(SETTLE_S)
        self.figures["middle_insert_s"] = self._insert_cost(middle)
        self.figures["rss_mb"] = _rss_mb()
        self.app.exit()

    def _insert_cost(self, inserts: Sequence[Sequence[Event]]) -> float:
        """The model and the widget take late lines in above and below; nothing of it is painted."""
        took: list[float] = []
        for events in inserts:
            began = time.process_time()
            for event in events:
                assert isinstance(event, MessageShown)
                self.app.transcript.apply(self.app.transcript.conversation.arrive(event.line))
            took.append(time.process_time() - began)
        return _median(took[WARM_UP:])

    async def _cost(self, times: Sequence[Sequence[Event]]) -> tuple[float, float]:
        """Return the median of processor time and of bytes to the terminal."""
        took: list[float] = []
        wrote: list[float] = []
        for events in times:
            began, written = time.process_time(), self.app.written
            await self._happen(events)
            took.append(time.process_time() - began)
            wrote.append(float(self.app.written - written))
        return _median(took[WARM_UP:]), _median(wrote[WARM_UP:])

    async def _happen(self, events: Sequence[Event]) -> None:
        for event in events:
            self._client._events.pass_on(event)
        await asyncio.sleep(SETTLE_S)

    def _line(self, *, own: bool = False, back: Nanos = 0) -> Line:
        """A line that is newer than all others, or `back` from there."""
        assert self._client.first_channel is not None
        self._count += 1
        now = self._client.snapshot().now + self._count * MILLISECOND - back
        return Line(
            channel=self._client.first_channel,
            message_id=MessageId(f"{self._count:064x}"),
            author=PeerId("ab" * 32),
            nick="alice",
            text=f"this is line {self._count}, neither short nor long, as most of them are",
            lamport=now // MILLISECOND,
            created_ns=now,
            own=own,
            after_gap=False,
            delivery=Delivery.UNACKNOWLEDGED if own else None,
        )


class MeasuredApp(ChatApp):
    """The chat, when it began with its first lines, and how many bytes its terminal got."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+g", "measure", priority=True)]
    mounted_at = 0.0
    written = 0
    measure: Callable[[], object]

    async def on_mount(self) -> None:
        """Textual calls this before the same of `ChatApp`, which reads and shows history."""
        self.mounted_at = time.process_time()
        driver = self._driver
        assert driver is not None
        write = driver.write

        def counted(data: str) -> None:
            self.written += len(data.encode())
            write(data)

        driver.write = counted  # type: ignore[method-assign]  # the bytes, where they leave

    def action_measure(self) -> None:
        """Begin."""
        self.run_worker(self.measure(), group="measure")  # type: ignore[arg-type]


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


async def measure(data_dir: Path) -> Measured:
    """Show the profile's history in this terminal."""
    client = await Client.open(Setup(data_dir, PROFILE))
    try:
        measured = Measured(client)
        await measured.app.run_async()
    finally:
        await client.close()
    return measured


def main() -> None:
    """Measure, and print the figures."""
    measured = asyncio.run(measure(Path(sys.argv[1])))
    print(DONE, json.dumps(measured.figures), flush=True)


if __name__ == "__main__":
    main()
