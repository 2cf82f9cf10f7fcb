"""A start of the screen, measured from inside its terminal: which share of it is whose.

`python -m tests.bench.measured_start DATA_DIR` shows the first channel of the profile `PROFILE`,
leaves after the first paint, and prints `DONE` and the shares as JSON, in seconds of processor
time. The first import pays for what both need: the interpreter, then Textual, then we.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Final

PROFILE: Final = "reader"
DONE: Final = "measured"


class Shares:
    """Processor time of consecutive stages of a start, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._until = 0.0

    def end(self, name: str) -> None:
        """Say whose all the time was since the last one."""
        now = time.process_time()
        self.seconds[name] = now - self._until
        self._until = now


async def show(place: Path, shares: Shares) -> None:
    """Open the profile and show its newest lines, as `chat_tui.cli.start_screen` does."""
    from chat_tui.app.app import ChatApp
    from chat_tui.client.live import Client
    from chat_tui.client.setup import Setup

    client = await Client.open(Setup(place, PROFILE))
    app = ChatApp(client, lambda: _painted(app, shares), channel=client.first_channel)
    await app.read_history()
    shares.end("disk")
    await app.run_async()
    await client.close()


async def _painted(app: "object", shares: Shares) -> None:
    """Called by the application once its first lines are painted."""
    from textual.app import App

    shares.end("paint")
    assert isinstance(app, App)
    app.exit()


def main() -> None:
    """Import in the order of who needs it, and show the chat."""
    shares = Shares()
    shares.end("interpreter")
    import textual.app
    import textual.scroll_view
    from textual.widgets import Static, TextArea

    shares.end("textual")
    from chat_tui.client import gc_policy

    gc_policy.put_off()
    import google.protobuf.message
    from cryptography.hazmat.primitives.asymmetric import ed25519

    shares.end("libraries")
    from chat_tui.cli import main as command_line
    from chat_tui.cli import start_screen

    shares.end("ours")
    used = (textual.app, textual.scroll_view, Static, TextArea, google.protobuf.message, ed25519)
    assert all(used)
    assert all((command_line, start_screen))
    asyncio.run(show(Path(sys.argv[1]), shares))
    print(DONE, json.dumps(shares.seconds), flush=True)


if __name__ == "__main__":
    main()
