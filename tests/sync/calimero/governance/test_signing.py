"""An op is its signer's and its channel's, or it is refused."""

import pytest
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.ops import (
    Epoch,
    GroupId,
    Key,
    Leave,
    Remove,
    Seal,
    SignedGroupOp,
    Wrap,
    Wraps,
)
from sync.calimero.governance.refusal import OpError, Refusal
from sync.calimero.governance.signing import group_of, open_op, sign
from sync.calimero.governance.wire import DOMAIN, encode_signable
from tests.support.sync.governed import History, genesis, key, person


def refusal(content: bytes, group: GroupId) -> Refusal:
    with pytest.raises(OpError) as refused:
        open_op(content, group)
    return refused.value.refusal


def a_leave() -> tuple[GroupId, SignedGroupOp]:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    return history.governance.group, history.made("bob", Leave())


def test_signed_ops_are_opened() -> None:
    group, op = a_leave()
    founded = genesis("alice")

    assert open_op(op.content, group) == op
    assert open_op(founded.content, group) == founded
    assert group == founded.id[:16] == group_of(op)


def test_forged_ops_are_refused() -> None:
    group, op = a_leave()
    flipped = bytes([*op.content[:-1], op.content[-1] ^ 1])
    by_another = sign(op.signed, person("mallory").sign)
    without_domain = sign(op.signed, lambda data: person("bob").sign(data[len(DOMAIN) :]))
    moved = replace(op.signed, lamport=op.signed.lamport + 1)

    assert refusal(flipped, group) is Refusal.SIGNATURE
    assert refusal(by_another.content, group) is Refusal.SIGNATURE
    assert refusal(without_domain.content, group) is Refusal.SIGNATURE
    assert refusal(encode_signable(moved) + op.signature, group) is Refusal.SIGNATURE


def test_ops_of_another_channel_are_refused() -> None:
    group, op = a_leave()
    other = GroupId(b"o" * 16)

    assert refusal(op.content, other) is Refusal.GROUP
    assert refusal(genesis("bob").content, group) is Refusal.GROUP
    assert refusal(genesis("alice").content, other) is Refusal.GROUP


def test_the_largest_removal_fits() -> None:
    history = History("alice")
    wraps = Wraps.of(Wrap(number.to_bytes(8, "big"), bytes(48)) for number in range(512))
    seals = tuple(Seal(key("bob"), log, 1, bytes(32)) for log in range(64))
    keys = tuple(Key(number.to_bytes(32, "big")) for number in range(512))
    largest = Remove(keys, Epoch(1, bytes(32), (bytes(48),) * 32, wraps), "\U0001f980" * 200, seals)

    assert len(history.made("alice", largest).content) < limits.OP_SIZE_MAX
