"""A /command, its context and its result, with the helpers that all commands share."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from chat_tui.client.chat import Chat
from sync.errors import ChatError, LocalError, StorageError
from sync.machine import ChannelId, MessageId
from sync.view.view import ChannelInfo, Line, Snapshot

if TYPE_CHECKING:
    from chat_tui.model.command_findings import Found


class Result(Struct, frozen=True):
    """Result of an input line. `action` names the view that shows more than `text`, if any does."""

    ok: bool = True
    text: str = ""
    channel: ChannelId | None = None
    """The channel to switch to."""
    quit: bool = False
    action: str | None = None
    draft: str = ""
    """Text that a screen puts into the input, to be changed and sent."""
    found: "Found | None" = None
    """Text that a screen shows instead of `text`."""
    wrote: bool = False
    """True if a line was written in that channel: a script need not go there."""
    took_up: Line | None = None
    """A message that was acted on without going there, such as an invitation."""
    again: int = 0
    """Number of the last messages that line mode prints again."""
    then: Callable[[Snapshot], str | None] | None = None
    """Says what a screen is to show instead of `text` now; empty while that still holds, None once
    it does not and there is nothing to say instead."""
    refused_by_disk: bool = False
    """Whether it is not ok because the disk took no change."""


def refused(error: ChatError) -> Result:
    """Return the result of a line that could not be written, or a command that was not done."""
    return Result(ok=False, text=str(error), refused_by_disk=isinstance(error, StorageError))


class At(Struct, frozen=True):
    """Context of a command: the open channel and the position of the cursor."""

    channel: ChannelId | None
    """The open channel."""
    selected: MessageId | None = None
    """The message the cursor is on; None in line mode, and while nothing is selected."""
    on_gap: bool = False
    """Whether the cursor is on a line that stands for missing messages: those before `selected`,
    or those that others wait for."""
    answers: MessageId | None = None
    """The message that a text answers, where a script names one."""


async def lines_counted(chat: Chat, info: ChannelInfo) -> ChannelInfo:
    """Return a channel with the number of its lines: that of memory has edits and reactions too.

    A disk that cannot be read leaves that number; what it refuses is said elsewhere.
    """
    with suppress(StorageError):
        return replace(info, messages=await chat.history.count(info.channel))
    return info


Run: TypeAlias = Callable[[Chat, str, At], Awaitable[Result]]
"""(chat, what stands after the command, where) to what it did."""


class Command(Struct, frozen=True):
    """One row of the table; `usage` names what may follow the command."""

    names: tuple[str, ...]
    usage: str
    help: str
    run: Run


def required(rest: str, usage: str) -> str:
    """Return what stands after a command.

    Raises:
        LocalError: nothing does.
    """
    if not rest:
        raise LocalError(f"Something is missing: write {usage}.")
    return rest
