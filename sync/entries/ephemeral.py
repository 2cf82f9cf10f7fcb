"""Content of ephemeral messages: their author is typing.

They are not entries: nobody signs, stores or relays them. Their author is the peer of the link.
"""

from typing import Final

from google.protobuf.message import DecodeError as ProtobufDecodeError
from msgspec import Struct

from proto import ephemeral_pb2
from sync.entries.entry import NICK_MAX
from sync.errors import DecodeError, LocalError

VERSION: Final = 1


class Typing(Struct, frozen=True):
    """The author is writing a message now, and goes by this name."""

    nick: str


def encode(typing: Typing) -> bytes:
    """Return the content of an ephemeral message.

    Raises:
        LocalError: no name, one over its limit, or not valid Unicode.
    """
    if not 0 < len(typing.nick) <= NICK_MAX:
        raise LocalError(f"A name has 1 to {NICK_MAX} characters; this one has {len(typing.nick)}.")
    try:
        says = ephemeral_pb2.Typing(nick=typing.nick)
        return ephemeral_pb2.Ephemeral(version=VERSION, typing=says).SerializeToString(
            deterministic=True
        )
    except (UnicodeEncodeError, ValueError) as error:
        raise LocalError("The name has characters that are not valid Unicode.") from error


def decode(content: bytes) -> Typing:
    """Parse the content of an ephemeral message.

    Raises:
        DecodeError: malformed, of another version, saying what we do not know, or no fit name.
    """
    try:
        parsed = ephemeral_pb2.Ephemeral.FromString(content)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not an ephemeral message: {error}") from error
    if parsed.version != VERSION:
        raise DecodeError(
            f"ephemeral message of version {parsed.version}; we know version {VERSION}"
        )
    if not parsed.HasField("typing"):
        raise DecodeError("an ephemeral message that says nothing we know")
    nick = parsed.typing.nick
    if not 0 < len(nick) <= NICK_MAX:
        raise DecodeError(f"typing notice with a nick of {len(nick)} characters")
    return Typing(nick)
