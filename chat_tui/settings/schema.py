"""The one table of settings: files, screen, /set, `--set` and the lists of help all follow it.

A setting that only the next start can take up says so; all others are true at once.
"""

import ipaddress
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from chat_tui.keys.table import KEYS, USUAL
from chat_tui.settings.colour_names import COLOUR_NAMES, COLOUR_OF_KEY
from chat_tui.settings.kinds import Hours, KeyList, Kind, OneOf, OrNone, Switch, Text, Whole, Words
from chat_tui.text.addresses import PORT_MAX, parse_address
from chat_tui.text.listing import listed
from sync.entries.entry import NICK_MAX
from sync.errors import LocalError

NEAREST: Final = 3
STATUS_MAX: Final = 32
"""Characters of a status, as `sync.calimero.state.contents` has it."""

T = TypeVar("T")


class Section(Enum):
    """The parts of the settings, which are the tables of the file."""

    GENERAL = "general"
    LOOK = "look"
    ALERTS = "alerts"
    KEYS = "keys"
    NETWORK = "network"
    PRIVACY = "privacy"


class When(Enum):
    """Time at which a change takes effect."""

    NOW = "at once"
    START = "at the next start"


class Setting(Struct, Generic[T], frozen=True, eq=False):
    """One row of the table. `help` says what a change does."""

    name: str
    section: Section
    kind: Kind[T]
    default: T
    help: str
    when: When = When.NOW

    @property
    def in_file(self) -> str:
        """Name of the setting within its table of the file."""
        return self.name.removeprefix(f"{self.section.value}.")

    @property
    def shown_default(self) -> str:
        """The default as it would be typed."""
        return self.kind.shown(self.default)


def checked_nick(nick: str) -> str:
    """Return `nick` if it can be one.

    Raises:
        LocalError: empty, too long, or not printable.
    """
    if not 0 < len(nick.strip()) <= NICK_MAX or not nick.isprintable():
        raise LocalError(f"A name has 1 to {NICK_MAX} printable characters.")
    return nick


def checked_status(status: str) -> str:
    """Return `status` if it can be one.

    Raises:
        LocalError: empty, too long, or not printable.
    """
    if not 0 < len(status.strip()) <= STATUS_MAX or not status.isprintable():
        raise LocalError(f"A status has 1 to {STATUS_MAX} printable characters.")
    return status


def _interface(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise LocalError(
            f"{text!r} is not the address of an interface: write it like 192.168.1.20."
        ) from None
    return text


OWN_THEMES: Final = ("high-contrast", "ansi")
THEMES: Final = (
    "tokyo-night", *OWN_THEMES, "textual-dark", "textual-light", "nord", "gruvbox", "dracula",
    "monokai", "flexoki", "catppuccin-mocha", "catppuccin-latte", "catppuccin-frappe",
    "catppuccin-macchiato", "solarized-dark", "solarized-light", "rose-pine", "rose-pine-moon",
    "rose-pine-dawn", "atom-one-dark", "atom-one-light",
)  # fmt: skip

NAME = Setting(
    "name", Section.GENERAL,
    OrNone(Text(f"1 to {NICK_MAX} printable characters", checked_nick), "remembered"), None,
    "Your name, as others see it; by default the last one used, at "
    "first this computer's user name. Earlier messages keep the name they were written under.",
)  # fmt: skip
STATUS = Setting(
    "status", Section.GENERAL,
    OrNone(Text(f"1 to {STATUS_MAX} printable characters", checked_status), "none"), None,
    "What you do or where you are, beside your name in people and members, also while you are "
    "not here. While you are away, the reason stands there instead.",
)  # fmt: skip
COLOUR = Setting(
    "colour", Section.GENERAL, OneOf((COLOUR_OF_KEY, *COLOUR_NAMES)), COLOUR_OF_KEY,
    "The colour of your name at everybody, made legible in each theme. auto: from your key.",
)  # fmt: skip
TIME_FORMAT = Setting(
    "time_format", Section.GENERAL, OneOf(("24h", "12h")), "24h",
    "Format of the times beside messages: 17:05, or 5:05pm. Lists have the former.",
)  # fmt: skip
DAY_SEPARATORS = Setting(
    "day_separators", Section.GENERAL, Switch(), True,
    "A line with the date where a new day begins.",
)  # fmt: skip
PASTE_LINES = Setting(
    "paste_lines", Section.GENERAL, Whole(0, 1000), 5,
    "Pastes longer than this many lines are announced before they are sent, and "
    "Esc removes them; 0: never announced. A paste is never sent by itself.",
)  # fmt: skip

THEME = Setting(
    "theme", Section.LOOK, OneOf(THEMES), THEMES[0],
    "Colours. ansi uses the terminal's own 16; high-contrast is black, white and yellow.",
)  # fmt: skip
DENSITY = Setting(
    "density", Section.LOOK, OneOf(("compact", "cosy")), "compact",
    "Space between authors: an empty line (cosy), or none.",
)  # fmt: skip
NICK_WIDTH = Setting(
    "nick_width", Section.LOOK, Whole(4, 24), 10,
    "Width of the column for names; longer names are cut.",
)  # fmt: skip
GLYPHS = Setting(
    "glyphs", Section.LOOK, OneOf(("auto", "unicode", "ascii")), "auto",
    "Characters for marks and rules. auto uses ascii if the locale is not UTF-8.",
)  # fmt: skip
TICKS = Setting(
    "ticks", Section.LOOK, OneOf(("recent", "always", "never")), "recent",
    "Received marks on your messages: on those of a day, all, or "
    "none. Messages that were not received yet, or failed, are always marked.",
)  # fmt: skip
MARKUP = Setting(
    "markup", Section.LOOK, Switch(), True,
    "Light markup in messages: `code` and fenced blocks, *emphasis*, > quotes and lists are "
    "coloured where they stand. Nothing is left out, in what you copy or search neither.",
)  # fmt: skip
FOLD_LINES = Setting(
    "fold_lines", Section.LOOK, Whole(0, 300), 12,
    "Lines of a message on the screen beyond which the others are folded away until Enter; "
    "0: none are.",
)  # fmt: skip
HYPERLINKS = Setting(
    "hyperlinks", Section.LOOK, OneOf(("auto", "off")), "auto",
    "Whether the terminal is told of addresses (OSC 8), so that it can open them itself: only "
    "of those in ASCII, which lead where they say.",
)  # fmt: skip
ANIMATIONS = Setting(
    "animations", Section.LOOK, Switch(), False,
    "Animation of lists and drawers. Each movement sends some 20 kB more to the terminal.",
)  # fmt: skip
MOTION = Setting(
    "motion", Section.LOOK, Switch(), True,
    "Movement in the demo: frames on their way, countdowns, flashes. Without it, what is sent is "
    "drawn at once where it goes, twice a second at most; time runs all the same.",
)  # fmt: skip
MOUSE = Setting(
    "mouse", Section.LOOK, Switch(), True,
    "Mouse support. Without it the terminal selects and copies text itself.",
)  # fmt: skip
LOW_BANDWIDTH = Setting(
    "low_bandwidth", Section.LOOK, Switch(), False,
    "For slow connections: paint twice a second at most, in the terminal's 16 colours, "
    "without motion.",
)  # fmt: skip

ALERTS = Setting(
    "alerts", Section.ALERTS, OneOf(("mentions", "all", "none")), "mentions",
    "Messages that ring the bell or raise a notice while you look "
    "elsewhere: those with your name, all, or none. Your own never do.",
)  # fmt: skip
BELL = Setting(
    "bell", Section.ALERTS, Switch(), True,
    "Terminal bell, at most once in ten seconds.",
)  # fmt: skip
DESKTOP = Setting(
    "desktop", Section.ALERTS, OneOf(("off", "osc9", "osc777")), "off",
    "Desktop notices, raised by the terminal. iTerm2, kitty, WezTerm and "
    "Windows Terminal know osc9; foot, urxvt and VTE know osc777.",
)  # fmt: skip
TITLE = Setting(
    "title", Section.ALERTS, Switch(), True,
    "Count of new messages in the terminal's title while you look elsewhere.",
)  # fmt: skip
QUIET_HOURS = Setting(
    "quiet_hours", Section.ALERTS, OrNone(Hours(), "none"), None,
    "Hours without bell and notices; the title still counts.",
)  # fmt: skip

INTERFACE = Setting(
    "interface", Section.NETWORK,
    OrNone(Text("the address of one, as 192.168.1.20", _interface), "all"), None,
    "Use only the network interface with this address.", When.START,
)  # fmt: skip
PORT = Setting(
    "port", Section.NETWORK, OrNone(Whole(1, PORT_MAX), "automatic"), None,
    "Port to listen on, or the next free one. automatic: 46021, then the one used before.",
    When.START,
)  # fmt: skip
DISCOVERY = Setting(
    "discovery", Section.NETWORK, Switch(), True,
    "Announce yourself on the network, and look for others.", When.START,
)  # fmt: skip
CONNECT = Setting(
    "connect", Section.NETWORK, Words("addresses as host:port", parse_address), (),
    "Addresses to connect to at every start, where the network's multicast does not reach.",
    When.START,
)  # fmt: skip

CLOCK = Setting(
    "clock", Section.NETWORK, OneOf(("ask", "follow", "stay")), "ask",
    "If the others' clocks agree and this one differs: ask, follow "
    "them, or stay. ask without a person follows two whom you know.",
)  # fmt: skip

TYPING_NOTICES = Setting(
    "typing_notices", Section.PRIVACY, Switch(), True,
    "Show others that you are typing.",
)  # fmt: skip
READ_MARKS = Setting(
    "read_marks", Section.PRIVACY, OneOf(("auto", "on", "off")), "auto",
    "Show others up to where you have read, and see it of them. auto: in channels of "
    "two and private ones, not in open ones. off takes back what was told.",
)  # fmt: skip
HISTORY_DAYS = Setting(
    "history_days", Section.PRIVACY, OrNone(Whole(1, 36_500), "everything"), None,
    "Fetch only messages up to this many days old. Older ones that are here are kept.", When.START,
)  # fmt: skip
ASK_ABOVE_MB = Setting(
    "ask_above_mb", Section.PRIVACY, Whole(0, 1_000_000), 200,
    "Megabytes of one author above which you are asked once whether to block them; 0: never.",
)  # fmt: skip
PROTOCOL_LOG = Setting(
    "protocol_log", Section.PRIVACY, Switch(), True,
    "Protocol log for `chat-tui export`: when messages came "
    "and went, without their text. At most 64 MB.",
)  # fmt: skip

KEY_SETTINGS: Final = {
    key.id: Setting(
        f"keys.{key.id}", Section.KEYS, KeyList(key.place),
        USUAL[key.id], f"{key.label}, {key.place.value}. `chat-tui keys` names a key.",
    )
    for key in KEYS
}  # fmt: skip
"""The keys of `chat_tui.keys.table`, by id."""

SETTINGS: Final[tuple[Setting[Any], ...]] = (
    NAME, STATUS, COLOUR, TIME_FORMAT, DAY_SEPARATORS, PASTE_LINES,
    THEME, DENSITY, NICK_WIDTH, GLYPHS, TICKS, MARKUP, FOLD_LINES, HYPERLINKS,
    ANIMATIONS, MOTION, MOUSE, LOW_BANDWIDTH,
    ALERTS, BELL, DESKTOP, TITLE, QUIET_HOURS,
    *KEY_SETTINGS.values(),
    INTERFACE, PORT, DISCOVERY, CONNECT, CLOCK,
    TYPING_NOTICES, READ_MARKS, HISTORY_DAYS, ASK_ABOVE_MB, PROTOCOL_LOG,
)  # fmt: skip

BY_NAME: Final = {setting.name: setting for setting in SETTINGS}

PRESETS: Final[dict[str, dict[str, object]]] = {
    "ssh": {
        LOW_BANDWIDTH.name: True,
        MOUSE.name: False,
        ANIMATIONS.name: False,
        MOTION.name: False,
    },
}
"""Settings that go together, for `--preset`."""


def find(name: str) -> Setting[Any]:
    """Return a setting by its name, with or without its section before it.

    Raises:
        LocalError: there is none; says which are nearest.
    """
    wanted = name.strip().casefold().replace("-", "_")
    setting = BY_NAME.get(wanted)
    if setting is None:
        section, _, rest = wanted.partition(".")
        setting = BY_NAME.get(rest)
        if setting is not None and setting.section.value != section:
            setting = None
    if setting is None:
        raise LocalError(f"There is no setting {name}. {nearest(wanted)}")
    return setting


def nearest(name: str) -> str:
    """Return the settings that somebody who wrote `name` may have meant, as a sentence."""
    wanted = name.rpartition(".")[2] if not name.startswith("keys.") else name
    close = get_close_matches(wanted, BY_NAME, n=NEAREST, cutoff=0)
    return f"Nearest are {listed(close)}; /set lists all."
