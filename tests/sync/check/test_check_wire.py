"""The bytes of the check: every frame comes back as it was, and anything else is refused."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proto import sync_check_pb2 as pb
from sync.check.message import (
    ASIDE_MAX,
    FRAME_BYTES_MAX,
    IDS_MAX,
    NODES_MAX,
    Ask,
    Child,
    Claim,
    End,
    Ending,
    Frame,
    Hashes,
    Leaf,
    Leaves,
    Node,
    Proof,
    Verdict,
)
from sync.check.wire import CHILDREN_MAX, decode_frame, encode_frame
from sync.errors import DecodeError
from sync.structures.set_digest import LEAF_BITS, ROOT_LEVEL, ROW_BYTES

u64 = st.integers(0, 2**64 - 1)
u32 = st.integers(0, 2**32 - 1)
salts = st.binary(min_size=16, max_size=16)
digests = st.binary(min_size=32, max_size=32)
children = st.builds(Child, u32, digests, u32)
nodes = st.builds(Node, u32, st.lists(children, max_size=4).map(tuple))
row_bytes = st.integers(0, 3).flatmap(
    lambda count: st.binary(min_size=count * ROW_BYTES, max_size=count * ROW_BYTES)
)
asides = st.none() | st.lists(digests, max_size=3).map(tuple)
frames: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Claim, salts, u64),
    st.builds(Proof, salts, u64, u64, digests, asides),
    st.builds(Verdict, u64, digests, asides),
    st.builds(Ask, u32, st.lists(u32, max_size=NODES_MAX).map(tuple)),
    st.builds(Hashes, u32, st.lists(nodes, max_size=4).map(tuple)),
    st.builds(Leaves, st.lists(st.builds(Leaf, u32, row_bytes), max_size=4).map(tuple)),
    st.builds(End, st.sampled_from(Ending)),
)


@given(frames)
def test_a_frame_comes_back_as_it_was(frame: Frame) -> None:
    assert decode_frame(encode_frame(frame)) == frame


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_a_frame_or_refused(data: bytes) -> None:
    try:
        decoded = decode_frame(data)
    except DecodeError:
        return
    assert decode_frame(encode_frame(decoded)) == decoded


@given(frames, st.data())
def test_damaged_frames_are_a_frame_or_refused(frame: Frame, data: st.DataObject) -> None:
    encoded = bytearray(encode_frame(frame))
    at = data.draw(st.integers(0, len(encoded) - 1))
    encoded[at] = data.draw(st.integers(0, 255))

    try:
        decode_frame(bytes(encoded))
    except DecodeError:
        return


def test_golden_frames() -> None:
    proof = Proof(b"\1" * 16, 1_700_000_000_000_000_000, 300, b"\2" * 32)

    assert encode_frame(Claim(b"\1" * 16, 0)).hex() == "0a120a10" + "01" * 16
    assert encode_frame(proof).hex() == (
        "1240" + "0a10" + "01" * 16 + "1100002a36fe9c9717" + "18ac02" + "2220" + "02" * 32
    )
    assert encode_frame(Verdict(1, b"\3" * 32)).hex() == "1a240801" + "1220" + "03" * 32
    nothing_aside = Verdict(1, b"\3" * 32, aside=())
    assert encode_frame(nothing_aside).hex() == "1a260801" + "1220" + "03" * 32 + "1a00"
    one_aside = Verdict(1, b"\3" * 32, aside=(b"\4" * 32,))
    assert encode_frame(one_aside).hex() == (
        "1a480801" + "1220" + "03" * 32 + "1a22" + "0a20" + "04" * 32
    )
    assert encode_frame(Ask(4, (0,))).hex() == "22050804120100"
    assert encode_frame(End(Ending.SETTLED)).hex() == "3a020801"


def largest_hashes(count: int) -> Hashes:
    top = 2 ** (64 - LEAF_BITS) - 1
    child = Child(top, bytes(32), IDS_MAX)
    return Hashes(1, (Node(top, (child,) * CHILDREN_MAX),) * count)


def largest_leaves(count: int) -> Leaves:
    top = 2 ** (64 - LEAF_BITS) - 1
    full = Leaf(top, bytes((IDS_MAX - count + 1) * ROW_BYTES))
    return Leaves((full, *(Leaf(top, bytes(ROW_BYTES)) for _ in range(count - 1))))


@pytest.mark.parametrize("largest", [largest_hashes, largest_leaves])
def test_what_the_limits_allow_fits_into_a_frame_and_one_node_more_is_refused(
    largest: Callable[[int], Frame],
) -> None:
    frame = largest(NODES_MAX)

    assert decode_frame(encode_frame(frame)) == frame
    with pytest.raises(DecodeError, match="nodes are named"):
        decode_frame(encode_frame(largest(NODES_MAX + 1)))


def test_a_frame_over_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(DecodeError, match="over the limit"):
        decode_frame(bytes(FRAME_BYTES_MAX + 1))
    with pytest.raises(DecodeError, match="protobuf"):
        decode_frame(bytes(FRAME_BYTES_MAX))


@pytest.mark.parametrize(
    "bad",
    [
        pb.Frame(),
        pb.Frame(claim=pb.Claim(salt=bytes(15))),
        pb.Frame(claim=pb.Claim(salt=bytes(17))),
        pb.Frame(proof=pb.Proof(salt=bytes(15), digest=bytes(32))),
        pb.Frame(proof=pb.Proof(salt=bytes(16), digest=bytes(31))),
        pb.Frame(verdict=pb.Verdict(digest=bytes(33))),
        pb.Frame(verdict=pb.Verdict(digest=bytes(32), aside=pb.Aside(hashes=bytes(31)))),
        pb.Frame(
            proof=pb.Proof(
                salt=bytes(16),
                digest=bytes(32),
                aside=pb.Aside(hashes=bytes(32 * (ASIDE_MAX + 1))),
            )
        ),
        pb.Frame(ask=pb.Ask(level=ROOT_LEVEL, indexes=range(NODES_MAX + 1))),
        pb.Frame(hashes=pb.Hashes(nodes=[pb.Node(children=[pb.Child(hash=bytes(31))])])),
        pb.Frame(
            hashes=pb.Hashes(
                nodes=[pb.Node(children=[pb.Child(hash=bytes(32))] * (CHILDREN_MAX + 1))]
            )
        ),
        pb.Frame(leaves=pb.Leaves(leaves=[pb.Leaf(rows=bytes(ROW_BYTES - 1))])),
        pb.Frame(end=pb.End()),
        pb.Frame(end=pb.End(ending=99)),  # type: ignore[arg-type]
    ],
)
def test_fields_of_another_size_are_refused(bad: pb.Frame) -> None:
    with pytest.raises(DecodeError):
        decode_frame(bad.SerializeToString())
