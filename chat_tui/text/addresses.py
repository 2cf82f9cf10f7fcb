"""Addresses that people write: host and port."""

import re
from typing import Final

from sync.errors import LocalError

DEFAULT_PORT: Final = 46021
"""Where chats listen if nobody says otherwise (the default of `--port`)."""

PORT_MAX: Final = 65_535

ADDRESS: Final = (
    r"(?:\[(?P<bracketed>[^\s\[\]]+)\]|(?P<name>[^\s:\[\]]+))(?::(?P<port>[0-9]{1,5}))?"
    r"|(?P<bare>[0-9a-fA-F]*(?::[0-9a-fA-F]*){2,})"
)
"""A name or IPv4 address, or IPv6 in brackets, each with or without a port; or IPv6 alone."""


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.

    Raises:
        LocalError: no host, or not a port number.
    """
    match = re.fullmatch(ADDRESS, text)
    port = int(match["port"] or DEFAULT_PORT) if match else 0
    if match is None or not 0 < port <= PORT_MAX:
        raise LocalError(
            f"{text!r} is no address. Write host:port, as in /connect 192.168.1.20:{DEFAULT_PORT}."
        )
    return match["bracketed"] or match["name"] or match["bare"], port
