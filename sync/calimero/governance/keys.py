"""Secrets of a channel, wrapped for each who stays: pure; the caller draws and keeps them.

No machine, no trace and no log ever holds a secret: the driver alone calls this.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sync.calimero.governance.ops import TAG_SIZE, Epoch, GroupId, Key, Wrap, Wraps

EPOCH_DOMAIN: Final = b"chat-tui.epoch.v1"
SECRET_SIZE: Final = 32
UNKNOWN_SECRET: Final = bytes(SECRET_SIZE)
"""In the place of an older secret that the signer of an epoch did not know."""

NO_NONCE: Final = bytes(12)
"""Each key is used once."""


class EpochName(NamedTuple):
    """All that a wrapped secret is bound to, beside whom it is for."""

    group: GroupId
    signer: Key
    number: int


class EpochSecret(NamedTuple):
    """A secret of a channel and the epoch that it is of; its text never shows the secret."""

    number: int
    """Number of the epoch: 0 for the one that the genesis began."""

    op: bytes
    """Id of the op that began it, 32 bytes; empty where nobody governs."""

    secret: bytes

    def __repr__(self) -> str:
        return f"EpochSecret({self.number}, {self.op.hex()[:8]})"


class Staying(NamedTuple):
    """Somebody who gets the new secret."""

    key: Key
    noise: bytes


def tag_of(key: Key) -> bytes:
    """Return the tag under which somebody finds their secret."""
    return key[:TAG_SIZE]


def begin_epoch(
    name: EpochName,
    secret: bytes,
    ephemeral: X25519PrivateKey,
    staying: Iterable[Staying],
    older: Iterable[bytes],
) -> Epoch:
    """Return an epoch: `secret` for each who stays, and the secrets directly before under it.

    For a Noise key that is no point of the curve, the wrap is one that nobody opens: whoever named
    it harms nobody else, and a wrap that was missing would have the channel rotate for ever.
    """
    assert len(secret) == SECRET_SIZE
    wraps = {}
    for one in staying:
        tag = tag_of(one.key)
        try:
            shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(one.noise))
        except ValueError:
            shared = ephemeral.private_bytes_raw()
        wraps[tag] = _seal(_derived(name, shared), name, tag, secret)
    return Epoch(
        number=name.number,
        ephemeral=ephemeral.public_key().public_bytes_raw(),
        previous=tuple(
            _seal(_under(name, secret, place), name, _place(place), one)
            for place, one in enumerate(older)
        ),
        wrapped=Wraps.of(Wrap(tag, wraps[tag]) for tag in sorted(wraps)),
    )


def open_epoch(name: EpochName, epoch: Epoch, key: Key, noise: X25519PrivateKey) -> bytes | None:
    """Return the secret that an epoch has for somebody; None if there is none, or none opens."""
    tag = tag_of(key)
    for wrap in epoch.wrapped:
        if wrap.tag == tag:
            try:
                shared = noise.exchange(X25519PublicKey.from_public_bytes(epoch.ephemeral))
            except ValueError:
                return None
            return _opened(_derived(name, shared), name, tag, wrap.secret)
    return None


def open_older(name: EpochName, epoch: Epoch, secret: bytes) -> tuple[bytes | None, ...]:
    """Return the secrets before an epoch, in its order; None for one that does not open."""
    return tuple(
        _opened(_under(name, secret, place), name, _place(place), wrapped)
        for place, wrapped in enumerate(epoch.previous)
    )


def _derived(name: EpochName, material: bytes, place: bytes = b"") -> bytes:
    number = name.number.to_bytes(8, "little")
    info = EPOCH_DOMAIN + name.group + name.signer + number + place
    return HKDF(algorithm=SHA256(), length=SECRET_SIZE, salt=None, info=info).derive(material)


def _under(name: EpochName, secret: bytes, number: int) -> bytes:
    """Return the key for the older secret at one place; no two share a key."""
    return _derived(name, secret, _place(number))


def _place(number: int) -> bytes:
    return number.to_bytes(TAG_SIZE, "little")


def _seal(key: bytes, name: EpochName, tag: bytes, secret: bytes) -> bytes:
    return ChaCha20Poly1305(key).encrypt(NO_NONCE, secret, _bound(name, tag))


def _opened(key: bytes, name: EpochName, tag: bytes, wrapped: bytes) -> bytes | None:
    try:
        return ChaCha20Poly1305(key).decrypt(NO_NONCE, wrapped, _bound(name, tag))
    except InvalidTag:
        return None


def _bound(name: EpochName, tag: bytes) -> bytes:
    return name.group + name.number.to_bytes(8, "little") + tag
