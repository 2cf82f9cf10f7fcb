"""Two nodes find out what one of them lacks, and get it by pages, in ops that stand alone."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.calimero.governance import limits
from sync.calimero.governance.catch_up import (
    GroupDeltaRequest,
    GroupDeltaResponse,
    GroupStateHeartbeat,
    decode_heartbeat,
    decode_request,
    decode_response,
    encode_heartbeat,
    encode_request,
    encode_response,
    heartbeat,
    known_heads,
    lacking,
    named_heads,
    owed,
    page,
)
from sync.calimero.governance.governance import Governance, Taken
from sync.calimero.governance.ops import GroupId, OpId
from sync.errors import DecodeError
from tests.support.sync.governed import NAMES, History, RandomHistory

GROUP = GroupId(b"g" * 16)
ONE, OTHER = OpId(b"1" * 32), OpId(b"2" * 32)
NUMBER = (9).to_bytes(8, "little")
TWO = (2).to_bytes(4, "little")


def test_the_bytes_of_each() -> None:
    beat = GroupStateHeartbeat(GROUP, (ONE, OTHER), 9, None)
    rooted = GroupStateHeartbeat(GROUP, (ONE, OTHER), 9, b"r" * 32)
    request = GroupDeltaRequest(GROUP, (ONE, OTHER))
    response = GroupDeltaResponse((b"ab", b"c"), has_more=True)

    assert encode_heartbeat(beat) == GROUP + TWO + ONE + OTHER + NUMBER + b"\0"
    assert encode_heartbeat(rooted) == GROUP + TWO + ONE + OTHER + NUMBER + b"\1" + b"r" * 32
    assert encode_request(request) == GROUP + TWO + ONE + OTHER
    assert encode_response(response) == TWO + b"\2\0\0\0ab\1\0\0\0c\1"
    assert decode_heartbeat(encode_heartbeat(beat)) == beat
    assert decode_heartbeat(encode_heartbeat(rooted)) == rooted
    assert decode_request(encode_request(request)) == request
    assert decode_response(encode_response(response)) == response


@pytest.mark.parametrize(
    "data",
    [
        GROUP + TWO + OTHER + ONE,
        GROUP + TWO + ONE + ONE,
        GROUP + TWO + ONE,
        GROUP + TWO + ONE + OTHER + b"\0",
        GROUP + (65).to_bytes(4, "little") + bytes(65 * 32),
    ],
)
def test_requests_that_are_none(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_request(data)


@pytest.mark.parametrize(
    "data",
    [
        TWO + b"\2\0\0\0ab\1\0\0\0c\2",
        TWO + b"\2\0\0\0ab\1\0\0\0c",
        TWO + b"\2\0\0\0ab\1\0\0\0c\1\0",
        b"\xff\xff\xff\xff",
        b"\1\0\0\0"
        + (limits.OP_SIZE_MAX + 1).to_bytes(4, "little")
        + bytes(limits.OP_SIZE_MAX + 2),
        bytes(limits.PAGE_SIZE_MAX + limits.OP_SIZE_MAX + 1),
    ],
)
def test_pages_that_are_none(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_response(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_understood_or_refused(data: bytes) -> None:
    with contextlib.suppress(DecodeError):
        assert encode_heartbeat(decode_heartbeat(data)) == data
    with contextlib.suppress(DecodeError):
        assert encode_request(decode_request(data)) == data
    with contextlib.suppress(DecodeError):
        assert encode_response(decode_response(data)) == data


def caught_up(asking: Governance, answering: Governance, history: History) -> int:
    """Let one node ask another until it has all; return the number of pages."""
    by_id = {op.id: op for op in history.ops}
    for pages in range(1, 1_000):
        ids = owed(answering, known_heads(asking))
        answer = page((by_id[one].content for one in ids), limits.PAGE_SIZE_MAX)
        by_content = {op.content: op for op in history.ops}
        for content in answer.ops:
            received = asking.receive(by_content[content])
            assert isinstance(received, Taken), "ancestors come first"
        if not answer.has_more:
            return pages
    raise AssertionError("no end")


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(300, 5_000))
def test_a_node_gets_exactly_what_it_lacks_by_pages(seed: int, size: int) -> None:
    history = RandomHistory(seed, 40).history
    whole = history.governance
    asking = Governance(whole.group)
    for op in history.ops[: len(history.ops) // 2]:
        asking.receive(op)
    lacks = {op.id for op in history.ops} - asking.dag.numbers.keys()
    assert set(owed(whole, known_heads(asking))) == lacks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "PAGE_SIZE_MAX", size)
        caught_up(asking, whole, history)

    assert asking.heads == whole.heads
    assert owed(whole, known_heads(asking)) == []


def test_heads_that_are_not_here_are_a_reason_to_ask() -> None:
    history = History("alice")
    other = Governance(history.governance.group)
    other.receive(history.founded)
    added = history.add("alice", "bob")

    beat = heartbeat(history.governance)
    assert beat == GroupStateHeartbeat(history.governance.group, (added.id,), 2)
    assert lacking(other, beat.dag_heads) == (added.id,)
    assert lacking(history.governance, heartbeat(other).dag_heads) == ()
    assert owed(other, beat.dag_heads) == [history.founded.id], "unknown heads say nothing"


def test_of_too_many_heads_half_are_the_newest_and_half_others_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "HEADS_MAX", 4)
    history = History("alice")
    base = history.founded
    forks = [history.add("alice", name, after=[base]) for name in NAMES[1:7]]
    later = [history.add("alice", "walter", after=[fork]) for fork in forks[:2]]

    named = [named_heads(history.governance, turn) for turn in range(4)]

    newest = {op.id for op in later}
    assert all(len(one) == 4 and list(one) == sorted(one) for one in named)
    assert all(newest <= set(one) for one in named)
    assert set().union(*named[:2]) == set(history.governance.heads)
    assert named[0] != named[1]


def test_a_request_names_the_newest_of_too_many_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KNOWN_HEADS_MAX", 2)
    history = History("alice")
    base = history.founded
    forks = [history.add("alice", name, after=[base]) for name in ("bob", "carol", "dave")]
    later = history.add("alice", "erin", after=[forks[0]])

    named = known_heads(history.governance)

    assert len(named) == 2
    assert later.id in named
    assert list(named) == sorted(named)


def test_a_page_has_at_least_one_op() -> None:
    large = bytes(limits.OP_SIZE_MAX)

    assert page([], limits.PAGE_SIZE_MAX) == GroupDeltaResponse((), has_more=False)
    assert page([large] * 9, limits.PAGE_SIZE_MAX).has_more
    assert (
        0
        < len(encode_response(page([large] * 9, limits.PAGE_SIZE_MAX)))
        <= limits.PAGE_SIZE_MAX + 16
    )
