"""The frames of a link between two peers (`proto/link.proto`): values here, bytes on the wire."""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from google.protobuf import message as protobuf

from proto import link_pb2
from sync.errors import DecodeError
from sync.group.clock_values import Follows
from sync.machine import ChannelId, Nanos
from sync.net.links.channel_proofs import PROOF_SIZE

NICK_MAX: Final = 64
"""Characters of a nick: it must leave room for the text in one row of a terminal."""

REASON_MAX: Final = 256
"""Characters of a reason to part: a sentence, shown in one line of the debug pane."""

AWAY_MAX: Final = 128
"""Characters of why somebody is away: it stands beside a name."""

PROTOCOL_MAX: Final = 64
"""Characters of a protocol's id or name: twice the longest that we use."""

PROTOCOLS_MAX: Final = 16
"""Protocols that a presence names: more than anybody speaks."""

PORT_MAX: Final = 65_535
"""Highest TCP port."""

CHANNEL_ID_SIZE: Final = 16
"""Bytes of a channel id."""

CHANNEL_ID: Final = re.compile(r"[0-9a-f]{32}")
"""A channel id as `sync.machine.ChannelId` defines it."""


@dataclass(frozen=True, slots=True)
class Open:
    """First frame of who dialled: what this connection is for.

    Attributes:
        protocol: id of the protocol spoken on it.
        listen_port: where the dialler itself can be dialled; 0 where it cannot.
    """

    protocol: str
    listen_port: int


@dataclass(frozen=True, slots=True)
class Proof:
    """Proof of knowing the secret of a channel (`sync.net.links.channel_proofs`); 32 bytes.

    Attributes:
        mac: the proof.
        payloads_max: payloads of one answer that its sender takes, on a reconciliation's connection
            (`sync.waku.turn`).
    """

    mac: bytes
    payloads_max: int = 1


@dataclass(frozen=True, slots=True)
class Presence:
    """The sender's nick and away reason in a channel that both have proved."""

    channel: ChannelId
    nick: str
    away: str = ""
    """Why its sender is away; empty while it is not."""
    protocols: tuple[str, ...] = ()
    """Protocols of sessions that it speaks, beyond those that everybody does."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Are you there? It carries the sender's wall clock, for the reference clock."""

    nonce: int
    wall: Nanos


@dataclass(frozen=True, slots=True)
class Pong:
    """Answer to the `Ping` with the same nonce, with the answerer's wall clock.

    It need not go by that clock: `follows` says whose it goes by.
    """

    nonce: int
    wall: Nanos
    follows: Follows = Follows.NOBODY


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The sender closes the connection, and says why."""

    reason: str


@dataclass(frozen=True, slots=True)
class SdsFrame:
    """An SDS message, encoded, and the channel it is for."""

    channel: ChannelId
    payload: bytes


@dataclass(frozen=True, slots=True)
class Announce:
    """Announcement of the channels that the sender's author logs can be had of, encoded."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class Unknown:
    """A frame of a kind that a later version has: `data` is all of it, and passed over."""

    data: bytes


Known: TypeAlias = Open | Proof | Presence | Ping | Pong | Goodbye | SdsFrame | Announce
Frame: TypeAlias = Known | Unknown


def encode(frame: Frame) -> bytes:
    """The bytes of `frame`, without a length in front."""
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
    match wire.WhichOneof("kind"):
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
        case None if data:
            frame = Unknown(data)
        case _:
            raise DecodeError("an empty frame")
    return frame


def _to_wire(frame: Known) -> link_pb2.Frame:
    match frame:
        case SdsFrame(channel, payload):
            sds = link_pb2.Sds(channel_id=bytes.fromhex(channel), payload=payload)
            wire = link_pb2.Frame(sds=sds)
        case Open(protocol, listen_port):
            wire = link_pb2.Frame(open=link_pb2.Open(protocol=protocol, listen_port=listen_port))
        case Proof(mac, payloads_max):
            several = payloads_max if payloads_max > 1 else 0
            wire = link_pb2.Frame(proof=link_pb2.Proof(mac=mac, payloads_max=several))
        case Presence(channel, nick, away, protocols):
            presence = link_pb2.Presence(
                channel_id=channel, nick=nick, away=away, protocols=protocols
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
        case _:
            assert_never(frame)
    return wire


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
    return Presence(ChannelId(wire.channel_id), nick, away, tuple(protocols))


def _channel(channel_id: bytes) -> ChannelId:
    if len(channel_id) != CHANNEL_ID_SIZE:
        raise DecodeError(f"a channel id has {len(channel_id)} bytes")
    return ChannelId(channel_id.hex())


def _limited(text: str, limit: int, what: str) -> str:
    if len(text) > limit:
        raise DecodeError(f"a {what} has {len(text)} characters, over {limit}")
    return text
