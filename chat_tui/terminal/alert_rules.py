"""Alerts raised by messages: the bell, a notice on the desktop, the count in the title.

Rules:
1. Own messages raise nothing, nor do those of the channel that is being looked at.
2. However many come, the bell rings once in `RING_EVERY`; quiet hours ring and notify of nothing.
3. Only what was written just now rings; history that comes late is only counted.
"""

import re
from typing import Final

from msgspec import Struct

from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from sync.machine import MINUTE, SECOND, ChannelId, Nanos
from sync.view.view import Line

RING_EVERY: Final[Nanos] = 10 * SECOND
"""A conversation of ten lines a second must not drive anybody out of the room."""

FRESH: Final[Nanos] = 2 * MINUTE
"""A message as old as this when it comes was written to those who were there."""

NOTICE_CELLS: Final = 120
"""Of a notice: what desktops show of one without cutting it themselves."""

DAY_MINUTES: Final = 24 * 60


class Rules(Struct, frozen=True):
    """Alert preferences of the person; see the settings of the same names."""

    alerts: str = "mentions"
    bell: bool = True
    desktop: str = "off"
    title: bool = True
    quiet_hours: tuple[int, int] | None = None


class Raised(Struct, frozen=True):
    """Alerts that one message raises."""

    bell: bool = False
    notice: str = ""
    """For the desktop; empty for none."""


NOTHING: Final = Raised()


class Alerts:
    """Counts of unseen messages by channel, and when the bell rang last."""

    def __init__(self) -> None:
        self._unseen: dict[ChannelId, int] = {}
        self._rang: Nanos | None = None

    @property
    def unseen(self) -> int:
        """Number of messages that came while nobody looked at their channel."""
        return sum(self._unseen.values())

    def look(self, channel: ChannelId | None) -> None:
        """Take note that the person looks at `channel`."""
        if channel is not None:
            self._unseen.pop(channel, None)

    def count(self, line: Line) -> None:
        """Count a message that came while nobody looked at its channel."""
        if not line.own:
            self._unseen[line.channel] = self._unseen.get(line.channel, 0) + 1

    def ring(  # what it is asked, and all that answers depend on
        self, line: Line, *, author: str, nick: str, rules: Rules, now: Nanos, minute: int
    ) -> Raised:
        """Return what a message raises that came while nobody looked at its channel.

        Args:
            line: the message.
            author: its author's name as it is shown.
            nick: what the person is called.
            rules: what they want.
            now: on the clock that messages are dated by.
            minute: of the local day.
        """
        if line.own or now - line.created_ns > FRESH or is_quiet(rules.quiet_hours, minute):
            return NOTHING
        wanted = rules.alerts == "all" or (rules.alerts == "mentions" and mentions(line.text, nick))
        if not wanted or (self._rang is not None and now - self._rang < RING_EVERY):
            return NOTHING
        if not rules.bell and rules.desktop == "off":
            return NOTHING
        self._rang = now
        return Raised(rules.bell, notice_of(line, author) if rules.desktop != "off" else "")


def mentions(text: str, nick: str) -> bool:
    """Return whether a text has somebody's name as a word of its own, with or without an @."""
    name = re.escape(clean_nick(nick).casefold())
    return re.search(rf"(?<!\w){name}(?!\w)", text.casefold()) is not None


def is_quiet(hours: tuple[int, int] | None, minute: int) -> bool:
    """Return whether a minute of the day lies in `hours`, which may go over midnight."""
    if hours is None:
        return False
    begin, end = hours
    return (minute - begin) % DAY_MINUTES < (end - begin) % DAY_MINUTES


def notice_of(line: Line, author: str) -> str:
    """Return a message as a notice on one line; nothing in it ends the sequence it is sent in.

    `author` is the name as it is shown.
    """
    words = " ".join(clean_text(line.text).replace(";", ",").split())
    return clip_cells(f"{author.replace(';', ',')}: {words}", NOTICE_CELLS)


def title_of(unseen: int) -> str:
    """Return the title of the terminal."""
    return f"({unseen:,}) chat-tui" if unseen else "chat-tui"


PUSH_TITLE: Final = "\x1b[22;2t"
"""Asks the terminal to remember its title (XTWINOPS); one that cannot passes over it."""
POP_TITLE: Final = "\x1b[23;2t"


def set_title(title: str) -> str:
    """Return what sets the title of the terminal."""
    return f"\x1b]2;{title}\x1b\\"


def desktop_notice(kind: str, text: str) -> str:
    """Return what asks the terminal for a notice; `kind` is `osc9` or `osc777`."""
    return f"\x1b]9;{text}\x1b\\" if kind == "osc9" else f"\x1b]777;notify;chat-tui;{text}\x1b\\"
