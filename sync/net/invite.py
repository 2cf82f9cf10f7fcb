"""Ways to share a channel: an invite code, or an open name from which everybody can derive it."""

import base64
import binascii
import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError as ProtobufDecodeError

from proto import link_pb2
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.sds.parameters import LAN, PROFILES

VERSION: Final = 1
PREFIX: Final = "chat1-"
"""Beginning of every code: so that one is recognised, and a name is not taken for one."""

NAME_MAX: Final = 32
SECRET_SIZE: Final = 16
"""Bytes: the 128 random bits an outsider would have to guess."""

CHANNEL_SIZE: Final = 16
CHECKSUM_SIZE: Final = 4
CODE_MAX: Final = 400


@dataclass(frozen=True, slots=True)
class Invite:
    """All that joining needs. The secret is the channel: who has it can read and write."""

    name: str
    channel: ChannelId
    secret: bytes
    profile: str


def encode(invite: Invite) -> str:
    """Return the code: lowercase base32 of the invite and a checksum."""
    payload = link_pb2.Invite(
        version=VERSION,
        name=invite.name,
        channel_id=bytes.fromhex(invite.channel),
        secret=invite.secret,
        profile=invite.profile,
    ).SerializeToString(deterministic=True)
    return PREFIX + _base32(payload + _checksum(payload))


def decode(code: str) -> Invite:
    """Read a code, as a person may have copied it.

    Raises:
        LocalError: it is damaged, of a newer version, or no code at all.
    """
    text = "".join(code.split()).lower()
    if not text.startswith(PREFIX) or len(text) > CODE_MAX:
        raise LocalError(
            f"That is no invite code; one begins with {PREFIX} and comes from /invite."
        )
    body = text.removeprefix(PREFIX).upper()
    try:
        data = base64.b32decode(body + "=" * (-len(body) % 8))
        payload, checksum = data[:-CHECKSUM_SIZE], data[-CHECKSUM_SIZE:]
        parsed = link_pb2.Invite.FromString(payload)
    except (binascii.Error, ValueError, ProtobufDecodeError):
        raise _damaged() from None
    # The last character may carry bits that belong to no byte: they must be those we write.
    if checksum != _checksum(payload) or _base32(data) != body.lower():
        raise _damaged()
    if parsed.version != VERSION or parsed.profile not in PROFILES:
        raise LocalError("The invite is from a newer version of the program; update this one.")
    if len(parsed.channel_id) != CHANNEL_SIZE or len(parsed.secret) < SECRET_SIZE:
        raise _damaged()
    return Invite(
        channel_name(parsed.name),
        ChannelId(parsed.channel_id.hex()),
        parsed.secret,
        parsed.profile,
    )


def open_channel(name: str) -> Invite:
    """Return the open channel of that name: id and secret follow from the name alone."""
    digest = hashlib.sha256(b"chat-tui open channel\0" + channel_name(name).encode()).digest()
    return Invite(
        name=channel_name(name),
        channel=ChannelId(digest[:CHANNEL_SIZE].hex()),
        secret=digest[CHANNEL_SIZE:],
        profile=LAN.name,
    )


def is_guessable(name: str, secret: bytes) -> bool:
    """Return whether `secret` is that of the open channel called `name`, wherever it came from."""
    try:
        return open_channel(name).secret == secret
    except LocalError:
        return False  # no open channel has such a name


def channel_name(name: str) -> str:
    """Return a channel's name in its one form: no `#`, lower case.

    Raises:
        LocalError: empty, too long, or with characters that are no letters, digits or -_.
    """
    plain = unicodedata.normalize("NFKC", name.strip()).removeprefix("#").casefold()
    if not 0 < len(plain) <= NAME_MAX or not all(c.isalnum() or c in "-_." for c in plain):
        raise LocalError(
            f"A channel's name has 1 to {NAME_MAX} letters, digits, dots or dashes, like #friends."
        )
    return plain


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(b"chat-tui invite\0" + payload).digest()[:CHECKSUM_SIZE]


def _damaged() -> LocalError:
    return LocalError("The invite code is damaged or incomplete; copy the whole of it again.")
