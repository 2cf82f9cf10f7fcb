"""Noise_XX_25519_ChaChaPoly_SHA256, and nothing else of the Noise Protocol Framework (revision 34).

Rules:
1. Pure: the caller draws every key, ephemeral ones too, and moves the bytes.
2. A fault of the other side raises `RemoteError`; after that the object is of no more use.
3. A fault of ours (writing out of turn, splitting too early) is an `assert`.
"""

import hashlib
import hmac
from enum import Enum
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from sync.errors import RemoteError

PROTOCOL_NAME: Final = b"Noise_XX_25519_ChaChaPoly_SHA256"

MESSAGE_MAX: Final = 65_535
"""Bytes of one Noise message (Noise, section 3): it fits the two-byte length in front of it."""

KEY_SIZE: Final = 32
"""Bytes of a public key and of a DH result (Noise, section 12.1)."""

TAG_SIZE: Final = 16
"""Bytes that ChaCha20-Poly1305 adds to every encrypted text (Noise, section 12.3)."""

NONCE_MAX: Final = 2**64 - 1
"""Reserved, so never used for a message (Noise, section 5.1)."""


class Role(Enum):
    """Our end of the connection: who dialled is the initiator."""

    INITIATOR = "initiator"
    RESPONDER = "responder"

    @property
    def other(self) -> "Role":
        """The role of the other end."""
        return Role.RESPONDER if self is Role.INITIATOR else Role.INITIATOR


class Token(Enum):
    """Key operations of a handshake message (Noise, section 7.1)."""

    E = "e"
    S = "s"
    EE = "ee"
    ES = "es"
    SE = "se"


XX: Final = (
    (Token.E,),
    (Token.E, Token.EE, Token.S, Token.ES),
    (Token.S, Token.SE),
)
"""The pattern XX (Noise, section 7.5), one row per message; the initiator writes the first."""


class CipherState:
    """A key and its counter: every message of one direction is sealed once, and opened in order."""

    __slots__ = ("_aead", "_nonce")

    def __init__(self, key: bytes) -> None:
        self._aead = ChaCha20Poly1305(key)
        self._nonce = 0

    def encrypt(self, associated_data: bytes, plaintext: bytes) -> bytes:
        """Seal the next message; the result is `TAG_SIZE` bytes longer."""
        ciphertext = self._aead.encrypt(self._nonce_bytes(), plaintext, associated_data)
        self._nonce += 1
        return ciphertext

    def decrypt(self, associated_data: bytes, ciphertext: bytes) -> bytes:
        """Open the next message.

        Raises:
            RemoteError: it was changed, replayed, reordered or sealed with another key. The counter
                has not moved.
        """
        try:
            plaintext = self._aead.decrypt(self._nonce_bytes(), ciphertext, associated_data)
        except InvalidTag:
            raise RemoteError("an encrypted message fails its authentication") from None
        self._nonce += 1
        return plaintext

    def _nonce_bytes(self) -> bytes:
        assert self._nonce < NONCE_MAX, "every nonce of this key is used up"
        return bytes(4) + self._nonce.to_bytes(8, "little")


class SymmetricState:
    """The chaining key, the transcript hash and, after the first DH, a cipher (Noise, 5.2)."""

    __slots__ = ("_chaining_key", "_cipher", "transcript")

    def __init__(self, prologue: bytes) -> None:
        self.transcript = PROTOCOL_NAME.ljust(hashlib.sha256().digest_size, b"\0")
        self._chaining_key = self.transcript
        self._cipher: CipherState | None = None
        self.mix_hash(prologue)

    @property
    def overhead(self) -> int:
        """Bytes that encrypting adds now: none before there is a key."""
        return TAG_SIZE if self._cipher else 0

    def mix_hash(self, data: bytes) -> None:
        """Make `data` part of what both sides must agree on."""
        self.transcript = hashlib.sha256(self.transcript + data).digest()

    def mix_key(self, shared: bytes) -> None:
        """Go on to a key that also needs `shared`, a DH result."""
        self._chaining_key, key = self._derive(shared)
        self._cipher = CipherState(key)

    def encrypt_and_hash(self, plaintext: bytes) -> bytes:
        """Seal `plaintext` (leave it as it is while there is no key) and mix in the result."""
        sealed = self._cipher.encrypt(self.transcript, plaintext) if self._cipher else plaintext
        self.mix_hash(sealed)
        return sealed

    def decrypt_and_hash(self, sealed: bytes) -> bytes:
        """Undo `encrypt_and_hash` of the other side.

        Raises:
            RemoteError: it fails its authentication.
        """
        plaintext = self._cipher.decrypt(self.transcript, sealed) if self._cipher else sealed
        self.mix_hash(sealed)
        return plaintext

    def split(self) -> tuple[CipherState, CipherState]:
        """One cipher for each direction, that of the initiator's messages first."""
        first, second = self._derive(b"")
        return CipherState(first), CipherState(second)

    def _derive(self, material: bytes) -> tuple[bytes, bytes]:
        """HKDF with two outputs of 32 bytes (Noise, section 4.3)."""
        secret = hmac.digest(self._chaining_key, material, "sha256")
        first = hmac.digest(secret, b"\x01", "sha256")
        return first, hmac.digest(secret, first + b"\x02", "sha256")


class Handshake:
    """One side of an XX handshake: three messages, the initiator writes the first and the last.

    Args:
        role: our end.
        static: our long-lived key.
        prologue: what both sides must already agree on; it is not sent.
        ephemeral: a fresh key for this handshake alone.
    """

    def __init__(
        self,
        role: Role,
        *,
        static: X25519PrivateKey,
        prologue: bytes,
        ephemeral: X25519PrivateKey,
    ) -> None:
        self.role = role
        self.remote_static: bytes | None = None
        self._static = static
        self._ephemeral = ephemeral
        self._remote_ephemeral: bytes | None = None
        self._symmetric = SymmetricState(prologue)
        self._step = 0

    @property
    def finished(self) -> bool:
        """True if all three messages have passed."""
        return self._step == len(XX)

    @property
    def our_turn(self) -> bool:
        """True if the next message is ours to write."""
        writer = Role.INITIATOR if self._step % 2 == 0 else Role.RESPONDER
        return not self.finished and writer is self.role

    @property
    def handshake_hash(self) -> bytes:
        """Hash that identifies this session, 32 bytes, equal at both ends (Noise, section 11.2)."""
        assert self.finished, "the handshake hash is known only at the end"
        return self._symmetric.transcript

    def write_message(self, payload: bytes) -> bytes:
        """The next message, carrying `payload` (in the clear in the first message)."""
        assert self.our_turn, "it is not our turn to write"
        message = b""
        for token in XX[self._step]:
            match token:
                case Token.E:
                    key = _public_bytes(self._ephemeral)
                    self._symmetric.mix_hash(key)
                    message += key
                case Token.S:
                    message += self._symmetric.encrypt_and_hash(_public_bytes(self._static))
                case _:
                    self._symmetric.mix_key(self._exchange(token))
        self._step += 1
        message += self._symmetric.encrypt_and_hash(payload)
        assert len(message) <= MESSAGE_MAX, "the payload does not fit a Noise message"
        return message

    def read(self, message: bytes) -> bytes:
        """Take in the other side's next message and return its payload.

        Raises:
            RemoteError: it is too long, too short, fails its authentication or holds a key that
                makes a DH result of zero.
        """
        assert not self.our_turn, "it is not the other side's turn"
        assert not self.finished, "the handshake is over"
        if len(message) > MESSAGE_MAX:
            raise RemoteError(f"a handshake message has {len(message)} bytes, over {MESSAGE_MAX}")
        rest = message
        for token in XX[self._step]:
            match token:
                case Token.E:
                    self._remote_ephemeral, rest = _take(rest, KEY_SIZE)
                    self._symmetric.mix_hash(self._remote_ephemeral)
                case Token.S:
                    sealed, rest = _take(rest, KEY_SIZE + self._symmetric.overhead)
                    self.remote_static = self._symmetric.decrypt_and_hash(sealed)
                case _:
                    self._symmetric.mix_key(self._exchange(token))
        payload = self._symmetric.decrypt_and_hash(rest)
        self._step += 1
        return payload

    def split(self) -> tuple[CipherState, CipherState]:
        """Our ciphers for the messages after the handshake: (send, receive)."""
        assert self.finished, "there are no keys before the handshake is over"
        first, second = self._symmetric.split()
        return (first, second) if self.role is Role.INITIATOR else (second, first)

    def _exchange(self, token: Token) -> bytes:
        """The DH that `token` names: its first letter is the initiator's key."""
        initiators, responders = token.value[0], token.value[1]
        we_dialled = self.role is Role.INITIATOR
        ours, theirs = (initiators, responders) if we_dialled else (responders, initiators)
        key = self._ephemeral if ours == Token.E.value else self._static
        remote = self._remote_ephemeral if theirs == Token.E.value else self.remote_static
        assert remote is not None, "XX sends every key before it is used"
        try:
            return key.exchange(X25519PublicKey.from_public_bytes(remote))
        except ValueError:
            # Reported by the library for the few keys whose result everybody can predict.
            raise RemoteError("a key of the handshake makes a shared secret of zero") from None


def _take(data: bytes, size: int) -> tuple[bytes, bytes]:
    if len(data) < size:
        raise RemoteError(f"a handshake message ends {size - len(data)} bytes too early")
    return data[:size], data[size:]


def _public_bytes(key: X25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()
