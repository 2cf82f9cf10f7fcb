"""Tickets: the key pairs that codes carry, and joins signed by them. Pure; the caller draws."""

import hashlib
from typing import Final

from sync.calimero.governance.dag import Act
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import GroupId, Invite, Join, Key, OpId
from sync.calimero.governance.signing import ticket_text
from sync.entries.ed25519 import KeyPair

SEED_DOMAIN: Final = b"chat-tui.ticket.v1\0"
"""Keeps this use of a seed apart from every other."""


def public_half(seed: bytes) -> bytes:
    """Return the part of a ticket that its invitation shows, 32 bytes."""
    return _pair(seed).public_key


def join_by(
    seed: bytes, group: GroupId, invite: OpId, signer: Key, noise: bytes, nick: str
) -> Join:
    """Return the op by which `signer`, with this Noise key, enters by a ticket."""
    signature = _pair(seed).sign(ticket_text(group, invite, signer, noise))
    return Join(invite, noise, nick, signature)


def invitation(governance: Governance, ticket: bytes) -> Act | None:
    """Return the op that gave out a ticket; None if it is not here."""
    for act in governance.dag.acts:
        if isinstance(act.op, Invite) and act.op.ticket == ticket:
            return act
    return None


def _pair(seed: bytes) -> KeyPair:
    return KeyPair(hashlib.sha256(SEED_DOMAIN + seed).digest())
