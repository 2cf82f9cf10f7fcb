"""Starting the full-screen chat: the first run's questions, the screen, then the network.

A crash restores the terminal, says one sentence and names the log.
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from chat_tui import garbage
from chat_tui.app import ChatApp
from chat_tui.applied import usual_glyphs
from chat_tui.client import Client, Setup, default_nick
from chat_tui.first_run import Answers, FirstRun
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import MOUSE, checked_nick
from chat_tui.terminal import Terminal
from sync.errors import LocalError
from sync.net import invite

LEAVE_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

DEFAULT_PROFILE: Final = "default"
"""Says nothing about its owner; every other profile is probably called like its owner."""


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
        await asyncio.to_thread(import_network)
        self._client.make_node()
        garbage.settle()
        ready = asyncio.Event()
        self._task = self._tasks.create_task(self._run(ready))
        waiting = self._tasks.create_task(ready.wait())
        await asyncio.wait((self._task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._error is not None:
            raise self._error

    async def _run(self, ready: asyncio.Event) -> None:
        from chat_tui.control import serving  # noqa: PLC0415  # `import_network` has done it

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


def import_network() -> None:
    """Import what only the network needs, in a thread: keys are heard meanwhile."""
    from chat_tui import control, online  # noqa: F401, PLC0415  # see above


def run(setup: Setup, config_file: Path) -> None:
    """Show the chat until the person leaves.

    Raises:
        LocalError: the profile cannot be used; says what to do.
    """
    if not setup.exists:
        asked = _first_run(setup, config_file)
        if asked is None:
            return
        setup = asked
    log = setup.directory / "chat.log"
    try:
        failure = asyncio.run(_chat(setup))
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
    client = await Client.open(setup)
    try:
        async with asyncio.TaskGroup() as tasks:
            online = Online(client, tasks)
            glyphs = usual_glyphs(os.environ)
            app = CrashableApp(client, online.start, channel=client.first_channel, glyphs=glyphs)
            app.driver_class = Terminal
            await app.read_history()
            with leaving_on_signals(app):
                await app.run_async(mouse=client.settings[MOUSE])
                await online.stop()
    finally:
        await client.close()
    return app.failure


@contextmanager
def leaving_on_signals(app: ChatApp | FirstRun) -> Iterator[None]:
    """Leave as the person would when the system, or a closed terminal, asks for it."""
    loop = asyncio.get_running_loop()
    for number in LEAVE_SIGNALS:
        loop.add_signal_handler(number, app.call_later, app.action_quit)
    try:
        yield
    finally:
        for number in LEAVE_SIGNALS:
            loop.remove_signal_handler(number)


def _cause(failure: BaseException) -> str:
    """Return what broke first, out of the groups it came in."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return f"{type(failure).__name__}: {failure}".rstrip(": ")


def _first_run(setup: Setup, config_file: Path) -> Setup | None:
    """Ask the three questions; None if the person left."""
    named = setup.profile if setup.profile != DEFAULT_PROFILE else default_nick()
    settings = Preferences.of_profile(setup.directory, setup.wishes)
    suggested = Answers(setup.nick or named, setup.channel or "", setup.data_dir)
    answers = asyncio.run(_ask(FirstRun(suggested, _check, settings)))
    while answers is not None and answers.demo:
        _show_demo()
        suggested = replace(answers, demo=False)
        answers = asyncio.run(_ask(FirstRun(suggested, _check, settings)))
    if answers is None:
        return None
    if answers.data_dir != setup.data_dir:
        config_file.parent.mkdir(parents=True, exist_ok=True)
        config_file.write_text(json.dumps({"data_dir": str(answers.data_dir.absolute())}) + "\n")
    return replace(
        setup,
        nick=answers.name,
        data_dir=answers.data_dir,
        invite=answers.invite or None,
    )


def _show_demo() -> None:
    """Show the demo from its first scenario on, until the person leaves it."""
    from chat_tui.demo.start import demo  # noqa: PLC0415  # most starts need none of it

    demo(scenario=None, seed=None, speed=1.0, record=None, as_lines=False, formulas=False)


async def _ask(questions: FirstRun) -> Answers | None:
    questions.driver_class = Terminal
    with leaving_on_signals(questions):
        return await questions.run_async()


def _check(answers: Answers) -> None:
    checked_nick(answers.name)
    if answers.invite.lower().startswith(invite.PREFIX):
        invite.decode(answers.invite)
    elif answers.invite:
        invite.channel_name(answers.invite)
    try:
        answers.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalError(f"{answers.data_dir} cannot be used: {error.strerror}.") from error
