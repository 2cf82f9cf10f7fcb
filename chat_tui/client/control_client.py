"""Asks the chat that is open on another terminal, over its control socket."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Final

from chat_tui.text.safe_text import clean_text
from chat_tui.wording.json_events import Json, dumps
from sync.errors import LocalError

REQUEST_MAX: Final = 256 * 1024
"""Bytes of a request: the longest text, escaped."""

STARTING_S: Final = 30.0
"""Until an open chat answers, which may be loading; beyond what it was asked to wait."""


HUNG_UP: Final = "The chat with this profile hung up: it has ended, or too many scripts ask it."
MAY_BE_WRITTEN: Final = (
    f"{HUNG_UP} What you sent may be written all the same: look with `chat-tui tail` before you "
    "send it again."
)


class NotReachedError(LocalError):
    """Whoever has the profile open takes no requests: it starts, ends, or is such a script."""


async def ask(
    path: Path, request: Json, reached: Callable[[], None] | None = None
) -> AsyncGenerator[Json, None]:
    """Ask the chat that is open on another terminal; `reached` is called once that takes requests.

    Raises:
        NotReachedError: it takes no requests, now.
        LocalError: it does not answer, or refused; says why.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=4 * REQUEST_MAX)
    except OSError as error:
        raise NotReachedError(
            "The chat with this profile is just starting or ending, or another script waits with "
            "it; try again in a moment."
        ) from error
    try:
        if reached is not None:
            reached()
        writer.write(dumps(request).encode() + b"\n")
        # Others take as long as there are news, or messages to mend.
        is_quick = request["do"] in {"send", "reply", "status"}
        patience = STARTING_S + float(request.get("wait", 0)) if is_quick else None
        answered = False
        while line := await _line(reader, patience):
            reply, answered = _reply(line), True
            # Errors of the chat itself are news that `tail` shows.
            if reply["event"] == "error" and (request["do"] != "tail" or reply.get("refused")):
                raise LocalError(clean_text(str(reply.get("message"))))
            yield reply
        if not answered and request["do"] in {"send", "reply"}:
            raise LocalError(MAY_BE_WRITTEN)
        if not answered or request["do"] == "tail":  # nobody ends that one but the chat
            raise LocalError(HUNG_UP)
    finally:
        writer.close()


async def _line(reader: asyncio.StreamReader, patience: float | None) -> bytes:
    """Return the next line of an open chat; nothing if it has hung up.

    Raises:
        LocalError: it says nothing for `patience` seconds, or what no chat says.
    """
    try:
        async with asyncio.timeout(patience):
            return await reader.readline()
    except TimeoutError:
        raise LocalError("The chat with this profile does not answer; is it stopped?") from None
    except ValueError:
        raise strange_answer() from None
    except OSError:
        return b""  # it has ended


def _reply(line: bytes) -> Json:
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        raise strange_answer() from None
    if not isinstance(reply, dict) or not isinstance(reply.get("event"), str):
        raise strange_answer()
    return reply


def strange_answer() -> LocalError:
    """Return what to say of an answer that makes no sense."""
    return LocalError(
        "The program that has this profile open gave an "
        "unknown answer: close the open chat, and start it again."
    )
