"""Proofs that both sides hold the same set, which neither side can replay as its own.

Rules:
1. The prover must know the root of its digest: fresh salts of both sides and the prover's role are
   hashed with it.
2. Nothing but these hashes leaves while two sides are equal.
"""

import hashlib

from sync.check.message import Proof, Verdict
from sync.errors import RemoteError
from sync.machine import Nanos
from sync.structures.differences import Role
from sync.structures.set_digest import Held
from sync.structures.sorted_run import TIMESTAMP_MAX


def sealed(role: Role, initiator_salt: bytes, responder_salt: bytes, root: bytes) -> bytes:
    """Return what `role` sends to prove its root: SHA-256 of role, both salts and root."""
    return hashlib.sha256(role.value.encode() + initiator_salt + responder_salt + root).digest()


def matches(theirs: Proof | Verdict, held: Held, expected: bytes) -> bool:
    """Return whether the peer holds what we hold: it proves our root (`expected`) and count.

    Raises:
        RemoteError: it proves our root but another count, which cannot be.
    """
    if theirs.digest != expected:
        return False
    if theirs.count != held.digest.count:
        raise RemoteError(f"a digest of {held.digest.count} ids is said to be of {theirs.count}")
    return True


def check_floor(floor: Nanos) -> None:
    """Refuse what is no retention floor.

    Raises:
        RemoteError: above the timestamps a message can have.
    """
    if not 0 <= floor <= TIMESTAMP_MAX:
        raise RemoteError(f"a retention floor of {floor} is no time of a message")
