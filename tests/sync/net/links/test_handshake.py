"""Handshake payloads: an identity is believed only with its signature over this very Noise key."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from proto import link_pb2
from sync.entries.identity import Identity
from sync.errors import DecodeError, RemoteError
from sync.machine import PeerId
from sync.net.links.handshake import (
    PROLOGUE,
    IdentityHandshake,
    check_identity_payload,
    identity_payload,
)
from sync.net.links.noise import Handshake, Role


def identity(number: int) -> Identity:
    return Identity.from_seed(bytes([number]) * 32, bytes([number + 100]) * 32)


ALICE, BOB, EVE = identity(1), identity(2), identity(3)


def ephemeral(number: int) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def initiator(who: Identity, expect: PeerId | None = None) -> IdentityHandshake:
    return IdentityHandshake(Role.INITIATOR, who, ephemeral(51), expect=expect)


def responder(who: Identity) -> IdentityHandshake:
    return IdentityHandshake(Role.RESPONDER, who, ephemeral(52))


def meet(one: IdentityHandshake, other: IdentityHandshake) -> None:
    while not one.finished:
        writer, reader = (one, other) if one.our_turn else (other, one)
        reader.read(writer.write_message())


def test_each_end_learns_who_the_other_is() -> None:
    alice, bob = initiator(ALICE), responder(BOB)

    meet(alice, bob)

    assert (alice.peer, bob.peer) == (BOB.peer_id, ALICE.peer_id)
    assert alice.remote_static == BOB.noise_public
    assert bob.remote_static == ALICE.noise_public
    assert alice.handshake_hash == bob.handshake_hash


def test_the_payload_is_encoded_as_libp2p_does() -> None:
    wire = link_pb2.NoiseHandshakePayload.FromString(identity_payload(ALICE))

    assert wire.identity_key == b"\x08\x01\x12\x20" + bytes.fromhex(ALICE.peer_id)
    assert len(wire.identity_sig) == 64


def test_a_payload_is_bound_to_its_noise_key() -> None:
    payload = identity_payload(ALICE)

    assert check_identity_payload(payload, ALICE.noise_public) == ALICE.peer_id
    with pytest.raises(RemoteError, match="did not sign"):
        check_identity_payload(payload, EVE.noise_public)


def test_somebody_elses_payload_does_not_help_an_impostor() -> None:
    bob = responder(BOB)
    impostor = Handshake(
        Role.INITIATOR, static=EVE.noise_key, prologue=PROLOGUE, ephemeral=ephemeral(53)
    )
    bob.read(impostor.write_message(b""))
    impostor.read(bob.write_message())

    with pytest.raises(RemoteError, match="did not sign"):
        bob.read(impostor.write_message(identity_payload(ALICE)))

    assert not bob.finished


def test_dialling_ourselves_is_noticed_at_once() -> None:
    with pytest.raises(RemoteError, match="ourselves"):
        meet(initiator(ALICE), responder(ALICE))


def test_the_dialler_refuses_another_peer_before_it_shows_itself() -> None:
    alice, eve = initiator(ALICE, expect=BOB.peer_id), responder(EVE)
    eve.read(alice.write_message())

    with pytest.raises(RemoteError, match=f"not to {BOB.peer_id}"):
        alice.read(eve.write_message())

    assert not alice.finished


def test_the_expected_peer_is_let_in() -> None:
    alice = initiator(ALICE, expect=BOB.peer_id)

    meet(alice, responder(BOB))

    assert alice.peer == BOB.peer_id


def test_a_first_message_with_a_payload_is_refused() -> None:
    chatty = Handshake(
        Role.INITIATOR, static=EVE.noise_key, prologue=PROLOGUE, ephemeral=ephemeral(53)
    )

    with pytest.raises(RemoteError, match="payload"):
        responder(BOB).read(chatty.write_message(b"hello?"))


def test_another_version_of_the_application_is_not_met() -> None:
    stranger = Handshake(
        Role.RESPONDER, static=EVE.noise_key, prologue=b"/chat-tui/2", ephemeral=ephemeral(53)
    )
    alice = initiator(ALICE)
    stranger.read(alice.write_message())

    with pytest.raises(RemoteError):
        alice.read(stranger.write_message(identity_payload(EVE)))


@pytest.mark.parametrize(
    "key",
    [
        link_pb2.PublicKey(type=link_pb2.RSA, data=bytes(32)),
        link_pb2.PublicKey(type=link_pb2.ED25519, data=bytes(31)),
        link_pb2.PublicKey(type=link_pb2.ED25519),
    ],
)
def test_an_identity_key_that_is_not_ed25519_is_refused(key: link_pb2.PublicKey) -> None:
    payload = link_pb2.NoiseHandshakePayload(identity_key=key.SerializeToString())

    with pytest.raises(DecodeError, match="not an Ed25519 key"):
        check_identity_payload(payload.SerializeToString(), ALICE.noise_public)


@given(st.binary())
def test_an_arbitrary_payload_is_only_ever_a_remote_error(payload: bytes) -> None:
    with pytest.raises(RemoteError):
        check_identity_payload(payload, ALICE.noise_public)


@given(st.binary(max_size=40), st.binary(max_size=70))
def test_an_arbitrary_key_and_signature_are_only_ever_a_remote_error(
    key: bytes, signature: bytes
) -> None:
    payload = link_pb2.NoiseHandshakePayload(
        identity_key=link_pb2.PublicKey(type=link_pb2.ED25519, data=key).SerializeToString(),
        identity_sig=signature,
    )

    with pytest.raises(RemoteError):
        check_identity_payload(payload.SerializeToString(), ALICE.noise_public)
