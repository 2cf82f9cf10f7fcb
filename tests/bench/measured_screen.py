"""The real screen over a real history, without a network, measured from inside its terminal.

`python -m tests.bench.measured_screen DATA_DIR` shows the first channel of the profile `PROFILE`,
lets lines arrive one by one, leaves, and prints `DONE` and its figures as JSON.
"""

import asyncio
import inspect
import json
import sys
import time
from pathlib import Path
from typing import Final

from chat_tui.app import ChatApp
from chat_tui.client import Client, Setup
from chat_tui.feed import PAINT_EVERY_S
from sync.machine import MILLISECOND, MessageId, PeerId
from sync.view import Line, MessageShown

PROFILE: Final = "reader"
DONE: Final = "measured"

APPENDS: Final = 15
WARM_UP: Final = 3
APPEND_EVERY_S: Final = PAINT_EVERY_S + 0.05
"""So that each is painted by itself, as when people talk."""

SETTLE_S: Final = 0.5


class Measured:
    """One run: the processor time of the first paint, and of each append with its paint."""

    def __init__(self, client: Client) -> None:
        self.first_paint_s = 0.0
        self.appends_s: list[float] = []
        self.app = MeasuredApp(client, self._go_on, channel=client.first_channel)
        self._client = client

    async def _go_on(self) -> None:
        """Called by the application once its first lines are painted."""
        self.first_paint_s = time.process_time() - self.app.mounted_at
        await asyncio.sleep(SETTLE_S)
        for number in range(WARM_UP + APPENDS):
            began = time.process_time()
            self._client._on_event(MessageShown(self._line(number)))
            await asyncio.sleep(APPEND_EVERY_S)
            self.appends_s.append(time.process_time() - began)
        self.app.exit()

    def _line(self, number: int) -> Line:
        """A line that is newer than all others."""
        assert self._client.first_channel is not None
        now = self._client.snapshot().now + number
        return Line(
            channel=self._client.first_channel,
            message_id=MessageId(f"{number:064x}"),
            author=PeerId("ab" * 32),
            nick="alice",
            text=f"this is line {number}, neither short nor long, as most of them are",
            lamport=now // MILLISECOND,
            created_ns=now,
            own=False,
            after_gap=False,
            delivery=None,
        )


class MeasuredApp(ChatApp):
    """The chat, and when it began with its first lines."""

    CSS_PATH = str(Path(inspect.getfile(ChatApp)).with_name("app.tcss"))
    mounted_at = 0.0

    async def on_mount(self) -> None:
        """Textual calls this before the same of `ChatApp`, which reads and shows history."""
        self.mounted_at = time.process_time()


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
    """Measure, and print the figures, in seconds."""
    measured = asyncio.run(measure(Path(sys.argv[1])))
    figures = {
        "first_paint_s": measured.first_paint_s,
        "append_s": sorted(measured.appends_s[WARM_UP:])[APPENDS // 2],
    }
    print(DONE, json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
