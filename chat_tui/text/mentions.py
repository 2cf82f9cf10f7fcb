"""Mentions: messages that have somebody's name in them as a word of its own."""

import re
from functools import lru_cache

from chat_tui.text.safe_text import clean_nick, same_nick_key


def mentions(text: str, nick: str) -> bool:
    """Return whether `text` (clean) has the name, with or without `@`, in any case."""
    return _pattern(nick).search(same_nick_key(text)) is not None


@lru_cache(maxsize=16)
def _pattern(nick: str) -> re.Pattern[str]:
    name = re.escape(same_nick_key(clean_nick(nick)))
    return re.compile(rf"(?<!\w)@?{name}(?!\w)")
