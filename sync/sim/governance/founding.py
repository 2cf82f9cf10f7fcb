"""The governed channel of a world: node 0 founds it and lets everybody else in."""

from collections.abc import Sequence
from typing import NamedTuple

from sync.calimero.governance.governance import Governance, Taken
from sync.calimero.governance.ops import (
    NO_GROUP,
    Add,
    Genesis,
    Key,
    Op,
    Owner,
    Role,
    Signable,
)
from sync.calimero.governance.signing import group_of, sign
from sync.entries.identity import Identity
from sync.group.records import StoreOp
from sync.machine import ChannelId, Nanos


class Founded(NamedTuple):
    """A channel that was founded, and what everybody has of it on the disk."""

    channel: ChannelId
    genesis: bytes
    ops: tuple[StoreOp, ...]


def found(founder: Identity, others: Sequence[Identity], at: Nanos) -> Founded:
    """Return a channel of these people; the founder is its owner."""
    owner = Owner(Key(founder.public_key), founder.noise_public)
    first = Genesis("governed", "lan", bytes(16), (owner,))
    op = sign(Signable(NO_GROUP, (), owner.key, 1, 1, at, first), founder.sign)
    governance = Governance(group_of(op))
    channel = ChannelId(governance.group.hex())
    kept: list[StoreOp] = []
    for nonce, who in enumerate([None, *others], start=1):
        if who is not None:
            parents, here = governance.heads, governance.group
            entering: Op = Add(Key(who.public_key), who.noise_public, Role.MEMBER)
            signed = Signable(here, parents, owner.key, nonce, nonce, at, entering)
            op = sign(signed, founder.sign)
        taken = governance.receive(op)
        assert isinstance(taken, Taken), taken
        kept += [StoreOp(channel, one.op.content, one.judgement) for one in taken.ops]
    return Founded(channel, governance.dag.acts[0].id, tuple(kept))
