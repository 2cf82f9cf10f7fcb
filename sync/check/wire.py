"""Frames of the check <-> protobuf bytes. Sizes are checked here, sense in the machine."""

from typing import Final, assert_never

from google.protobuf.message import DecodeError as ProtobufError

from proto import sync_check_pb2 as pb
from sync.check.message import (
    ASIDE_MAX,
    DIGEST_BYTES,
    FRAME_BYTES_MAX,
    NODES_MAX,
    SALT_BYTES,
    Aside,
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
from sync.errors import DecodeError
from sync.structures.ordered_set import HASH_BYTES
from sync.structures.set_digest import ROW_BYTES

CHILDREN_MAX: Final = 64
"""Of one node."""

ENDINGS: Final = {
    Ending.SETTLED: pb.ENDING_SETTLED,
    Ending.DECLINED: pb.ENDING_DECLINED,
    Ending.LEAF_TOO_LARGE: pb.ENDING_LEAF_TOO_LARGE,
    Ending.TOO_MANY_QUESTIONS: pb.ENDING_TOO_MANY_QUESTIONS,
    Ending.TOO_MANY_DIFFERENCES: pb.ENDING_TOO_MANY_DIFFERENCES,
}

ENDING_OF: Final = {number: ending for ending, number in ENDINGS.items()}


def encode_frame(frame: Frame) -> bytes:
    """Return the protobuf bytes of a frame (`proto/sync_check.proto`)."""
    encoded = _to_wire(frame).SerializeToString(deterministic=True)
    assert len(encoded) <= FRAME_BYTES_MAX, "who asks or answers keeps to the limits of a frame"
    return encoded


def _to_wire(frame: Frame) -> pb.Frame:
    match frame:
        case Claim(salt=salt, floor=floor):
            return pb.Frame(claim=pb.Claim(salt=salt, floor=floor))
        case Proof():
            proof = pb.Proof(
                salt=frame.salt,
                floor=frame.floor,
                count=frame.count,
                digest=frame.digest,
                aside=_aside_to_wire(frame.aside),
            )
            return pb.Frame(proof=proof)
        case Verdict(count=count, digest=digest, aside=aside):
            verdict = pb.Verdict(count=count, digest=digest, aside=_aside_to_wire(aside))
            return pb.Frame(verdict=verdict)
        case Ask(level=level, indexes=indexes):
            return pb.Frame(ask=pb.Ask(level=level, indexes=indexes))
        case Hashes(level=level, nodes=nodes):
            return pb.Frame(hashes=pb.Hashes(level=level, nodes=map(_node_to_wire, nodes)))
        case Leaves(leaves=leaves):
            rows = [pb.Leaf(index=leaf.index, rows=leaf.rows) for leaf in leaves]
            return pb.Frame(leaves=pb.Leaves(leaves=rows))
        case End(ending=ending):
            return pb.Frame(end=pb.End(ending=ENDINGS[ending]))
        case _:
            assert_never(frame)


def _aside_to_wire(aside: Aside) -> pb.Aside | None:
    return None if aside is None else pb.Aside(hashes=b"".join(aside))


def _node_to_wire(node: Node) -> pb.Node:
    return pb.Node(
        index=node.index,
        children=[
            pb.Child(index=child.index, hash=child.hash, count=child.count)
            for child in node.children
        ],
    )


def decode_frame(data: bytes) -> Frame:
    """Decode a frame.

    Raises:
        DecodeError: over 1 MiB, not protobuf, no known frame, or fields of another size than
            they have or more of them than there may be.
    """
    if len(data) > FRAME_BYTES_MAX:
        raise DecodeError(f"{len(data)} bytes are over the limit of {FRAME_BYTES_MAX}")
    decoded = pb.Frame()
    try:
        decoded.ParseFromString(data)
    except ProtobufError as error:
        raise DecodeError("a frame of a check is not the protobuf it should be") from error
    match decoded.WhichOneof("kind"):
        case "claim":
            _check_size(decoded.claim.salt, SALT_BYTES)
            return Claim(decoded.claim.salt, decoded.claim.floor)
        case "proof":
            proof = decoded.proof
            _check_size(proof.salt, SALT_BYTES)
            _check_size(proof.digest, DIGEST_BYTES)
            aside = _aside_from_wire(proof)
            return Proof(proof.salt, proof.floor, proof.count, proof.digest, aside)
        case "verdict":
            verdict = decoded.verdict
            _check_size(verdict.digest, DIGEST_BYTES)
            return Verdict(verdict.count, verdict.digest, _aside_from_wire(verdict))
        case "ask":
            _check_number(len(decoded.ask.indexes), NODES_MAX)
            return Ask(decoded.ask.level, tuple(decoded.ask.indexes))
        case "hashes":
            _check_number(len(decoded.hashes.nodes), NODES_MAX)
            nodes = tuple(_node_from_wire(node) for node in decoded.hashes.nodes)
            return Hashes(decoded.hashes.level, nodes)
        case "leaves":
            _check_number(len(decoded.leaves.leaves), NODES_MAX)
            return Leaves(tuple(_leaf_from_wire(leaf) for leaf in decoded.leaves.leaves))
        case "end":
            return _end_from_wire(decoded.end)
        case _:
            raise DecodeError("a frame of a check holds nothing that is known")


def _aside_from_wire(said: pb.Proof | pb.Verdict) -> Aside:
    if not said.HasField("aside"):
        return None
    hashes = said.aside.hashes
    if len(hashes) % HASH_BYTES or len(hashes) > ASIDE_MAX * HASH_BYTES:
        raise DecodeError(f"{len(hashes)} bytes are no ids that are kept aside")
    return tuple(hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES))


def _node_from_wire(node: pb.Node) -> Node:
    _check_number(len(node.children), CHILDREN_MAX)
    for child in node.children:
        _check_size(child.hash, DIGEST_BYTES)
    return Node(
        node.index,
        tuple(Child(child.index, child.hash, child.count) for child in node.children),
    )


def _leaf_from_wire(leaf: pb.Leaf) -> Leaf:
    if len(leaf.rows) % ROW_BYTES:
        raise DecodeError(f"{len(leaf.rows)} bytes are no whole number of ids")
    return Leaf(leaf.index, leaf.rows)


def _end_from_wire(end: pb.End) -> End:
    if end.ending not in ENDING_OF:
        raise DecodeError(f"a check ends for the unknown reason {end.ending}")
    return End(ENDING_OF[end.ending])


def _check_size(value: bytes, size: int) -> None:
    if len(value) != size:
        raise DecodeError(f"{len(value)} bytes stand where {size} should")


def _check_number(number: int, limit: int) -> None:
    if number > limit:
        raise DecodeError(f"{number} nodes are named, {limit} are allowed")
