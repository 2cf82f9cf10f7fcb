"""Signatures of ops and of tickets, and the one entrance for an op's bytes."""

from collections.abc import Callable
from typing import Final

from sync.calimero.governance import limits
from sync.calimero.governance.ops import (
    NO_GROUP,
    GroupId,
    Join,
    Key,
    OpId,
    Signable,
    SignedGroupOp,
)
from sync.calimero.governance.refusal import OpError, Refusal
from sync.calimero.governance.wire import DOMAIN, GROUP_SIZE, check, decode, encode_signable, op_id
from sync.entries.identity import verify
from sync.machine import PeerId

TICKET_DOMAIN: Final = b"chat-tui.join.v1\0"


def sign(signed: Signable, signer: Callable[[bytes], bytes]) -> SignedGroupOp:
    """Sign an op of ours; `signer` signs with the key that the op names.

    Raises:
        OpError: the op is not in form, or larger than an op may be.
    """
    check(signed)
    signable = encode_signable(signed)
    signature = signer(DOMAIN + signable)
    content = signable + signature
    if len(content) > limits.OP_SIZE_MAX:
        raise OpError(Refusal.SIZE, f"an op of {len(content)} bytes")
    return SignedGroupOp(op_id(signable), signed, signature, content)


def open_op(content: bytes, group: GroupId) -> SignedGroupOp:
    """Parse the bytes of an op, and check that it is signed and of channel `group`.

    Raises:
        OpError: with the reason.
    """
    op = decode(content)
    if group_of(op) != group:
        raise OpError(Refusal.GROUP)
    signable = content[: -len(op.signature)]
    if not verify(PeerId(op.signed.signer.hex()), op.signature, DOMAIN + signable):
        raise OpError(Refusal.SIGNATURE)
    return op


def group_of(op: SignedGroupOp) -> GroupId:
    """Return the channel that an op belongs to; a genesis belongs to the one it founds."""
    return GroupId(op.id[:GROUP_SIZE]) if op.signed.group == NO_GROUP else op.signed.group


def ticket_text(group: GroupId, invite: OpId, signer: Key, noise: bytes) -> bytes:
    """Return the bytes that a ticket signs for one who joins."""
    return TICKET_DOMAIN + group + invite + signer + noise


def ticket_holds(group: GroupId, signer: Key, join: Join, ticket: bytes) -> bool:
    """Return whether `ticket`, the public half of a code, signed this join."""
    text = ticket_text(group, join.invite, signer, join.noise)
    return verify(PeerId(ticket.hex()), join.ticket_sig, text)
