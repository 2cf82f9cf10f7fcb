"""Bytes of a signed op (SignedGroupOpV1), in strict Borsh, both ways."""

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from struct import Struct
from typing import Final, TypeVar

from sync.calimero.governance import limits
from sync.calimero.governance.ops import (
    NO_GROUP,
    WRAP_SIZE,
    WRAPPED_SIZE,
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
    SignedGroupOp,
    Wraps,
)
from sync.calimero.governance.refusal import OpError, Refusal
from sync.errors import DecodeError
from sync.structures.borsh import BorshReader, BorshWriter, BoundError

VERSION: Final = 1
DOMAIN: Final = b"chat-tui.group.v1\0"
KINDS: Final = (
    Genesis, Invite, Revoke, Join, Add, Remove, Leave, SetRole, SetPolicy, Rotate,
)  # fmt: skip
"""The ten operations by their discriminants."""

KEY_SIZE: Final = 32
GROUP_SIZE: Final = 16
SALT_SIZE: Final = 16
SIGNATURE_SIZE: Final = 64
SIGNER: Final = Struct("<32sQQQ")
"""Key of the signer, nonce, Lamport time, and when it was signed."""

GIVEN: Final = frozenset({Role.READER, Role.MEMBER, Role.ADMIN})
"""Roles that an op may give; a code gives no admin."""

Value = TypeVar("Value")


def op_id(signable: bytes) -> OpId:
    """Return the id of an op: SHA-256 of the domain and what is signed."""
    return OpId(hashlib.sha256(DOMAIN + signable).digest())


def encode_signable(signed: Signable) -> bytes:
    """Return the bytes that are signed, behind the domain."""
    out = BorshWriter()
    out.u8(VERSION)
    out.fixed(signed.group, GROUP_SIZE)
    out.each(signed.parents, lambda parent: out.fixed(parent, KEY_SIZE))
    out.fixed(signed.signer, KEY_SIZE)
    out.u64(signed.nonce)
    out.u64(signed.lamport)
    out.u64(signed.created_ns)
    out.u8(KINDS.index(type(signed.op)))
    _write_op(out, signed.op)
    return bytes(out.data)


def decode(content: bytes) -> SignedGroupOp:
    """Parse a signed op and check all that lies in its bytes but the signature.

    Raises:
        OpError: not an op, not canonical or over a bound; its `refusal` names which.
    """
    if len(content) > limits.OP_SIZE_MAX:
        raise OpError(Refusal.SIZE, f"an op of {len(content)} bytes")
    if len(content) < SIGNATURE_SIZE:
        raise OpError(Refusal.BYTES)
    op = decode_stored(content)
    check(op.signed)
    return op


def decode_stored(content: bytes) -> SignedGroupOp:
    """Parse a signed op whose bounds and form were checked before it was stored.

    Raises:
        OpError: as `decode`, of what keeps it from being read.
    """
    signable, signature = content[:-SIGNATURE_SIZE], content[-SIGNATURE_SIZE:]
    reader = BorshReader(signable)
    try:
        signed = _signable(reader)
    except OpError:
        raise
    except BoundError as error:
        raise OpError(Refusal.COUNT, str(error)) from error
    except DecodeError as error:
        raise OpError(Refusal.BYTES, str(error)) from error
    try:
        reader.end()
    except DecodeError as error:
        raise OpError(Refusal.TRAILING, str(error)) from error
    return SignedGroupOp(op_id(signable), signed, signature, content)


def check(signed: Signable) -> None:
    """Refuse an op that the bounds and the form of its kind do not allow.

    Raises:
        OpError: with the first thing found.
    """
    founding = isinstance(signed.op, Genesis)
    if founding is not (signed.group == NO_GROUP):
        raise OpError(Refusal.GROUP)
    if founding is not (not signed.parents):
        raise OpError(Refusal.PARENTS)
    _rising(signed.parents, 0, limits.PARENTS_MAX)
    numbers = (signed.nonce, signed.lamport, signed.created_ns)
    if signed.nonce < 1 or any(not 0 <= number <= limits.NUMBER_MAX for number in numbers):
        raise OpError(Refusal.NUMBER)
    match signed.op:
        case Genesis(name, profile, owners=owners):
            _text(name, 1, limits.NAME_MAX)
            _text(profile, 1, limits.PROFILE_MAX)
            keys = [owner.key for owner in owners]
            _rising(keys, 1, limits.OWNERS_MAX)
            if signed.signer not in keys:
                raise OpError(Refusal.NOT_OWNER)
        case Invite(role=role):
            _role(role, GIVEN - {Role.ADMIN})
        case Add(role=role) | SetRole(role=role):
            _role(role, GIVEN)
        case Join(nick=nick):
            _text(nick, 1, limits.NAME_MAX)
        case Remove(keys, epoch, reason, seals):
            _rising(keys, 1, limits.MEMBERS_MAX)
            _rising([(seal.author, seal.log) for seal in seals], 0, limits.SEALS_MAX)
            _text(reason, 0, limits.REASON_MAX)
            _epoch(epoch)
        case Rotate(epoch):
            _epoch(epoch)
        case Revoke() | Leave() | SetPolicy():
            pass


def _epoch(epoch: Epoch) -> None:
    if not 1 <= epoch.number <= limits.NUMBER_MAX:
        raise OpError(Refusal.NUMBER)
    if len(epoch.previous) > limits.PREVIOUS_EPOCHS_MAX:
        raise OpError(Refusal.COUNT)
    _rising(epoch.wrapped.tags, 0, limits.MEMBERS_MAX)


def _rising(values: Sequence[bytes] | Sequence[tuple[bytes, int]], least: int, most: int) -> None:
    if not least <= len(values) <= most:
        raise OpError(Refusal.COUNT)
    if any(left >= right for left, right in pairwise(values)):  # type: ignore[operator]
        raise OpError(Refusal.UNSORTED)


def _text(text: str, least: int, most: int) -> None:
    if not least <= len(text) <= most:
        raise OpError(Refusal.TEXT)


def _role(role: Role, allowed: frozenset[Role]) -> None:
    if role not in allowed:
        raise OpError(Refusal.ROLE)


def _signable(reader: BorshReader) -> Signable:
    version = reader.u8()
    if version != VERSION:
        raise OpError(Refusal.VERSION, f"an op of version {version}; {VERSION} is known")
    group = GroupId(reader.fixed(GROUP_SIZE))
    parents = reader.each(lambda: OpId(reader.fixed(KEY_SIZE)), limits.PARENTS_MAX)
    signer, nonce, lamport, created_ns = reader.packed(SIGNER)
    return Signable(group, parents, signer, nonce, lamport, created_ns, _read_op(reader))


def _write_op(out: BorshWriter, op: Op) -> None:
    match op:
        case Genesis():
            _write_genesis(out, op)
        case Invite(ticket, role):
            out.fixed(ticket, KEY_SIZE)
            out.u8(role)
        case Revoke(invite):
            out.fixed(invite, KEY_SIZE)
        case Join(invite, noise, nick, ticket_sig):
            out.fixed(invite, KEY_SIZE)
            out.fixed(noise, KEY_SIZE)
            out.text(nick)
            out.fixed(ticket_sig, SIGNATURE_SIZE)
        case Add(key, noise, role):
            out.fixed(key, KEY_SIZE)
            out.fixed(noise, KEY_SIZE)
            out.u8(role)
        case Remove(keys, epoch, reason, seals):
            out.each(keys, lambda key: out.fixed(key, KEY_SIZE))
            out.each(seals, lambda seal: _write_seal(out, seal))
            out.text(reason)
            _write_epoch(out, epoch)
        case Leave():
            pass
        case SetRole(key, role):
            out.fixed(key, KEY_SIZE)
            out.u8(role)
        case SetPolicy(policy):
            _write_policy(out, policy)
        case Rotate(epoch):
            _write_epoch(out, epoch)


def _read_op(reader: BorshReader) -> Op:
    kind = reader.u8()
    read = READERS.get(kind)
    if read is None:
        raise OpError(Refusal.KIND, f"an op of kind {kind}")
    return read(reader)


def _read_join(reader: BorshReader) -> Join:
    return Join(
        invite=OpId(reader.fixed(KEY_SIZE)),
        noise=reader.fixed(KEY_SIZE),
        nick=_read_text(reader, limits.NAME_MAX),
        ticket_sig=reader.fixed(SIGNATURE_SIZE),
    )


def _read_remove(reader: BorshReader) -> Remove:
    keys = reader.each(lambda: Key(reader.fixed(KEY_SIZE)), limits.MEMBERS_MAX)
    seals = reader.each(lambda: _read_seal(reader), limits.SEALS_MAX)
    reason = _read_text(reader, limits.REASON_MAX)
    return Remove(keys, _read_epoch(reader), reason, seals)


def _write_genesis(out: BorshWriter, op: Genesis) -> None:
    out.text(op.name)
    out.text(op.profile)
    out.fixed(op.salt, SALT_SIZE)
    out.u32(len(op.owners))
    for owner in op.owners:
        out.fixed(owner.key, KEY_SIZE)
        out.fixed(owner.noise, KEY_SIZE)
    out.option(op.predecessor, lambda group: out.fixed(group, GROUP_SIZE))
    _write_policy(out, op.policy)


def _read_genesis(reader: BorshReader) -> Genesis:
    return Genesis(
        name=_read_text(reader, limits.NAME_MAX),
        profile=_read_text(reader, limits.PROFILE_MAX),
        salt=reader.fixed(SALT_SIZE),
        owners=reader.each(
            lambda: Owner(Key(reader.fixed(KEY_SIZE)), reader.fixed(KEY_SIZE)), limits.OWNERS_MAX
        ),
        predecessor=reader.option(lambda: GroupId(reader.fixed(GROUP_SIZE))),
        policy=_read_policy(reader),
    )


def _write_policy(out: BorshWriter, policy: Policy) -> None:
    for access in policy:
        out.u8(access)


def _read_policy(reader: BorshReader) -> Policy:
    return Policy(*[_named(reader, Access) for _ in Policy._fields])


def _write_seal(out: BorshWriter, seal: Seal) -> None:
    out.fixed(seal.author, KEY_SIZE)
    out.u64(seal.log)
    out.u64(seal.seq)
    out.fixed(seal.entry, KEY_SIZE)


def _read_seal(reader: BorshReader) -> Seal:
    author = Key(reader.fixed(KEY_SIZE))
    return Seal(author, reader.u64(), reader.u64(), reader.fixed(KEY_SIZE))


def _write_epoch(out: BorshWriter, epoch: Epoch) -> None:
    out.u64(epoch.number)
    out.fixed(epoch.ephemeral, KEY_SIZE)
    out.each(epoch.previous, lambda secret: out.fixed(secret, WRAPPED_SIZE))
    out.u32(len(epoch.wrapped))
    out.fixed(epoch.wrapped.raw, WRAP_SIZE * len(epoch.wrapped))


def _read_epoch(reader: BorshReader) -> Epoch:
    return Epoch(
        number=reader.u64(),
        ephemeral=reader.fixed(KEY_SIZE),
        previous=reader.each(lambda: reader.fixed(WRAPPED_SIZE), limits.PREVIOUS_EPOCHS_MAX),
        wrapped=Wraps(reader.fixed(WRAP_SIZE * reader.count(limits.MEMBERS_MAX))),
    )


def _read_text(reader: BorshReader, characters: int) -> str:
    try:
        return reader.text(characters * limits.CHARACTER_SIZE_MAX)
    except BoundError as error:
        raise OpError(Refusal.TEXT, str(error)) from error


def _read_role(reader: BorshReader) -> Role:
    return _named(reader, Role)


def _named(reader: BorshReader, names: type[Value]) -> Value:
    number = reader.u8()
    try:
        return names(number)  # type: ignore[call-arg]
    except ValueError as error:
        raise OpError(Refusal.ROLE, f"{number} is no {names.__name__.lower()}") from error


READERS: Final[dict[int, Callable[[BorshReader], Op]]] = {
    0: _read_genesis,
    1: lambda reader: Invite(reader.fixed(KEY_SIZE), _read_role(reader)),
    2: lambda reader: Revoke(OpId(reader.fixed(KEY_SIZE))),
    3: _read_join,
    4: lambda reader: Add(Key(reader.fixed(KEY_SIZE)), reader.fixed(KEY_SIZE), _read_role(reader)),
    5: _read_remove,
    6: lambda _: Leave(),
    7: lambda reader: SetRole(Key(reader.fixed(KEY_SIZE)), _read_role(reader)),
    8: lambda reader: SetPolicy(_read_policy(reader)),
    9: lambda reader: Rotate(_read_epoch(reader)),
}
"""Readers by the discriminants of `KINDS`."""
