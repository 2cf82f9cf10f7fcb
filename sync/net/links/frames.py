"""The frames of a link between two peers (`proto/link.proto`): values here, bytes on the wire."""

import re
from enum import Enum
from typing import Final, TypeAlias, assert_never

from google.protobuf import message as protobuf
from msgspec import Struct

from proto import link_pb2
from sync.calimero.governance.limits import HEADS_MAX, NUMBER_MAX, OP_SIZE_MAX
from sync.calimero.governance.wire import SIGNATURE_SIZE
from sync.calimero.state.entry import ENTRY_SIZE_MAX
from sync.errors import DecodeError
from sync.group.clock_values import Follows
from sync.group.state_values import CONTENTS_MAX
from sync.machine import ChannelId, Nanos
from sync.net.links.channel_proofs import PROOF_SIZE
from sync.structures.codec import bytes_field, length_prefixed

NICK_MAX: Final = 64
"""Characters of a nick: it must leave room for the text in one row of a terminal."""

HEARTBEAT_MAX: Final = 128 + 32 * HEADS_MAX
"""Bytes of a heartbeat: its heads, and little else."""

REASON_MAX: Final = 256
"""Characters of a reason to part: a sentence, shown in one line of the debug pane."""

AWAY_MAX: Final = 128
"""Characters of why somebody is away: it stands beside a name."""

PROTOCOL_MAX: Final = 64
"""Characters of a protocol's id or name: twice the longest that we use."""

PROTOCOLS_MAX: Final = 16
"""Protocols that a presence names: more than anybody speaks."""

FEATURES_MAX: Final = 16
"""Features that a presence names: more than anybody has."""

GOVERNANCE: Final = "governance"
"""Feature: its sender takes the frames of governed channels."""

STATE: Final = "state"
"""Feature: its sender takes state entries."""

STATE_CONTENTS_MAX: Final = CONTENTS_MAX
"""State entries in one frame."""

HASH_SIZE: Final = 32
"""Bytes of a secret, and of an op's id."""

PORT_MAX: Final = 65_535
"""Highest TCP port."""

CHANNEL_ID_SIZE: Final = 16
"""Bytes of a channel id."""

CHANNEL_ID: Final = re.compile(r"[0-9a-f]{32}")
"""A channel id as `sync.machine.ChannelId` defines it."""


class Open(Struct, frozen=True):
    """First frame of who dialled: what this connection is for.

    Attributes:
        protocol: id of the protocol spoken on it.
        listen_port: where the dialler itself can be dialled; 0 where it cannot.
    """

    protocol: str
    listen_port: int


class Proof(Struct, frozen=True):
    """Proof of knowing the secret of a channel (`sync.net.links.channel_proofs`); 32 bytes.

    Attributes:
        mac: the proof.
        payloads_max: payloads of one answer that its sender takes, on a reconciliation's connection
            (`sync.waku.turn`).
    """

    mac: bytes
    payloads_max: int = 1


class Presence(Struct, frozen=True):
    """The sender's nick and away reason in a channel that both have proved."""

    channel: ChannelId
    nick: str
    away: str = ""
    """Why its sender is away; empty while it is not."""
    protocols: tuple[str, ...] = ()
    """Protocols of sessions that it speaks, beyond those that everybody does."""
    features: tuple[str, ...] = ()
    """Names of what it speaks beyond the frames that everybody knows."""


class Ping(Struct, frozen=True):
    """Are you there? It carries the sender's wall clock, for the reference clock."""

    nonce: int
    wall: Nanos


class Pong(Struct, frozen=True):
    """Answer to the `Ping` with the same nonce, with the answerer's wall clock.

    It need not go by that clock: `follows` says whose it goes by.
    """

    nonce: int
    wall: Nanos
    follows: Follows = Follows.NOBODY


class Goodbye(Struct, frozen=True):
    """The sender closes the connection, and says why."""

    reason: str


class SdsFrame(Struct, frozen=True):
    """An SDS message, encoded, and the channel it is for."""

    channel: ChannelId
    payload: bytes


class Announce(Struct, frozen=True):
    """Announcement of the channels that the sender's author logs can be had of, encoded."""

    payload: bytes


class OpFrame(Struct, frozen=True):
    """A signed op of a governed channel, encoded."""

    channel: ChannelId
    content: bytes


class HeartbeatFrame(Struct, frozen=True):
    """The heads of governance that the sender has, encoded."""

    channel: ChannelId
    payload: bytes


class SecretFrame(Struct, frozen=True):
    """The secret of an epoch of a governed channel, 32 bytes, and the op that began it."""

    channel: ChannelId
    number: int
    op: bytes
    secret: bytes

    def __repr__(self) -> str:
        return f"SecretFrame(channel={self.channel!r}, number={self.number}, op={self.op!r})"


class Told(Enum):
    """Reason for which somebody who proved an epoch gets no entries."""

    ENDED = 1
    """The secret is no longer valid, and its bearer is not known."""
    OUT = 2
    """The receiver was in, and is out."""


class NoticeFrame(Struct, frozen=True):
    """Says why the receiver, who proved an epoch of the channel, gets no entries of it."""

    channel: ChannelId
    told: Told


class StateFrame(Struct, frozen=True):
    """Signed state entries of the sender, encoded."""

    channel: ChannelId
    contents: tuple[bytes, ...]


class RootFrame(Struct, frozen=True):
    """The root of the sender's state, 32 bytes."""

    channel: ChannelId
    root: bytes


class Unknown(Struct, frozen=True):
    """A frame of a kind that a later version has: `data` is all of it, and passed over."""

    data: bytes


Governing: TypeAlias = OpFrame | HeartbeatFrame | SecretFrame | NoticeFrame
Plain: TypeAlias = (
    Open | Proof | Presence | Ping | Pong | Goodbye | Announce | StateFrame | RootFrame
)
Known: TypeAlias = SdsFrame | Plain | Governing
Frame: TypeAlias = Known | Unknown


def encode(frame: Frame) -> bytes:
    """The bytes of `frame`, without a length in front."""
    if isinstance(frame, SdsFrame):  # mostly; put together here, in two thirds of the time
        channel = bytes.fromhex(frame.channel)
        sds = bytes_field(b"\x0a", channel) + bytes_field(b"\x12", frame.payload)
        return b"\x3a" + length_prefixed(sds)
    if isinstance(frame, Unknown):
        return frame.data
    return _to_wire(frame).SerializeToString()


def decode(data: bytes) -> Frame:
    """Read one frame.

    Raises:
        DecodeError: not a frame, an empty one, or one with a field over its limit.
    """
    try:
        wire = link_pb2.Frame.FromString(data)
    except protobuf.DecodeError as error:
        raise DecodeError(f"a frame of {len(data)} bytes cannot be read: {error}") from None
    frame: Frame
    match kind := wire.WhichOneof("kind"):
        case "sds":
            frame = SdsFrame(_channel(wire.sds.channel_id), wire.sds.payload)
        case "open":
            frame = _open(wire.open)
        case "proof":
            frame = _proof(wire.proof)
        case "presence":
            frame = _presence(wire.presence)
        case "ping":
            frame = Ping(wire.ping.nonce, wire.ping.wall_ns)
        case "pong":
            frame = _pong(wire.pong)
        case "goodbye":
            frame = Goodbye(_limited(wire.goodbye.reason, REASON_MAX, "reason"))
        case "announce":
            frame = Announce(wire.announce.payload)
        case "state":
            frame = _state(wire.state)
        case "group_op" | "group_heartbeat" | "group_secret" | "group_notice":
            frame = _governing(kind, wire)
        case None if data:
            frame = Unknown(data)
        case _:
            raise DecodeError("an empty frame")
    return frame


def _to_wire(frame: Plain | Governing) -> link_pb2.Frame:
    match frame:
        case Open(protocol, listen_port):
            wire = link_pb2.Frame(open=link_pb2.Open(protocol=protocol, listen_port=listen_port))
        case Proof(mac, payloads_max):
            several = payloads_max if payloads_max > 1 else 0
            wire = link_pb2.Frame(proof=link_pb2.Proof(mac=mac, payloads_max=several))
        case Presence(channel, nick, away, protocols, features):
            presence = link_pb2.Presence(
                channel_id=channel, nick=nick, away=away, protocols=protocols, features=features
            )
            wire = link_pb2.Frame(presence=presence)
        case Ping(nonce, wall):
            wire = link_pb2.Frame(ping=link_pb2.Ping(nonce=nonce, wall_ns=wall))
        case Pong(nonce, wall, follows):
            pong = link_pb2.Pong(nonce=nonce, wall_ns=wall, follows=follows.value)
            wire = link_pb2.Frame(pong=pong)
        case Goodbye(reason):
            wire = link_pb2.Frame(goodbye=link_pb2.Goodbye(reason=reason))
        case Announce(payload):
            wire = link_pb2.Frame(announce=link_pb2.Announce(payload=payload))
        case StateFrame(channel, contents):
            state = link_pb2.State(channel_id=bytes.fromhex(channel), contents=contents)
            wire = link_pb2.Frame(state=state)
        case RootFrame(channel, root):
            told = link_pb2.State(channel_id=bytes.fromhex(channel), root=root)
            wire = link_pb2.Frame(state=told)
        case _:
            wire = _governing_to_wire(frame)
    return wire


def _governing_to_wire(frame: Governing) -> link_pb2.Frame:
    channel_id = bytes.fromhex(frame.channel)
    match frame:
        case OpFrame(_, content):
            op = link_pb2.GroupOp(channel_id=channel_id, content=content)
            return link_pb2.Frame(group_op=op)
        case HeartbeatFrame(_, payload):
            beat = link_pb2.GroupHeartbeat(channel_id=channel_id, payload=payload)
            return link_pb2.Frame(group_heartbeat=beat)
        case SecretFrame(_, number, began, secret):
            given = link_pb2.GroupSecret(
                channel_id=channel_id, number=number, op=began, secret=secret
            )
            return link_pb2.Frame(group_secret=given)
        case NoticeFrame(_, told):
            notice = link_pb2.GroupNotice(channel_id=channel_id, kind=told.value)
            return link_pb2.Frame(group_notice=notice)
        case _:
            assert_never(frame)


def _state(wire: link_pb2.State) -> StateFrame | RootFrame:
    if wire.HasField("root"):
        if len(wire.root) != HASH_SIZE or wire.contents:
            raise DecodeError("a root of state is no hash, or stands with entries")
        return RootFrame(_channel(wire.channel_id), wire.root)
    if not 0 < len(wire.contents) <= STATE_CONTENTS_MAX:
        raise DecodeError(f"a frame of {len(wire.contents)} state entries")
    if any(len(content) > ENTRY_SIZE_MAX for content in wire.contents):
        raise DecodeError(f"a state entry has over {ENTRY_SIZE_MAX} bytes")
    return StateFrame(_channel(wire.channel_id), tuple(wire.contents))


def _governing(kind: str, wire: link_pb2.Frame) -> Frame:
    """Return a frame of a governed channel; a notice of a later kind is unknown."""
    if kind == "group_op":
        op = wire.group_op
        if not SIGNATURE_SIZE < len(op.content) <= OP_SIZE_MAX:
            raise DecodeError(f"a governance op has {len(op.content)} bytes")
        return OpFrame(_channel(op.channel_id), op.content)
    if kind == "group_heartbeat":
        beat = wire.group_heartbeat
        if len(beat.payload) > HEARTBEAT_MAX:
            raise DecodeError(f"a heartbeat has {len(beat.payload)} bytes")
        return HeartbeatFrame(_channel(beat.channel_id), beat.payload)
    if kind == "group_secret":
        given = wire.group_secret
        if len(given.secret) != HASH_SIZE or len(given.op) != HASH_SIZE:
            raise DecodeError("the secret of an epoch, or its op, has not 32 bytes")
        if not 0 < given.number <= NUMBER_MAX:
            raise DecodeError("a secret is of an epoch that no op begins")
        return SecretFrame(_channel(given.channel_id), given.number, given.op, given.secret)
    notice = wire.group_notice
    if notice.kind not in {told.value for told in Told}:
        return Unknown(wire.SerializeToString())
    return NoticeFrame(_channel(notice.channel_id), Told(notice.kind))


def _open(wire: link_pb2.Open) -> Open:
    if wire.listen_port > PORT_MAX:
        raise DecodeError(f"listening port {wire.listen_port} is over {PORT_MAX}")
    return Open(_limited(wire.protocol, PROTOCOL_MAX, "protocol id"), wire.listen_port)


def _pong(wire: link_pb2.Pong) -> Pong:
    """Return a pong; one that says of whom it follows what we do not know follows somebody."""
    known = wire.follows <= Follows.YOU.value
    return Pong(wire.nonce, wire.wall_ns, Follows(wire.follows) if known else Follows.OTHERS)


def _proof(wire: link_pb2.Proof) -> Proof:
    if len(wire.mac) != PROOF_SIZE:
        raise DecodeError(f"a channel proof has {len(wire.mac)} bytes instead of {PROOF_SIZE}")
    return Proof(wire.mac, max(wire.payloads_max, 1))


def _presence(wire: link_pb2.Presence) -> Presence:
    if not CHANNEL_ID.fullmatch(wire.channel_id):
        raise DecodeError("a presence names a channel whose id is not 32 lowercase hex digits")
    nick = _limited(wire.nick, NICK_MAX, "nick")
    away = _limited(wire.away, AWAY_MAX, "absence")
    if len(wire.protocols) > PROTOCOLS_MAX:
        raise DecodeError(f"a presence names {len(wire.protocols)} protocols")
    protocols = [_limited(one, PROTOCOL_MAX, "protocol") for one in wire.protocols]
    if len(wire.features) > FEATURES_MAX:
        raise DecodeError(f"a presence names {len(wire.features)} features")
    features = [_limited(one, PROTOCOL_MAX, "feature") for one in wire.features]
    return Presence(ChannelId(wire.channel_id), nick, away, tuple(protocols), tuple(features))


def _channel(channel_id: bytes) -> ChannelId:
    if len(channel_id) != CHANNEL_ID_SIZE:
        raise DecodeError(f"a channel id has {len(channel_id)} bytes")
    return ChannelId(channel_id.hex())


def _limited(text: str, limit: int, what: str) -> str:
    if len(text) > limit:
        raise DecodeError(f"a {what} has {len(text)} characters, over {limit}")
    return text
