"""Commands about oneself and the others."""

import re
from typing import Final

from chat_tui import reports
from chat_tui.chat import Chat
from chat_tui.commands.command import At, Command, Result, required
from sync.errors import LocalError

DEFAULT_PORT: Final = 46021
"""Where chats listen if nobody says otherwise (the default of `--port`)."""

PORT_MAX: Final = 65_535

ADDRESS: Final = re.compile(
    r"(?:\[(?P<bracketed>[^\s\[\]]+)\]|(?P<name>[^\s:\[\]]+))(?::(?P<port>[0-9]{1,5}))?"
    r"|(?P<bare>[0-9a-fA-F]*(?::[0-9a-fA-F]*){2,})"
)
"""A name or IPv4 address, or IPv6 in brackets, each with or without a port; or IPv6 alone."""


async def connect(chat: Chat, rest: str, _at: At) -> Result:
    """Dial a peer by address."""
    host, port = parse_address(required(rest, "/connect host:port"))
    await chat.connect(host, port)
    return Result(text=f"Connected to {host}, port {port}.")


async def who(chat: Chat, _rest: str, _at: At) -> Result:
    """List the peers."""
    return Result(text=reports.who(chat.snapshot()), action="peers")


async def nick(chat: Chat, rest: str, _at: At) -> Result:
    """Take another name."""
    await chat.rename(required(rest, "/nick and your new name"))
    return Result(text=f"You are {rest} from now on; what you wrote keeps its name.")


async def whoami(chat: Chat, _rest: str, _at: At) -> Result:
    """Say who we are."""
    return Result(text=reports.whoami(chat.snapshot()))


async def doctor(chat: Chat, _rest: str, _at: At) -> Result:
    """Test what the chat needs; a screen shows each finding as it comes."""
    del chat
    return Result(action="doctor")


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.

    Raises:
        LocalError: no host, or not a port number.
    """
    match = ADDRESS.fullmatch(text)
    port = int(match["port"] or DEFAULT_PORT) if match else 0
    if match is None or not 0 < port <= PORT_MAX:
        raise LocalError(
            f"{text!r} is no address. Write host:port, as in /connect 192.168.1.20:{DEFAULT_PORT}."
        )
    return match["bracketed"] or match["name"] or match["bare"], port


ROWS: Final = (
    Command(("/connect",), "host:port", "dial somebody who is not found by itself", connect),
    Command(("/who", "/peers"), "", "who is here, and who was", who),
    Command(("/doctor",), "", "test network, port, clock and data; names the fix", doctor),
    Command(("/nick",), "name", "take another name", nick),
    Command(("/whoami",), "", "your name, key and address", whoami),
)
