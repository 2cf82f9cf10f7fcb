"""Proofs of the channels both ends of a link share, which reveal none to a stranger.

The proof is `HMAC-SHA256(secret, "member" + role of the prover + handshake hash)`: the hash ties it
to this connection, the role keeps it from being sent back to its maker.

Rules:
1. The initiator proves all its channels when the link is up; the responder waits.
2. An end that joins a channel later proves it then, initiator or responder.
3. A right proof is answered with ours, unless ours has been sent already. A wrong one gets nothing:
   not an answer, not an error, for it may be about a channel that we do not have, or not yet.
4. The proof of a channel of two goes to the other one at once, from either end: it may be news.
5. A governed channel has a secret for each epoch: the newest few are proved unasked, and every one
   that the peer proves. Whoever is out is shown none, unless they prove the newest: they have been
   given a new code, and ask to be let in again. Once let in, they are shown what was held back.
6. The responder, too, proves its governed channels unasked, those that the initiator has not proved
   by its first ping: one who was away for long, or is out, knows other epochs than are shown to it.
"""

import hmac
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from sync.calimero.governance.keys import EpochSecret
from sync.errors import RemoteError
from sync.machine import ChannelId
from sync.net.links.channel_secrets import EPOCHS_SHOWN_MAX
from sync.net.links.noise import Role

PROOF_LABEL: Final = b"member"
"""Keeps this use of a channel's secret apart from every other use."""

PROOF_SIZE: Final = 32
"""Bytes of a proof."""

PROOFS_MAX: Final = 512
"""Proofs one peer may send over one link.

One for each of its channels, one each time it joins, eight for a governed one: more than a person
does while a link lasts. They are kept, 16 kB at most, because the proof of a channel may come
before we join that channel.
"""


OLDER_SHOWN_MAX: Final = PROOFS_MAX // 2
"""Proofs shown unasked, from which on older epochs are left out: the rest is for answers, for what
is joined later and for new epochs."""


def prove(secret: bytes, role: Role, handshake_hash: bytes) -> bytes:
    """The proof, by the end that plays `role`, of knowing `secret`; `PROOF_SIZE` bytes."""
    return hmac.digest(secret, PROOF_LABEL + role.value.encode() + handshake_hash, "sha256")


class Shared(Struct, frozen=True):
    """A channel of ours whose secret, or that of one of its epochs, the peer has proved to know.

    Attributes:
        channel: which of ours it is.
        answer: our proof of the same, to be sent now; None where the peer has it, or gets none.
    """

    channel: ChannelId
    answer: bytes | None


class Joined(Struct, frozen=True):
    """Effect of joining a channel, or of learning of an epoch, on one link.

    Attributes:
        proofs: to be sent to the peer.
        shared: whether the peer had proved that channel before.
    """

    proofs: tuple[bytes, ...]
    shared: bool


class Membership:
    """The channels of one link.

    Args:
        role: our Noise role.
        handshake_hash: of this link.
        secrets: the secrets of the channels that we are in, of each the newest first.
        hides: whether the peer is shown no proof of a channel: it is out.
    """

    def __init__(
        self,
        role: Role,
        handshake_hash: bytes,
        secrets: Mapping[ChannelId, Sequence[EpochSecret]],
        hides: Callable[[ChannelId], bool] = lambda _: False,
    ) -> None:
        self._role = role
        self._handshake_hash = handshake_hash
        self._hides = hides
        self._secrets: dict[ChannelId, Sequence[EpochSecret]] = {}
        self._expected: dict[tuple[ChannelId, bytes], bytes] = {}
        """Proofs of the peer, by channel and secret."""
        self._heard: list[bytes] = []
        self._shown: set[tuple[ChannelId, bytes]] = set()
        self._sent = 0
        """Proofs that were shown on this link, also of channels that we have left since."""
        self.proved: set[ChannelId] = set()
        """Our channels of which the peer has proved a secret; what that gives, is asked elsewhere.
        """
        self.shared: frozenset[ChannelId] = frozenset()
        """Our channels that the peer is in; looked at for every frame."""
        for channel, epochs in secrets.items():
            self._expect(channel, epochs)

    def opening(self, direct: Collection[ChannelId] = ()) -> list[bytes]:
        """The proofs to send when the link is up: all if we dialled, else of `direct` channels."""
        return self._show_some(direct if self._role is Role.RESPONDER else self._secrets)

    def after_opening(self) -> list[bytes]:
        """The proofs to send, if the peer dialled, once it has shown what it shows unasked."""
        governed = [one for one, epochs in self._secrets.items() if epochs and epochs[0].op]
        return self._show_some([one for one in governed if one not in self.proved])

    @property
    def is_spent(self) -> bool:
        """Return whether the peer takes no more proofs: it would end the link at the next one."""
        return self._sent >= PROOFS_MAX

    def has_heard(self, secret: bytes) -> bool:
        """Return whether the peer has proved this secret, even of a channel we are not in."""
        return self._was_heard(self._theirs(secret))

    def is_proof(self, mac: bytes, secret: bytes) -> bool:
        """Return whether a proof of the peer is one of this secret."""
        return hmac.compare_digest(self._theirs(secret), mac)

    def join(self, channel: ChannelId, epochs: Sequence[EpochSecret]) -> Joined:
        """Take up the secrets of `channel`: we joined it while the link was open, or learnt one."""
        self._expect(channel, epochs)
        if any(self._was_heard(self._expected[channel, one.secret]) for one in epochs):
            self.proved.add(channel)
            if not epochs[0].op:
                self.share(channel)
        return Joined(tuple(self._show_epochs(channel)), channel in self.proved)

    def held_back(self, channel: ChannelId) -> list[bytes]:
        """The proofs to send once the peer is let in that was out when they were due."""
        heard = [
            self._show(channel, one.secret)
            for one in self._secrets[channel]
            if self._was_heard(self._expected[channel, one.secret])
        ]
        return [*self._show_epochs(channel), *(mac for mac in heard if mac is not None)]

    def leave(self, channel: ChannelId) -> None:
        """Forget `channel`: from now on a proof of it proves nothing."""
        for one in self._secrets.pop(channel, ()):
            del self._expected[channel, one.secret]
        self._shown = {shown for shown in self._shown if shown[0] != channel}
        self.proved.discard(channel)
        self.unshare(channel)

    def share(self, channel: ChannelId) -> None:
        """The peer is in `channel`: it may have all that is said there."""
        self.shared |= {channel}

    def unshare(self, channel: ChannelId) -> None:
        """The peer is not in `channel` any more, whatever it proves."""
        self.shared -= {channel}

    def receive(self, mac: bytes) -> Shared | None:
        """Check a proof of the peer; return the channel of ours that it proves, if any.

        A channel that nobody governs is shared by that.

        Raises:
            RemoteError: it is one proof more than `PROOFS_MAX`.
        """
        if len(self._heard) == PROOFS_MAX:
            raise RemoteError(f"more than {PROOFS_MAX} channel proofs over one link")
        self._heard.append(mac)
        # Every secret is compared, so that the time taken does not tell which one it was.
        proved = [
            known
            for known, expected in self._expected.items()
            if hmac.compare_digest(expected, mac)
        ]
        if not proved:
            return None
        [(channel, secret), *_] = proved  # More than one only if one secret was given twice.
        self.proved.add(channel)
        if not self._secrets[channel][0].op:
            self.share(channel)
        return Shared(channel, self._show(channel, secret))

    def common(self, channel: ChannelId) -> EpochSecret | None:
        """Return the newest secret of a channel that the peer has proved; None without one."""
        for one in self._secrets.get(channel, ()):
            if self._was_heard(self._expected[channel, one.secret]):
                return one
        return None

    def _expect(self, channel: ChannelId, epochs: Sequence[EpochSecret]) -> None:
        for one in self._secrets.get(channel, ()):
            del self._expected[channel, one.secret]
        self._secrets[channel] = epochs
        for one in epochs:
            self._expected[channel, one.secret] = self._theirs(one.secret)

    def _show_some(self, channels: Collection[ChannelId]) -> list[bytes]:
        """Return proofs of channels, the newest secret of each first, as many as may be shown."""
        macs: list[bytes] = []
        for rank in range(EPOCHS_SHOWN_MAX):
            for channel in channels:
                epochs = self._secrets[channel]
                if rank >= len(epochs) or (rank and len(macs) >= OLDER_SHOWN_MAX):
                    continue
                mac = self._show(channel, epochs[rank].secret)
                if mac is not None:
                    macs.append(mac)
        return macs

    def _show_epochs(self, channel: ChannelId) -> list[bytes]:
        """Return the proofs that are shown unasked and were not shown yet."""
        first = self._secrets[channel][:EPOCHS_SHOWN_MAX]
        macs = [self._show(channel, one.secret) for one in first]
        return [mac for mac in macs if mac is not None]

    def _show(self, channel: ChannelId, secret: bytes) -> bytes | None:
        if (channel, secret) in self._shown or self.is_spent:
            return None
        if self._hides(channel) and not self.has_heard(self._secrets[channel][0].secret):
            return None
        self._shown.add((channel, secret))
        self._sent += 1
        return prove(secret, self._role, self._handshake_hash)

    def _was_heard(self, theirs: bytes) -> bool:
        return any(hmac.compare_digest(theirs, mac) for mac in self._heard)

    def _theirs(self, secret: bytes) -> bytes:
        return prove(secret, self._role.other, self._handshake_hash)
