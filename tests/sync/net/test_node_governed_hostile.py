"""Hostile peers of a governed channel: what they send on links and streams changes nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sync.calimero.governance.catch_up import (
    GroupDeltaRequest,
    GroupStateHeartbeat,
    encode_heartbeat,
    encode_request,
)
from sync.calimero.governance.keys import EpochName, EpochSecret, begin_epoch
from sync.calimero.governance.limits import OP_SIZE_MAX
from sync.calimero.governance.ops import Add, GroupId, Key, OpId, Role, Rotate, SetRole, Signable
from sync.calimero.governance.signing import sign
from sync.calimero.message import (
    STREAM,
    Init,
    Message,
    OpaqueError,
    Payload,
    StreamMessage,
    SyncProtocol,
)
from sync.calimero.wire import decode, encode, signed_by_init
from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId
from sync.net.clock import draw_key
from sync.net.governance.handed_over import KEPT_OF_A_PEER_MAX
from sync.net.links.catch_ups import ANSWER_WITHIN, OFFERED_PER_PEER_MAX
from sync.net.links.channel_proofs import Membership, prove
from sync.net.links.frames import (
    Frame,
    HeartbeatFrame,
    Open,
    OpFrame,
    Ping,
    Pong,
    Proof,
    SdsFrame,
    SecretFrame,
)
from sync.net.links.frames import decode as decode_frame
from sync.net.links.frames import encode as encode_frame
from sync.net.links.levels import Level
from sync.net.links.link import PROTOCOL
from sync.net.links.stream import SecureStream
from sync.net.trace import Trace
from sync.waku.message import RECONCILIATION
from tests.support.patience import PATIENCE_S
from tests.support.sync.entries import identity
from tests.support.sync.governed_nodes import (
    Club,
    add,
    enter,
    found,
    governance,
    key_of,
    level,
    remove,
    rotate,
    together,
)
from tests.support.sync.nodes import HOST, Host, host, until

pytestmark = pytest.mark.net

EVE = identity("eve")


@asynccontextmanager
async def dialled(to: Host, name: str = "eve") -> AsyncIterator[SecureStream]:
    """A connection of somebody to a node, on which nothing was said yet."""
    stream = await SecureStream.dial(HOST, to.port, identity(name), draw_key)
    try:
        yield stream
    finally:
        stream.close()
        await stream.wait_closed()


@asynccontextmanager
async def linked(
    to: Host, club: Club, epochs: Sequence[EpochSecret], name: str = "eve"
) -> AsyncIterator[SecureStream]:
    """A link of somebody to a node, with proofs of epochs of the club."""
    async with dialled(to, name) as stream:
        proofs = Membership(stream.role, stream.handshake_hash, {club.channel: epochs})
        macs = proofs.opening() if epochs else []
        stream.send_batch([encode_frame(Open(PROTOCOL, 0)), *map(encode_frame, map(Proof, macs))])
        yield stream


@asynccontextmanager
async def begun(
    alice: Host,
) -> AsyncIterator[tuple[Club, SecureStream, SecureStream, Init]]:
    """A club of Alice's with Eve in it, a link of hers, a stream that both signed, and Alice's."""
    club = await found(alice)
    await _let_eve_in(alice, club)
    async with linked(alice, club, [club.first]) as link, dialled(alice) as stream:
        await said(link)
        stream.send_batch([encode_frame(Open(STREAM, 0)), encode(init(stream, club.channel))])
        first = await answer(stream)
        assert isinstance(first, Init)
        yield club, link, stream, first


async def said(stream: SecureStream, *frames: Frame) -> list[Frame]:
    """Send frames; return what came until all were read."""
    stream.send_batch([*map(encode_frame, frames), encode_frame(Ping(77, 0))])
    heard: list[Frame] = []
    async with asyncio.timeout(PATIENCE_S):
        while (data := await stream.receive()) is not None:
            frame = decode_frame(data)
            heard.append(frame)
            if isinstance(frame, Pong) and frame.nonce == 77:
                return heard
    return heard


async def ended(stream: SecureStream) -> int | None:
    """Wait until a connection ends; returns how many frames came before, None: it does not."""
    frames = 0
    try:
        async with asyncio.timeout(PATIENCE_S):
            while await stream.receive() is not None:
                frames += 1
    except RemoteError:
        return frames
    except TimeoutError:
        return None
    return frames


def init(stream: SecureStream, channel: ChannelId, name: str = "eve", **changed: object) -> Init:
    """Return an Init of who opened a stream, with some of it changed after signing."""
    me = identity(name)
    group, key = GroupId(bytes.fromhex(channel)), Key(me.public_key)
    signed = signed_by_init(stream.handshake_hash, group, key, opener=True)
    fields = {"context_id": group, "party_id": key, "signature": me.sign(signed)}
    return Init(protocol=SyncProtocol.GOVERNANCE, **(fields | changed))  # type: ignore[arg-type]


async def answer(stream: SecureStream) -> StreamMessage | None:
    """Return the next message of a stream; None at its end."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            data = await stream.receive()
    except RemoteError:
        return None
    return None if data is None else decode(data)


def request(club: Club) -> Message:
    """Return a question for all ops."""
    asked = GroupDeltaRequest(GroupId(bytes.fromhex(club.channel)), ())
    return Message(Payload.GROUP_DELTA_REQUEST, encode_request(asked))


# --- Frames ------------------------------------------------------------------------------------


async def test_a_stranger_governs_nothing_and_learns_nothing(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        before = governance(alice, club).heads
        op = await _op_of_eve(alice, club)
        async with linked(alice, club, ()) as stream:
            heard = await said(
                stream,
                OpFrame(club.channel, op),
                HeartbeatFrame(club.channel, _heads(club, 1)),
                SdsFrame(club.channel, b"a line"),
            )

            assert {type(one) for one in heard} == {Ping, Pong, Proof}  # proofs say nothing to her
            assert governance(alice, club).heads == before
            assert not alice.node.groups[club.channel].governing.beats._heads  # type: ignore[union-attr]


async def test_false_ops_are_counted_and_change_nothing(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        await _let_eve_in(alice, club)
        before = governance(alice, club).heads
        good = await _op_of_eve(alice, club)
        elsewhere = Signable(
            GroupId(bytes(15) + b"x"), before, Key(EVE.public_key), 1, 9, 9,
            SetRole(key_of(alice), Role.READER),
        )  # fmt: skip
        false = [
            good[:-1] + bytes([good[-1] ^ 1]),  # forged
            good,  # no right to it
            sign(elsewhere, EVE.sign).content,  # of another channel
            b"x" * 200,
        ]
        async with linked(alice, club, [club.first]) as stream:
            for one in (*false, *false):
                await said(stream, OpFrame(club.channel, one))
            await until(
                lambda: alice.node.snapshot().refused.get(EVE.peer_id, 0) >= len(false),
                "they are counted",
            )

            assert governance(alice, club).heads == before
            assert level_of_eve(alice, club) is Level.FULL

            stream.send(encode_frame(OpFrame(club.channel, bytes(OP_SIZE_MAX + 1))))
            assert await ended(stream) is not None


async def test_floods_of_heads_and_secrets_stay_within_their_bounds(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        await _let_eve_in(alice, club)
        async with linked(alice, club, [club.first]) as stream:
            for start in range(0, 300, 50):
                frames: list[Frame] = []
                for number in range(start, start + 50):
                    frames.append(HeartbeatFrame(club.channel, _heads(club, number)))
                    op = number.to_bytes(32, "big")
                    frames.append(SecretFrame(club.channel, 1 + number, op, bytes(32)))
                await said(stream, *frames)

            handed = alice.node.governance._handed_over
            assert len(handed._kept) == KEPT_OF_A_PEER_MAX
            beats = alice.node.groups[club.channel].governing.beats  # type: ignore[union-attr]
            await until(lambda: EVE.peer_id in beats._heads, "heads are noted")
            assert len(beats._heads) == 1
            assert len(beats._pulls) <= 1
            assert alice.node.secrets.known(club.channel) == (club.first,)
        assert bytes(32).hex() not in repr(alice.node.secrets)


async def test_a_false_secret_of_a_true_epoch_is_refused(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        await _let_eve_in(alice, club)
        name = EpochName(governance(alice, club).group, key_of(alice), 1)
        epoch = begin_epoch(name, b"t" * 32, draw_key(), (), [club.first.secret])
        op = await alice.node.act(club.channel, Rotate(epoch))  # it is wrapped for nobody
        began = EpochSecret(1, op, b"t" * 32)
        async with linked(alice, club, [club.first]) as stream:
            await said(stream, SecretFrame(club.channel, began.number, began.op, b"f" * 32))
            await until(lambda: alice.node.snapshot().refused.get(EVE.peer_id), "it is counted")
            assert alice.node.secrets.known(club.channel) == (club.first,)

            await said(stream, SecretFrame(club.channel, *began))
            await until(lambda: alice.node.secrets.newest(club.channel) == began, "the true one")


# --- Streams -----------------------------------------------------------------------------------


async def test_a_member_is_given_all_ops_on_a_stream_that_it_signed(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, begun(alice) as (club, _, stream, first):
        assert first.party_id == key_of(alice)
        stream.send(encode(request(club)))
        page = await answer(stream)
        assert isinstance(page, Message)
        assert page.kind is Payload.GROUP_DELTA_RESPONSE


@pytest.mark.parametrize(
    "false", ["channel", "sender", "another's name", "signature", "replayed", "other end"]
)
async def test_an_init_that_does_not_fit_its_stream_opens_nothing(
    tmp_path: Path, false: str
) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        await _let_eve_in(alice, club)
        async with linked(alice, club, [club.first]) as link, dialled(alice) as stream:
            await said(link)
            good = init(stream, club.channel)
            changed = {
                "channel": lambda: init(stream, ChannelId("ab" * 16)),
                "sender": lambda: init(stream, club.channel, party_id=key_of(alice)),
                "another's name": lambda: init(
                    stream,
                    club.channel,
                    party_id=key_of(alice),
                    signature=EVE.sign(
                        signed_by_init(
                            stream.handshake_hash, good.context_id, key_of(alice), opener=True
                        )
                    ),
                ),
                "signature": lambda: init(stream, club.channel, signature=bytes(64)),
                "other end": lambda: init(
                    stream,
                    club.channel,
                    signature=EVE.sign(
                        signed_by_init(
                            stream.handshake_hash, good.context_id, good.party_id, opener=False
                        )
                    ),
                ),
            }
            if false == "replayed":
                async with dialled(alice) as other:
                    message = init(other, club.channel)
            else:
                message = changed[false]()
            stream.send_batch(
                [encode_frame(Open(STREAM, 0)), encode(message), encode(request(club))]
            )

            assert await answer(stream) is None


async def test_who_has_proved_nothing_or_an_ended_code_is_given_no_op(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        await rotate(alice, club)
        for epochs, expected in (((), None), ((club.first,), OpaqueError())):
            async with linked(alice, club, epochs) as link, dialled(alice) as stream:
                await said(link)
                stream.send_batch(
                    [
                        encode_frame(Open(STREAM, 0)),
                        encode(init(stream, club.channel)),
                        encode(request(club)),
                    ]
                )
                assert await answer(stream) == expected
                assert await answer(stream) is None


async def test_who_asks_before_it_was_answered_or_answers_unasked_is_cut_off(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        await _let_eve_in(alice, club)
        refused = 0
        unasked = Message(Payload.GROUP_DELTA_RESPONSE, bytes(5))
        async with linked(alice, club, [club.first]) as link:
            await said(link)
            for wrong in ([unasked], [request(club)] * 5, [init]):
                async with dialled(alice) as stream:
                    first = init(stream, club.channel)
                    messages = [first if one is init else one for one in wrong]
                    stream.send_batch(
                        [encode_frame(Open(STREAM, 0)), *map(encode, [first, *messages])]  # type: ignore[arg-type]
                    )
                    got = 0
                    while await answer(stream) is not None:
                        got += 1
                    assert got <= 2
                    refused += 1
                    counted = alice.node.snapshot().refused
                    assert counted.get(EVE.peer_id, 0) == refused, "it is a fault of hers"


async def test_who_ends_its_stream_unanswered_is_not_waited_for(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, begun(alice) as (club, link, stream, _):
        # A head that she lacks makes her ask, on the stream that is there.
        await said(link, HeartbeatFrame(club.channel, _heads(club, 1)))
        asked = await answer(stream)
        assert isinstance(asked, Message)
        assert asked.kind is Payload.GROUP_DELTA_REQUEST
        stream.close()
        await stream.wait_closed()
        governing = alice.node._runner.groups[club.channel].governing
        assert governing is not None
        pulls = governing.catch_ups

        await until(lambda: pulls.latest()[0].ended_at is not None, "it is over")

        [pull] = [one for one in pulls.latest() if one.asked]
        assert pull.ended_at is not None
        assert pull.ended_at - pull.began_at < ANSWER_WITHIN * SECOND / 2


async def test_one_peer_has_few_streams_at_once(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        club = await found(alice)
        await _let_eve_in(alice, club)
        streams: list[SecureStream] = []
        async with linked(alice, club, [club.first]) as link:
            await said(link)
            answers: list[StreamMessage | None] = []
            for _ in range(OFFERED_PER_PEER_MAX + 2):
                stream = await SecureStream.dial(HOST, alice.port, EVE, draw_key)
                streams.append(stream)
                first = encode(init(stream, club.channel))
                stream.send_batch([encode_frame(Open(STREAM, 0)), first])
                answers.append(await answer(stream))
            assert [one is not None for one in answers] == [True] * OFFERED_PER_PEER_MAX + [
                False,
                False,
            ]
        for stream in streams:
            stream.close()
            await stream.wait_closed()


# --- Sessions ----------------------------------------------------------------------------------


async def test_a_removal_ends_open_sessions_at_once_and_no_new_one_begins(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "mallory", "tea") as mallory:
        club = await found(alice)
        await together(club, alice, mallory)
        async with dialled(alice, "mallory") as stream:
            mac = prove(club.first.secret, stream.role, stream.handshake_hash)
            opening = [encode_frame(Open(RECONCILIATION, 0)), encode_frame(Proof(mac))]
            stream.send_batch(opening)
            async with asyncio.timeout(PATIENCE_S):
                proof = decode_frame(await stream.receive() or b"")
            assert isinstance(proof, Proof)

            ours = stream._writer.get_extra_info("sockname")  # mallory's node may have one as well
            served = alice.node.streams._open[club.channel, mallory.me]
            [open_now] = [one for one in served if one.remote_address == ours]
            ended_at_once: list[bool] = []
            governed = alice.node.governance.on_governed

            def look(channel: ChannelId, ops: tuple[OpId, ...]) -> None:
                ended_at_once.append(open_now.closed)
                governed(channel, ops)

            alice.node.governance.on_governed = look
            await remove(alice, club, mallory)
            assert ended_at_once[0], "before anything else is done"
            assert await ended(stream) is not None
        assert level(alice, mallory, club) is Level.STUB
        assert mallory.me in alice.node.mesh.peers.links
        async with dialled(alice, "mallory") as stream:
            mac = prove(club.first.secret, stream.role, stream.handshake_hash)
            stream.send_batch([encode_frame(Open(RECONCILIATION, 0)), encode_frame(Proof(mac))])
            assert await ended(stream) == 0, "without a proof of alice's"


async def test_no_secret_is_in_trace_or_recorded_frames(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")
    async with host(tmp_path, "alice", trace=trace) as alice, host(tmp_path, "bob") as bob:
        alice.node._tap.record(tmp_path / "frames")
        club = await found(alice)
        await rotate(alice, club)
        await enter(bob, club)
        await add(alice, club, bob)
        await bob.node.mesh.connect(HOST, alice.port)
        newest = club.secrets[max(club.secrets, key=lambda op: club.secrets[op].number)]
        await until(lambda: bob.node.secrets.newest(club.channel) == newest, "it is handed over")
        await alice.write(club.channel, "a line")
        await alice.node.drained()
        alice.node._tap.stop()
        trace.close()
    written = (tmp_path / "trace").read_text() + (tmp_path / "frames").read_text()
    for epoch in club.secrets.values():
        assert epoch.secret.hex() not in written
    for kind in ("op", "heartbeat", "catch-up"):
        assert f'"kind": "{kind}"' in written


async def _let_eve_in(by: Host, club: Club) -> None:
    op = Add(Key(EVE.public_key), EVE.noise_public, Role.MEMBER)
    await by.node.act(club.channel, op)


def level_of_eve(at: Host, club: Club) -> Level:
    """Return the level of Eve on her links."""
    return at.node.mesh.channels.level(EVE.peer_id, club.channel)


async def _op_of_eve(at: Host, club: Club) -> bytes:
    """Return an op that Eve has no right to."""
    known = governance(at, club)
    last = known.act(known.heads[0])
    signed = Signable(
        known.group, known.heads, Key(EVE.public_key), 1, last.lamport + 1, 9,
        SetRole(key_of(at), Role.READER),
    )  # fmt: skip
    return sign(signed, EVE.sign).content


def _heads(club: Club, number: int) -> bytes:
    """Return a heartbeat with a head that nobody has."""
    group = GroupId(bytes.fromhex(club.channel))
    return encode_heartbeat(GroupStateHeartbeat(group, (OpId(number.to_bytes(32, "big")),), 1))
