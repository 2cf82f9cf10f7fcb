"""Acts before they are signed: a genesis, the epoch that an op begins, the seals of a removal.

Pure: the caller draws, and gives what it drew. It alone keeps secrets; nothing here does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.calimero.governance import limits
from sync.calimero.governance.epochs import epochs_before, next_number, staying
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import UNKNOWN_SECRET, EpochName, begin_epoch
from sync.calimero.governance.ops import (
    NO_GROUP,
    Epoch,
    Genesis,
    GroupId,
    Key,
    Owner,
    Seal,
    Signable,
)
from sync.machine import MILLISECOND, Nanos

FIRST: Final = 1
"""Nonce and Lamport time of a genesis."""

NOBODY: Final[frozenset[Key]] = frozenset()


class Drawn(NamedTuple):
    """Random parts of a new epoch; its text shows neither."""

    secret: bytes
    """32 bytes: the secret itself."""

    ephemeral: X25519PrivateKey
    """A key pair for this epoch alone."""

    def __repr__(self) -> str:
        return "Drawn()"


def founding(
    name: str,
    profile: str,
    salt: bytes,
    owner: Owner,
    created_ns: Nanos,
    predecessor: GroupId | None = None,
) -> Signable:
    """Return what founds a channel, to be signed by its owner.

    Args:
        name: of the channel, without its sign.
        profile: the SDS parameters that all of its members use.
        salt: 16 random bytes, which make its id one of its own.
        owner: who founds it.
        created_ns: the wall clock.
        predecessor: the channel that it goes on after.
    """
    genesis = Genesis(name, profile, salt, (owner,), predecessor)
    lamport = max(FIRST, created_ns // MILLISECOND)  # after what was written in the predecessor
    return Signable(NO_GROUP, (), owner.key, FIRST, lamport, created_ns, genesis)


def batches(
    governance: Governance,
    keys: Iterable[Key],
    seals: Mapping[Key, Sequence[Seal]],
) -> Iterator[tuple[tuple[Key, ...], tuple[Seal, ...]]]:
    """Yield whom each of several removals takes out, and what of their logs it seals.

    Those go first who have power: until they are out, they could answer. One removal seals
    `limits.SEALS_MAX` logs; of somebody who has more, the first ones given.
    """
    roles = governance.now
    together: list[Key] = []
    sealed: list[Seal] = []
    for key in sorted(set(keys), key=lambda one: (-roles.role(one), one)):
        theirs = tuple(seals.get(key, ()))[: limits.SEALS_MAX]
        if together and len(sealed) + len(theirs) > limits.SEALS_MAX:
            yield tuple(sorted(together)), _in_order(sealed)
            together, sealed = [], []
        together.append(key)
        sealed += theirs
    if together:
        yield tuple(sorted(together)), _in_order(sealed)


def new_epoch(
    governance: Governance,
    signer: Key,
    drawn: Drawn,
    known: Mapping[bytes, bytes],
    without: frozenset[Key] = NOBODY,
) -> Epoch:
    """Return the epoch that an op of `signer` at our heads begins.

    Args:
        governance: of the channel.
        signer: who signs; gets the secret too, so nobody need keep it before the op is out.
        drawn: what was drawn for it.
        known: secrets by the ops that began their epochs. One that is not among them is wrapped as
            `UNKNOWN_SECRET`, so that the others keep their places.
        without: people who go by the op.
    """
    cut = governance.dag.closure(governance.foremost_heads(signer, limits.PARENTS_MAX))
    assert cut, "nothing is here yet"
    state = governance.projection.state(cut)
    return begin_epoch(
        EpochName(governance.group, signer, next_number(governance, state)),
        drawn.secret,
        drawn.ephemeral,
        staying(governance, state, without),
        [known.get(act.id, UNKNOWN_SECRET) for act in epochs_before(governance, cut)],
    )


def _in_order(seals: Iterable[Seal]) -> tuple[Seal, ...]:
    return tuple(sorted(seals, key=lambda seal: (seal.author, seal.log)))
