"""Tab completion of words that are not names: emoji, and the words that commands take."""

from collections.abc import Mapping, Sequence
from typing import Final

from chat_tui.settings.schema import BY_NAME, SETTINGS, THEME
from chat_tui.text.emoji import named
from chat_tui.text.sync_protocols import THERE_IS

EMOJI_FROM = 2
"""Letters after the colon before Tab means an emoji: `:D` and `:)` are what they are."""

ROLES: Final = ("reader", "member", "admin")
WORDS: Final[Mapping[str, Mapping[int, Sequence[str]]]] = {
    "/role": dict.fromkeys(range(2, 5), ROLES),
    "/add": dict.fromkeys(range(2, 5), ROLES),
    "/policy": {1: ("write", "invite", "topic", "pins"), 2: ("members", "admins")},
    "/invite": {1: ("qr", "end", "reader", "member")},
    "/create": {2: ("plain",)},
}
"""Words that a command takes, by their number in the line; a name may be several words long."""


def special(before: str) -> list[str] | None:
    """Return what the last word of `before` may become; None if it is an ordinary word."""
    word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
    if word.startswith(":") and len(word) > EMOJI_FROM:
        return named(word.strip(":").casefold())
    command, *words = before.split() or [""]
    if not word and (command in {"/theme", *WORDS} or (command == "/set" and words)):
        words = [*words, ""]  # a value is wanted, and all there are go round
    elif not word or not words:
        return None
    if command == "/set" and len(words) == 1:
        return [setting.name for setting in SETTINGS if setting.name.startswith(word)]
    if command == "/theme" or (command == "/set" and words[0] == THEME.name):
        return [theme for theme in THEME.kind.choices if theme.startswith(word)]
    if command == "/set" and words[0] in BY_NAME:
        return [choice for choice in BY_NAME[words[0]].kind.choices if choice.startswith(word)]
    if command in WORDS and len(words) in WORDS[command]:
        return [one for one in WORDS[command][len(words)] if one.startswith(word)] or None
    if command == "/sync" and len(words) > 1:
        return [way for way in THERE_IS if way.startswith(word)] or None  # or a name of two words
    return None
