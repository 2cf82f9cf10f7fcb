"""Heartbeats and catch-ups: what two nodes say to find out which ops one of them lacks."""

from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec import Struct

from sync.calimero.governance import limits
from sync.calimero.governance.dag import Act, bits
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import GroupId, OpId
from sync.calimero.governance.refusal import OpError, Refusal
from sync.calimero.governance.wire import GROUP_SIZE, KEY_SIZE, SIGNATURE_SIZE
from sync.errors import DecodeError
from sync.structures.borsh import BorshReader, BorshWriter

PAGE_OPS_MAX: Final = limits.PAGE_SIZE_MAX // SIGNATURE_SIZE
COUNTED_SIZE: Final = 4
"""Bytes that tell the size of an op in a page."""

BOOLS: Final = (False, True)


class GroupStateHeartbeat(Struct, frozen=True):
    """Heads and number of a node's ops, and the root of its state if it has one."""

    group: GroupId
    dag_heads: tuple[OpId, ...]
    op_count: int
    state_root: bytes | None = None


class GroupDeltaRequest(Struct, frozen=True):
    """Asks for all ops that are no ancestors of these."""

    group: GroupId
    known_heads: tuple[OpId, ...]


class GroupDeltaResponse(Struct, frozen=True):
    """A page of ops as they were sent, ancestors first; after it the asker has other heads."""

    ops: tuple[bytes, ...]
    has_more: bool


def heartbeat(
    governance: Governance, state_root: bytes | None = None, turn: int = 0
) -> GroupStateHeartbeat:
    """Return the heartbeat of a node; `turn` counts them, so that all heads are named in time."""
    heads = named_heads(governance, turn)
    return GroupStateHeartbeat(governance.group, heads, len(governance.dag), state_root)


def named_heads(governance: Governance, turn: int) -> tuple[OpId, ...]:
    """Return our heads, sorted; of too many half the newest, and half of the others in turn.

    Otherwise somebody who signs many ops at an old cut could keep all others from being named.
    """
    acts = _newest_first(governance)
    if len(acts) <= limits.HEADS_MAX:
        return tuple(sorted(act.id for act in acts))
    half = limits.HEADS_MAX // 2
    newest, others = acts[:half], acts[half:]
    begin = turn * half % len(others)
    in_turn = (others[begin:] + others[:begin])[:half]
    return tuple(sorted(act.id for act in newest + in_turn))


def known_heads(governance: Governance) -> tuple[OpId, ...]:
    """Return what a request names, sorted: our heads, of too many the newest, and older ops.

    After a cut our heads may not be known there; all that is here would come again, and a page of
    that ends the pull. Of the ops that came 1, 2, 4, ... before our last, some are known.
    """
    acts = governance.dag.acts
    back = [1 << power for power in range(len(acts).bit_length())]
    older = [acts[-1 - steps].id for steps in back if steps < len(acts)]
    named = dict.fromkeys([*(act.id for act in _newest_first(governance)), *older])
    return tuple(sorted([*named][: limits.KNOWN_HEADS_MAX]))


def _newest_first(governance: Governance) -> list[Act]:
    acts = [governance.act(head) for head in governance.heads]
    return sorted(acts, key=lambda act: act.place, reverse=True)


def lacking(governance: Governance, heads: Iterable[OpId]) -> tuple[OpId, ...]:
    """Return the heads of another node that are not here: they are a reason to ask it."""
    return governance.dag.missing(heads)


def owed(governance: Governance, known_heads: Iterable[OpId]) -> list[OpId]:
    """Return the ids of the ops that somebody with these heads lacks, ancestors first.

    Heads that are not here say nothing of what they lack.
    """
    here = [head for head in known_heads if head in governance.dag.numbers]
    known = governance.dag.closure(here) or 0
    return [governance.dag.acts[number].id for number in bits(governance.dag.whole & ~known)]


def page(contents: Iterable[bytes], most: int) -> GroupDeltaResponse:
    """Return the first page of ops, of `most` bytes; at least one op, if there is one."""
    ops: list[bytes] = []
    size = 0
    for content in contents:
        size += COUNTED_SIZE + len(content)
        if ops and size > most:
            return GroupDeltaResponse(tuple(ops), has_more=True)
        ops.append(content)
    return GroupDeltaResponse(tuple(ops), has_more=False)


def encode_heartbeat(beat: GroupStateHeartbeat) -> bytes:
    """Return the bytes of a heartbeat."""
    out = BorshWriter()
    out.fixed(beat.group, GROUP_SIZE)
    out.each(beat.dag_heads, lambda head: out.fixed(head, KEY_SIZE))
    out.u64(beat.op_count)
    out.option(beat.state_root, lambda root: out.fixed(root, KEY_SIZE))
    return bytes(out.data)


def decode_heartbeat(data: bytes) -> GroupStateHeartbeat:
    """Parse a heartbeat.

    Raises:
        DecodeError: not one, not canonical, or over its bounds.
    """
    reader = BorshReader(data)
    beat = GroupStateHeartbeat(
        group=GroupId(reader.fixed(GROUP_SIZE)),
        dag_heads=_heads(reader, limits.HEADS_MAX),
        op_count=reader.u64(),
        state_root=reader.option(lambda: reader.fixed(KEY_SIZE)),
    )
    return _ended(reader, beat)


def encode_request(request: GroupDeltaRequest) -> bytes:
    """Return the bytes of a request."""
    out = BorshWriter()
    out.fixed(request.group, GROUP_SIZE)
    out.each(request.known_heads, lambda head: out.fixed(head, KEY_SIZE))
    return bytes(out.data)


def decode_request(data: bytes) -> GroupDeltaRequest:
    """Parse a request.

    Raises:
        DecodeError: not one, not canonical, or over its bounds.
    """
    reader = BorshReader(data)
    group = GroupId(reader.fixed(GROUP_SIZE))
    return _ended(reader, GroupDeltaRequest(group, _heads(reader, limits.KNOWN_HEADS_MAX)))


def encode_response(response: GroupDeltaResponse) -> bytes:
    """Return the bytes of a page."""
    out = BorshWriter()
    out.u32(len(response.ops))
    for op in response.ops:
        out.u32(len(op))
        out.fixed(op, len(op))
    out.u8(response.has_more)
    return bytes(out.data)


def decode_response(data: bytes) -> GroupDeltaResponse:
    """Parse a page; its ops are opened one by one, by `signing.open_op`.

    Raises:
        DecodeError: not one, not canonical, or over its bounds.
    """
    if len(data) > limits.PAGE_SIZE_MAX + limits.OP_SIZE_MAX:
        raise OpError(Refusal.SIZE, f"a page of {len(data)} bytes")
    reader = BorshReader(data)
    ops = reader.each(lambda: _op(reader), PAGE_OPS_MAX)
    more = reader.u8()
    if more not in BOOLS:
        raise DecodeError(f"{more} is neither 0 nor 1")
    return _ended(reader, GroupDeltaResponse(ops, bool(more)))


def _heads(reader: BorshReader, most: int) -> tuple[OpId, ...]:
    heads = reader.each(lambda: OpId(reader.fixed(KEY_SIZE)), most)
    if tuple(sorted(set(heads))) != heads:
        raise DecodeError("heads are unsorted or twice there")
    return heads


def _op(reader: BorshReader) -> bytes:
    size = reader.u32()
    if size > limits.OP_SIZE_MAX:
        raise OpError(Refusal.SIZE, f"an op of {size} bytes")
    return reader.fixed(size)


Said = TypeVar("Said", GroupStateHeartbeat, GroupDeltaRequest, GroupDeltaResponse)


def _ended(reader: BorshReader, said: Said) -> Said:
    reader.end()
    return said
