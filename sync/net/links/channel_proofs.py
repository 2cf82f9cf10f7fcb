"""Proofs of the channels both ends of a link share, which reveal none to a stranger.

The proof is `HMAC-SHA256(secret, "member" + role of the prover + handshake hash)`: the hash ties it
to this connection, the role keeps it from being sent back to its maker.

Rules:
1. The initiator proves all its channels when the link is up; the responder waits.
2. An end that joins a channel later proves it then, initiator or responder.
3. A right proof is answered with ours, unless ours has been sent already. A wrong one gets nothing:
   not an answer, not an error, for it may be about a channel that we do not have, or not yet.
4. The proof of a channel of two goes to the other one at once, from either end: it may be news.
"""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from sync.errors import RemoteError
from sync.machine import ChannelId
from sync.net.links.noise import Role

PROOF_LABEL: Final = b"member"
"""Keeps this use of a channel's secret apart from every other use."""

PROOF_SIZE: Final = 32
"""Bytes of a proof."""

PROOFS_MAX: Final = 512
"""Proofs one peer may send over one link.

One for each of its channels, one each time it joins: more than a person does while a link lasts.
They are kept, 16 kB at most, because the proof of a channel may come before we join that channel.
"""


def prove(secret: bytes, role: Role, handshake_hash: bytes) -> bytes:
    """The proof, by the end that plays `role`, of knowing `secret`; `PROOF_SIZE` bytes."""
    return hmac.digest(secret, PROOF_LABEL + role.value.encode() + handshake_hash, "sha256")


@dataclass(frozen=True, slots=True)
class Shared:
    """A channel that the peer has proved to know.

    Attributes:
        channel: which of ours it is.
        answer: our proof, to be sent now; None where the peer has it already.
    """

    channel: ChannelId
    answer: bytes | None


@dataclass(frozen=True, slots=True)
class Joined:
    """Effect of joining a channel on one link.

    Attributes:
        proof: to be sent to the peer.
        shared: whether the peer had proved that channel before.
    """

    proof: bytes
    shared: bool


class Membership:
    """The channels of one link.

    Args:
        role: our Noise role.
        handshake_hash: of this link.
        secrets: the secrets of the channels that we are in.
    """

    def __init__(
        self, role: Role, handshake_hash: bytes, secrets: Mapping[ChannelId, bytes]
    ) -> None:
        self._role = role
        self._handshake_hash = handshake_hash
        self._secrets = dict(secrets)
        self._expected = {channel: self._theirs(secret) for channel, secret in secrets.items()}
        self._heard: list[bytes] = []
        self._shown: set[ChannelId] = set()
        self.shared: frozenset[ChannelId] = frozenset()
        """Our channels that the peer has proved to know; looked at for every frame."""

    def opening(self, direct: Collection[ChannelId] = ()) -> list[bytes]:
        """The proofs to send when the link is up: all if we dialled, else of `direct` channels."""
        first = direct if self._role is Role.RESPONDER else self._secrets
        return [self._show(channel) for channel in first]

    def has_heard(self, secret: bytes) -> bool:
        """Return whether the peer has proved a channel of this secret, even one we are not in."""
        theirs = self._theirs(secret)
        return any(hmac.compare_digest(theirs, mac) for mac in self._heard)

    def join(self, channel: ChannelId, secret: bytes) -> Joined:
        """Take `channel` up: we joined it while the link was open."""
        self._secrets[channel] = secret
        self._expected[channel] = self._theirs(secret)
        if any(hmac.compare_digest(self._expected[channel], mac) for mac in self._heard):
            self.shared |= {channel}
        return Joined(self._show(channel), channel in self.shared)

    def leave(self, channel: ChannelId) -> None:
        """Forget `channel`: from now on a proof of it proves nothing."""
        self._secrets.pop(channel, None)
        self._expected.pop(channel, None)
        self.shared -= {channel}

    def receive(self, mac: bytes) -> Shared | None:
        """Check a proof of the peer; return the channel of ours that it proves, if any.

        Raises:
            RemoteError: it is one proof more than `PROOFS_MAX`.
        """
        if len(self._heard) == PROOFS_MAX:
            raise RemoteError(f"more than {PROOFS_MAX} channel proofs over one link")
        self._heard.append(mac)
        # Every channel is compared, so that the time taken does not tell which one it was.
        proved = [
            channel
            for channel, expected in self._expected.items()
            if hmac.compare_digest(expected, mac)
        ]
        if not proved:
            return None
        [channel, *_] = proved  # More than one only if a person was given one secret twice.
        self.shared |= {channel}
        return Shared(channel, None if channel in self._shown else self._show(channel))

    def _show(self, channel: ChannelId) -> bytes:
        self._shown.add(channel)
        return prove(self._secrets[channel], self._role, self._handshake_hash)

    def _theirs(self, secret: bytes) -> bytes:
        return prove(secret, self._role.other, self._handshake_hash)
