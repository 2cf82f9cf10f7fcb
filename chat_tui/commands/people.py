"""Commands about oneself and the others."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result, required
from chat_tui.text.addresses import parse_address
from chat_tui.wording import sentences
from sync.errors import LocalError


async def connect(chat: Chat, rest: str, _at: At) -> Result:
    """Dial a peer by address."""
    host, port = parse_address(required(rest, "/connect host:port"))
    await chat.connect(host, port)
    return Result(text=f"Connected to {host}, port {port}.")


async def who(chat: Chat, _rest: str, _at: At) -> Result:
    """List the peers."""
    return Result(text=sentences.who(chat.snapshot()), action="peers")


async def nick(chat: Chat, rest: str, _at: At) -> Result:
    """Take another name."""
    await chat.rename(required(rest, "/nick and your new name"))
    return Result(text=f"Your name is now {rest}; earlier messages keep the old name.")


async def whoami(chat: Chat, _rest: str, _at: At) -> Result:
    """Say who we are."""
    return Result(text=sentences.whoami(chat.snapshot()))


DOCTOR: Final = {"": "doctor", "deep": "doctor('deep')", "stop": "doctor('stop')"}
"""Actions by what stands after the command."""


async def doctor(chat: Chat, rest: str, _at: At) -> Result:
    """Test what the chat needs, and deep: every stored message; findings are shown as they come."""
    del chat
    action = DOCTOR.get(rest.casefold())
    if action is None:
        raise LocalError("Write /doctor; /doctor deep reads every message; /doctor stop ends that.")
    return Result(action=action)


ROWS: Final = (
    Command(("/connect",), "host:port", "connect to an address by hand", connect),
    Command(("/who", "/peers"), "", "who is here, and who was here", who),
    Command(("/doctor",), "[deep]", "test network, port, clock, data; deep: messages", doctor),
    Command(("/nick",), "name", "take another name", nick),
    Command(("/whoami",), "", "show your name, key and address", whoami),
)
