"""Addresses of stores, told from paths of this computer."""

import re
from typing import Final

URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_uri(text: str) -> bool:
    """Return whether a text is a URI, rather than a path of this computer."""
    return URI.match(text) is not None
