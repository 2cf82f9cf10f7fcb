"""Lines that a script writes: a text, or a JSON object that also says where, or to what."""

import json
from typing import Final

from chat_tui.text.slash import is_command

FIELDS: Final = frozenset({"channel", "text", "reply_to"})


def object_of(line: str) -> dict[str, str] | None:
    """Return the fields of a line that is such an object; None if it is a text like any other."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or "text" not in fields or not FIELDS.issuperset(fields):
        return None
    if fields.get("reply_to", "") is None:  # as an event has it that answers nothing
        del fields["reply_to"]
    if not all(isinstance(value, str) for value in fields.values()):
        return None
    return fields


def as_typed(text: str) -> str:
    """Return what is to be typed for a text to be sent as it is, though it begins with a slash."""
    return f"/{text.lstrip()}" if is_command(text) else text
