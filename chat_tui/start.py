"""Starting the full-screen chat: the first run's questions, the screen, then the network.

A crash restores the terminal, says one sentence and names the log.
"""

import asyncio
import json
import sys
import traceback
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from chat_tui.app import ChatApp
from chat_tui.client import Client, Setup, checked_nick, default_nick
from chat_tui.control import serving
from chat_tui.first_run import Answers, FirstRun
from sync.errors import LocalError
from sync.net import invite


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
        ready = asyncio.Event()
        self._task = self._tasks.create_task(self._run(ready))
        waiting = self._tasks.create_task(ready.wait())
        await asyncio.wait((self._task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._error is not None:
            raise self._error

    async def _run(self, ready: asyncio.Event) -> None:
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
    log = setup.data_dir / setup.profile / "chat.log"
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
            f"Something broke, and the chat had to close: {failure!r}.\n"
            f"Nothing that was shown as sent is lost. The details are in {log}."
        )


async def _chat(setup: Setup) -> BaseException | None:
    """Run the screen over an open client; returns what made it crash, if anything did."""
    client = await Client.open(setup)
    try:
        async with asyncio.TaskGroup() as tasks:
            online = Online(client, tasks)
            app = CrashableApp(client, online.start, channel=client.first_channel)
            await app.run_async()
            await online.stop()
    finally:
        await client.close()
    return app.failure


def _first_run(setup: Setup, config_file: Path) -> Setup | None:
    """Ask the three questions; None if the person left."""
    suggested = Answers(setup.nick or default_nick(), setup.channel or "", setup.data_dir)
    answers = FirstRun(suggested, _check).run()
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
