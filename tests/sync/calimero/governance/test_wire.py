"""Ops have the bytes that were agreed on, and no other ones; each refusal has its name."""

import contextlib
import random
import struct
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.ops import (
    NO_GROUP,
    Access,
    Add,
    Epoch,
    Genesis,
    GroupId,
    Invite,
    Join,
    Key,
    Leave,
    Op,
    OpId,
    Owner,
    Policy,
    Remove,
    Revoke,
    Role,
    Rotate,
    Seal,
    SetPolicy,
    SetRole,
    Signable,
    Wrap,
    Wraps,
)
from sync.calimero.governance.refusal import OpError, Refusal
from sync.calimero.governance.wire import check, decode, encode_signable

A, B, C = (Key(bytes([letter]) * 32) for letter in b"abc")
GROUP: Final = GroupId(b"g" * 16)
PARENTS: Final = (OpId(b"p" * 32), OpId(b"q" * 32))
SIGNATURE: Final = bytes(range(64))
WRAPS: Final = Wraps.of([Wrap(b"1" * 8, b"w" * 48), Wrap(b"2" * 8, b"x" * 48)])
EPOCH: Final = Epoch(3, b"e" * 32, (b"s" * 48,), WRAPS)
SEAL: Final = Seal(B, 7, 9, b"i" * 32)
POLICY: Final = Policy(Access.ADMINS, Access.MEMBERS, Access.MEMBERS, Access.ADMINS)
MUTATIONS: Final = 400


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def u64(value: int) -> bytes:
    return struct.pack("<Q", value)


EPOCH_BYTES: Final = (
    u64(3) + b"e" * 32 + u32(1) + b"s" * 48
    + u32(2) + b"1" * 8 + b"w" * 48 + b"2" * 8 + b"x" * 48
)  # fmt: skip
BYTES: Final[dict[Op, bytes]] = {
    Genesis("böb", "lan", b"t" * 16, (Owner(A, B), Owner(C, B)), GROUP, POLICY): (
        b"\0" + u32(4) + "böb".encode() + u32(3) + b"lan" + b"t" * 16
        + u32(2) + A + B + C + B + b"\1" + GROUP + b"\1\0\0\1"
    ),
    Invite(B, Role.READER): b"\1" + B + b"\1",
    Revoke(PARENTS[0]): b"\2" + PARENTS[0],
    Join(PARENTS[0], B, "bob", SIGNATURE): b"\3" + PARENTS[0] + B + u32(3) + b"bob" + SIGNATURE,
    Add(B, C, Role.ADMIN): b"\4" + B + C + b"\3",
    Remove((A, B), EPOCH, "spam", (SEAL,)): (
        b"\5" + u32(2) + A + B + u32(1) + B + u64(7) + u64(9) + b"i" * 32
        + u32(4) + b"spam" + EPOCH_BYTES
    ),
    Leave(): b"\6",
    SetRole(B, Role.MEMBER): b"\7" + B + b"\2",
    SetPolicy(POLICY): b"\x08\1\0\0\1",
    Rotate(EPOCH): b"\x09" + EPOCH_BYTES,
}  # fmt: skip
"""The ten ops and their bytes, put together by hand."""


def signable(op: Op) -> Signable:
    if isinstance(op, Genesis):
        return Signable(NO_GROUP, (), A, 1, 5, 6, op)
    return Signable(GROUP, PARENTS, A, 4, 5, 6, op)


def content(op: Op) -> bytes:
    return encode_signable(signable(op)) + SIGNATURE


def refusal(data: bytes) -> Refusal:
    with pytest.raises(OpError) as refused:
        decode(data)
    return refused.value.refusal


def refused(signed: Signable) -> Refusal:
    """Return why an op is refused, by its values and by its bytes alike."""
    with pytest.raises(OpError) as by_values:
        check(signed)
    assert refusal(encode_signable(signed) + SIGNATURE) is by_values.value.refusal
    return by_values.value.refusal


@pytest.mark.parametrize("op", BYTES, ids=lambda op: type(op).__name__)
def test_vectors_both_ways(op: Op) -> None:
    group, parents = (NO_GROUP, b"") if isinstance(op, Genesis) else (GROUP, b"".join(PARENTS))
    head = b"\1" + group + u32(len(parents) // 32) + parents + A
    data = head + u64(signable(op).nonce) + u64(5) + u64(6) + BYTES[op] + SIGNATURE

    assert content(op) == data
    decoded = decode(data)
    assert decoded.signed == signable(op)
    assert (decoded.signature, decoded.content) == (SIGNATURE, data)


@pytest.mark.parametrize("op", BYTES, ids=lambda op: type(op).__name__)
def test_every_beginning_of_an_op_is_refused(op: Op) -> None:
    data = content(op)

    for size in range(len(data)):
        with pytest.raises(OpError):
            decode(data[:size])


@pytest.mark.parametrize("op", BYTES, ids=lambda op: type(op).__name__)
def test_what_is_taken_of_mutated_ops_is_canonical(op: Op) -> None:
    rng = random.Random(repr(type(op)))
    taken = 0
    for _ in range(MUTATIONS):
        data = bytearray(content(op))
        for _ in range(rng.randint(1, 2)):
            data[rng.randrange(len(data))] = rng.choice([0, 1, 2, 255, rng.randrange(256)])
        try:
            decoded = decode(bytes(data))
        except OpError:
            continue
        taken += 1
        assert encode_signable(decoded.signed) + decoded.signature == bytes(data)
    assert taken, "no mutation was taken: nothing was shown"


@given(st.binary(max_size=400))
def test_any_bytes_are_an_op_or_refused(data: bytes) -> None:
    with contextlib.suppress(OpError):
        decode(data)


def test_bytes_that_are_no_op_have_a_reason() -> None:
    data = content(Leave())

    assert refusal(b"\2" + data[1:]) is Refusal.VERSION
    assert refusal(data[:-65] + b"\x0a" + SIGNATURE) is Refusal.KIND
    assert refusal(data[:-64] + b"\0" + SIGNATURE) is Refusal.TRAILING
    assert refusal(data[:40]) is Refusal.BYTES
    assert refusal(data + bytes(limits.OP_SIZE_MAX)) is Refusal.SIZE
    assert refusal(data[:17] + u32(33) + data[21:]) is Refusal.COUNT
    option = content(next(iter(BYTES))).replace(b"\1" + GROUP, b"\2" + GROUP)
    assert refusal(option) is Refusal.BYTES
    assert refusal(content(SetPolicy(POLICY))[:-68] + b"\2\0\0\0" + SIGNATURE) is Refusal.ROLE
    assert refusal(content(SetRole(B, Role.READER))[:-65] + b"\5" + SIGNATURE) is Refusal.ROLE


def remove(
    keys: tuple[Key, ...] = (A, B),
    epoch: Epoch = EPOCH,
    reason: str = "spam",
    seals: tuple[Seal, ...] = (SEAL,),
) -> Remove:
    return Remove(keys, epoch, reason, seals)


FORMS: Final[list[tuple[Op, Refusal]]] = [
    (Invite(B, Role.ADMIN), Refusal.ROLE),
    (Invite(B, Role.NONE), Refusal.ROLE),
    (Add(B, B, Role.OWNER), Refusal.ROLE),
    (SetRole(B, Role.NONE), Refusal.ROLE),
    (Join(PARENTS[0], B, "", SIGNATURE), Refusal.TEXT),
    (Join(PARENTS[0], B, "b" * 33, SIGNATURE), Refusal.TEXT),
    (Join(PARENTS[0], B, "b" * 129, SIGNATURE), Refusal.TEXT),
    (remove(keys=(B, A)), Refusal.UNSORTED),
    (remove(keys=(A, A)), Refusal.UNSORTED),
    (remove(keys=()), Refusal.COUNT),
    (remove(reason="x" * 201), Refusal.TEXT),
    (remove(seals=(SEAL, SEAL)), Refusal.UNSORTED),
    (remove(seals=tuple(SEAL._replace(log=log) for log in range(65))), Refusal.COUNT),
    (remove(epoch=replace(EPOCH, number=0)), Refusal.NUMBER),
    (remove(epoch=replace(EPOCH, number=2**63)), Refusal.NUMBER),
    (Rotate(replace(EPOCH, wrapped=Wraps.of([*WRAPS][::-1]))), Refusal.UNSORTED),
    (Rotate(replace(EPOCH, previous=EPOCH.previous * 33)), Refusal.COUNT),
    (Genesis("", "lan", bytes(16), (Owner(A, B),)), Refusal.TEXT),
    (Genesis("a" * 33, "lan", bytes(16), (Owner(A, B),)), Refusal.TEXT),
    (Genesis("a", "p" * 17, bytes(16), (Owner(A, B),)), Refusal.TEXT),
    (Genesis("a", "lan", bytes(16), ()), Refusal.COUNT),
    (Genesis("a", "lan", bytes(16), (Owner(B, B), Owner(A, B))), Refusal.UNSORTED),
    (Genesis("a", "lan", bytes(16), (Owner(B, B),)), Refusal.NOT_OWNER),
]


@pytest.mark.parametrize(("op", "reason"), FORMS)
def test_forms_that_are_not_allowed(op: Op, reason: Refusal) -> None:
    assert refused(signable(op)) is reason


def with_owners(count: int) -> Genesis:
    owners = tuple(Owner(Key(bytes([97 + number]) * 32), B) for number in range(count))
    return Genesis("a", "lan", bytes(16), owners)


HEADS: Final[list[tuple[Callable[[Signable], Signable], Refusal]]] = [
    (lambda signed: replace(signed, parents=signed.parents[::-1]), Refusal.UNSORTED),
    (lambda signed: replace(signed, parents=signed.parents[:1] * 2), Refusal.UNSORTED),
    (lambda signed: replace(signed, parents=()), Refusal.PARENTS),
    (lambda signed: replace(signed, group=NO_GROUP), Refusal.GROUP),
    (lambda signed: replace(signed, op=with_owners(1)), Refusal.GROUP),
    (lambda signed: replace(signed, op=with_owners(1), group=NO_GROUP), Refusal.PARENTS),
    (lambda signed: replace(signed, nonce=0), Refusal.NUMBER),
    (lambda signed: replace(signed, lamport=2**63), Refusal.NUMBER),
    (lambda signed: replace(signed, created_ns=2**64 - 1), Refusal.NUMBER),
]


@pytest.mark.parametrize(("change", "reason"), HEADS)
def test_heads_that_are_not_allowed(
    change: Callable[[Signable], Signable], reason: Refusal
) -> None:
    assert refused(change(signable(Leave()))) is reason


def test_33_parents_are_too_many_and_32_are_not() -> None:
    parents = tuple(OpId(bytes([number]) * 32) for number in range(33))
    fits = replace(signable(Leave()), parents=parents[:32])

    assert decode(encode_signable(fits) + SIGNATURE).signed == fits
    assert refused(replace(fits, parents=parents)) is Refusal.COUNT


def test_bounds_of_owners_and_members() -> None:
    keys = tuple(Key(number.to_bytes(32, "big")) for number in range(513))
    four = signable(with_owners(4))

    assert decode(encode_signable(four) + SIGNATURE).signed == four
    assert refused(signable(with_owners(5))) is Refusal.COUNT
    assert decode(content(remove(keys=keys[:512]))).op == remove(keys=keys[:512])
    assert refused(signable(remove(keys=keys))) is Refusal.COUNT


numbers = st.integers(0, 2**63 - 1)
keys = st.binary(min_size=32, max_size=32).map(Key)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=32)
epochs = st.builds(
    Epoch,
    st.integers(1, 2**63 - 1),
    keys,
    st.lists(st.binary(min_size=48, max_size=48), max_size=3).map(tuple),
    st.dictionaries(
        st.binary(min_size=8, max_size=8), st.binary(min_size=48, max_size=48), max_size=4
    ).map(lambda wraps: Wraps.of(Wrap(*one) for one in sorted(wraps.items()))),
)
policies = st.builds(Policy, *[st.sampled_from(Access)] * 4)
seals = st.dictionaries(
    st.tuples(keys, st.integers(0, 2**64 - 1)),
    st.tuples(st.integers(0, 2**64 - 1), keys),
    max_size=4,
).map(lambda found: tuple(Seal(*place, *rest) for place, rest in sorted(found.items())))
ops = st.one_of(
    st.builds(Invite, keys, st.sampled_from([Role.READER, Role.MEMBER])),
    st.builds(Revoke, keys),
    st.builds(Join, keys, keys, names, st.binary(min_size=64, max_size=64)),
    st.builds(Add, keys, keys, st.sampled_from([Role.READER, Role.MEMBER, Role.ADMIN])),
    st.builds(
        Remove,
        st.sets(keys, min_size=1, max_size=5).map(lambda found: tuple(sorted(found))),
        epochs,
        st.text(st.characters(codec="utf-8"), max_size=200),
        seals,
    ),
    st.just(Leave()),
    st.builds(SetRole, keys, st.sampled_from([Role.READER, Role.MEMBER, Role.ADMIN])),
    st.builds(SetPolicy, policies),
    st.builds(Rotate, epochs),
)
parents = st.sets(keys, min_size=1, max_size=32).map(lambda found: tuple(sorted(found)))
signables = st.builds(
    Signable,
    st.just(GROUP), parents, keys, st.integers(1, 2**63 - 1), numbers, numbers, ops,
)  # fmt: skip


@settings(max_examples=200)
@given(signables, st.binary(min_size=64, max_size=64))
def test_what_is_encoded_is_decoded(signed: Signable, signature: bytes) -> None:
    decoded = decode(encode_signable(signed) + signature)

    assert decoded.signed == signed
    assert decoded.signature == signature
