"""Lines that a script writes: a text, or a JSON object that also says where, or to what."""

import json
from typing import Any, Final

from chat_tui.text.listing import listed
from chat_tui.text.slash import is_command
from sync.errors import LocalError

FIELDS: Final = ("channel", "text", "reply_to")
NAMED: Final = 40
"""Characters of a field's name that an error repeats."""


def object_of(line: str) -> dict[str, Any] | None:
    """Return the object with a `text` that a line is; None if it is a text like any other."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "text" in found else None


def checked(found: dict[str, Any]) -> dict[str, str]:
    """Return the fields of such an object; of those that are null nothing is said.

    Raises:
        LocalError: a field is not known, or no string: a message would go where nobody meant it to.
    """
    for name, value in found.items():
        if name not in FIELDS:
            known = f"a line has {listed(FIELDS)}"
            raise LocalError(f"{name[:NAMED]!r} is no field of a message: {known}.")
        if not isinstance(value, str) and (value is not None or name == "text"):
            raise LocalError(f"{name!r} is to be a string.")
    return {name: value for name, value in found.items() if value is not None}


def as_typed(text: str) -> str:
    """Return what is to be typed for a text to be sent as it is, though it begins with a slash."""
    return f"/{text.lstrip()}" if is_command(text) else text
