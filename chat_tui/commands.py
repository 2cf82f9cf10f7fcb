"""The /commands, the same on the screen and in line mode.

Rule: nothing that begins with a slash goes on the wire, except what begins with two of them.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeAlias

from chat_tui import protocol, reports
from chat_tui.chat import Chat
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.sds.message import Delivery
from sync.view import ChannelInfo, OutgoingInfo

DEFAULT_PORT: Final = 46021
"""Where chats listen if nobody says otherwise (the default of `--port`)."""

PORT_MAX: Final = 65_535

ADDRESS: Final = re.compile(
    r"(?:\[(?P<bracketed>[^\s\[\]]+)\]|(?P<name>[^\s:\[\]]+))(?::(?P<port>[0-9]{1,5}))?"
    r"|(?P<bare>[0-9a-fA-F]*(?::[0-9a-fA-F]*){2,})"
)
"""A name or IPv4 address, or IPv6 in brackets, each with or without a port; or IPv6 alone."""

NEAREST: Final = 3

NOWHERE: Final = "No channel is open. /join #lobby opens the one everybody shares."


@dataclass(frozen=True, slots=True)
class Result:
    """What a line did. `action` names what shows more than `text` on a screen, if anything does."""

    ok: bool = True
    text: str = ""
    channel: ChannelId | None = None
    """The channel to switch to."""
    quit: bool = False
    action: str | None = None


Run: TypeAlias = Callable[["Commands", str, ChannelId | None], Awaitable[Result]]
"""(commands, what stands after the command, the open channel) to what it did."""


@dataclass(frozen=True, slots=True)
class Command:
    """One row of the table; `usage` names what may follow the command."""

    names: tuple[str, ...]
    usage: str
    help: str
    run: Run


class Commands:
    """Runs what the person typed against `chat`."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def run(self, line: str, channel: ChannelId | None) -> Result:
        """Run a /command, or write anything else to `channel`.

        What the person did wrong comes back as a result that is not ok, with what to do.
        """
        try:
            if not is_command(line):
                doubled = line.lstrip().startswith("//")
                return await self._write(line.lstrip()[1:] if doubled else line, channel)
            word, _, rest = line.strip().partition(" ")
            command = BY_NAME.get(word.casefold())
            if command is None:
                return Result(ok=False, text=unknown(word))
            return await command.run(self, rest.strip(), channel)
        except LocalError as error:
            return Result(ok=False, text=str(error))

    def vocabulary(self) -> list[str]:
        """Return what Tab completes: commands, channels, and the names of peers."""
        snapshot = self._chat.snapshot()
        channels = [reports.channel_title(info) for info in snapshot.channels]
        nicks = [reports.name_of(snapshot, peer.peer) for peer in snapshot.peers]
        return [*BY_NAME, *channels, *dict.fromkeys(nicks)]

    async def _write(self, text: str, channel: ChannelId | None) -> Result:
        if channel is None:
            raise LocalError(NOWHERE)
        await self._chat.write(channel, text)
        return Result()

    def _channel(self, channel: ChannelId | None) -> ChannelInfo:
        info = reports.find(self._chat.snapshot(), channel)
        if info is None:
            raise LocalError(NOWHERE)
        return info

    # -- the commands, in the order of the table ----------------------------------------------

    async def help(self, rest: str, _channel: ChannelId | None) -> Result:
        """Say what there is, or how one command is used."""
        if not rest:
            return Result(text=help_text(), action="help")
        word = "/" + rest.removeprefix("/").casefold()
        if word not in BY_NAME:
            return Result(ok=False, text=unknown(word))
        return Result(text=help_line(BY_NAME[word]))

    async def join(self, rest: str, _channel: ChannelId | None) -> Result:
        """Join a channel by name or code and switch to it."""
        joined = await self._chat.join(_required(rest, "/join #name, or /join and an invite code"))
        info = self._channel(joined)
        return Result(
            text=f"You are in {reports.channel_title(info)}, {reports.openness(info)}.",
            channel=joined,
        )

    async def create(self, rest: str, _channel: ChannelId | None) -> Result:
        """Found a private channel and switch to it."""
        name = _required(rest, "/create name").removeprefix("#")
        created = await self._chat.create(name)
        title = reports.channel_title(self._channel(created))
        return Result(
            text=f"{title} is yours and private. /invite shows the code that lets others in.",
            channel=created,
        )

    async def channel(self, rest: str, _channel: ChannelId | None) -> Result:
        """Switch to a channel we are in."""
        wanted = "#" + _required(rest, "/channel #name").removeprefix("#").casefold()
        for info in self._chat.snapshot().channels:
            if reports.channel_title(info).casefold() == wanted:
                return Result(channel=info.channel)
        raise LocalError(f"You are not in {wanted}. /channels lists yours; /join {wanted} joins.")

    async def channels(self, _rest: str, _channel: ChannelId | None) -> Result:
        """List our channels."""
        return Result(text=reports.channels(self._chat.snapshot()))

    async def invite(self, _rest: str, channel: ChannelId | None) -> Result:
        """Show the code of the open channel."""
        info = self._channel(channel)
        title = reports.channel_title(info)
        if info.open:
            return Result(
                text=f"{title} is open to everybody on this network: /join {title} is enough."
            )
        code = self._chat.invite(info.channel)
        return Result(
            text=f"Whoever has this code can read {title} and write there; give it only to them:"
            f"\n\n/join {code}"
        )

    async def connect(self, rest: str, _channel: ChannelId | None) -> Result:
        """Dial a peer by address."""
        host, port = parse_address(_required(rest, "/connect host:port"))
        await self._chat.connect(host, port)
        return Result(text=f"Connected to {host}, port {port}.")

    async def who(self, _rest: str, _channel: ChannelId | None) -> Result:
        """List the peers."""
        return Result(text=reports.who(self._chat.snapshot()), action="peers")

    async def nick(self, rest: str, _channel: ChannelId | None) -> Result:
        """Take another name."""
        await self._chat.rename(_required(rest, "/nick and your new name"))
        return Result(text=f"You are {rest} from now on; what you wrote keeps its name.")

    async def typing(self, rest: str, _channel: ChannelId | None) -> Result:
        """Say whether others see that we type, and change it."""
        if rest.casefold() not in {"", "on", "off"}:
            raise LocalError("Write /typing on, or /typing off.")
        if rest:
            await self._chat.set_typing_notices(on=rest.casefold() == "on")
        if self._chat.typing_notices:
            return Result(text="Others see that you type. /typing off keeps it to yourself.")
        return Result(text="Nobody is told that you type. /typing on tells those who are here.")

    async def resend(self, rest: str, channel: ChannelId | None) -> Result:
        """Send an own message again: the one named, else the first that failed."""
        info = self._channel(channel)
        message_id = _to_resend(info, rest.casefold())
        await self._chat.resend(info.channel, message_id)
        return Result(text=f"Sent again: {reports.short_id(message_id)}.")

    async def missing(self, _rest: str, channel: ChannelId | None) -> Result:
        """Show what waits for what."""
        text = protocol.as_text(self._chat.snapshot(), self._channel(channel))
        return Result(text=text, action="open_debug")

    async def sync(self, _rest: str, channel: ChannelId | None) -> Result:
        """Reconcile with everybody here."""
        info = self._channel(channel)
        peers = await self._chat.sync(info.channel)
        if not peers:
            raise LocalError("Nobody is here to compare with; it happens by itself on a new link.")
        return Result(text=f"Comparing {reports.channel_title(info)} with {peers} of the others.")

    async def status(self, _rest: str, channel: ChannelId | None) -> Result:
        """Say how everything is."""
        snapshot = self._chat.snapshot()
        return Result(text=reports.status(snapshot, reports.find(snapshot, channel)))

    async def whoami(self, _rest: str, _channel: ChannelId | None) -> Result:
        """Say who we are."""
        return Result(text=reports.whoami(self._chat.snapshot()))

    async def quit(self, _rest: str, _channel: ChannelId | None) -> Result:
        """Leave."""
        return Result(quit=True)


def is_command(line: str) -> bool:
    """Whether a line is a /command; what begins with two slashes is a message."""
    begun = line.lstrip()
    return begun.startswith("/") and not begun.startswith("//")


def _required(rest: str, usage: str) -> str:
    if not rest:
        raise LocalError(f"Something is missing: write {usage}.")
    return rest


def _to_resend(info: ChannelInfo, prefix: str) -> MessageId:
    """Return the unacknowledged message meant; a failed one before one that is still tried.

    Or one that was set aside because our clock was wrong: that is written anew.

    Raises:
        LocalError: there is none, or the prefix fits several.
    """
    fitting = [outgoing for outgoing in info.outgoing if outgoing.message_id.startswith(prefix)]
    aside = [message_id for message_id in info.parked_own if message_id.startswith(prefix)]
    if aside and (not fitting or (prefix and len(aside) == 1)):
        return aside[0]
    if not fitting:
        what = f"No message of yours that begins with {prefix}" if prefix else "Nothing of yours"
        raise LocalError(f"{what} waits for an acknowledgement here; /missing lists what does.")
    if prefix and len(fitting) > 1:
        raise LocalError(f"{len(fitting)} messages begin with {prefix}; write more of the id.")

    def still_tried(outgoing: OutgoingInfo) -> bool:
        return outgoing.delivery is not Delivery.FAILED

    return min(fitting, key=still_tried).message_id


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


def unknown(word: str) -> str:
    """Return what to try instead of a command that does not exist."""
    nearest = get_close_matches(word.casefold(), BY_NAME, n=NEAREST, cutoff=0)
    return (
        f"There is no {word}. Did you mean {', '.join(nearest[:-1])} or {nearest[-1]}? "
        "/help lists all; // sends a line that begins with a slash."
    )


def help_line(command: Command) -> str:
    """Return how one command is used and what it does."""
    return f"{' or '.join(command.names)} {command.usage}".rstrip() + f": {command.help}"


def help_text() -> str:
    """Return all commands, one line each."""
    width = max(len(f"{command.names[0]} {command.usage}") for command in TABLE) + 2
    return "\n".join(
        f"{f'{command.names[0]} {command.usage}':<{width}}{command.help}" for command in TABLE
    )


TABLE: Final = (
    Command(("/help",), "[command]", "what there is, and how it is used", Commands.help),
    Command(("/join",), "#name or code", "join a channel and switch to it", Commands.join),
    Command(("/create",), "name", "found a private channel", Commands.create),
    Command(("/channel",), "#name", "switch to a channel you are in", Commands.channel),
    Command(("/channels",), "", "list your channels", Commands.channels),
    Command(("/invite",), "", "show the code of this channel, for others to join", Commands.invite),
    Command(
        ("/connect",), "host:port", "dial somebody who is not found by itself", Commands.connect
    ),
    Command(("/who", "/peers"), "", "who is here, and who was", Commands.who),
    Command(("/nick",), "name", "take another name", Commands.nick),
    Command(("/typing",), "[on or off]", "whether others see that you type", Commands.typing),
    Command(("/resend",), "[id]", "send a message again that nobody acknowledged", Commands.resend),
    Command(("/missing", "/buffers"), "", "what waits for what, and until when", Commands.missing),
    Command(("/sync",), "", "compare this channel with everybody here, now", Commands.sync),
    Command(("/status",), "", "how everything is, in a few sentences", Commands.status),
    Command(("/whoami",), "", "your name, key and address", Commands.whoami),
    Command(("/quit",), "", "leave; what is not out yet goes out next time", Commands.quit),
)

BY_NAME: Final = {name: command for command in TABLE for name in command.names}
