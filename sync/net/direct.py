"""A channel of two, which both ends derive from their keys alone: no code, no exchange.

`HKDF-SHA256(X25519 of both Noise static keys; info = label, then identity and Noise key of either
end, the smaller identity first)`. The first 16 bytes are the channel's id, the other 32 its secret:
who has neither private key knows neither.
"""

from typing import Final, NamedTuple

from sync.entries.ed25519 import KEY_SIZE
from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.machine import ChannelId, PeerId
from sync.net.invite import CHANNEL_SIZE

LABEL: Final = b"/chat-tui/1/direct-channel:"
"""Keeps this use of the Noise keys apart from the handshake's."""

DIRECT_SECRET_SIZE: Final = 32
"""Bytes: as strong as the keys it comes from."""


class Direct(NamedTuple):
    """A channel of two; its text never shows the secret."""

    channel: ChannelId
    secret: bytes

    def __repr__(self) -> str:
        return f"Direct({self.channel})"


def direct_channel(identity: Identity, peer: PeerId, noise_key: bytes) -> Direct:
    """Return the channel of us and `peer`, whose Noise static key is `noise_key`.

    Raises:
        RemoteError: the keys are ours, or such that the outcome would be the same for everybody.
    """
    # A start knows this module, and has no key to derive.
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    if peer == identity.peer_id:
        raise RemoteError("nobody has a channel of two with themselves")
    ours = (identity.public_key, identity.noise_public)
    theirs = (bytes.fromhex(peer), noise_key)
    try:
        shared = identity.noise_key.exchange(X25519PublicKey.from_public_bytes(noise_key))
    except ValueError:
        raise RemoteError(f"the Noise key of {peer} is none to agree on a secret with") from None
    (first, first_noise), (second, second_noise) = sorted((ours, theirs))
    info = LABEL + first + first_noise + second + second_noise
    assert len(info) == len(LABEL) + 4 * KEY_SIZE
    derived = HKDF(SHA256(), CHANNEL_SIZE + DIRECT_SECRET_SIZE, salt=None, info=info).derive(shared)
    return Direct(ChannelId(derived[:CHANNEL_SIZE].hex()), derived[CHANNEL_SIZE:])
