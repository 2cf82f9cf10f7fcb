"""Signatures by libsodium, where OpenSSL has the last word: verdicts are OpenSSL's alone."""

from itertools import product

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st
from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

from sync.entries.ed25519 import KeyPair, is_signature
from tests.support.edwards25519 import (
    BASE,
    TORSION,
    L,
    P,
    challenge,
    encoded,
    plus,
    times,
)

SECRET = 0x1234_5678_9ABC_DEF0_1122_3344_5566_7788 << 100
NONCE = 0x0F0E_0D0C_0B0A_0908 << 150
DATA = tuple(b"line %d" % number for number in range(4))
"""Several: whether parts of small order cancel out depends on the challenge."""


def by_sodium(public_key: bytes, signature: bytes, data: bytes) -> bool:
    """libsodium's own verdict."""
    try:
        crypto_sign_open(signature + data, public_key)
    except BadSignatureError:
        return False
    return True


def by_openssl(public_key: bytes, signature: bytes, data: bytes) -> bool:
    """OpenSSL's, which programs without libsodium have."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, data)
    except InvalidSignature:
        return False
    return True


def signed(public_key: bytes, commitment: bytes, data: bytes, secret: int, nonce: int) -> bytes:
    """The signature by whoever knows both numbers, for any bytes of the two points."""
    answer = (nonce + challenge(commitment, public_key, data) * secret) % L
    return commitment + answer.to_bytes(32, "little")


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=300))
def test_both_sign_the_same_bytes(seed: bytes, data: bytes) -> None:
    theirs = Ed25519PrivateKey.from_private_bytes(seed)
    pair = KeyPair(seed)

    assert pair.public_key == theirs.public_key().public_bytes_raw()
    assert pair.sign(data) == theirs.sign(data)
    assert is_signature(pair.public_key, pair.sign(data), data)


def test_its_text_hides_the_secret() -> None:
    assert repr(KeyPair(bytes(32))) == f"KeyPair({KeyPair(bytes(32)).public_key.hex()})"


@pytest.mark.parametrize("of_key", range(8))
@pytest.mark.parametrize("of_commitment", range(8))
def test_keys_with_a_part_of_small_order(of_key: int, of_commitment: int) -> None:
    # A verdict that clears such parts ("cofactored", as section 5.1.7 allows) takes all of these.
    key = encoded(plus(times(SECRET, BASE), TORSION[of_key]))
    commitment = encoded(plus(times(NONCE, BASE), TORSION[of_commitment]))
    for data in DATA:
        signature = signed(key, commitment, data, SECRET, NONCE)

        verdict = by_openssl(key, signature, data)

        left = (of_commitment + challenge(commitment, key, data) * of_key) % 8
        assert verdict == (left == 0)
        assert by_sodium(key, signature, data) == verdict == is_signature(key, signature, data)


@pytest.mark.parametrize("of_key", range(8))
@pytest.mark.parametrize("of_commitment", range(8))
def test_points_of_small_order_are_openssls_to_judge(of_key: int, of_commitment: int) -> None:
    key, commitment = encoded(TORSION[of_key]), encoded(TORSION[of_commitment])
    for data in DATA:
        signature = commitment + bytes(32)

        assert not by_sodium(key, signature, data)
        assert is_signature(key, signature, data) == by_openssl(key, signature, data)


def test_openssl_takes_a_key_that_anybody_can_sign_for() -> None:
    neutral = encoded(TORSION[0])

    assert not by_sodium(neutral, neutral + bytes(32), b"anything")
    assert is_signature(neutral, neutral + bytes(32), b"anything")


@pytest.mark.parametrize("times_order", [1, 2, 7])
def test_the_number_of_a_signature_has_one_spelling(times_order: int) -> None:
    pair = KeyPair(b"\x07" * 32)
    signature = pair.sign(b"hello")
    answer = int.from_bytes(signature[32:], "little") + times_order * L
    respelled = signature[:32] + answer.to_bytes(32, "little")

    for verdict in (by_sodium, by_openssl, is_signature):
        assert verdict(pair.public_key, signature, b"hello")
        assert not verdict(pair.public_key, respelled, b"hello")


def test_other_spellings_of_a_point_are_openssls_to_judge() -> None:
    # Only y below 19 has a second spelling in 255 bits; of x = 0 the sign can be set, too.
    spellings = [(P + y | sign << 255).to_bytes(32, "little") for y in range(19) for sign in (0, 1)]
    spellings += [(y | 1 << 255).to_bytes(32, "little") for y in (1, P - 1)]
    good = KeyPair(b"\x07" * 32)
    accepted = 0
    for spelling, data in product(spellings, DATA):
        for key, signature in (
            (spelling, spelling + bytes(32)),
            (spelling, encoded(TORSION[0]) + bytes(32)),
            (spelling, good.sign(data)),
            (good.public_key, spelling + good.sign(data)[32:]),
            (good.public_key, signed(good.public_key, spelling, data, SECRET, 0)),
        ):
            verdict = is_signature(key, signature, data)
            assert verdict == by_openssl(key, signature, data)
            assert verdict or not by_sodium(key, signature, data)
            accepted += verdict
    assert accepted > 0


@given(st.binary(min_size=1, max_size=80), st.integers(0, 255), st.integers(0, 2**30))
def test_whatever_changes_both_say_the_same(data: bytes, bits: int, where: int) -> None:
    pair = KeyPair(b"\x09" * 32)
    whole = bytearray(pair.public_key + pair.sign(data) + data)
    whole[where % len(whole)] ^= bits
    key, signature, text = bytes(whole[:32]), bytes(whole[32:96]), bytes(whole[96:])

    verdict = is_signature(key, signature, text)

    assert verdict == by_openssl(key, signature, text) == by_sodium(key, signature, text)
    assert verdict == (bits == 0)


def test_a_border_that_moved_is_no_signature() -> None:
    # libsodium gets signature and data as one text: a shorter signature would still add up.
    pair = KeyPair(b"\x07" * 32)
    signature = pair.sign(b"hello")

    assert not is_signature(pair.public_key, signature[:-1], signature[-1:] + b"hello")
    assert not is_signature(pair.public_key, signature + b"h", b"ello")
    assert not is_signature(pair.public_key[:-1], signature, b"hello")
    assert not is_signature(pair.public_key + b"\0", signature, b"hello")
