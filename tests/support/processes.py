"""Real `plain --json` processes: start them, talk to them, wait for their events, end them.

Rules:
1. Nothing here sleeps: every wait is for an event, and a wait in vain shows what came instead.
2. A process is ended by whoever started it, by its own id, whatever the test does.
3. All knowledge about a process comes from its events; nobody looks into its files.
"""

import asyncio
import json
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

from tests.support.patience import PATIENCE_S

Event: TypeAlias = dict[str, Any]
"""One line of `plain --json`; `event` names its kind."""

Wanted: TypeAlias = str | Callable[[Event], bool]
"""The name of an event, or a question about one."""

ROOT = Path(__file__).parents[2]

LINE_MAX_BYTES = 4 * 1024 * 1024
"""A text of 64 KiB may become six times as long when JSON escapes every character."""

EVENTS_SHOWN = 30
STDERR_LINES_SHOWN = 40


def free_port() -> int:
    """A port of 127.0.0.1 that nobody has now, and that no chat takes by itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class Person:
    """A person who runs the program, with its options; the same person can run it again.

    `interface` and `port` are the program's own choice when None. `prefix` goes before the
    command, which is how it gets into a network namespace.
    """

    name: str
    data_dir: Path
    interface: str | None = None
    port: int | None = None
    channel: str | None = None
    prefix: tuple[str, ...] = ()

    def command(self, *words: str) -> list[str]:
        """The command line of subcommand and options `words` for this person's profile."""
        where = ["--profile", self.name, "--data-dir", str(self.data_dir)]
        channel = [] if self.channel is None else ["--channel", self.channel]
        return [*self.prefix, sys.executable, "-m", "chat_tui", *words, *where, *channel]

    def plain(self, *options: str) -> list[str]:
        """The command line of `plain --json` for this person."""
        interface = [] if self.interface is None else ["--interface", self.interface]
        port = [] if self.port is None else ["--port", str(self.port)]
        return self.command("plain", "--json", "--name", self.name, *interface, *port, *options)


class PlainProcess:
    """One `plain --json`, started on entry and certainly ended on exit.

    `seen` are all its events so far. `messages` (by id), `deliveries` (id to state) and `peers`
    (participant to state) are what these events add up to.
    """

    def __init__(self, person: Person, *options: str) -> None:
        self.person = person
        self.seen: list[Event] = []
        self.messages: dict[str, Event] = {}
        self.repeated: list[str] = []
        self.deliveries: dict[str, str] = {}
        self.peers: dict[str, str] = {}
        self._command = person.plain(*options)
        self._process: Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self._changed = asyncio.Condition()
        self._ended = False
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES_SHOWN)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=ROOT, limit=LINE_MAX_BYTES
        )
        reading = (self._read_events(), self._read_diagnostics())
        self._readers = [asyncio.create_task(each) for each in reading]
        try:
            await self.wait_for("ready", within_s=PATIENCE_S)
        except BaseException:
            await self.kill()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.kill()

    @property
    def participant(self) -> str:
        """Participant that this process reports to be."""
        return str(self.events("ready")[0]["participant"])

    @property
    def channel(self) -> str:
        """The channel it opened with."""
        return str(self.events("ready")[0]["channel"])

    @property
    def port(self) -> int:
        """Its TCP port."""
        return int(self.events("ready")[0]["port"])

    @property
    def peers_up(self) -> set[str]:
        """The participants it says it is connected with."""
        return {participant for participant, state in self.peers.items() if state == "up"}

    @property
    def own(self) -> list[Event]:
        """Its own messages, in the order it showed them as sent."""
        return [message for message in self.messages.values() if message["own"]]

    def events(self, name: str) -> list[Event]:
        """All events of that name so far."""
        return [event for event in self.seen if event["event"] == name]

    def mark(self) -> int:
        """Now, as a number for `since`."""
        return len(self.seen)

    async def send(self, *lines: str) -> None:
        """Type these lines, each a message or a command."""
        assert not any("\n" in line for line in lines)
        stdin = self._stdin
        stdin.write("".join(f"{line}\n" for line in lines).encode())
        try:
            await stdin.drain()
        except ConnectionError:
            raise AssertionError(self._report("no longer reads its input")) from None

    async def say(self, *texts: str) -> list[Event]:
        """Write these messages and wait until each is shown as sent, which is: committed."""
        since = self.mark()
        await self.send(*texts)
        return [await self.wait_for("message", own=True, text=text, since=since) for text in texts]

    async def ask(self, command: str) -> Event:
        """Type a /command and wait for its result."""
        since = self.mark()
        await self.send(command)
        return await self.wait_for("result", since=since)

    async def wait_for(
        self, wanted: Wanted, *, since: int = 0, within_s: float = PATIENCE_S, **fields: object
    ) -> Event:
        """The first event from `since` on that is `wanted` and has these fields.

        Raises:
            AssertionError: none came within `within_s` seconds, or the process ended first.
        """
        matching = self._search(wanted, since, fields)
        await self.until(lambda: bool(matching()), f"{wanted} {fields}", within_s=within_s)
        return matching()[0]

    async def never(
        self, wanted: Wanted, *, since: int = 0, for_s: float, **fields: object
    ) -> None:
        """Watch for `for_s` seconds that no such event comes, nor has come from `since` on.

        Raises:
            AssertionError: one came, or the process ended.
        """
        matching = self._search(wanted, since, fields)
        came = await self._comes_true(lambda: bool(matching()), within_s=for_s)
        assert not came, self._report(f"must not happen: {matching()}")

    async def until(
        self, holds: Callable[[], bool], meaning: str, *, within_s: float = PATIENCE_S
    ) -> None:
        """Wait until `holds`, looked at after every event.

        Raises:
            AssertionError: it did not within `within_s` seconds, or the process ended first.
        """
        came = await self._comes_true(holds, within_s=within_s)
        assert came, self._report(f"not within {within_s:.1f} s: {meaning}")

    def stop(self) -> None:
        """Freeze it (SIGSTOP)."""
        self._running.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after `stop`."""
        self._running.send_signal(signal.SIGCONT)

    async def kill(self) -> None:
        """End it as a power cut would (SIGKILL); what it had printed by then is still read."""
        if self._running.returncode is None:
            self._running.kill()
        await self._collect()

    async def close(self) -> int:
        """End its input, as a person who leaves, and return its exit code."""
        self._stdin.close()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._running.wait()
        except TimeoutError:
            message = f"runs on {PATIENCE_S} s after the end of its input"
            raise AssertionError(self._report(message)) from None
        return await self._collect()

    @property
    def _running(self) -> Process:
        assert self._process is not None, "a PlainProcess is started by `async with`"
        return self._process

    @property
    def _stdin(self) -> asyncio.StreamWriter:
        stdin = self._running.stdin
        assert stdin is not None
        return stdin

    async def _collect(self) -> int:
        code = await self._running.wait()
        await asyncio.gather(*self._readers)
        return code

    async def _read_events(self) -> None:
        stdout = self._running.stdout
        assert stdout is not None
        try:
            async for line in stdout:
                event = self._parse(line)
                async with self._changed:
                    self._take(event)
                    self._changed.notify_all()
        finally:
            async with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _parse(self, line: bytes) -> Event:
        try:
            event: Event = json.loads(line)
        except ValueError:
            raise AssertionError(f"{self.person.name} printed no event: {line!r}") from None
        return event

    def _take(self, event: Event) -> None:
        self.seen.append(event)
        if event["event"] == "message":
            if event["id"] in self.messages:
                self.repeated.append(event["id"])
            self.messages[event["id"]] = event
        elif event["event"] == "delivery":
            self.deliveries[event["id"]] = event["state"]
        elif event["event"] == "peer":
            self.peers[event["participant"]] = event["state"]

    async def _read_diagnostics(self) -> None:
        stderr = self._running.stderr
        assert stderr is not None
        async for line in stderr:
            self._stderr.append(line.decode(errors="replace").rstrip())

    def _search(
        self, wanted: Wanted, since: int, fields: dict[str, object]
    ) -> Callable[[], list[Event]]:
        """A question that reads each event once, however often it is asked."""
        found: list[Event] = []
        unread = since

        def matches(event: Event) -> bool:
            named = event["event"] == wanted if isinstance(wanted, str) else wanted(event)
            return named and all(event.get(key) == value for key, value in fields.items())

        def matching() -> list[Event]:
            nonlocal unread
            found.extend(event for event in self.seen[unread:] if matches(event))
            unread = len(self.seen)
            return found

        return matching

    async def _comes_true(self, holds: Callable[[], bool], *, within_s: float) -> bool:
        try:
            async with asyncio.timeout(within_s), self._changed:
                await self._changed.wait_for(lambda: holds() or self._ended)
        except TimeoutError:
            return holds()
        if not holds():
            raise AssertionError(self._report("ended, or printed a line that is no event"))
        return True

    def _report(self, what: str) -> str:
        events = [json.dumps(event, ensure_ascii=False) for event in self.seen[-EVENTS_SHOWN:]]
        head = [f"{self.person.name}: {what}", f"the last of {len(self.seen)} events:"]
        return "\n".join([*head, *events, "the end of stderr:", *self._stderr])


@dataclass(frozen=True, slots=True)
class Finished:
    """Exit code and output of a command that ended by itself."""

    code: int
    stdout: str
    stderr: str


async def run(command: Sequence[str], *, said: str = "", within_s: float = PATIENCE_S) -> Finished:
    """Run a command line to its end, with `said` as its input.

    Raises:
        AssertionError: it ran longer than `within_s` seconds; it has been ended.
    """
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=ROOT, limit=LINE_MAX_BYTES
    )
    try:
        async with asyncio.timeout(within_s):
            stdout, stderr = await process.communicate(said.encode())
    except TimeoutError:
        raise AssertionError(f"runs longer than {within_s} s: {' '.join(command)}") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert process.returncode is not None
    return Finished(process.returncode, stdout.decode(), stderr.decode())


async def everyone_sees_everyone(
    processes: Sequence[PlainProcess], *, within_s: float = PATIENCE_S
) -> None:
    """Wait until each process is connected with every other one."""
    participants = {process.participant for process in processes}
    assert len(participants) == len(processes)

    async def sees_the_others(process: PlainProcess) -> None:
        others = participants - {process.participant}
        await process.until(
            lambda: others <= process.peers_up, "connected with everybody", within_s=within_s
        )

    await asyncio.gather(*(sees_the_others(process) for process in processes))


def log(process: PlainProcess, channel: str | None = None) -> list[tuple[int, str, str]]:
    """(lamport, id, text) of what it showed in `channel` (its first one), in log order."""
    assert not process.repeated, f"{process.person.name} showed twice: {process.repeated}"
    channel = channel or process.channel
    return sorted(
        (message["lamport"], message["id"], message["text"])
        for message in process.messages.values()
        if message["channel"] == channel
    )


def texts(process: PlainProcess, channel: str | None = None) -> list[str]:
    """The texts of `log`."""
    return [text for _, _, text in log(process, channel)]


async def equal_logs(
    processes: Sequence[PlainProcess], *, within_s: float = PATIENCE_S
) -> list[str]:
    """Wait until nobody lacks a message that another has shown; return the texts of all.

    Raises:
        AssertionError: somebody still lacks one after `within_s` seconds, or logs with the same
            messages differ.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    while len({frozenset(process.messages) for process in processes}) > 1:
        known = {message for process in processes for message in process.messages}
        for process in processes:
            await process.until(
                lambda: known <= process.messages.keys(),  # noqa: B023  awaited in the same round
                f"{len(known)} messages that somebody has",
                within_s=max(0.0, deadline - loop.time()),
            )
    expected = log(processes[0])
    for process in processes[1:]:
        assert log(process) == expected
    return [text for _, _, text in expected]
