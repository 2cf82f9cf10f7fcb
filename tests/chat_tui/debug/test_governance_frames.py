"""Frames of governed channels in words: ops, heads, questions and pages; bad ones raise."""

import pytest

from chat_tui.debug.frame_text import decoded
from sync.calimero.governance import limits
from sync.calimero.governance.catch_up import (
    GroupDeltaRequest,
    encode_heartbeat,
    encode_request,
    encode_response,
    heartbeat,
    page,
)
from sync.calimero.message import Message, OpaqueError, Payload
from sync.calimero.wire import encode
from sync.machine import ChannelId
from sync.view.view import FrameInfo, FrameKind
from tests.support.sync.governed import History

HISTORY = History("alice", signing=True)
ADDED = HISTORY.add("alice", "bob")
CHANNEL = ChannelId(HISTORY.governance.group.hex())


def frame(kind: FrameKind, data: bytes) -> FrameInfo:
    return FrameInfo(1, 0, False, None, CHANNEL, kind, len(data), data)


def test_an_op_says_its_kind_and_who_signed_it() -> None:
    shown = decoded(frame(FrameKind.OP, ADDED.content))

    assert (shown.kind, shown.subject) == ("OP", ADDED.id.hex()[:6])
    assert shown.words == f"Add · {ADDED.signed.signer.hex()[:8]}…"
    assert f"├ id {ADDED.id.hex()}" in shown.tree


def test_a_heartbeat_says_how_many_ops_and_heads() -> None:
    data = encode_heartbeat(heartbeat(HISTORY.governance))
    shown = decoded(frame(FrameKind.HEARTBEAT, data))

    assert (shown.kind, shown.words) == ("HEADS", "2 ops · 1 head")


def test_a_question_and_a_page_say_what_is_asked_and_given() -> None:
    asked = encode_request(GroupDeltaRequest(HISTORY.governance.group, (ADDED.id,)))
    given = encode_response(page([op.content for op in HISTORY.ops], limits.PAGE_SIZE_MAX))
    ask = decoded(frame(FrameKind.CATCH_UP, encode(Message(Payload.GROUP_DELTA_REQUEST, asked))))
    ops = decoded(frame(FrameKind.CATCH_UP, encode(Message(Payload.GROUP_DELTA_RESPONSE, given))))

    assert (ask.kind, ask.words) == ("ASK", "asks beyond 1 head")
    assert (ops.kind, ops.words) == ("OPS", "2 ops")
    assert f"│ {ADDED.id.hex()[:8]}… Add" in ops.tree


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (FrameKind.OP, b"x" * 100),
        (FrameKind.HEARTBEAT, b"x"),
        (FrameKind.CATCH_UP, b""),
        (FrameKind.CATCH_UP, encode(OpaqueError())),
    ],
)
def test_what_is_none_says_so_and_raises_nothing(kind: FrameKind, data: bytes) -> None:
    assert decoded(frame(kind, data)).words.startswith("cannot be read")
