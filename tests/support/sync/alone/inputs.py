"""Inputs of any type, as somebody causes them."""

from typing import Any, Final

from msgspec.structs import fields

from sync.group import values
from sync.machine import PeerId
from sync.sessions.page_values import CheckedPage

SESSION: Final = 7

OTHER_FIELDS: Final[dict[str, Any]] = {
    "session": SESSION,
    "contents": (bytes(100),),
    "root": bytes(32),
    "protocols": frozenset[str](),
    "protocol": "a protocol",
    "here": True,
    "offset": 0,
    "host": "",
    "standing": False,
    "payload": bytes(100),
    "page": CheckedPage(None, None, 0, 0),
}


def caused_by(peer: PeerId, kind: type[values.Input]) -> values.Input:
    """Return an input of a type, of what a peer says or does."""
    known = OTHER_FIELDS | {"peer": peer}
    return kind(**{one.name: known[one.name] for one in fields(kind) if one.required})
