"""Line mode: append-only lines, no boxes; for screen readers, pipes, scripts and slow links."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from chat_tui.app.unsaved_lines import Held, Input
from chat_tui.client import gc_policy
from chat_tui.client.channel_names import channel_for
from chat_tui.client.control_server import serving
from chat_tui.client.doctor.findings import as_lines
from chat_tui.client.live import Client
from chat_tui.client.message_names import line_named
from chat_tui.client.setup import Setup
from chat_tui.commands.command import At, Result, refused
from chat_tui.commands.people import DOCTOR
from chat_tui.commands.table import Commands
from chat_tui.line_mode import written
from chat_tui.line_mode.deep_look import DeepLook
from chat_tui.line_mode.earlier import lines_before
from chat_tui.line_mode.output import Face, JsonFace, TextFace
from chat_tui.line_mode.signals import ending_on_signals
from chat_tui.line_mode.since import Since
from chat_tui.line_mode.standard_input import input_lines
from chat_tui.line_mode.standard_output import StandardOutput, written_to
from chat_tui.text.slash import is_command, text_of
from sync.errors import ChatError, LocalError
from sync.view.view import Event, HistoryShown, Line, MessageShown, PeerShown, PreviewShown

WRITES_MAX: Final = 1000
"""Lines written and not committed yet; then reading waits for the disk."""

TOGETHER_MAX: Final = 128
"""Lines that were read together and are written together: a quarter of what one commit has."""

AGAIN_S: Final = 1.0
"""Between two looks at whether the disk takes what waits for it, while anything does."""


class LineMode:
    """One run: what is typed goes to the chat, what happens goes to the face."""

    def __init__(self, client: Client, face: Face, output: StandardOutput) -> None:
        assert client.first_channel is not None
        self._client = client
        self._face = face
        self._output = output
        self._commands = Commands(client)
        self._channel = client.first_channel
        self._writes: set[asyncio.Task[None]] = set()
        self._refused = Held(self._run)
        self._refusing = asyncio.Event()
        self._unwritten = 0
        self._held: list[Event] | None = []
        self._flushing = False
        self._stop = asyncio.Event()
        output.gone = self._stop.set
        self._deep_look = DeepLook(client, face, self._flush_soon)
        self._since: Since | None = None
        self._leaving = False
        self._tasks: asyncio.TaskGroup | None = None
        self._at_terminal = sys.stdin.isatty()

    async def run(self, *, history: int, stay: bool, since: Since | None = None) -> None:
        """Chat until the end of input (`stay`: until stopped), /quit, or `stop`."""
        self._since = since
        if since is not None:
            await since.check(self._client)
        lines = await self._newest(history)
        self._client.subscribe(self._on_event)
        async with self._client.running(), serving(self._client):
            await self._begin(lines)
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                reading = tasks.create_task(self._read(tasks, stay=stay))
                trying = tasks.create_task(self._write_again())
                await self._stop.wait()
                self._leaving = True
                self._face.left()
                self._tasks = None
                reading.cancel()
                trying.cancel()
                self._deep_look.stop()
            await self._client.flush()
        for text in self._refused.give_up():
            self._face.error(f"the disk never took it: {text}")
        self._flush()

    def stop(self) -> None:
        """Leave soon, and do not wait long for whoever reads the output."""
        self._stop.set()
        self._output.hurry()

    async def _newest(self, count: int) -> list[Line]:
        """Return the last messages of the channel, those that wait for something last."""
        if not count:
            return []
        read = self._client.history
        return [
            *await read.page(self._channel, before=None, limit=count),
            *await read.pending(self._channel, limit=count),
            *await read.parked(self._channel, limit=count),
        ]

    async def _begin(self, lines: Sequence[Line]) -> None:
        """Say hello, show history, then what happened meanwhile."""
        self._face.ready(self._channel)
        shown = {line.message_id for line in lines}
        await self._tell(lines)
        if self._since is not None:
            async for line in self._since.lines(self._client, self._channel):
                shown.add(line.message_id)
                await self._tell([line])
        while await self._learn([one for event in self._held or [] if (one := _line_of(event))]):
            pass  # more may have come
        held, self._held = self._held or [], None
        for event in held:
            if not isinstance(event, MessageShown) or event.line.message_id not in shown:
                self._on_event(event)
        self._flush_soon()

    async def _tell(self, lines: Sequence[Line]) -> None:
        """Tell lines of before, those that answer others once these are read."""
        await self._learn(lines)
        for line in lines:
            self._face.line(line)

    async def _learn(self, lines: Sequence[Line]) -> bool:
        """Have the face know what lines answer; returns whether anything had to be read."""
        unread = self._face.unread(lines)
        for channel, wanted in unread.items():
            try:
                found = await self._client.history.answered(channel, wanted)
            except LocalError:  # each is told without it then
                found = {}
            self._face.learn(dict.fromkeys(wanted) | dict(found))
        return bool(unread)

    def _on_event(self, event: Event) -> None:
        if self._held is not None:
            self._held.append(event)
            return
        if self._leaving and isinstance(event, PeerShown):
            return  # it is we who leave
        if isinstance(event, MessageShown) and self._since and self._since.leaves_out(event.line):
            return
        if isinstance(event, HistoryShown) and self._tasks is not None:
            self._tasks.create_task(self._tell_earlier(event))
            return
        line = _line_of(event)
        if line is not None and self._face.unread([line]) and self._tasks is not None:
            self._held = [event]  # and what comes meanwhile, in its order
            self._tasks.create_task(self._tell_reply(line))
            return
        self._face.event(event)
        self._flush_soon()

    async def _tell_reply(self, line: Line) -> None:
        """Tell what was held back until what a line answers is read; without it, if need be."""
        await self._learn([line])
        held, self._held = self._held or [], None
        for event in held:
            self._on_event(event)  # which may hold it back, and all behind it, again

    async def _tell_earlier(self, here: HistoryShown) -> None:
        """Tell the lines of a history that came at once, as if they had come one by one."""
        try:
            async for line in lines_before(self._client, here):
                if self._stop.is_set():
                    return
                self._on_event(MessageShown(line))
                await self._output.room()
        except LocalError as error:
            self._face.error(str(error))
            self._flush_soon()

    def _flush_soon(self) -> None:
        """Hand out what was said, at once for all that one step of the engine says."""
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        self._face.settle()
        sys.stdout.flush()

    async def _read(self, tasks: asyncio.TaskGroup, *, stay: bool) -> None:
        async for texts in input_lines():
            together: list[Input] = []
            for text in texts:
                found = None if self._at_terminal else written.object_of(text)
                if found is None and not is_command(text):
                    if text.strip():
                        together.append(Input(text, self._channel))
                    if len(together) < TOGETHER_MAX:
                        continue
                await self._write_soon(together, tasks)
                together = []
                if found is not None:
                    await self._write_object(found, tasks)
                elif is_command(text):
                    await self._command(text, tasks)
            await self._write_soon(together, tasks)
        if self._writes:
            await asyncio.wait(self._writes)
        if not stay:
            await self._deep_look.ended()
            self._stop.set()

    async def _write_object(self, found: dict[str, Any], tasks: asyncio.TaskGroup) -> None:
        """Write a text of a script in the channel that it names, or in the open one."""
        channel = self._channel
        answers = None
        try:
            fields = written.checked(found)
            if "channel" in fields:
                channel = await channel_for(self._client, fields["channel"])
            if "reply_to" in fields:
                wanted = fields["reply_to"].casefold()
                answers = (await line_named(self._client, channel, wanted)).message_id
        except LocalError as error:
            self._face.error(str(error))
            self._flush_soon()
            return
        line = Input(written.as_typed(fields["text"]), channel, answers=answers)
        await self._write_soon([line], tasks)

    async def _write_soon(self, lines: Sequence[Input], tasks: asyncio.TaskGroup) -> None:
        """Write lines of one channel, once there is room."""
        if not lines:
            return
        await self._client.room()
        while self._unwritten >= WRITES_MAX:
            await asyncio.wait(self._writes, return_when=asyncio.FIRST_COMPLETED)
        self._unwritten += len(lines)
        writing = tasks.create_task(self._write_all(lines))
        self._writes.add(writing)
        writing.add_done_callback(self._writes.discard)

    async def _command(self, text: str, tasks: asyncio.TaskGroup) -> None:
        if self._writes:
            await asyncio.wait(self._writes)  # it may be about the line before it
        result = await self._commands.run(text, At(self._channel))
        if result.channel is not None and (self._at_terminal or not result.wrote):
            self._channel = result.channel
            self._face.now_in(result.channel)
        if result.action == DOCTOR[""]:
            result = Result(text="\n".join([line async for line in self._examined()]))
        elif result.action == DOCTOR["deep"]:
            result = self._deep_look.begin(tasks)
        elif result.action == DOCTOR["stop"]:
            result = self._deep_look.stop()
        elif result.again:
            await self._tell(await self._newest(result.again))
            result = Result()
        self._face.result(text.split(maxsplit=1)[0], result)
        self._flush_soon()
        if result.quit:
            self._stop.set()

    async def _examined(self) -> AsyncIterator[str]:
        async for finding in self._client.examine():
            for line in as_lines(finding):
                yield line

    async def _write_all(self, lines: Sequence[Input]) -> None:
        """Write lines of one channel; several at once where nothing is known but their texts."""
        channel = lines[0].channel
        try:
            if len(lines) == 1 or self._refused or channel is None:
                for line in lines:
                    self._tell_refusal(await self._refused.write_line(line))
                return
            outcomes = await self._client.send_texts(channel, [text_of(one.text) for one in lines])
            for line, outcome in zip(lines, outcomes, strict=True):
                if isinstance(outcome, ChatError):
                    result = refused(outcome)
                    held = self._refused.hold(line, result) if result.refused_by_disk else result
                    self._tell_refusal(held)
        finally:
            self._unwritten -= len(lines)

    def _tell_refusal(self, result: Result | None) -> None:
        """Tell that a line was not written, or that it waits for the disk (None)."""
        if result is None:
            self._face.waiting(len(self._refused))
            self._refusing.set()
        elif not result.ok:
            self._face.error(result.text)
        self._flush_soon()

    async def _run(self, line: Input) -> Result:
        return await self._commands.run(line.text, At(line.channel, answers=line.answers))

    async def _write_again(self) -> None:
        """Write what the disk refused once it takes changes again."""
        while True:
            await self._refusing.wait()
            await asyncio.sleep(AGAIN_S)
            if not self._client.snapshot().disk:
                await self._refused.write_again(self._say_refused)
            if not self._refused:
                self._refusing.clear()
                self._face.waiting(0)
                self._flush_soon()

    def _say_refused(self, _line: Input, result: Result) -> None:
        if not result.ok:
            self._face.error(result.text)


def _line_of(event: Event) -> Line | None:
    """Return the message that an event shows for the first time."""
    return event.line if isinstance(event, MessageShown | PreviewShown) else None


async def run(
    setup: Setup, *, as_json: bool, stay: bool, history: int, since: Since | None = None
) -> None:
    """Open the profile and chat in line mode.

    Raises:
        LocalError: the profile or the network cannot be used; says what to do.
    """
    attended = sys.stdin.isatty() and not stay
    output = StandardOutput(sys.stdout)
    client = await Client.open(replace(setup, attended=attended))
    gc_policy.settle()
    face: Face = JsonFace(client) if as_json else TextFace(client, client.settings)
    mode = LineMode(client, face, output)
    with ending_on_signals(mode.stop):
        async with written_to(output):
            try:
                for problem in client.settings.problems:
                    sys.stderr.write(f"{problem}\n")
                await mode.run(history=history, stay=stay, since=since)
            finally:
                await client.close()
