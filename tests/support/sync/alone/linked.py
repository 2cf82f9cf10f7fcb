"""Meshes that are linked, and a peer of streams alone that speaks to one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sync.calimero.governance.keys import EpochSecret
from sync.errors import RemoteError
from sync.machine import ChannelId
from sync.net.clock import draw_key
from sync.net.links.channel_proofs import Membership
from sync.net.links.channel_secrets import plain
from sync.net.links.frames import Frame, Open, Proof, decode, encode
from sync.net.links.link import PROTOCOL
from sync.net.links.stream import SecureStream
from tests.support.sync.entries import identity
from tests.support.sync.nodes import HOST, Station, channel_of, stations, until
from tests.support.sync.streams import record

TEA, TEA_SECRET = channel_of("tea")


SECRET_PLANS, _ = channel_of("secret-plans")


LOBBY, _ = channel_of("lobby")


@asynccontextmanager
async def linked(alice: Station, bob: Station) -> AsyncIterator[None]:
    """Alice and Bob, with one link that she dialled and over which they share a channel."""
    async with stations(alice, bob):
        await alice.mesh.connect(HOST, bob.port)
        await until(lambda: alice.shared and bob.shared, "the channel is proved")
        yield


def known(channel: str) -> tuple[ChannelId, tuple[EpochSecret, ...]]:
    """Return id and secrets of a channel that everybody in the tests can be given."""
    opened, secret = channel_of(channel)
    return opened, plain(secret)


@asynccontextmanager
async def connected(
    station: Station, name: str = "eve", *channels: str, local: str = HOST
) -> AsyncIterator[SecureStream]:
    """A connection of our own to a station, which opens as a link and proves `channels`."""
    stream = await SecureStream.dial(
        HOST, station.port, identity(name), draw_key, local_address=local
    )
    proofs = Membership(stream.role, stream.handshake_hash, dict(map(known, channels)))
    stream.send_batch([encode(Open(PROTOCOL, 0)), *map(encode, map(Proof, proofs.opening()))])
    try:
        yield stream
    finally:
        stream.close()
        await stream.wait_closed()


def sealed(stream: SecureStream, plaintext: bytes) -> bytes:
    """Records of bytes that need not be whole frames."""
    step = 60_000
    return b"".join(
        record(stream._sender.encrypt(b"", plaintext[at : at + step]))
        for at in range(0, len(plaintext), step)
    )


async def heard(stream: SecureStream) -> list[Frame]:
    """All that comes over a stream until the other end closes it, in whatever manner."""
    frames: list[Frame] = []
    with suppress(RemoteError):
        while batch := await stream.receive_batch():
            frames += map(decode, batch)
    return frames
