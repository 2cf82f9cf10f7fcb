"""Resolves the message that a command or a script names, by the beginning of its id."""

import re
from collections.abc import Sequence
from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.text.safe_text import clean_text
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.view.view import Line

ID_PREFIX: Final = re.compile(r"[0-9a-f]{4,64}")
"""Shorter ones fit too much, and could be times."""


async def line_named(chat: Chat, channel: ChannelId, prefix: str) -> Line:
    """Return the message of a channel whose id begins with `prefix`.

    Raises:
        LocalError: none does, or several do, or it is no id.
    """
    return await line_among(chat, [channel], prefix, "here")


async def line_among(
    chat: Chat, channels: Sequence[ChannelId], prefix: str, where: str = "in your channels"
) -> Line:
    """Return the message of some channels whose id begins with `prefix`.

    Raises:
        LocalError: none does, or several do, or it is no id; `where` says where that is so.
    """
    if not ID_PREFIX.fullmatch(prefix):
        raise LocalError(
            f"{clean_text(prefix)!r} is not a message id: type at least four characters of one. "
            "/search and /goto print ids before each message."
        )
    lines = [one for each in channels for one in await chat.history.named(each, prefix, limit=2)]
    if not lines:
        raise LocalError(
            f"No message {where} has an id that begins with {prefix}. "
            "One that is still on its way can be named once it has its place."
        )
    if len(lines) > 1:
        raise LocalError(f"Several messages begin with {prefix}; type more of the id.")
    return lines[0]
