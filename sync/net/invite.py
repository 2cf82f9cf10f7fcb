"""Ways to share a channel: an invite code, or an open name from which everybody can derive it."""

import base64
import binascii
import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from google.protobuf.message import DecodeError as ProtobufDecodeError
from msgspec import Struct

from sync.errors import LocalError
from sync.machine import ChannelId
from sync.sds.parameters import LAN, PROFILES

if TYPE_CHECKING:
    from proto import link_pb2

VERSION: Final = 1
"""Of a channel that nobody governs: its secret lets in for ever."""

GOVERNED_VERSION: Final = 2
"""Of a governed channel: the secret is that of an epoch, and a ticket signs the join."""

PREFIX: Final = "chat1-"
"""Beginning of every code: so that one is recognised, and a name is not taken for one."""

NAME_MAX: Final = 32
SECRET_SIZE: Final = 16
"""Bytes: the 128 random bits an outsider would have to guess."""

CHANNEL_SIZE: Final = 16
GENESIS_SIZE: Final = 32
"""Bytes of the id of the op that founded a channel; the channel's id are the first of them."""

EPOCH_SECRET_SIZE: Final = 32
TICKET_SEED_SIZE: Final = 16
"""Bytes: the 128 random bits behind the key pair of a ticket."""

CHECKSUM_SIZE: Final = 4
CODE_MAX: Final = 400

_AROUND: Final = r"[\s|\u2502\u2503>]+"
"""Things that get between the lines of a code when it is copied: breaks, frames, quote marks."""


class Entry(NamedTuple):
    """The part of a code by which one enters a governed channel; its text never shows the seed."""

    genesis: bytes
    """Id of the op that founded the channel, 32 bytes."""

    ticket_seed: bytes
    """Seed of the ticket that signs the join, 16 bytes."""

    def __repr__(self) -> str:
        return f"Entry({self.genesis.hex()[:8]})"


class Invite(Struct, frozen=True):
    """All that joining needs; its text never shows the secret.

    Without an `entry` the secret is the channel: who has it can read and write. With one, the
    channel is governed, and the secret is that of its newest epoch.
    """

    name: str
    channel: ChannelId
    secret: bytes
    profile: str
    entry: Entry | None = None

    def __repr__(self) -> str:
        return f"Invite({self.name!r}, {self.channel})"


def encode(invite: Invite) -> str:
    """Return the code: lowercase base32 of the invite and a checksum."""
    from proto import link_pb2  # noqa: PLC0415  # a first paint needs no protobuf

    wire = link_pb2.Invite(
        version=VERSION,
        name=invite.name,
        channel_id=bytes.fromhex(invite.channel),
        secret=invite.secret,
        profile=invite.profile,
    )
    if invite.entry is not None:
        wire.version, wire.channel_id = GOVERNED_VERSION, b""
        wire.genesis, wire.ticket_seed = invite.entry
    payload = wire.SerializeToString(deterministic=True)
    return PREFIX + _base32(payload + _checksum(payload))


def is_code(text: str) -> bool:
    """Return whether `text` is meant as an invite code."""
    return re.sub(_AROUND, "", text).lower().startswith(PREFIX)


def decode(code: str) -> Invite:
    """Read a code, as a person may have copied it: broken into lines, with marks before them.

    Raises:
        LocalError: it is damaged, of a newer version, or no code at all.
    """
    from proto import link_pb2  # noqa: PLC0415  # a first paint needs no protobuf

    text = re.sub(_AROUND, "", code).lower()
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
    if parsed.version not in {VERSION, GOVERNED_VERSION} or parsed.profile not in PROFILES:
        raise LocalError("The invite is from a newer version of the program; update this one.")
    channel, entry = _way_in(parsed)
    return Invite(channel_name(parsed.name), channel, parsed.secret, parsed.profile, entry)


def _way_in(parsed: "link_pb2.Invite") -> tuple[ChannelId, Entry | None]:
    """Return the channel of a code whose checksum is right, and how one enters if it is governed.

    Raises:
        LocalError: something has another size than its version says.
    """
    if parsed.version == VERSION:
        if len(parsed.channel_id) != CHANNEL_SIZE or len(parsed.secret) < SECRET_SIZE:
            raise _damaged()
        return ChannelId(parsed.channel_id.hex()), None
    sizes = len(parsed.genesis), len(parsed.secret), len(parsed.ticket_seed)
    if parsed.channel_id or sizes != (GENESIS_SIZE, EPOCH_SECRET_SIZE, TICKET_SEED_SIZE):
        raise _damaged()
    channel = ChannelId(parsed.genesis[:CHANNEL_SIZE].hex())
    return channel, Entry(parsed.genesis, parsed.ticket_seed)


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
