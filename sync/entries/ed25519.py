"""Ed25519 (RFC 8032, section 5.1) by libsodium, with OpenSSL as the judge of what that refuses.

libsodium takes half the time. It refuses keys and points of small order and other spellings of a
point, some of which OpenSSL accepts; and what it accepts, OpenSSL accepts, too. So verdicts are
those of OpenSSL alone, with which all programs on a network agree. Both let go of Python's lock.
"""

from typing import Final

from nacl.bindings import crypto_sign, crypto_sign_open, crypto_sign_seed_keypair
from nacl.exceptions import BadSignatureError

SIGNATURE_SIZE: Final = 64
"""Bytes."""

KEY_SIZE: Final = 32
"""Bytes of a seed and of a public key."""


class KeyPair:
    """The key pair of a secret seed of 32 bytes; its text does not show it."""

    def __init__(self, seed: bytes) -> None:
        """Make the pair of a seed (RFC 8032, section 5.1.5).

        Raises:
            nacl.exceptions.ValueError: a seed of another length.
        """
        self.public_key, self._secret_key = crypto_sign_seed_keypair(seed)
        """The public key, 32 bytes."""

    def sign(self, data: bytes) -> bytes:
        """Return the signature over `data`, 64 bytes; always the same for the same data."""
        return crypto_sign(data, self._secret_key)[:SIGNATURE_SIZE]

    def __repr__(self) -> str:
        return f"KeyPair({self.public_key.hex()})"


def is_signature(public_key: bytes, signature: bytes, data: bytes) -> bool:
    """Return whether `signature` is the key's, over exactly `data`; anything malformed is none."""
    # libsodium takes signature and data as one text, and would move the border between them.
    if len(public_key) != KEY_SIZE or len(signature) != SIGNATURE_SIZE:
        return False
    try:
        crypto_sign_open(signature + data, public_key)
    except BadSignatureError:
        return _openssl_accepts(public_key, signature, data)
    return True


def _openssl_accepts(public_key: bytes, signature: bytes, data: bytes) -> bool:
    # Loaded when it is first asked: most programs never are, and a start takes 5 ms less.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, data)
    except InvalidSignature:
        return False
    return True
