"""Invitations in messages: the code or open channel that one names, and the words around it.

Rule: nobody enters a channel because of what somebody wrote; one key or command says that one does.
"""

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from chat_tui.text.safe_text import clean_text
from sync.errors import LocalError

PREFIX: Final = "chat1-"
"""Beginning of every code, as `sync.net.invite` has it, which a first paint needs none of."""

CODE: Final = re.compile(rf"\b{PREFIX}[a-z2-7]{{16,400}}")
OPEN: Final = re.compile(r"/join (#[^\s#,;:]{1,32})")
DAMAGED: Final = "a channel"
"""Said where a code cannot be read; who tries it is told why."""


class Offer(Struct, frozen=True):
    """The channel that a message invites to."""

    way_in: str
    """The words that `/join` takes."""
    title: str
    """Name of the channel; safe to show."""


@lru_cache(maxsize=1024)
def offered(text: str) -> Offer | None:
    """Return what a text invites to, its first code before any open channel; None for most."""
    if PREFIX in text and (found := CODE.search(text)) is not None:
        return Offer(found[0], _title(found[0]))
    if "/join #" in text and (opened := OPEN.search(text)) is not None:
        return _open(opened[1].rstrip(".!?"))
    return None


def _open(word: str) -> Offer | None:
    from sync.net.invite import channel_name  # noqa: PLC0415  # a first paint needs none of it

    try:
        name = channel_name(word)
    except LocalError:
        return None
    return Offer(f"#{name}", f"#{clean_text(name)}")


def _title(code: str) -> str:
    from sync.net.invite import decode  # noqa: PLC0415  # a first paint needs none of it

    try:
        return f"#{clean_text(decode(code).name)}"
    except LocalError:
        return DAMAGED


def invitation_to(title: str, way_in: str) -> str:
    """Return the line that invites one person; an older program shows what to enter."""
    return f"Come to {title}: /join {way_in}"
