"""The released wire against this program, and this program's frames against the released one.

Frames and schema are those of the release before governed channels, as its program wrote them.
"""

import base64
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from sync.entries.entry import Kind, Text, encode_text, open_content
from sync.entries.replies import answered_by
from sync.group.clock_values import Follows
from sync.machine import ChannelId
from sync.net.clock import draw_key
from sync.net.links.channel_proofs import Membership
from sync.net.links.channel_secrets import plain
from sync.net.links.frames import (
    GOVERNANCE,
    Announce,
    Frame,
    Goodbye,
    Open,
    Ping,
    Pong,
    Presence,
    Proof,
    SdsFrame,
    decode,
    encode,
)
from sync.net.links.link import PROTOCOL
from sync.net.links.stream import SecureStream
from sync.sds.wire import decode as decode_sds
from tests.support.sync.changed import released_body
from tests.support.sync.entries import identity
from tests.support.sync.governed_nodes import found
from tests.support.sync.nodes import HOST, TEA, TEA_SECRET, Host, host, until

CHANNEL = ChannelId("5e" * 16)
RELEASED: list[tuple[Frame, str]] = [
    (
        Open("/chat-tui/link/1.0.0", 46021),
        "0a1a0a142f636861742d7475692f6c696e6b2f312e302e3010c5e702",
    ),
    (
        Proof(bytes(range(32))),
        "12220a20000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    ),
    (
        Proof(bytes(range(32)), 8),
        "12240a20000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f1008",
    ),
    (
        Presence(CHANNEL, "alice", "lunch", ("p2panda",)),
        (
            "1a390a20356535653565356535653565356535653565356535653565356535653565356512"
            "05616c6963651a056c756e63682207703270616e6461"
        ),
    ),
    (Ping(7, 1_750_000_000_000_000_000), "220c0807108080bca7a6f7cfa418"),
    (Pong(7, 1_750_000_000_000_000_001, Follows.OTHERS), "2a0e0807108180bca7a6f7cfa4181801"),
    (Goodbye("leaving"), "32090a076c656176696e67"),
    (SdsFrame(CHANNEL, b"\x0a\x01x"), "3a170a105e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e12030a0178"),
    (Announce(b"\x81\x01"), "42040a028101"),
]
"""Frames as the released program encodes them."""

SCHEMA = (
    "c-obe+iuf95QYhM;$)nnXhmC7f!bPJ0D_<fMFI&Sm18SJ8*RBo(bnFktGK(C*FE?NcnvOjOm@fXsK*QLJfm-RX6O"
    "Ic@D~6wA?L%qP^BV+<d~Jy@>C2ldA1erL2q(;n2F>&ugEL#%PQwlYoqn-!RXQOIz2SdPXkcI2mwE3C5!GGyif5v{"
    "sqf>N@%{rWU7zZoKIMlDVCB==!=xgQk2zn&MWNEr(u(`?Jpx*%-p#P<Uq{gPvGz8T#_~D;*AoO;YmHZh{-yHnb0M"
    "d(_9rLp0Y%tPEAZEeh=+Qq0|u>fOo<YH;VnVBjokKdV0bxTyfasez1#JL3dJc&1J&L69BU#DS0*(sT-u{GP|i=kQ"
    "B)rPw7$owmEjrs>rKz_M1G0UNgOp{0+~ZvPi^Z@Fzmf$U|sLWx8S?pVk3ch2WfJ*;Hz5<I|1}_jJ5(%G7_CkqCk#"
    "m1XK&<A_VN3FA!&zA2R+R-CLrr{GL0>F(^J_yc$cslH_`{mW}HE!;w##7!7Kh3>YL>eNnniE3S?{&>*-TCfvNUV^"
    "WT9S{gdD>n^m&9ZZkB1K+9JGZ)H*Ko9Y6GvMZzUIhV>#|yETt+xryRD`sOxc3AgXKmuBjz20Sw-z&mO|P{6}9iAm"
    "7}eoV+dxo4p9dSZh5FqC{xq0<T-dc)lq;Y%Qs7ma0a)Gy*G0*MBTgY-3Vpx-OwL9;Ln9j<KHdl?8-AyqK;?0(88I"
    ";7|MnCJdBEq=V2ASY8~&ob&T;ePYPb*X8Y7dXqG}9iHzeCd$b8(tV7`bS|k9E9&8Wpkr09}pGV{I*1JLLu!Aq{%|"
    "9_0Z+Q"
)
"""The released `proto/link.proto`, as a descriptor set, compressed."""


def released(data: bytes) -> tuple[str | None, Frame]:
    """Return a frame as the released program reads it: its kind, and what it knows of it."""
    described = descriptor_pb2.FileDescriptorSet.FromString(
        zlib.decompress(base64.b85decode(SCHEMA))
    )
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.Add(file)
    name = pool.FindMessageTypeByName("chat_tui.link.v1.Frame")
    wire = message_factory.GetMessageClass(name).FromString(data)
    kind = wire.WhichOneof("kind")
    wire.DiscardUnknownFields()
    return kind, decode(wire.SerializeToString())


@pytest.mark.parametrize(("frame", "recorded"), RELEASED, ids=lambda one: type(one).__name__)
def test_a_released_frame_means_what_it_meant_and_is_written_as_before(
    frame: Frame, recorded: str
) -> None:
    assert decode(bytes.fromhex(recorded)) == frame
    assert encode(frame).hex() == recorded


def test_the_released_program_passes_over_what_a_presence_says_of_features() -> None:
    kind, read = released(encode(Presence(CHANNEL, "bob", features=(GOVERNANCE,))))

    assert (kind, read) == ("presence", Presence(CHANNEL, "bob"))


@asynccontextmanager
async def of_before(to: Host) -> AsyncIterator[SecureStream]:
    """A link of a released program to a node, with its proof of a channel."""
    stream = await SecureStream.dial(HOST, to.port, identity("eve"), draw_key)
    macs = Membership(stream.role, stream.handshake_hash, {TEA: plain(TEA_SECRET)}).opening()
    stream.send_batch([encode(Open(PROTOCOL, 0)), *map(encode, map(Proof, macs))])
    try:
        yield stream
    finally:
        stream.close()
        await stream.wait_closed()


@pytest.mark.net
async def test_a_released_program_is_sent_nothing_that_it_does_not_know(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, of_before(alice) as stream:
        club = await found(alice)
        for frame in (Presence(TEA, "eve"), Ping(1, 2)):
            stream.send(encode(frame))
        eve = identity("eve").peer_id
        await until(lambda: alice.node.mesh.peers.nick_of(eve) == "eve", "she is here")
        await alice.write(TEA, "hello")
        await alice.write(club.channel, "not for her")
        alice.node.mesh.send_op(club.channel, bytes(200))
        alice.node.mesh.channels.rename("alicia")
        stream.send(encode(Ping(99, 2)))

        kinds: set[str | None] = set()
        while True:
            data = await stream.receive()
            assert data is not None
            kind, read = released(data)
            kinds.add(kind)
            if isinstance(read, SdsFrame):
                assert read.channel == TEA
            if isinstance(read, Pong) and read.nonce == 99:
                break

        assert {"proof", "presence", "ping", "pong", "sds"} <= kinds
        assert None not in kinds
        assert alice.node.snapshot().refused == {}


@pytest.mark.net
async def test_a_released_program_is_sent_a_reply_as_a_text_that_it_can_read(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, of_before(alice) as stream:
        stream.send(encode(Presence(TEA, "eve")))
        eve = identity("eve").peer_id
        await until(lambda: alice.node.mesh.peers.nick_of(eve) == "eve", "she is here")
        asked = await alice.write(TEA, "who comes?")
        body = encode_text(Text("alice", "I do", reply_to=asked))
        reply = await alice.node.writing.submit(TEA, Kind.TEXT, body, asked)

        entry = None
        while entry is None or entry.message_id != reply:
            data = await stream.receive()
            assert data is not None
            _, read = released(data)
            if isinstance(read, SdsFrame):
                content = decode_sds(read.payload).content
                entry = open_content(content) if content else entry

    old = released_body(entry.body)
    assert (old.nick, old.text) == ("alice", "I do")  # type: ignore[attr-defined]
    assert [parent.message_id for parent in entry.header.parents] == [asked]
    assert answered_by(entry) == asked
