"""Values of governance: the ten operations and what signs them."""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple, NewType, Self, TypeAlias

from msgspec import Struct

from sync.calimero.governance.roles import OPEN_POLICY, Access, Policy, Role
from sync.machine import Nanos

__all__ = ["OPEN_POLICY", "Access", "Policy", "Role"]  # what is only passed on

OpId = NewType("OpId", bytes)
"""SHA-256 of domain and signable, 32 bytes."""

Key = NewType("Key", bytes)
"""An Ed25519 public key, 32 bytes: somebody."""

GroupId = NewType("GroupId", bytes)
"""First 16 bytes of the genesis' id; a channel id's bytes."""

NO_GROUP = GroupId(bytes(16))
"""The group of a genesis: its id is made of it."""


class Owner(NamedTuple):
    """Somebody whom the genesis names: the key that signs, and the one for Noise."""

    key: Key
    noise: bytes


class Seal(NamedTuple):
    """The highest entry of a removed person's log that the signer of the removal had."""

    author: Key
    log: int
    seq: int
    entry: bytes


TAG_SIZE: Final = 8
WRAPPED_SIZE: Final = 48
"""Bytes of a secret that is wrapped."""


class Wrap(NamedTuple):
    """A secret for one member; `tag` are the first 8 bytes of the member's key."""

    tag: bytes
    secret: bytes


class Wraps(Struct, frozen=True):
    """Secrets for those who stay, as they lie in an op: a removal has hundreds, few are looked at.

    `raw` are tags of `TAG_SIZE` bytes, each before a secret of `WRAPPED_SIZE`.
    """

    raw: bytes = b""

    @classmethod
    def of(cls, wraps: Iterable[Wrap]) -> Self:
        """Return these wraps, in their order."""
        return cls(b"".join([wrap.tag + wrap.secret for wrap in wraps]))

    def __len__(self) -> int:
        return len(self.raw) // WRAP_SIZE

    def __iter__(self) -> Iterator[Wrap]:
        raw = self.raw
        for place in range(0, len(raw), WRAP_SIZE):
            secret = place + TAG_SIZE
            yield Wrap(raw[place:secret], raw[secret : place + WRAP_SIZE])

    @property
    def tags(self) -> list[bytes]:
        """The tags alone."""
        raw = self.raw
        return [raw[place : place + TAG_SIZE] for place in range(0, len(raw), WRAP_SIZE)]


WRAP_SIZE: Final = TAG_SIZE + WRAPPED_SIZE
NO_WRAPS: Final = Wraps()


class Epoch(Struct, frozen=True):
    """A new secret of the channel, wrapped for each who stays, and the older ones under it."""

    number: int
    ephemeral: bytes
    previous: tuple[bytes, ...] = ()
    wrapped: Wraps = NO_WRAPS


class Genesis(Struct, frozen=True):
    """Founds a channel; its id is the channel's."""

    name: str
    profile: str
    salt: bytes
    owners: tuple[Owner, ...]
    predecessor: GroupId | None = None
    policy: Policy = OPEN_POLICY


class Invite(Struct, frozen=True):
    """Gives out a code: `ticket` is the public half of a key pair that the code has."""

    ticket: bytes
    role: Role


class Revoke(Struct, frozen=True):
    """Ends one invitation."""

    invite: OpId


class Join(Struct, frozen=True):
    """Enters by a code, or asks to be let in again; `ticket_sig` proves the code."""

    invite: OpId
    noise: bytes
    nick: str
    ticket_sig: bytes


class Add(Struct, frozen=True):
    """Lets somebody in."""

    key: Key
    noise: bytes
    role: Role


class Remove(Struct, frozen=True):
    """Removes people, ends all codes, and changes the secret."""

    keys: tuple[Key, ...]
    epoch: Epoch
    reason: str = ""
    seals: tuple[Seal, ...] = ()


class Leave(Struct, frozen=True):
    """Goes."""


class SetRole(Struct, frozen=True):
    """Gives somebody who is in another role."""

    key: Key
    role: Role


class SetPolicy(Struct, frozen=True):
    """Says who may do what."""

    policy: Policy


class Rotate(Struct, frozen=True):
    """Changes the secret and ends all codes."""

    epoch: Epoch


Op: TypeAlias = (
    Genesis | Invite | Revoke | Join | Add | Remove | Leave | SetRole | SetPolicy | Rotate
)


class Signable(Struct, frozen=True):
    """The part that is signed. `parents` are sorted ids, `nonce` counts a signer's ops."""

    group: GroupId
    parents: tuple[OpId, ...]
    signer: Key
    nonce: int
    lamport: int
    created_ns: Nanos
    op: Op


class SignedGroupOp(Struct, frozen=True):
    """A signed op; `content` are its bytes as sent."""

    id: OpId
    signed: Signable
    signature: bytes
    content: bytes

    @property
    def op(self) -> Op:
        """The operation itself."""
        return self.signed.op


class Verdict(Enum):
    """Answer whether somebody may do something at a cut; `UNKNOWN` while ops are missing."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
