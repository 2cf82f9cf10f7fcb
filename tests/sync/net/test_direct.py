"""The channel of two: the same for both, different for everybody else, secret without a key."""

import pytest
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.net.direct import LABEL, direct_channel


def somebody(number: int) -> Identity:
    return Identity.from_seed(bytes([number]) * 32, bytes([100 + number]) * 32)


ALICE, BOB, CAROL = map(somebody, (1, 2, 3))


def test_fixed_keys_give_a_fixed_channel() -> None:
    direct = direct_channel(ALICE, BOB.peer_id, BOB.noise_public)

    assert direct.channel == "d7de50b2cf4c251e005f6727d9fddb6a"
    assert direct.secret.hex() == "db3712be7f0e430c4b54d1ef6015e3d75e3cea7b8591445d3f2000d2e3335d2f"


def test_it_is_hkdf_as_rfc_5869_has_it() -> None:
    shared = ALICE.noise_key.exchange(X25519PublicKey.from_public_bytes(BOB.noise_public))
    (first, first_noise), (second, second_noise) = sorted(
        ((ALICE.public_key, ALICE.noise_public), (BOB.public_key, BOB.noise_public))
    )
    info = LABEL + first + first_noise + second + second_noise

    key = mac(bytes(32), shared)
    one = mac(key, info + b"\x01")
    two = mac(key, one + info + b"\x02")
    direct = direct_channel(ALICE, BOB.peer_id, BOB.noise_public)

    assert bytes.fromhex(direct.channel) + direct.secret == (one + two)[:48]


def mac(key: bytes, data: bytes) -> bytes:
    made = hmac.HMAC(key, hashes.SHA256())
    made.update(data)
    return made.finalize()


def test_both_ends_derive_the_same() -> None:
    mine = direct_channel(ALICE, BOB.peer_id, BOB.noise_public)
    theirs = direct_channel(BOB, ALICE.peer_id, ALICE.noise_public)

    assert mine == theirs


def test_every_pair_has_its_own() -> None:
    pairs = [(ALICE, BOB), (ALICE, CAROL), (BOB, CAROL)]

    directs = [direct_channel(one, other.peer_id, other.noise_public) for one, other in pairs]

    assert len({direct.channel for direct in directs}) == 3
    assert len({direct.secret for direct in directs}) == 3


def test_another_noise_key_or_another_identity_is_another_channel() -> None:
    usual = direct_channel(ALICE, BOB.peer_id, BOB.noise_public)

    assert direct_channel(ALICE, BOB.peer_id, CAROL.noise_public).secret != usual.secret
    assert direct_channel(ALICE, CAROL.peer_id, BOB.noise_public).secret != usual.secret


@pytest.mark.parametrize("key", [bytes(32), b"\x01" + bytes(31)], ids=["zero", "one"])
def test_a_key_that_gives_everybody_the_same_outcome_is_refused(key: bytes) -> None:
    with pytest.raises(RemoteError, match="none to agree on a secret with"):
        direct_channel(ALICE, BOB.peer_id, key)


def test_nobody_has_one_with_themselves() -> None:
    with pytest.raises(RemoteError):
        direct_channel(ALICE, ALICE.peer_id, ALICE.noise_public)


def test_its_text_never_shows_the_secret() -> None:
    direct = direct_channel(ALICE, BOB.peer_id, BOB.noise_public)

    assert direct.secret.hex() not in f"{direct!r} {direct}"
    assert repr(direct.secret) not in f"{direct!r} {direct}"
