"""Frames of a link: they come back as they went, and nothing else gets through."""

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import example, given
from hypothesis import strategies as st

from proto import link_pb2
from sync.calimero.governance.limits import OP_SIZE_MAX
from sync.errors import DecodeError
from sync.machine import ChannelId
from sync.net.links.frames import (
    AWAY_MAX,
    FEATURES_MAX,
    HEARTBEAT_MAX,
    NICK_MAX,
    PORT_MAX,
    PROTOCOL_MAX,
    PROTOCOLS_MAX,
    REASON_MAX,
    Announce,
    Frame,
    Goodbye,
    HeartbeatFrame,
    NoticeFrame,
    Open,
    OpFrame,
    Ping,
    Pong,
    Presence,
    Proof,
    SdsFrame,
    SecretFrame,
    Told,
    Unknown,
    decode,
    encode,
)

CHANNEL = ChannelId("5e" * 16)


def text(limit: int) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=limit)


HASH = st.binary(min_size=32, max_size=32)
UINT64 = st.integers(0, 2**64 - 1)
FRAMES: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Open, text(PROTOCOL_MAX), st.integers(0, PORT_MAX)),
    st.builds(
        Presence,
        st.binary(min_size=16, max_size=16).map(bytes.hex),
        text(NICK_MAX),
        text(AWAY_MAX),
        st.lists(text(PROTOCOL_MAX), max_size=PROTOCOLS_MAX).map(tuple),
        st.lists(text(PROTOCOL_MAX), max_size=FEATURES_MAX).map(tuple),
    ),
    st.builds(Proof, st.binary(min_size=32, max_size=32), st.integers(1, 2**32 - 1)),
    st.builds(Ping, UINT64, UINT64),
    st.builds(Pong, UINT64, UINT64),
    st.builds(Goodbye, text(REASON_MAX)),
    st.builds(SdsFrame, st.just(CHANNEL), st.binary()),
    st.builds(Announce, st.binary()),
    st.builds(OpFrame, st.just(CHANNEL), st.binary(min_size=65)),
    st.builds(HeartbeatFrame, st.just(CHANNEL), st.binary(max_size=HEARTBEAT_MAX)),
    st.builds(SecretFrame, st.just(CHANNEL), st.integers(1, 2**63 - 1), HASH, HASH),
    st.builds(NoticeFrame, st.just(CHANNEL), st.sampled_from(Told)),
)


@given(FRAMES)
@example(Presence(CHANNEL, "\N{GRINNING FACE}" * NICK_MAX))
@example(SdsFrame(CHANNEL, b""))
@example(Ping(0, 0))
def test_a_frame_comes_back_as_it_went(frame: Frame) -> None:
    assert decode(encode(frame)) == frame


@given(st.binary(min_size=16, max_size=16), st.binary(max_size=20_000))
def test_a_frame_of_a_message_is_written_as_protobuf_writes_it(
    channel: bytes, payload: bytes
) -> None:
    wire = link_pb2.Frame(sds=link_pb2.Sds(channel_id=channel, payload=payload))

    assert encode(SdsFrame(ChannelId(channel.hex()), payload)) == wire.SerializeToString()


@given(st.binary())
def test_arbitrary_bytes_are_a_frame_or_a_decode_error(data: bytes) -> None:
    try:
        frame = decode(data)
    except DecodeError:
        return
    assert decode(encode(frame)) == frame


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (Open("p" * (PROTOCOL_MAX + 1), 1), "protocol id"),
        (Open("/p/1", PORT_MAX + 1), "port"),
        (Proof(bytes(31)), "31 bytes"),
        (Proof(bytes(33)), "33 bytes"),
        (Presence(CHANNEL, "n" * (NICK_MAX + 1)), "nick"),
        (Presence(CHANNEL, "nick", "a" * (AWAY_MAX + 1)), "absence"),
        (Presence(ChannelId("5E" * 16), "nick"), "hex"),
        (Presence(ChannelId(CHANNEL + "\n"), "nick"), "hex"),
        (Presence(ChannelId(""), "nick"), "hex"),
        (Presence(CHANNEL, "nick", protocols=("p" * (PROTOCOL_MAX + 1),)), "protocol"),
        (Presence(CHANNEL, "nick", protocols=("p",) * (PROTOCOLS_MAX + 1)), "17 protocols"),
        (Goodbye("r" * (REASON_MAX + 1)), "reason"),
    ],
)
def test_a_field_over_its_limit_is_refused(frame: Frame, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(encode(frame))


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(DecodeError, match="empty"):
        decode(b"")


def test_a_frame_of_a_later_version_is_known_as_such() -> None:
    unknown_field_15 = b"\x7a\x01x"

    assert decode(unknown_field_15) == Unknown(unknown_field_15)


def test_a_program_of_before_announcements_passes_them_over() -> None:
    """Its schema has all fields but this one, and it skips a frame that has no kind to it."""
    schema = descriptor_pb2.FileDescriptorProto()
    link_pb2.DESCRIPTOR.CopyToProto(schema)
    frames = next(one for one in schema.message_type if one.name == "Frame")
    [last] = [number for number, one in enumerate(frames.field) if one.name == "announce"]
    del frames.field[last]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(schema)
    of_before = message_factory.GetMessageClass(
        pool.FindMessageTypeByName("chat_tui.link.v1.Frame")
    )

    announced = of_before.FromString(encode(Announce(b"said")))
    pinged = of_before.FromString(encode(Ping(1, 2)))

    assert (announced.WhichOneof("kind"), pinged.WhichOneof("kind")) == (None, "ping")
    assert encode(Announce(b"said")) == b"\x42\x06\x0a\x04said", "field 8, which none had before"


def test_text_that_is_not_utf8_is_refused() -> None:
    good = encode(Goodbye("stop"))

    with pytest.raises(DecodeError, match="cannot be read"):
        decode(good.replace(b"stop", b"st\xffp"))


def test_a_field_of_a_later_version_is_passed_over() -> None:
    later = link_pb2.Frame(ping=link_pb2.Ping(nonce=7, wall_ns=8)).SerializeToString()

    assert decode(later + b"\x7a\x01x") == Ping(7, 8)


def test_a_proof_of_a_program_of_before_takes_one_payload_of_an_answer() -> None:
    of_before = link_pb2.Frame(proof=link_pb2.Proof(mac=bytes(32))).SerializeToString()

    assert decode(of_before) == Proof(bytes(32), payloads_max=1)
    assert encode(Proof(bytes(32))) == of_before


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (link_pb2.Frame(group_op=link_pb2.GroupOp(channel_id=bytes(16))), "op has 0 bytes"),
        (
            link_pb2.Frame(
                group_op=link_pb2.GroupOp(channel_id=bytes(16), content=bytes(OP_SIZE_MAX + 1))
            ),
            "op has 65537 bytes",
        ),
        (
            link_pb2.Frame(group_op=link_pb2.GroupOp(channel_id=b"", content=bytes(200))),
            "channel id has 0 bytes",
        ),
        (
            link_pb2.Frame(
                group_heartbeat=link_pb2.GroupHeartbeat(
                    channel_id=bytes(16), payload=bytes(HEARTBEAT_MAX + 1)
                )
            ),
            "heartbeat has",
        ),
        (
            link_pb2.Frame(
                group_secret=link_pb2.GroupSecret(
                    channel_id=bytes(16), number=1, op=bytes(32), secret=bytes(31)
                )
            ),
            "not 32 bytes",
        ),
        (
            link_pb2.Frame(
                group_secret=link_pb2.GroupSecret(
                    channel_id=bytes(16), number=0, op=bytes(32), secret=bytes(32)
                )
            ),
            "no op begins",
        ),
        (
            link_pb2.Frame(
                presence=link_pb2.Presence(channel_id=CHANNEL, features=["x"] * (FEATURES_MAX + 1))
            ),
            "features",
        ),
    ],
)
def test_a_frame_of_a_governed_channel_over_its_limits_is_refused(
    wire: link_pb2.Frame, reason: str
) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(wire.SerializeToString())


def test_a_notice_of_a_later_kind_is_passed_over() -> None:
    later = link_pb2.Frame(group_notice=link_pb2.GroupNotice(channel_id=bytes(16), kind=7))

    assert decode(later.SerializeToString()) == Unknown(later.SerializeToString())


def test_a_secret_is_never_printed() -> None:
    frame = SecretFrame(CHANNEL, 1, bytes(32), b"not to be read by anybody at all")

    assert "not to be" not in repr(frame)
