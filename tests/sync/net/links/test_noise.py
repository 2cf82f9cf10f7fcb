"""Noise XX: the published vectors, and what an attacker on the wire can do (nothing)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from sync.errors import RemoteError
from sync.net.links.noise import KEY_SIZE, MESSAGE_MAX, PROTOCOL_NAME, Handshake, Role

VECTORS = Path(__file__).parents[3] / "vectors" / "noise_xx.json"
PROLOGUE = b"a conversation"
PAYLOADS = (b"", b"who I am", b"and who I am")


@dataclass
class Pair:
    """Both ends of one handshake, with keys that depend only on `seed`."""

    initiator: Handshake
    responder: Handshake

    def messages(self) -> list[bytes]:
        """Run the whole handshake; return what went over the wire."""
        wire = []
        for number, payload in enumerate(PAYLOADS):
            writer, reader = self.writer_and_reader(number)
            wire.append(writer.write_message(payload))
            assert reader.read(wire[-1]) == payload
        return wire

    def writer_and_reader(self, number: int) -> tuple[Handshake, Handshake]:
        ends = (self.initiator, self.responder)
        return ends if number % 2 == 0 else (ends[1], ends[0])


def private(number: int) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(bytes([number]) * KEY_SIZE)


def pair(*, seed: int = 0, responder_prologue: bytes = PROLOGUE) -> Pair:
    return Pair(
        Handshake(
            Role.INITIATOR, static=private(1), prologue=PROLOGUE, ephemeral=private(10 + seed)
        ),
        Handshake(
            Role.RESPONDER,
            static=private(2),
            prologue=responder_prologue,
            ephemeral=private(100 + seed),
        ),
    )


def xx_vector() -> dict[str, Any]:
    vectors: list[dict[str, Any]] = json.loads(VECTORS.read_text())["vectors"]
    [vector] = [one for one in vectors if one["protocol_name"] == PROTOCOL_NAME.decode()]
    return vector


def end_of_vector(vector: dict[str, Any], role: Role) -> Handshake:
    prefix = "init" if role is Role.INITIATOR else "resp"

    def key(name: str) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(bytes.fromhex(vector[f"{prefix}_{name}"]))

    return Handshake(
        role,
        static=key("static"),
        prologue=bytes.fromhex(vector[f"{prefix}_prologue"]),
        ephemeral=key("ephemeral"),
    )


def test_the_published_vector_of_xx_is_met_byte_by_byte() -> None:
    vector = xx_vector()
    ends = Pair(end_of_vector(vector, Role.INITIATOR), end_of_vector(vector, Role.RESPONDER))
    payloads = [bytes.fromhex(message["payload"]) for message in vector["messages"]]
    ciphertexts = [bytes.fromhex(message["ciphertext"]) for message in vector["messages"]]

    for number in range(3):
        writer, reader = ends.writer_and_reader(number)
        assert writer.write_message(payloads[number]) == ciphertexts[number]
        assert reader.read(ciphertexts[number]) == payloads[number]
    initiator_send, initiator_receive = ends.initiator.split()
    responder_send, responder_receive = ends.responder.split()
    directions = [(responder_send, initiator_receive), (initiator_send, responder_receive)]
    for number in range(3, len(payloads)):
        send, receive = directions[(number - 3) % 2]
        assert send.encrypt(b"", payloads[number]) == ciphertexts[number]
        assert receive.decrypt(b"", ciphertexts[number]) == payloads[number]

    assert ends.initiator.handshake_hash.hex() == vector["handshake_hash"]
    assert ends.responder.handshake_hash.hex() == vector["handshake_hash"]


def test_each_side_learns_the_other_sides_static_key() -> None:
    ends = pair()

    ends.messages()

    assert ends.initiator.remote_static == private(2).public_key().public_bytes_raw()
    assert ends.responder.remote_static == private(1).public_key().public_bytes_raw()


@pytest.mark.parametrize("number", range(3))
def test_a_handshake_message_with_any_one_byte_changed_is_refused(number: int) -> None:
    length = len(pair().messages()[number])

    for position in range(length):
        ends = pair()
        with pytest.raises(RemoteError):
            handshake_with_changed_byte(ends, number, position)
        assert not (ends.initiator.finished and ends.responder.finished)


def handshake_with_changed_byte(ends: Pair, changed: int, position: int) -> None:
    for number, payload in enumerate(PAYLOADS):
        writer, reader = ends.writer_and_reader(number)
        message = bytearray(writer.write_message(payload))
        if number == changed:
            message[position] ^= 0x80
        reader.read(bytes(message))


@pytest.mark.parametrize("number", range(3))
def test_a_handshake_message_cut_short_is_refused(number: int) -> None:
    length = len(pair().messages()[number])
    shortest_unnoticed = KEY_SIZE if number == 0 else length

    for kept in range(shortest_unnoticed):
        ends = pair()
        for before in range(number):
            writer, reader = ends.writer_and_reader(before)
            reader.read(writer.write_message(PAYLOADS[before]))
        writer, reader = ends.writer_and_reader(number)
        with pytest.raises(RemoteError):
            reader.read(writer.write_message(PAYLOADS[number])[:kept])


def test_a_message_over_the_limit_is_refused() -> None:
    with pytest.raises(RemoteError, match="65535"):
        pair().responder.read(bytes(MESSAGE_MAX + 1))


@pytest.mark.parametrize("key", [bytes(32), b"\x01" + bytes(31)])
def test_a_key_that_fixes_the_shared_secret_is_refused(key: bytes) -> None:
    responder = pair().responder
    responder.read(key)

    with pytest.raises(RemoteError, match="zero"):
        responder.write_message(b"")


def test_ends_with_different_prologues_do_not_meet() -> None:
    with pytest.raises(RemoteError):
        pair(responder_prologue=b"another conversation").messages()


def test_a_recorded_handshake_is_useless_against_a_fresh_one() -> None:
    [first, _, third] = pair(seed=1).messages()
    responder = pair(seed=2).responder
    responder.read(first)
    responder.write_message(b"")

    with pytest.raises(RemoteError):
        responder.read(third)


def test_two_sessions_have_two_hashes() -> None:
    one, other = pair(seed=1), pair(seed=2)

    one.messages()
    other.messages()

    assert one.initiator.handshake_hash == one.responder.handshake_hash
    assert one.initiator.handshake_hash != other.initiator.handshake_hash


def test_a_message_after_the_handshake_with_any_byte_changed_is_refused() -> None:
    ends = pair()
    ends.messages()
    send, _ = ends.initiator.split()
    _, receive = ends.responder.split()
    sealed = send.encrypt(b"", b"see you at eight")

    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        with pytest.raises(RemoteError):
            receive.decrypt(b"", bytes(changed))

    assert receive.decrypt(b"", sealed) == b"see you at eight"


def test_messages_replayed_reordered_or_reflected_are_refused() -> None:
    ends = pair()
    ends.messages()
    send, own_receive = ends.initiator.split()
    _, receive = ends.responder.split()
    first, second = send.encrypt(b"", b"first"), send.encrypt(b"", b"second")

    with pytest.raises(RemoteError):
        receive.decrypt(b"", second)
    with pytest.raises(RemoteError):
        own_receive.decrypt(b"", first)
    assert receive.decrypt(b"", first) == b"first"
    with pytest.raises(RemoteError):
        receive.decrypt(b"", first)

    assert receive.decrypt(b"", second) == b"second"


def test_acting_out_of_turn_is_our_own_mistake() -> None:
    ends = pair()

    with pytest.raises(AssertionError):
        ends.responder.write_message(b"")
    with pytest.raises(AssertionError):
        ends.initiator.read(b"")
    with pytest.raises(AssertionError):
        ends.initiator.split()
    with pytest.raises(AssertionError):
        _ = ends.initiator.handshake_hash

    ends.messages()
    with pytest.raises(AssertionError):
        ends.initiator.write_message(b"")
    with pytest.raises(AssertionError):
        ends.initiator.read(b"")


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_only_ever_a_remote_error(data: bytes) -> None:
    ends = pair()
    ends.initiator.write_message(b"")

    with pytest.raises(RemoteError):
        ends.initiator.read(data)
