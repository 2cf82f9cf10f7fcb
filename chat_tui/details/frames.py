"""Finds the kept frames that carry, name or ask for a message.

Rule: only frames that have the id in them are decoded; the others cost one search of their bytes.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Final

from msgspec import Struct

from sync.errors import RemoteError
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds import message as sds
from sync.sds.wire import decode
from sync.view.view import FrameInfo, FrameKind
from sync.waku.wire import decode_transfer

OWN_ID: Final = b"\x12\x40"
"""Field 2 with 64 characters: the message's own id, in a frame whose end was not kept."""

DECODED_KEPT: Final = 256
"""Decoded frames remembered while details are open: they are looked at every second."""


class Role(Enum):
    """Role of a frame toward a message: it carries it, names it or asks for it."""

    CARRIES = "carries"
    NAMES = "names"
    """The message is in its causal history."""
    ASKS = "asks"
    """The message is in its repair request."""


class Heard(Struct, frozen=True):
    """A frame that is about a message. `peer` is its other end; None for everybody."""

    at: Nanos
    sent: bool
    peer: PeerId | None
    role: Role
    pushed: bool
    """Whether it came or went after a reconciliation."""
    author: PeerId | None
    """The signer: sender of the SDS message in it."""
    within: MessageId | None
    """The id of the SDS message in it."""
    is_sync: bool
    size: int


def about(
    frames: Iterable[FrameInfo], channel: ChannelId, message_id: MessageId
) -> tuple[Heard, ...]:
    """Return what the frames of a channel have to do with a message, oldest first."""
    needle = message_id.encode()
    return tuple(
        [
            heard
            for frame in frames
            if frame.channel == channel
            and frame.kind in {FrameKind.SDS, FrameKind.TRANSFER}
            and needle in frame.data
            for heard in _roles(frame, message_id)
        ]
    )


def _roles(frame: FrameInfo, message_id: MessageId) -> Sequence[Heard]:
    pushed = frame.kind is FrameKind.TRANSFER
    if len(frame.data) < frame.size:
        carries = OWN_ID + message_id.encode() in frame.data
        return [_heard(frame, Role.CARRIES, None)] if carries else []
    message = _decoded(frame.data, pushed=pushed)
    if message is None:
        return []
    roles: list[Role] = []
    if message.message_id == message_id:
        roles.append(Role.CARRIES)
    if any(entry.message_id == message_id for entry in message.causal_history):
        roles.append(Role.NAMES)
    if any(entry.message_id == message_id for entry in message.repair_request):
        roles.append(Role.ASKS)
    return [_heard(frame, role, message) for role in roles]


def _heard(frame: FrameInfo, role: Role, message: sds.Message | None) -> Heard:
    return Heard(
        at=frame.at,
        sent=frame.sent,
        peer=frame.peer,
        role=role,
        pushed=frame.kind is FrameKind.TRANSFER,
        author=None if message is None else message.sender_id,
        within=None if message is None else message.message_id,
        is_sync=message is not None and message.kind is sds.Kind.SYNC,
        size=frame.size,
    )


@lru_cache(DECODED_KEPT)
def _decoded(data: bytes, *, pushed: bool) -> sds.Message | None:
    """Return the SDS message in a frame; None if it is none, which the wire tab explains."""
    try:
        payload = decode_transfer(data)[0].payload if pushed else data
        return decode(payload, sds.WAKU_LIMITS)
    except (RemoteError, ValueError, OverflowError, RecursionError):
        return None
