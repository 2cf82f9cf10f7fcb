"""Commands about oneself and the others."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result, lines_counted, required
from chat_tui.settings.schema import COLOUR, STATUS
from chat_tui.text.addresses import parse_address
from chat_tui.wording import person, sentences
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


TAKES_BACK: Final = frozenset({"-", '""', "''"})
"""Texts of /status and /topic that take back what was set."""


async def status(chat: Chat, rest: str, at: At) -> Result:
    """Say how everything is; with a text, set our status, and with - take it back."""
    if rest in TAKES_BACK:
        chat.settings.reset(STATUS)
        return Result(text="You have no status any more.")
    if rest:
        chat.settings.change(STATUS, STATUS.kind.parse(rest))
        away = " Until you are back from being away, the others see why you are."
        return Result(text=f"Your status is set; all see it.{away if chat.snapshot().away else ''}")
    snapshot = chat.snapshot()
    lines = [*person.disk_lines(snapshot, 0), *person.warning_lines(snapshot)]
    if (info := sentences.find(snapshot, at.channel)) is not None:
        info = await lines_counted(chat, info)
    lines.append(sentences.status(snapshot, info))
    if mine := chat.settings[STATUS]:
        lines.append(f"Your status: {mine}")
    return Result(text="\n".join(lines))


async def colour(chat: Chat, rest: str, _at: At) -> Result:
    """Choose the colour of our name; auto is the one that follows from our key."""
    if not rest:
        mine = chat.settings.shown(COLOUR)
        return Result(text=f"Your colour is {mine}. It may be {COLOUR.kind.expected}.")
    chat.settings.change(COLOUR, COLOUR.kind.parse(rest))
    return Result(text=f"Your colour is {chat.settings.shown(COLOUR)}; all see it.")


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
    Command(("/status",), "[text]", "how the chat is; with a text, your status", status),
    Command(("/colour", "/color"), "[name]", "choose the colour of your name", colour),
    Command(("/whoami",), "", "show your name, key and address", whoami),
)
