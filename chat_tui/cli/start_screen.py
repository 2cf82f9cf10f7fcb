"""Starting the full-screen chat: the screen over what the disk holds, then the network.

A crash restores the terminal, says one sentence and names the log.
"""

import asyncio
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from chat_tui.app.app import ChatApp
from chat_tui.client import gc_policy
from chat_tui.client.live import Client
from chat_tui.client.setup import Setup
from chat_tui.model.reading_state import Kept
from chat_tui.settings.schema import LOW_BANDWIDTH, MOUSE
from chat_tui.terminal.character_sets import glyphs_of, usual_glyphs
from chat_tui.terminal.driver import Terminal
from chat_tui.terminal.signals import leaving_on_signals
from chat_tui.wording.glyphs import UNICODE
from storage.profile.author_colours import AuthorColours
from storage.profile.drafts import Drafts
from storage.profile.hidden_gaps import HiddenGaps
from storage.profile.read_marks import ReadMarks
from sync.errors import LocalError
from sync.net.engine.loop_watch import run_watched


class CrashableApp(ChatApp):
    """The chat, which leaves what to say about a crash to `run`."""

    failure: BaseException | None = None

    def _handle_exception(self, error: Exception) -> None:
        self.failure = error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()


class Online:
    """The network side of a running screen."""

    def __init__(self, client: Client, tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None
        self._error: LocalError | None = None

    async def start(self) -> None:
        """Go on the network; returns once others can reach us.

        Raises:
            LocalError: the network cannot be used as asked; says what to do.
        """
        await asyncio.to_thread(self._warm_up)
        gc_policy.settle()
        self._client.make_node()
        ready = asyncio.Event()
        self._task = self._tasks.create_task(self._run(ready))
        waiting = self._tasks.create_task(ready.wait())
        await asyncio.wait((self._task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._error is not None:
            raise self._error

    def _warm_up(self) -> None:
        """Load what the network needs, in a thread: keys are heard meanwhile."""
        import_rest()
        assert self._client.identity.noise_public  # which loads what its library puts off

    async def _run(self, ready: asyncio.Event) -> None:
        from chat_tui.client.control_server import serving

        try:
            async with serving(self._client):
                await self._client.run(ready)
        except LocalError as error:
            self._error = error

    async def stop(self) -> None:
        """Get the last lines out, say goodbye, and leave."""
        if self._task is None or self._task.done():
            return
        await self._client.flush()
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


def import_rest() -> None:
    """Import what no first paint needs."""
    from chat_tui.client import (  # noqa: F401  # see above
        control_server,
        disk_watch,
        node,
        protocol_log_writer,
    )
    from chat_tui.commands import table  # noqa: F401  # see above
    from sync.net import kernel_clock  # noqa: F401  # see above


def run(setup: Setup, config_file: Path) -> None:
    """Show the chat until the person leaves.

    Raises:
        LocalError: the profile cannot be used; says what to do.
    """
    if not setup.exists:
        from chat_tui.cli.first_start import ask

        gc_policy.settle()  # who answers questions waits for nothing
        asked = ask(setup, config_file)
        if asked is None:
            return
        setup = asked
    log = setup.directory / "chat.log"
    try:
        failure = run_watched(_chat(setup))
    except LocalError:
        raise
    except Exception as error:  # noqa: BLE001  # the last word on any crash
        failure = error
    if failure is not None:
        with suppress(OSError), log.open("a", encoding="utf-8") as file:
            traceback.print_exception(failure, file=file)
        sys.exit(
            f"Something broke, and the chat had to close ({_cause(failure)}).\n"
            f"Nothing that was shown as sent is lost. The details are in {log}."
        )


async def _chat(setup: Setup) -> BaseException | None:
    """Run the screen over an open client; returns what made it crash, if anything did."""
    client = await Client.open(replace(setup, attended=True))
    try:
        async with asyncio.TaskGroup() as tasks:
            online = Online(client, tasks)
            glyphs = usual_glyphs(os.environ)
            app = CrashableApp(
                client,
                online.start,
                channel=client.first_channel,
                glyphs=glyphs,
                kept=Kept(
                    ReadMarks(client.profile.directory / "read.json"),
                    HiddenGaps(client.profile.directory / "hidden.json"),
                    AuthorColours(client.profile.directory / "colours.json"),
                    Drafts(client.profile.directory / "drafts.json"),
                ),
            )
            app.driver_class = Terminal
            quick = not client.settings[LOW_BANDWIDTH]
            app.asks_widths = quick and glyphs_of(client.settings, glyphs) is UNICODE
            await app.read_history()
            with leaving_on_signals(app):
                await app.run_async(mouse=client.settings[MOUSE])
                await online.stop()
    finally:
        await client.close()
    return app.failure


def _cause(failure: BaseException) -> str:
    """Return what broke first, out of the groups it came in."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return f"{type(failure).__name__}: {failure}".rstrip(": ")
