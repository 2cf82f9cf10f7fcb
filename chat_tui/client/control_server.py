"""`send`, `tail` and `status`: what scripts ask of a chat, whether it is open already or not.

An open chat answers on a unix socket in its profile, one JSON object a line: a request, then
answers. Only the owner can reach it: the socket is 0600 in a 0700 directory.
"""

import asyncio
import errno
import json
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Final

from chat_tui.client.channel_names import channel_for
from chat_tui.client.control_client import REQUEST_MAX
from chat_tui.client.live import Client
from chat_tui.client.message_names import line_among, line_named
from chat_tui.wording.json_events import (
    Json,
    Namer,
    aged,
    dumps,
    message,
    snapshot,
    state_events,
    to_json,
)
from chat_tui.wording.replies import quote
from chat_tui.wording.sentences import find
from sync.errors import ChatError, LocalError, StorageError
from sync.machine import ChannelId, MessageId, PeerId
from sync.sds.message import Delivery
from sync.view.view import DeliveryShown, Event, Line, OpShown, StateShown

WAIT_MAX_S: Final = 86_400.0
"""Longest wait for an acknowledgement, a day: nobody waits for such a script any more."""

HISTORY_MAX: Final = 1_000_000
"""Messages of before that `tail` gives at most."""

CONNECTIONS_MAX: Final = 16
REFUSED_MAX: Final = 16
"""Scripts beyond those that are told so; any more are hung up on."""
FULL: Final = f"{CONNECTIONS_MAX} scripts ask the open chat already: end one, or try again later."
REQUEST_WITHIN_S: Final = 30.0
"""Until a script has said what it asks; one that was stopped before that keeps no place."""
LOOK_S: Final = 1.0
"""Seconds between looks at whether a script is still there."""

SURROGATE: Final = re.compile("[\ud800-\udfff]")

NO_ROOM: Final = frozenset({errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT})
"""The system's words for a disk that takes no new file."""

EVENTS_MAX: Final = 10_000
"""Events kept for a reader that does not read; then it is told so and let go."""
TOO_SLOW: Final = "Over {:,} events waited to be read: what came after them is not shown."


async def answer(client: Client, request: Json) -> AsyncGenerator[Json, None]:
    """Do what `request` asks; yields the answers.

    Raises:
        LocalError: it cannot be done; says what to do.
    """
    match request:
        case {
            "do": "send" | "reply" as what,
            "text": str(text),
            "wait": int() | float() as wait,
        } if 0 <= wait <= WAIT_MAX_S and is_text(text):
            name, joins = request.get("channel"), request.get("join", True)
            if what == "reply":
                answered = await _answered(client, name, request.get("reply_to"))
                channel, answers = answered.channel, answered.message_id
            else:
                channel = await _channel_to_write(client, name, joins=bool(joins))
                answers = None
            async for reply in _send(client, channel, text, wait, answers):
                yield reply
        case {"do": "tail", "history": int(history)} if 0 <= history <= HISTORY_MAX:
            before = {one.channel for one in client.memberships}
            channel = await _channel(client, request.get("channel"))
            if channel not in before:
                yield {"event": "joined", "channel": Namer(client.snapshot)(channel)}
            async for reply in _tail(client, channel, history):
                yield reply
        case {"do": "mend"}:
            yield {"event": "mended", "lost": sorted(await client.mend())}
        case {"do": "set aside", "messages": list(messages)}:
            await client.set_aside(_places(messages))
            yield {"event": "set aside"}
        case {"do": "status"}:
            shown = _shown(client)
            with suppress(StorageError):  # what the disk refuses is among what is shown
                await _count_lines(client, shown)
            yield {**shown, "running": True}
        case _:
            raise LocalError("The open chat does not know this request; it is an older version.")


def is_text(text: str) -> bool:
    """Return whether a text can be written in UTF-8: halves of surrogate pairs cannot."""
    return not SURROGATE.search(text)


def _places(messages: Sequence[object]) -> list[tuple[bytes, bytes]]:
    """Return channels and ids that a request names in hexadecimal characters.

    Raises:
        ValueError: it does not.
    """
    places: list[tuple[bytes, bytes]] = []
    for one in messages:
        match one:
            case [str(channel), str(stored_id)]:
                places.append((bytes.fromhex(channel), bytes.fromhex(stored_id)))
            case _:
                raise ValueError("not a channel or a message")
    return places


async def offline_status(client: Client) -> Json:
    """Return what the disk alone knows: nobody has this profile open."""
    shown = _shown(client)
    await _count_lines(client, shown)
    return {**shown, "running": False}


def _shown(client: Client) -> Json:
    return snapshot(client.snapshot(), Namer(client.snapshot))


async def _count_lines(client: Client, shown: Json) -> None:
    """Put the lines of each channel in: edits and reactions, which memory counts too, are none."""
    for info in shown["channels"]:
        info["messages"] = await client.history.count(info["id"])


async def _channel(client: Client, name: object) -> ChannelId:
    if isinstance(name, str) and is_text(name):
        if name.startswith("@"):
            return await channel_for(client, name)
        return await client.memberships.enter(name)
    if name is not None:
        raise LocalError("That is not a channel name.")
    assert client.first_channel is not None
    return client.first_channel


async def _channel_to_write(client: Client, name: object, *, joins: bool) -> ChannelId:
    """Return the channel of a name; of `@bob` that of two. One we are not in is joined if asked."""
    if not isinstance(name, str) or not is_text(name) or joins:
        return await _channel(client, name)
    try:
        return await channel_for(client, name)
    except LocalError:
        if name.startswith("@"):
            raise
    raise LocalError(f"You are not in {name}: --join joins it, if it is open. Nothing was sent.")


async def _answered(client: Client, name: object, wanted: object) -> Line:
    """Return the message that a reply answers: of the channel that is named, else of any of ours.

    Raises:
        LocalError: no single one is meant.
    """
    if not isinstance(wanted, str) or not is_text(wanted):
        raise LocalError("That is not the id of a message.")
    prefix = wanted.strip().casefold()
    if name is None:
        ours = [info.channel for info in client.snapshot().channels]
        return await line_among(client, ours, prefix)
    channel = await _channel_to_write(client, name, joins=False)
    return await line_named(client, channel, prefix)


async def _send(
    client: Client, channel: ChannelId, text: str, wait: float, answers: MessageId | None
) -> AsyncGenerator[Json, None]:
    """Write, then wait `wait` seconds for the acknowledgement; the last answer has the state."""
    name = Namer(client.snapshot)
    states: dict[str, Delivery] = {}
    changed = asyncio.Event()

    def listen(event: Event) -> None:
        if isinstance(event, DeliveryShown):
            states[event.message_id] = event.delivery
            changed.set()

    leave = client.subscribe(listen)
    try:
        message_id = await client.send_text(channel, text, answers)
        state = Delivery.UNACKNOWLEDGED
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                while state is not Delivery.ACKNOWLEDGED:
                    await changed.wait()
                    changed.clear()
                    state = states.get(message_id, state)
        yield {
            "event": "delivery",
            "channel": name(channel),
            "id": message_id,
            "state": state.value,
        }
    finally:
        leave()


async def _tail(client: Client, channel: ChannelId, history: int) -> AsyncGenerator[Json, None]:
    """Yield the last `history` messages, then every event as it comes."""
    name, book = Namer(client.snapshot), client.people.book
    news = _News()

    def listen(event: Event) -> None:
        name.note_event(event)
        shown = to_json(event, name)
        told: list[Json | None] = [shown and aged(shown, client.snapshot().now)]
        if isinstance(event, StateShown):
            info = find(client.snapshot(), event.channel)
            told = [] if info is None else [*state_events(event, info.state, name)]
        for shown in told:
            if shown is not None and shown.get("channel", name(channel)) == name(channel):
                news.put(shown)

    async def told(author: PeerId, nick: str, reply_to: MessageId | None) -> Json:
        """Return what a reader without our names and our disk has to be told besides."""
        shown = {"called": book.names.called(author, nick)}
        if reply_to is None:
            return shown
        answered = await client.history.answered(channel, [reply_to])
        return {**shown, "quote": quote(answered[reply_to], book.names.called)}

    leave = client.subscribe(listen)
    try:
        lines = await client.history.page(channel, before=None, limit=history) if history else []
        shown_ids = {line.message_id for line in lines}
        for line in lines:
            book.names.hear(line.author, line.nick)
        for line in lines:
            if line.act is not None and (act := to_json(OpShown(line), name)) is not None:
                yield act
                continue
            yield {**aged(message(line, name)), **await told(line.author, line.nick, line.reply_to)}
        while True:
            event = await news.next()
            if event["event"] != "message":
                yield event
            elif event["id"] not in shown_ids:
                about = (event["author"], event["nick"], event["reply_to"])
                yield {**event, **await told(*about)}
    finally:
        leave()


class _News:
    """Events on their way to a reader."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Json] = asyncio.Queue(EVENTS_MAX)
        self._over = False

    def put(self, event: Json) -> None:
        """Take an event; where too many wait, this one and all after it are left out."""
        self._over |= self._waiting.full()
        if not self._over:
            self._waiting.put_nowait(event)

    async def next(self) -> Json:
        """Return the next event, once there is one.

        Raises:
            LocalError: some were left out from here on.
        """
        if self._over and self._waiting.empty():
            raise LocalError(TOO_SLOW.format(EVENTS_MAX))
        return await self._waiting.get()


@asynccontextmanager
async def serving(client: Client) -> AsyncIterator[None]:
    """Answer on the profile's socket inside the `with` block."""
    path = client.profile.socket
    before = os.umask(0o177)
    scripts = _Server(client)
    try:
        path.unlink(missing_ok=True)  # left by a crash: by the profile's lock nobody is there
        server = await asyncio.start_unix_server(scripts.serve, path=path, limit=REQUEST_MAX)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise LocalError(
                f"The control socket {path} cannot be made ({error.strerror or error}): move away "
                "what is there."
            ) from error
        server = None  # the chat goes on; scripts are told that it does not answer
    finally:
        os.umask(before)
    try:
        yield
    finally:
        if server is not None:
            server.close()
            with suppress(OSError):  # the disk may have become read-only meanwhile
                path.unlink(missing_ok=True)
        await scripts.end()


class _Server:
    """Serves a few scripts at a time, in the order in which they come."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._served: set[asyncio.Task[None]] = set()
        self._refused: set[asyncio.Task[None]] = set()

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, tell that there is no place, or hang up.

        No coroutine, of which `asyncio` would print where it was when the chat ended.
        """
        if len(self._served) < CONNECTIONS_MAX:
            places = self._served
        elif len(self._refused) < REFUSED_MAX:
            places = self._refused
        else:
            writer.close()
            return
        answering = self._answer(reader, writer, is_refused=places is self._refused)
        task = asyncio.get_running_loop().create_task(answering)
        places.add(task)
        task.add_done_callback(places.remove)

    async def end(self) -> None:
        """Hang up on everybody."""
        tasks = self._served | self._refused
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_refused: bool
    ) -> None:
        try:
            async with asyncio.timeout(REQUEST_WITHIN_S):
                line = await reader.readline()
            request = json.loads(line)
            if is_refused:
                raise LocalError(FULL)
            async with _heard(reader), aclosing(answer(self._client, request)) as replies:
                async for reply in replies:
                    writer.write(dumps(reply).encode() + b"\n")
                    await writer.drain()
        except ChatError as error:
            self._refuse(writer, str(error))
        except (ValueError, RecursionError):
            self._refuse(writer, f"The open chat takes one JSON object of {REQUEST_MAX >> 10} KiB.")
        except OSError:
            return  # the script is gone, or asks nothing
        finally:
            writer.close()

    def _refuse(self, writer: asyncio.StreamWriter, sentence: str) -> None:
        refused = {"event": "error", "message": sentence, "refused": True}
        writer.write(dumps(refused).encode() + b"\n")


@asynccontextmanager
async def _heard(reader: asyncio.StreamReader) -> AsyncIterator[None]:
    """Give up what is done inside the `with` block once the script has hung up.

    Where nothing happens nothing is written, and who is gone would not be missed: its place, one of
    few, would stay taken.

    Raises:
        TimeoutError: it was given up.
    """
    loop = asyncio.get_running_loop()
    next_look: asyncio.TimerHandle

    def look() -> None:
        nonlocal next_look
        if reader.at_eof() or reader.exception() is not None:
            until.reschedule(loop.time())
        else:
            next_look = loop.call_later(LOOK_S, look)

    async with asyncio.timeout(None) as until:
        next_look = loop.call_later(LOOK_S, look)
        try:
            yield
        finally:
            next_look.cancel()
