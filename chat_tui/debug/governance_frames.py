"""Frames of governed channels as an engineer reads them: ops, heads, and questions for ops."""

from typing import Final, NamedTuple

from chat_tui.text.times import count
from sync.calimero.governance.catch_up import decode_heartbeat, decode_request, decode_response
from sync.calimero.governance.ops import OpId, SignedGroupOp
from sync.calimero.governance.wire import decode
from sync.calimero.message import Message, Payload
from sync.calimero.wire import decode as decode_message
from sync.errors import DecodeError

SHOWN: Final = 16
"""Ids and ops of a tree, as many as a heartbeat of a calm channel has by far."""

ID_SHOWN: Final = 8
"""Hexadecimal digits of an id."""


class Words(NamedTuple):
    """Description of a frame: its short kind, its subject, the rest in words, and a tree."""

    kind: str
    subject: str
    words: str
    tree: tuple[str, ...]


def op_words(data: bytes) -> Words:
    """Describe a signed op.

    Raises:
        DecodeError: it is none.
    """
    op = decode(data)
    signed = op.signed
    tree = (
        "SignedGroupOpV1",
        f"├ id {op.id.hex()}",
        f"├ group_id {signed.group.hex()}",
        *_ids("parents", signed.parents),
        f"├ signer {signed.signer.hex()}",
        f"├ nonce {signed.nonce}, lamport {signed.lamport}",
        f"├ signature {op.signature.hex()[:16]}…",
        f"└ op {_name(op)}",
    )
    return Words("OP", op.id.hex()[:6], f"{_name(op)} · {_short(signed.signer)}", tree)


def heartbeat_words(data: bytes) -> Words:
    """Describe a heartbeat.

    Raises:
        DecodeError: it is none.
    """
    beat = decode_heartbeat(data)
    words = f"{count(beat.op_count, 'op')} · {count(len(beat.dag_heads), 'head')}"
    tree = (
        "GroupStateHeartbeat",
        f"├ group_id {beat.group.hex()}",
        *_ids("dag_heads", beat.dag_heads),
        f"└ op_count {beat.op_count}",
    )
    return Words("HEADS", "", words, tree)


def catch_up_words(data: bytes) -> Words:
    """Describe a message of a stream of catch-ups.

    Raises:
        DecodeError: it is none.
    """
    message = decode_message(data)
    if not isinstance(message, Message):
        raise DecodeError(f"{type(message).__name__} in the middle of a stream")
    if message.kind is Payload.GROUP_DELTA_REQUEST:
        request = decode_request(message.body)
        words = f"asks beyond {count(len(request.known_heads), 'head')}"
        tree = ("GroupDeltaRequest", *_ids("known_heads", request.known_heads))
        return Words("ASK", "", words, tree)
    page = decode_response(message.body)
    ops = [decode(content) for content in page.ops[:SHOWN]]
    words = f"{count(len(page.ops), 'op')}{', more follow' if page.has_more else ''}"
    tree = (
        "GroupDeltaResponse",
        f"├ ops {len(page.ops)}",
        *[f"│ {_short(op.id)} {_name(op)}" for op in ops],
        f"└ has_more {page.has_more}",
    )
    return Words("OPS", "", words, tree)


def _name(op: SignedGroupOp) -> str:
    return type(op.signed.op).__name__


def _ids(field: str, ids: tuple[OpId, ...]) -> list[str]:
    return [f"├ {field} {len(ids)}", *[f"│ {_short(one)}" for one in ids[:SHOWN]]]


def _short(one: bytes) -> str:
    return f"{one.hex()[:ID_SHOWN]}…"
