"""Keys, signatures and the names people compare."""

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from hypothesis import example, given
from hypothesis import strategies as st
from mnemonic import Mnemonic

from sync.entries.identity import (
    PAIR_WORDS,
    WORD_BITS,
    Identity,
    fingerprint,
    pair_number,
    pair_words,
    safety_words,
    short_fingerprint,
    verify,
)
from sync.errors import LocalError
from sync.machine import PeerId


def person(number: int) -> Identity:
    return Identity.from_seed(bytes([number]) * 32, bytes([number + 100]) * 32)


def test_a_seed_gives_the_published_ed25519_key_and_signature() -> None:
    # RFC 8032, section 7.1, test 2.
    seed = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")

    someone = Identity.from_seed(seed, bytes(32))

    assert someone.peer_id == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert someone.public_key.hex() == someone.peer_id
    assert someone.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


def test_a_seed_gives_the_published_x25519_key() -> None:
    # RFC 7748, section 6.1.
    alice = bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    bob = bytes.fromhex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")

    someone = Identity.from_seed(bytes(32), alice)

    assert someone.noise_public.hex() == (
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    )
    assert someone.noise_key.exchange(X25519PublicKey.from_public_bytes(bob)).hex() == (
        "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    )


@pytest.mark.parametrize(("signing", "noise"), [(31, 32), (32, 33), (0, 0)])
def test_damaged_seeds_are_refused_with_a_way_out(signing: int, noise: int) -> None:
    with pytest.raises(LocalError, match="backup"):
        Identity.from_seed(bytes(signing), bytes(noise))


def test_the_text_of_an_identity_shows_only_the_public_key() -> None:
    assert repr(person(1)) == f"Identity({person(1).peer_id})"


@given(st.binary(max_size=300))
def test_only_the_author_signs_and_only_exactly_that(data: bytes) -> None:
    alice, bob = person(1), person(2)

    signature = alice.sign(data)

    assert verify(alice.peer_id, signature, data)
    assert not verify(bob.peer_id, signature, data)
    assert not verify(alice.peer_id, signature, data + b"!")
    assert not verify(alice.peer_id, signature[:-1] + bytes([signature[-1] ^ 1]), data)


@given(st.text(max_size=70), st.binary(max_size=70), st.binary(max_size=70))
@example("ff" * 32, bytes(64), b"")
@example("00" * 31, bytes(64), b"")
@example("0" * 63, bytes(64), b"")
@example("\ud800", b"", b"")
def test_garbage_is_never_a_signature_and_never_an_error(
    peer: str, signature: bytes, data: bytes
) -> None:
    assert not verify(PeerId(peer), signature, data)
    assert not verify(person(1).peer_id, signature, data)


@pytest.mark.parametrize("respell", [str.upper, lambda peer: f" {peer}", lambda peer: f"{peer}\n"])
def test_a_key_has_only_one_spelling(respell: Callable[[str], str]) -> None:
    alice = person(1)

    assert not verify(PeerId(respell(alice.peer_id)), alice.sign(b"hello"), b"hello")


def test_a_fingerprint_stays_the_same_for_ever() -> None:
    # People write them down: these may not change between versions.
    alice = person(1).peer_id

    assert fingerprint(alice) == "4FF5-0D2A-126D-516C"
    assert short_fingerprint(alice) == "4FF5-0D2A"
    assert safety_words(alice) == ("prison", "spring", "salon", "under")


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_different_keys_are_told_apart(one: bytes, other: bytes) -> None:
    first, second = PeerId(one.hex()), PeerId(other.hex())

    assert re.fullmatch("[0-9A-F]{4}(-[0-9A-F]{4}){3}", fingerprint(first))
    assert fingerprint(first).startswith(short_fingerprint(first) + "-")
    assert all(word.isalpha() and word.islower() for word in safety_words(first))
    assert (fingerprint(first) == fingerprint(second)) == (one == other)
    assert (safety_words(first) == safety_words(second)) == (one == other)


@pytest.mark.net
def test_the_words_are_loaded_only_when_somebody_compares_them() -> None:
    program = "import sys, sync.entries.identity; sys.exit('mnemonic' in sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", program], check=False)

    assert loaded.returncode == 0


def test_a_pair_has_the_same_words_and_number_in_either_order() -> None:
    alice, bob, carol = (person(number).peer_id for number in (1, 2, 3))

    assert pair_words(alice, bob) == pair_words(bob, alice)
    assert pair_number(alice, bob) == pair_number(bob, alice)
    assert len({pair_words(*pair) for pair in ((alice, bob), (alice, carol), (bob, carol))}) == 3
    assert len({pair_number(*pair) for pair in ((alice, bob), (alice, carol), (bob, carol))}) == 3


def test_what_a_pair_compares_stays_the_same_for_ever() -> None:
    # Two versions of the program must show two people the same.
    alice, bob = person(1).peer_id, person(2).peer_id
    first, second = sorted((bytes.fromhex(alice), bytes.fromhex(bob)))
    digest = hashlib.sha256(b"/chat-tui/1/pair-words:" + first + second).digest()
    words = Mnemonic("english").wordlist

    expected = tuple(
        words[int(f"{int.from_bytes(digest):0256b}"[at : at + 11], 2)] for at in range(0, 66, 11)
    )

    assert pair_words(alice, bob) == expected
    assert re.fullmatch("[0-9A-F]{4}(-[0-9A-F]{4}){4}", pair_number(alice, bob))


def test_there_are_enough_different_words_for_their_bits() -> None:
    assert len(set(Mnemonic("english").wordlist)) == 2**WORD_BITS
    assert PAIR_WORDS * WORD_BITS >= 64
