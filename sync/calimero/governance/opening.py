"""Opening of epochs: the secrets that somebody can read, of those that the ops of a channel wrap.

Pure: the caller gives its key and keeps what comes out.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.calimero.governance.dag import Act
from sync.calimero.governance.epochs import epochs_before
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import (
    UNKNOWN_SECRET,
    EpochName,
    EpochSecret,
    open_epoch,
    open_older,
)
from sync.calimero.governance.ops import Epoch, Key, OpId


class Reader(NamedTuple):
    """Somebody who reads secrets: the key that signs, and the private one for Noise."""

    key: Key
    noise: X25519PrivateKey

    def __repr__(self) -> str:
        return f"Reader({self.key.hex()[:8]})"


def epochs_of(governance: Governance) -> list[OpId]:
    """Return the ops that began epochs, the latest first."""
    begun = governance.projection.relations.epochs
    return [governance.dag.acts[number].id for number in reversed(begun)]


def opened(
    governance: Governance,
    op: OpId,
    epoch: Epoch,
    reader: Reader,
    known: Mapping[bytes, bytes],
    loose: Iterable[bytes] = (),
) -> list[EpochSecret]:
    """Return the secrets that an op lets one read: its own, and those directly before it.

    A secret is believed if the older ones open under it, so what comes from a peer or in a code
    takes the same way as what is wrapped for us.

    Args:
        governance: of the channel, which has the op.
        op: which op.
        epoch: the epoch it begins, with all that it wraps.
        reader: who reads.
        known: secrets by the ops that began their epochs.
        loose: secrets whose epochs are not known.
    """
    act = governance.act(op)
    name = EpochName(governance.group, act.signer, epoch.number)
    wrapped = open_epoch(name, epoch, *reader)
    own = [known[op]] if op in known else [] if wrapped is None else [wrapped]
    for secret in [*own, *loose]:
        older = open_older(name, epoch, secret)
        if any(one is not None for one in older):
            return [EpochSecret(epoch.number, op, secret), *_before(governance, act, older)]
    return []


def _before(governance: Governance, act: Act, older: tuple[bytes | None, ...]) -> list[EpochSecret]:
    before = epochs_before(governance, act.before)
    found = []
    for earlier, secret in zip(before, older, strict=False):
        if secret is not None and secret != UNKNOWN_SECRET:
            number = earlier.epoch.number if earlier.epoch else 0
            found.append(EpochSecret(number, earlier.id, secret))
    return found
