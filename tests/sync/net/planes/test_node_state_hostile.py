"""Sessions over state with somebody hostile, on real sockets: each is refused, and nothing changes.

The stream is the same as for all sessions: an end proves the channel by the handshake's hash, so a
proof fits one stream and one end of it; below it, Noise refuses what is repeated, out of order,
reflected or flipped (`tests/sync/net/links/test_noise.py`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from sync.calimero.governance.ops import GroupId, Key
from sync.calimero.handshake import decode_handshake, encode_handshake
from sync.calimero.state.contents import KINDS, Content, StateKind, Topic
from sync.calimero.state.contents import encode as encode_value
from sync.calimero.state.entry import Signable, sign
from sync.calimero.state.messages import Entries, HashNodes, Leaves, Outcome, Want, encode
from sync.calimero.state.session import STREAM
from sync.errors import RemoteError
from sync.machine import MILLISECOND
from sync.net.clock import draw_key
from sync.net.links.channel_proofs import Membership as Proofs
from sync.net.links.channel_secrets import plain
from sync.net.links.frames import Open, Proof
from sync.net.links.frames import encode as encode_frame
from sync.net.links.noise import Role
from sync.net.links.stream import SecureStream
from sync.net.trace import Trace
from sync.sessions.handshake import EntityState, LogState, SyncHandshake, SyncKind, flags
from tests.support.patience import PATIENCE_S
from tests.support.sync.entries import identity
from tests.support.sync.nodes import (
    HOST,
    TEA,
    TEA_SECRET,
    Host,
    host,
    next_frame,
    session,
    until,
)

pytestmark = pytest.mark.net

EVE: Final = identity("eve")
GROUP: Final = GroupId(bytes.fromhex(TEA))
LIES: Final = SyncHandshake(
    bytes(32), LogState(bytes(32), 0), EntityState(b"\x07" * 32, 9, 1, b"\x01" * 128),
    flags(SyncKind.HASH, SyncKind.LEVEL),
)  # fmt: skip
TRACE: Final = "trace"
MILLION: Final = (1_000_000).to_bytes(4, "little")


def entry_of_eve(one: Host, content: Content, group: GroupId = GROUP) -> bytes:
    stamp = one.clock.wall() // MILLISECOND
    key, kind = Key(EVE.public_key), KINDS[type(content)]
    signed = Signable(group, key, kind, b"", stamp, (), encode_value(content))
    return sign(signed, EVE.sign).content


def refused(one: Host) -> int:
    return one.node.snapshot().refused.get(EVE.peer_id, 0)


def topics(one: Host) -> list[object]:
    registers = one.node.groups[TEA].stating.registers
    return [entry.says for entry in registers.of_kind(StateKind.TOPIC).values()]


@asynccontextmanager
async def alice_and_eve(tmp_path: Path) -> AsyncIterator[tuple[Host, SecureStream]]:
    """Alice's node with a topic, and Eve's session with it, in which Alice has proved herself."""
    async with host(tmp_path, "alice", "tea", trace=Trace(tmp_path / TRACE)) as alice:
        await alice.node.set_state(TEA, StateKind.TOPIC, Topic("tea at four"))
        async with session(alice, STREAM, TEA_SECRET) as eve:
            assert isinstance(await next_frame(eve), Proof)
            yield alice, eve


async def test_an_honest_session_by_the_same_means_ends_well(tmp_path: Path) -> None:
    async with alice_and_eve(tmp_path) as (alice, eve):
        eve.send(encode_handshake(LIES))
        theirs = decode_handshake(await received(eve))
        content = entry_of_eve(alice, Topic("of eve"))
        eve.send_batch([encode(Entries((content,))), encode(HashNodes((Leaves(b"", ()),)))])
        await until(lambda: len(topics(alice)) == 2, "what she signed herself is taken")

        assert theirs.state.count == 1
        assert refused(alice) == 0


@pytest.mark.parametrize("false", ["no member", "replayed", "reflected", "another's end"])
async def test_who_proves_no_membership_on_this_stream_gets_no_handshake(
    tmp_path: Path, false: str
) -> None:
    async with host(tmp_path, "alice", "tea") as alice:
        secret = bytes(32) if false == "no member" else TEA_SECRET
        stream = await SecureStream.dial(HOST, alice.port, EVE, draw_key)
        other = await SecureStream.dial(HOST, alice.port, EVE, draw_key)
        of = other if false == "replayed" else stream
        role = stream.role if false in {"no member", "replayed"} else _other(stream)
        proofs = [
            Proof(mac, 1) for mac in Proofs(role, of.handshake_hash, {TEA: plain(secret)}).opening()
        ]
        stream.send_batch([encode_frame(Open(STREAM, 0)), *map(encode_frame, proofs)])
        stream.send(encode_handshake(LIES))
        with pytest.raises((RemoteError, EOFError)):
            await next_frame(stream)
        await until(lambda: refused(alice), "it is refused")
        for one in (stream, other):
            one.close()


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "should follow"),
        (b"\x02" + encode_handshake(LIES)[1:], "version 2"),
        (encode_handshake(LIES)[:-1], "byte"),
        (bytes(65) + MILLION, "version 0"),
        (encode_handshake(LIES)[:65] + MILLION, "1000000"),
    ],
    ids=["empty", "version", "cut", "zeros", "a million heads"],
)
async def test_a_handshake_that_is_none_ends_the_session(
    tmp_path: Path, payload: bytes, reason: str
) -> None:
    async with alice_and_eve(tmp_path) as (alice, eve):
        eve.send(payload)
        await assert_ended(alice)
    assert_named(tmp_path, reason)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x63", "kind 99"),
        (b"\x00" + MILLION, "1000000"),
        (b"\x11" + MILLION, "1000000"),
        (b"\x11\x01\x00\x00\x00" + MILLION, "a state entry of 1000000 bytes"),
        (b"\x15" + MILLION, "1000000"),
        (encode(Want((bytes(16),))), "not told"),
        (encode(Outcome(bytes(32), 0)) + b"\x00", "follow"),
    ],
    ids=["kind", "nodes", "entries", "length", "authors", "not told", "behind"],
)
async def test_what_no_honest_peer_sends_ends_the_session_and_changes_nothing(
    tmp_path: Path, payload: bytes, reason: str
) -> None:
    async with alice_and_eve(tmp_path) as (alice, eve):
        eve.send(encode_handshake(LIES))
        await received(eve)
        eve.send(payload)
        await assert_ended(alice)
    assert_named(tmp_path, reason)


@pytest.mark.parametrize(
    ("false", "reason"),
    [("signature", "signature"), ("value", "signature"), ("channel", "another channel")],
)
async def test_a_tampered_entry_ends_the_session_and_the_topic_stays(
    tmp_path: Path, false: str, reason: str
) -> None:
    async with alice_and_eve(tmp_path) as (alice, eve):
        eve.send(encode_handshake(LIES))
        await received(eve)
        group = GroupId(bytes(16)) if false == "channel" else GROUP
        content = bytearray(entry_of_eve(alice, Topic("forged"), group))
        if false != "channel":
            content[-1 if false == "signature" else -65] ^= 1
        eve.send(encode(Entries((bytes(content),))))
        await assert_ended(alice)
    assert_named(tmp_path, reason)


async def test_a_root_that_is_a_lie_ends_without_agreement_and_changes_nothing(
    tmp_path: Path,
) -> None:
    async with alice_and_eve(tmp_path) as (alice, eve):
        eve.send(encode_handshake(LIES))
        await received(eve)
        root = alice.node.groups[TEA].stating.registers.tree.root
        eve.send(encode(Outcome(LIES.state.root, 9)))
        sessions = alice.node.groups[TEA].sessions
        await until(lambda: EVE.peer_id not in sessions.by_peer, "the session is over")

        assert alice.node.groups[TEA].stating.registers.tree.root == root
        assert topics(alice) == [Topic("tea at four")]


async def assert_ended(alice: Host) -> None:
    """Check that Eve was refused, her session ended, and nothing else happened."""
    await until(lambda: refused(alice), "it is refused")
    sessions = alice.node.groups[TEA].sessions
    await until(lambda: EVE.peer_id not in sessions.by_peer, "the session is over")
    assert topics(alice) == [Topic("tea at four")]


def assert_named(tmp_path: Path, reason: str) -> None:
    """Check that Alice's trace names a reason for refusing Eve."""
    said = [line for line in (tmp_path / TRACE).read_text().splitlines() if EVE.peer_id in line]
    assert any(reason in line for line in said), said[-3:]


async def received(stream: SecureStream) -> bytes:
    """The next payload."""
    async with asyncio.timeout(PATIENCE_S):
        data = await stream.receive()
    assert data is not None
    return data


def _other(stream: SecureStream) -> Role:
    return next(one for one in Role if one is not stream.role)
