"""All /commands in one table, and the one place that runs a line.

Rule: nothing that begins with a slash goes on the wire, except what begins with two of them.
"""

from difflib import get_close_matches
from typing import Final

from chat_tui.client.chat import NOWHERE, Chat
from chat_tui.commands import (
    channels,
    clock,
    debug,
    demo,
    direct,
    editing,
    exporting,
    finding,
    forgetting,
    gaps,
    inviting,
    membership,
    people,
    reading,
    replying,
    settings,
    state,
    stats,
    sync,
    trust,
    writing,
)
from chat_tui.commands.command import At, Command, Result, refused
from chat_tui.commands.familiar_names import OF_OTHERS
from chat_tui.text.slash import is_command, text_of
from chat_tui.wording import membership as membership_words
from chat_tui.wording import rights, sentences
from sync.errors import LocalError

NEAREST: Final = 3


class Commands:
    """Runs what the person typed against `chat`."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def run(self, line: str, at: At) -> Result:
        """Run a /command, or write anything else to the open channel.

        A mistake of the person comes back as a result that is not ok and says what to do.
        """
        try:
            if not is_command(line):
                return await self._write(text_of(line), at)
            word, _, rest = line.strip().partition(" ")
            command = BY_NAME.get(word.casefold())
            if command is None:
                return Result(ok=False, text=unknown(word))
            return await command.run(self._chat, rest.strip(), at)
        except rights.NotAllowedError as error:
            then = rights.as_long_as_now(self._chat.snapshot(), at.channel)
            return Result(ok=False, text=str(error), then=then)
        except LocalError as error:
            return refused(error)

    def vocabulary(self) -> list[str]:
        """Return what Tab completes: commands, channels, and the names of peers and members."""
        snapshot = self._chat.snapshot()
        titles = [sentences.channel_title(info) for info in snapshot.channels]
        nicks = [sentences.name_of(snapshot, peer.peer) for peer in snapshot.peers]
        for info in snapshot.channels:
            if info.governance is not None:
                nicks += membership_words.names(snapshot, info.governance)
        return [*BY_NAME, *titles, *dict.fromkeys(nicks)]

    async def _write(self, text: str, at: At) -> Result:
        if at.channel is None:
            raise LocalError(NOWHERE)
        await self._chat.send_text(at.channel, text, at.answers)
        return Result(wrote=True)


async def show_help(_chat: Chat, rest: str, _at: At) -> Result:
    """Say what there is, or how one command is used."""
    if not rest:
        return Result(text=help_text(), action="help")
    word = "/" + rest.removeprefix("/").casefold()
    if word not in BY_NAME:
        return Result(ok=False, text=unknown(word))
    return Result(text=help_line(BY_NAME[word]))


async def leave(_chat: Chat, _rest: str, _at: At) -> Result:
    """Leave."""
    return Result(quit=True)


def unknown(word: str) -> str:
    """Return what to try instead of a command that does not exist."""
    wanted = word.casefold()
    begun = [name for name in BY_NAME if name.startswith(wanted) or wanted.startswith(name)]
    begun.sort(key=lambda name: -min(len(name), len(wanted)))  # what they share counts
    close = get_close_matches(wanted, BY_NAME, n=2 * NEAREST, cutoff=0)
    known = [OF_OTHERS[wanted]] if wanted in OF_OTHERS else []
    nearest = list(dict.fromkeys([*known, *begun, *close]))[:NEAREST]
    return (
        f"Unknown command {word}. Did you mean {', '.join(nearest[:-1])} or {nearest[-1]}? "
        "/help lists all; // sends a line that begins with a slash."
    )


def help_line(command: Command) -> str:
    """Return how one command is used and what it does."""
    return f"{' or '.join(command.names)} {command.usage}".rstrip() + f": {command.help}"


def help_text() -> str:
    """Return all commands, one line each, in groups."""
    width = max(len(f"{command.names[0]} {command.usage}") for command in TABLE) + 2
    lines: list[str] = []
    for title, commands in GROUPS:
        lines.append(f"{title.upper()}:")
        lines += [
            f"{f'{command.names[0]} {command.usage}':<{width}}{command.help}"
            for command in commands
        ]
    return "\n".join(lines)


HELP: Final = Command(("/help",), "[command]", "list all commands", show_help)
QUIT: Final = Command(("/quit",), "", "quit; unsent messages go out next time", leave)

GROUPS: Final[tuple[tuple[str, tuple[Command, ...]], ...]] = (
    ("begin and end", (HELP, QUIT)),
    ("channels and their members", (*channels.ROWS, *inviting.ROWS, *membership.ROWS)),
    ("people", (*people.ROWS, *direct.ROWS, *trust.ROWS, *forgetting.ROWS)),
    ("write and change", (*writing.ROWS, *replying.ROWS, *editing.ROWS, *state.ROWS)),
    ("read, search, export", (*finding.ROWS, *reading.ROWS, *gaps.ROWS, *exporting.ROWS)),
    ("sync and the clock", (*sync.ROWS, *clock.ROWS)),
    ("settings", (*settings.ROWS,)),
    ("look into the protocol", (*debug.ROWS, *stats.ROWS, *demo.ROWS)),
)
"""All commands, by what they are for: as the help lists them."""

TABLE: Final = tuple(command for _, commands in GROUPS for command in commands)

BY_NAME: Final = {name: command for command in TABLE for name in command.names}
