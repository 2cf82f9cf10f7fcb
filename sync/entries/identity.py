"""Identities: an Ed25519 key that signs, an X25519 key for Noise, and names people can read.

A participant is its Ed25519 public key. The Noise key is a second pair, which the first one signs
in each handshake. Both come from seeds the driver has drawn or loaded: nothing here is random.
"""

import hashlib
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from sync.entries.ed25519 import KEY_SIZE, KeyPair, is_signature
from sync.errors import LocalError
from sync.machine import PeerId

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

FINGERPRINT_DOMAIN: Final = b"/chat-tui/1/fingerprint:"
SAFETY_WORDS_DOMAIN: Final = b"/chat-tui/1/safety-words:"

FINGERPRINT_GROUPS: Final = 4
"""16 bits each. 64 are short enough to read aloud and too many to find a second key for."""

SHORT_FINGERPRINT_SIZE: Final = len("7F3A-91C2")
"""32 bits tell two people of one nick apart; they prove nothing, a second key is found in hours."""

WORD_BITS: Final = 11
"""One word out of 2048."""

PAIR_WORDS_DOMAIN: Final = b"/chat-tui/1/pair-words:"
PAIR_NUMBER_DOMAIN: Final = b"/chat-tui/1/pair-number:"

PAIR_WORDS: Final = 6
"""66 bits: to stand between two people, keys must be made until both pairs' words agree."""

PAIR_GROUPS: Final = 5
"""Of 16 bits. 80 fill the smallest QR code."""


class Identity:
    """Our own two key pairs; see `from_seed`. Its text never shows a secret."""

    def __init__(self, signing_keys: KeyPair, noise_seed: bytes) -> None:
        self._signing_keys = signing_keys
        self._noise_seed = noise_seed
        self.public_key = signing_keys.public_key
        """The Ed25519 public key, 32 bytes."""
        self.peer_id = PeerId(self.public_key.hex())

    @classmethod
    def from_seed(cls, signing_seed: bytes, noise_seed: bytes) -> "Identity":
        """Return the identity of two independent secret seeds of 32 bytes each.

        Args:
            signing_seed: the Ed25519 private key (RFC 8032, section 5.1.5).
            noise_seed: the X25519 private key (RFC 7748, section 5).

        Raises:
            LocalError: a seed is not 32 bytes long.
        """
        if len(signing_seed) != KEY_SIZE or len(noise_seed) != KEY_SIZE:
            raise LocalError(
                f"the keys of this profile are damaged: they have {len(signing_seed)} and "
                f"{len(noise_seed)} bytes instead of {KEY_SIZE}. "
                "Restore them from a backup, or start with a new profile."
            )
        return cls(KeyPair(signing_seed), noise_seed)

    @cached_property
    def noise_key(self) -> "X25519PrivateKey":
        """The X25519 key pair, made once there is a network: it loads half a library."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey  # noqa: PLC0415

        return X25519PrivateKey.from_private_bytes(self._noise_seed)

    @cached_property
    def noise_public(self) -> bytes:
        """The X25519 public key, 32 bytes."""
        return self.noise_key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """Return our Ed25519 signature over `data`, 64 bytes; always the same for the same data."""
        return self._signing_keys.sign(data)

    def __repr__(self) -> str:
        return f"Identity({self.peer_id})"


def verify(peer: PeerId, signature: bytes, data: bytes) -> bool:
    """Return whether `peer` signed exactly `data`; anything malformed is simply no signature.

    Only lowercase hex spells a key: one key under two names would be two participants.
    """
    try:
        public_key = bytes.fromhex(peer)
    except ValueError:
        return False
    return public_key.hex() == peer and is_signature(public_key, signature, data)


def fingerprint(peer: PeerId) -> str:
    """Return 64 bits of the key's digest to compare by eye or voice, like `7F3A-91C2-77E0-4C31`."""
    digits = _digest(FINGERPRINT_DOMAIN, peer).hex().upper()
    return "-".join(digits[4 * group : 4 * group + 4] for group in range(FINGERPRINT_GROUPS))


def short_fingerprint(peer: PeerId) -> str:
    """Return the first half of the fingerprint, like `7F3A-91C2`: to tell apart, not to trust."""
    return fingerprint(peer)[:SHORT_FINGERPRINT_SIZE]


def safety_words(peer: PeerId) -> tuple[str, str, str, str]:
    """Return four English words to read to each other: 44 bits of another digest of the key.

    The words are BIP-39's, which were chosen so that no two are easily confused.
    """
    words = _english_words()
    bits = int.from_bytes(_digest(SAFETY_WORDS_DOMAIN, peer), "big") >> 256 - 4 * WORD_BITS
    first, second, third, fourth = (
        words[bits >> shift * WORD_BITS & (1 << WORD_BITS) - 1] for shift in (3, 2, 1, 0)
    )
    return first, second, third, fourth


def pair_words(one: PeerId, other: PeerId) -> tuple[str, ...]:
    """Return the words two people compare, the same in either order: `PAIR_WORDS` of 11 bits."""
    words = _english_words()
    bits = int.from_bytes(_pair_digest(PAIR_WORDS_DOMAIN, one, other), "big")
    bits >>= 256 - PAIR_WORDS * WORD_BITS
    shifts = range((PAIR_WORDS - 1) * WORD_BITS, -1, -WORD_BITS)
    return tuple(words[bits >> shift & (1 << WORD_BITS) - 1] for shift in shifts)


def pair_number(one: PeerId, other: PeerId) -> str:
    """Return 80 bits of another digest of the two keys, in hex; the same in either order."""
    digits = _pair_digest(PAIR_NUMBER_DOMAIN, one, other).hex().upper()
    return "-".join(digits[4 * group : 4 * group + 4] for group in range(PAIR_GROUPS))


def _pair_digest(domain: bytes, one: PeerId, other: PeerId) -> bytes:
    first, second = sorted((bytes.fromhex(one), bytes.fromhex(other)))
    return hashlib.sha256(domain + first + second).digest()


def _digest(domain: bytes, peer: PeerId) -> bytes:
    """Return the SHA-256 of one use's domain and the 32-byte key: no two uses share a digest."""
    return hashlib.sha256(domain + bytes.fromhex(peer)).digest()


@lru_cache(maxsize=1)
def _english_words() -> tuple[str, ...]:
    """Return the 2048 words, in their published order."""
    # Read from the package's file only when somebody compares words: start-up needs none of it.
    from mnemonic import Mnemonic  # noqa: PLC0415

    return tuple(Mnemonic("english").wordlist)
