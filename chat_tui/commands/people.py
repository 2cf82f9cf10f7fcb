"""Commands about oneself and the others."""

from typing import Final

from chat_tui import reports
from chat_tui.addresses import parse_address
from chat_tui.chat import Chat
from chat_tui.commands.command import At, Command, Result, required


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


ROWS: Final = (
    Command(("/connect",), "host:port", "dial somebody who is not found by itself", connect),
    Command(("/who", "/peers"), "", "who is here, and who was", who),
    Command(("/nick",), "name", "take another name", nick),
    Command(("/whoami",), "", "your name, key and address", whoami),
)
