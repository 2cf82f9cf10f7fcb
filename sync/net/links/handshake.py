"""Authenticates the peer: the Noise handshake with identities, as libp2p-noise does it.

The payload of the second and the third message names an Ed25519 identity key and signs the Noise
static key with it (libp2p-noise, "The libp2p Handshake Payload"); the first message is empty.
Pure: the caller moves the bytes. The initiator checks the responder before it shows who it is.
"""

from typing import Final

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from google.protobuf import message as protobuf

from proto import link_pb2
from sync.entries.ed25519 import KEY_SIZE
from sync.entries.identity import Identity, verify
from sync.errors import DecodeError, RemoteError
from sync.machine import PeerId
from sync.net.links.noise import CipherState, Handshake, Role

PROLOGUE: Final = b"/chat-tui/1"
"""Name and version of the application: ends that differ in it do not get past the handshake."""

SIGNED_PREFIX: Final = b"noise-libp2p-static-key:"
"""The identity key signs this, followed by the Noise static key (libp2p-noise)."""


class OwnKeyError(RemoteError):
    """We have connected to ourselves; nobody misbehaved."""


class IdentityHandshake:
    """One side of a handshake that ends with a peer we can name.

    Args:
        role: our end.
        identity: who we are.
        ephemeral: a fresh key for this handshake alone.
        expect: the only peer we want to talk to, where that is known.
    """

    def __init__(
        self,
        role: Role,
        identity: Identity,
        ephemeral: X25519PrivateKey,
        *,
        expect: PeerId | None = None,
    ) -> None:
        self._noise = Handshake(
            role, static=identity.noise_key, prologue=PROLOGUE, ephemeral=ephemeral
        )
        self._identity = identity
        self._expect = expect
        self._written = 0
        self._peer: PeerId | None = None

    @property
    def role(self) -> Role:
        """Our end."""
        return self._noise.role

    @property
    def finished(self) -> bool:
        """True if all messages have passed and `peer` is proved."""
        return self._noise.finished and self._peer is not None

    @property
    def our_turn(self) -> bool:
        """True if `write_message` is due, else `read`."""
        return self._noise.our_turn

    @property
    def peer(self) -> PeerId:
        """The peer at the other end."""
        assert self._peer is not None, "the peer has not shown who it is yet"
        return self._peer

    @property
    def remote_static(self) -> bytes:
        """The peer's Noise static key, signed by its identity key; 32 bytes."""
        assert self._noise.remote_static is not None, "the peer has not sent its key yet"
        return self._noise.remote_static

    @property
    def handshake_hash(self) -> bytes:
        """Hash that identifies this session, 32 bytes, the same at both ends."""
        return self._noise.handshake_hash

    def write_message(self) -> bytes:
        """Our next message."""
        opens = self.role is Role.INITIATOR and self._written == 0
        self._written += 1
        return self._noise.write_message(b"" if opens else identity_payload(self._identity))

    def read(self, message: bytes) -> None:
        """Take in the other side's next message.

        Raises:
            RemoteError: it is forged or malformed, or the peer is ourselves or not who we expect.
        """
        payload = self._noise.read(message)
        if self._noise.remote_static is None:
            if payload:
                raise RemoteError("the first message of a handshake carries a payload")
            return
        peer = check_identity_payload(payload, self._noise.remote_static)
        if peer == self._identity.peer_id:
            raise OwnKeyError("the address leads back to ourselves")
        if self._expect not in {None, peer}:
            raise RemoteError(f"the address belongs to peer {peer}, not to {self._expect}")
        self._peer = peer

    def split(self) -> tuple[CipherState, CipherState]:
        """Our ciphers for what follows: (send, receive)."""
        return self._noise.split()


def identity_payload(identity: Identity) -> bytes:
    """The handshake payload that says who we are: an encoded `NoiseHandshakePayload`."""
    key = link_pb2.PublicKey(type=link_pb2.ED25519, data=identity.public_key)
    return link_pb2.NoiseHandshakePayload(
        identity_key=key.SerializeToString(),
        identity_sig=identity.sign(SIGNED_PREFIX + identity.noise_public),
    ).SerializeToString()


def check_identity_payload(payload: bytes, remote_static: bytes) -> PeerId:
    """Return the peer that owns the Noise key `remote_static`.

    Raises:
        DecodeError: not a payload, or an identity key that is not Ed25519.
        RemoteError: the identity key did not sign this Noise key.
    """
    try:
        wire = link_pb2.NoiseHandshakePayload.FromString(payload)
        key = link_pb2.PublicKey.FromString(wire.identity_key)
    except protobuf.DecodeError as error:
        raise DecodeError(f"the identity in a handshake cannot be read: {error}") from None
    if key.type != link_pb2.ED25519 or len(key.data) != KEY_SIZE:
        raise DecodeError("the identity key in a handshake is not an Ed25519 key")
    peer = PeerId(key.data.hex())
    if not verify(peer, wire.identity_sig, SIGNED_PREFIX + remote_static):
        raise RemoteError(f"peer {peer} did not sign the key that it uses in the handshake")
    return peer
