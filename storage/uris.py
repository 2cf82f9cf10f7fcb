"""Addresses of stores, told from paths of this computer; and words that are neither."""

import re
from typing import Final

URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


NO_NAME: Final = "no directory has an empty name; the one you are in is a dot."
"""Said of an empty word, such as a script's variable that is not set: a path takes it for a dot."""


def is_uri(text: str) -> bool:
    """Return whether a text is a URI, rather than a path of this computer."""
    return URI.match(text) is not None
