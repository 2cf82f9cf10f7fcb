"""Messages of p2panda's replication have the bytes that others give them, and no other ones."""

import random
from typing import Any, Final

import pytest

from sync.errors import DecodeError
from sync.p2panda import cbor, messages
from sync.p2panda.bounds import Place
from sync.p2panda.messages import (
    Announce,
    Done,
    EmptyPayload,
    EmptySet,
    Entry,
    Fingerprint,
    Have,
    LowerBound,
    Message,
    Payload,
    Reason,
    ReplicationError,
    SyncDone,
    SyncRequest,
    Terminal,
)
from tests.support.sync.cbor_oracle import strict
from tests.support.sync.replication_vectors import REASONS, VECTORS

KEY: Final = bytes.fromhex("2f8e50c2ede6d936ecc3144187ff1c273808185cfbc5ff3d3748d1ff7353fc96")
ITEM: Final = Place(KEY, 0, 1)
UPPER: Final = Place(KEY, 1, 1)
SCHEMA: Final = "schema_field_definition_v1"
MUTATIONS: Final = 500

SAID: Final[list[Message]] = [
    Announce(1, 12_345_678, ()),
    SyncRequest(12, 0, (SCHEMA,)),
    SyncRequest(51, 1, (SCHEMA,)),
    Have(12, ()),
    Have(12, (ITEM,)),
    SyncDone(0, live=True),
    SyncDone(0, live=False),
    Entry(0, b"\0\1", b"\x83\1"),
    Entry(0, b"\0\1", None),
    EmptySet(0, can_respond=True),
    LowerBound(0, ITEM),
    Payload(0, ITEM),
    Payload(0, ITEM, can_respond=True, upper=UPPER),
    EmptyPayload(0, UPPER),
    Done(0, UPPER),
    Fingerprint(0, bytes(16), UPPER),
    Terminal(0),
]
"""The messages of the valid vectors, in their order."""


@pytest.mark.parametrize(("vector", "message"), zip(VECTORS["valid"], SAID, strict=True))
def test_vectors_both_ways(vector: dict[str, Any], message: Message) -> None:
    data = bytes.fromhex(vector["hex"])

    assert messages.decode(data) == message
    assert messages.encode(message) == data


@pytest.mark.parametrize(("vector", "reason"), zip(VECTORS["invalid"], REASONS, strict=True))
def test_invalid_vectors_are_refused_with_a_reason(vector: dict[str, Any], reason: Reason) -> None:
    with pytest.raises(ReplicationError) as refused:
        messages.decode(bytes.fromhex(vector["hex"]))

    assert refused.value.reason is reason


@pytest.mark.parametrize("vector", [*VECTORS["valid"], *VECTORS["invalid"]])
def test_mutated_vectors_are_judged_as_cbor2_judges_them(vector: dict[str, Any]) -> None:
    rng = random.Random(vector["hex"])
    for _ in range(MUTATIONS):
        data = bytearray.fromhex(vector["hex"])
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        mutated = bytes(data[: rng.randint(1, len(data))] if rng.random() < 0.1 else data)
        try:
            value = cbor.decode(mutated, messages.HAVE_ITEMS_MAX)
        except DecodeError:
            assert strict(mutated) is None or mutated == b"\xf6", mutated.hex()
            continue
        assert strict(mutated) == value, mutated.hex()
        try:
            message = messages.decode(mutated)
        except ReplicationError:
            continue
        assert messages.encode(message) == mutated


def refused(*fields: cbor.Value) -> Reason:
    """Return why a message of these fields is refused."""
    with pytest.raises(ReplicationError) as raised:
        messages.decode(cbor.encode(fields))
    return raised.value.reason


def test_a_have_is_sorted_and_has_each_log_once() -> None:
    low, high = bytes(32), b"\1" * 32
    assert refused(10, 0, [[high, [[0, 1]]], [low, [[0, 1]]]]) is Reason.UNSORTED
    assert refused(10, 0, [[low, [[0, 1]]], [low, [[1, 1]]]]) is Reason.UNSORTED
    assert refused(10, 0, [[low, [[1, 1], [1, 2]]]]) is Reason.UNSORTED
    assert refused(10, 0, [[low, []]]) is Reason.FIELDS


def test_heights_are_those_that_entries_can_have() -> None:
    assert refused(10, 0, [[KEY, [[0, 0]]]]) is Reason.FIELDS
    assert refused(10, 0, [[KEY, [[0, 1 << 63]]]]) is Reason.FIELDS
    assert refused(22, 0, [KEY[:31], 0, 1]) is Reason.FIELDS
    assert refused(22, 0, [KEY, 0, 0]) is Reason.FIELDS


def test_a_have_of_too_many_logs_is_refused() -> None:
    logs = [[log, 1] for log in range(messages.LOGS_MAX + 1)]

    assert refused(10, 0, [[KEY, logs]]) is Reason.TOO_LARGE
    assert messages.decode(cbor.encode([10, 0, [[KEY, logs[1:]]]]))


def test_schema_ids_rise_and_have_a_length() -> None:
    assert refused(0, 1, 1, ["a", "a"]) is Reason.UNSORTED
    assert refused(1, 0, 0, ["b", "a"]) is Reason.UNSORTED
    assert refused(0, 1, 1, [""]) is Reason.TOO_LARGE
    assert refused(0, 1, 1, ["a" * (messages.SCHEMA_BYTES_MAX + 1)]) is Reason.TOO_LARGE
    assert refused(0, 1, 1, [f"{at:04}" for at in range(messages.SCHEMAS_MAX + 1)]) is (
        Reason.TOO_LARGE
    )
    assert refused(0, 1, 1, [b"a"]) is Reason.FIELDS


def test_a_bound_is_a_whole_key_or_the_beginning_of_one() -> None:
    assert messages.decode(cbor.encode([21, 0, [b"", 0, 0]])) == LowerBound(0, Place(b""))
    assert refused(21, 0, [KEY[:2], 1, 0]) is Reason.FIELDS
    assert refused(21, 0, [KEY + b"\0", 0, 0]) is Reason.FIELDS


def test_fields_are_of_their_kind() -> None:
    assert refused(2, 0, "entry", b"") is Reason.FIELDS
    assert refused(3, 0, 1) is Reason.FIELDS
    assert refused(3, True, True) is Reason.FIELDS
    assert refused(25, 0, bytes(15), [KEY, 0, 0]) is Reason.FIELDS
    assert refused(True, 0) is Reason.UNKNOWN_TYPE


def test_what_is_too_large_is_not_even_read() -> None:
    with pytest.raises(ReplicationError) as raised:
        messages.decode(bytes(messages.MESSAGE_BYTES_MAX + 1))

    assert raised.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("kind", [0, 2, 25, 99])
def test_only_a_have_may_hold_many_items(kind: int) -> None:
    """Each of one byte would be an object here: of 1 MiB a second's work."""
    many = cbor.encode([kind, *[[]] * messages.HAVE_ITEMS_MAX])

    with pytest.raises(ReplicationError) as raised:
        messages.decode(many)

    assert raised.value.reason is Reason.TOO_LARGE


def test_a_have_of_as_many_authors_as_logs_is_read() -> None:
    heights = [
        Place(number.to_bytes(32, "big"), 0, 1) for number in range(1, messages.LOGS_MAX + 1)
    ]
    have = Have(0, tuple(heights))

    assert messages.decode(messages.encode(have)) == have
