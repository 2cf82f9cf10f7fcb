"""The command that writes a channel to a file."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.commands.command import At, Command, Result
from chat_tui.debug.wording import file_named
from chat_tui.model import channel_file
from chat_tui.text.times import count
from chat_tui.wording import sentences
from sync.errors import LocalError

KINDS: Final = ("txt", "md", "jsonl")

USAGE: Final = (
    "Write /export txt, md or jsonl and the name of a new file, as in /export md plans.md"
)


async def export(chat: Chat, rest: str, at: At) -> Result:
    """Write the open channel to a new file."""
    info = channel_info(chat, at.channel)
    kind, _, name = rest.partition(" ")
    if kind.casefold() not in KINDS and not name:
        kind, name = rest.rpartition(".")[2], rest  # the ending says it too
    if kind.casefold() not in KINDS or not name.strip():
        raise LocalError(f"{USAGE}.")
    path = file_named(name.strip())
    title = sentences.channel_title(info)
    written = await channel_file.write(chat.history, info.channel, title, kind.casefold(), path)
    said = f"{count(written, 'message')} of {title} written to {path}."
    return Result(text=f"{said} It has what everybody wrote, in the clear.")


ROWS: Final = (
    Command(("/export",), "kind file", "write this channel to a txt, md or jsonl file", export),
)
