"""Commands about oneself and the others."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result, required
from chat_tui.text.addresses import parse_address
from chat_tui.wording import sentences as reports


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


ROWS: Final = (
    Command(("/connect",), "host:port", "dial somebody who is not found by itself", connect),
    Command(("/who", "/peers"), "", "who is here, and who was", who),
    Command(("/doctor",), "", "test network, port, clock and data; names the fix", doctor),
    Command(("/nick",), "name", "take another name", nick),
    Command(("/whoami",), "", "your name, key and address", whoami),
)
