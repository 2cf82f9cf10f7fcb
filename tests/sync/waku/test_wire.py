"""Payloads of Waku Sync: the vectors derived from the specification, and what must be refused."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proto import waku_pb2
from sync.errors import DecodeError
from sync.machine import ChannelId
from sync.structures.codec import encode_uvarint
from sync.structures.ordered_set import HASH_BYTES, ORIGIN, SyncId, shortened
from sync.waku.message import (
    BOUND_HASH_BYTES_MAX,
    CLUSTER,
    EVERYTHING,
    ITEM_BYTES_MAX,
    PAYLOAD_BYTES_MAX,
    RANGE_BYTES_MAX,
    RANGES_MAX,
    TIMESTAMP_MAX,
    Bounds,
    Fingerprint,
    ItemSet,
    Range,
    Ranges,
    RangesData,
    Skip,
    WakuMessage,
    content_topic,
    deterministic_hash,
    pubsub_topic,
    shard,
    sync_id,
)
from sync.waku.reading import read_bound
from sync.waku.wire import (
    decode_ranges,
    decode_transfer,
    encode_ranges,
    encode_transfer,
)
from sync.waku.writing import encode_bound

VECTORS = {
    vector["id"]: bytes.fromhex(vector["hex"])
    for vector in json.loads(
        (Path(__file__).parents[2] / "vectors" / "waku_sync_wire.json").read_text()
    )["vectors"]
}
T = 1_700_000_000_000_000_000
CHANNEL = ChannelId("00112233445566778899aabbccddeeff")


def at(timestamp: int, head: str = "") -> SyncId:
    """A SyncId whose hash begins with the hex digits `head` and goes on with zeros."""
    return SyncId(timestamp, bytes.fromhex(head).ljust(HASH_BYTES, b"\0"))


def joined(*parts: tuple[SyncId, bytes | tuple[SyncId, ...] | None]) -> Ranges:
    """Ranges by upper bound and content: None skips, bytes are a fingerprint, ids an item set."""
    ranges: list[Range] = []
    lower = ORIGIN
    for upper, content in parts:
        bounds = Bounds(lower, upper)
        if content is None:
            ranges.append(Skip(bounds))
        elif isinstance(content, bytes):
            ranges.append(Fingerprint(bounds, content))
        else:
            ranges.append(ItemSet(bounds, content, reconciled=False))
        lower = upper
    return Ranges.of(ranges)


hashes = st.lists(st.sampled_from([0, 1, 0x35, 0xFF]), max_size=3).map(
    lambda head: bytes(head).ljust(HASH_BYTES, b"\0")
) | st.binary(min_size=HASH_BYTES, max_size=HASH_BYTES)
sync_ids = st.builds(SyncId, st.integers(0, 5) | st.integers(0, 2**64 - 1), hashes)


@st.composite
def payloads(draw: st.DrawFn) -> RangesData:
    pool = sorted(draw(st.sets(sync_ids, max_size=20)))
    ranges: list[Range] = []
    lower = ORIGIN
    for wanted in sorted(draw(st.sets(sync_ids, max_size=8))):
        if wanted <= lower:
            continue
        bounds = Bounds(lower, shortened(wanted, lower))
        inside = tuple(item for item in pool if bounds.lower <= item < bounds.upper)
        content: st.SearchStrategy[Range] = st.one_of(
            st.just(Skip(bounds)),
            st.builds(Fingerprint, st.just(bounds), st.binary(min_size=32, max_size=32)),
            st.builds(ItemSet, st.just(bounds), st.just(inside), st.booleans()),
        )
        ranges.append(draw(content))
        lower = bounds.upper
    numbers = st.integers(0, 2**64 - 1)
    shards = tuple(draw(st.lists(numbers, max_size=4)))
    return RangesData(draw(numbers), shards, Ranges.of(ranges))


def test_the_table_of_the_specification_is_encoded_as_it_says() -> None:
    bounds = [at(1000), at(1002), at(1002, "3560"), at(1003)]
    previous = [ORIGIN, at(1000), at(1002, "351c5e86"), at(1002, "3560")]

    encoded = [encode_bound(*pair) for pair in zip(bounds, previous, strict=True)]

    assert encoded[1:] == [VECTORS[f"spec-table-{row}"] for row in (2, 3, 4)]
    assert b"".join(encoded) == VECTORS["spec-table-all"]


def test_the_table_of_the_specification_is_read_back() -> None:
    data = VECTORS["spec-table-2"] + VECTORS["spec-table-3"] + VECTORS["spec-table-4"]

    second, offset = read_bound(data, 0, at(1000, "4a8a769a"))
    third, offset = read_bound(data, offset, at(1002, "351c5e86"))
    fourth, offset = read_bound(data, offset, third)

    assert (second, third, fourth) == (at(1002), at(1002, "3560"), at(1003))
    assert offset == len(data)


ITEM_SET_PAYLOAD = RangesData(
    0, (), joined((at(T), None), (at(T + 1000), (at(T + 5, "01" * 32), at(T + 5, "02" * 32))))
)
SAME_TIMESTAMP_PAYLOAD = RangesData(
    0,
    (),
    joined(
        (at(T), None),
        (at(T + 10), None),
        (at(T + 10, "35"), b"\x01" * 32),
        (at(T + 10, "3561"), b"\x02" * 32),
        (at(T + 20), None),
    ),
)


@pytest.mark.parametrize(
    ("name", "payload"),
    [("spec-itemset-1", ITEM_SET_PAYLOAD), ("spec-same-ts-bounds", SAME_TIMESTAMP_PAYLOAD)],
)
def test_whole_payloads_agree_with_the_vectors(name: str, payload: RangesData) -> None:
    assert encode_ranges(payload) == VECTORS[name]
    assert decode_ranges(VECTORS[name]) == payload


def test_an_empty_item_set_is_a_zero_count_and_the_flag() -> None:
    payload = RangesData(0, (), Ranges.of([ItemSet(Bounds(ORIGIN, at(1)), (), reconciled=True)]))

    assert encode_ranges(payload) == bytes.fromhex("000001020001")


def test_a_hash_below_timestamp_zero_is_sent_with_the_first_bound() -> None:
    payload = RangesData(0, (), joined((at(0, "07"), None)))

    assert encode_ranges(payload) == bytes.fromhex("000000010700")
    assert decode_ranges(encode_ranges(payload)) == payload


def test_the_opening_of_a_session_takes_less_than_60_bytes() -> None:
    opening = RangesData(
        CLUSTER, (shard(CHANNEL),), Ranges.of([Fingerprint(EVERYTHING, b"\xaa" * 32)])
    )

    assert len(encode_ranges(opening)) < 50


def test_a_payload_may_be_empty() -> None:
    assert decode_ranges(b"") == RangesData(0, ())
    assert decode_ranges(encode_ranges(RangesData(7, (1, 2)))) == RangesData(7, (1, 2))


@given(payloads())
def test_payloads_survive_the_wire(payload: RangesData) -> None:
    assert decode_ranges(encode_ranges(payload)) == payload


@given(payloads())
def test_declared_sizes_bound_the_encoded_ones(payload: RangesData) -> None:
    elements = sum(len(part.elements) for part in payload.ranges if isinstance(part, ItemSet))
    header = len(encode_ranges(replace(payload, ranges=Ranges())))

    most = header + len(payload.ranges) * RANGE_BYTES_MAX + elements * ITEM_BYTES_MAX
    most += len(payload.ranges.hashes) * BOUND_HASH_BYTES_MAX
    assert len(encode_ranges(payload)) <= most


@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda tail: b"\0\0\1\2" + tail))
def test_arbitrary_bytes_are_a_payload_or_refused(data: bytes) -> None:
    try:
        payload = decode_ranges(data)
    except DecodeError:
        return

    assert not data or encode_ranges(payload) == data


@given(payloads().map(encode_ranges), st.data())
def test_a_damaged_payload_is_another_payload_or_refused(
    encoded: bytes, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(encoded) - 1))
    damaged = bytearray(encoded)
    damaged[position] ^= data.draw(st.integers(1, 255))

    try:
        payload = decode_ranges(bytes(damaged))
    except DecodeError:
        return

    assert encode_ranges(payload) == bytes(damaged)


ITEM = "05" + "01" * 32
REFUSED = {
    "shards that cannot be there": "00 7f",
    "more shards than a cluster has": "00" + encode_uvarint(1025).hex() + "00" * 1100,
    "an overlong number": "8000 00",
    "a bound that equals the last": "0000 05 00 00 01 00 00",
    "a bound without length": "0000 05 00 00 00 00",
    "a bound with 33 bytes of hash": "0000 05 00 00 21" + "01" * 33 + "00",
    "a bound hash longer than its difference": "0000 05 00 00 02 0102 00",
    "a falling bound hash": "0000 05 00 00 01 05 00 00 01 04 00",
    "a timestamp beyond 64 bits": "0000 ffffffffffffffffff01 00 01 00",
    "an unknown range type": "0000 05 03",
    "a short fingerprint": "0000 05 01 0102",
    "more elements than bytes": "0000 0a 02 7f" + ITEM + "00",
    "2^63 elements": "0000 0a 02" + encode_uvarint(2**63).hex() + ITEM + "00",
    "an element twice": "0000 0a 02 02" + ITEM + "00" + "01" * 32 + "00",
    "falling elements": "0000 0a 02 02" + "05" + "02" * 32 + "00" + "01" * 32 + "00",
    "an element above its range": "0000 05 02 01" + ITEM + "00",
    "an element below its range": "0000 06 00 01 02 01" + ITEM + "00",
    "a flag of 2": "0000 0a 02 01" + ITEM + "02",
    "no flag": "0000 0a 02 01" + ITEM,
    "no range type": "0000 0a",
}


@pytest.mark.parametrize("encoded", REFUSED.values(), ids=REFUSED.keys())
def test_malformed_payloads_are_refused(encoded: str) -> None:
    with pytest.raises(DecodeError):
        decode_ranges(bytes.fromhex(encoded))


def test_the_refused_item_is_fine_inside_its_range() -> None:
    payload = decode_ranges(bytes.fromhex("0000 0a 02 01" + ITEM + "00"))

    assert payload.ranges == joined((at(10), (at(5, "01" * 32),)))


def test_a_payload_over_one_mebibyte_is_refused() -> None:
    hashes_of_all = b"".join(b"\1" + bytes([2]) * HASH_BYTES for _ in range(31_774))
    count = encode_uvarint(31_774)
    payload = b"\0\0" + encode_uvarint(2**40) + b"\2" + count + hashes_of_all + b"\0"
    payload += b"\1\0" * ((PAYLOAD_BYTES_MAX - len(payload)) // 2)

    assert len(payload) > PAYLOAD_BYTES_MAX - 2
    assert decode_ranges(payload).cluster == 0
    with pytest.raises(DecodeError, match="over the limit"):
        decode_ranges(payload + b"\1\0")


def test_a_payload_of_too_many_ranges_is_refused() -> None:
    assert len(decode_ranges(b"\0\0" + b"\1\0" * RANGES_MAX).ranges) == RANGES_MAX
    with pytest.raises(DecodeError, match="ranges"):
        decode_ranges(b"\0\0" + b"\1\0" * (RANGES_MAX + 1))


def test_a_bound_that_would_not_arrive_whole_is_our_own_mistake() -> None:
    with pytest.raises(AssertionError):
        encode_bound(at(5, "0102"), at(5))
    with pytest.raises(AssertionError):
        encode_bound(at(5, "01"), at(4))


MESSAGE = WakuMessage(b"hello", content_topic(CHANNEL), T)


@given(
    st.builds(WakuMessage, st.binary(), st.text(), st.integers(0, TIMESTAMP_MAX - 1), st.binary()),
    st.text(),
)
def test_transferred_messages_survive_the_wire(message: WakuMessage, topic: str) -> None:
    assert decode_transfer(encode_transfer(message, topic)) == (message, topic)


def test_transfer_has_the_message_in_field_1_and_the_topic_in_field_2() -> None:
    encoded = encode_transfer(WakuMessage(b"p", "c", 1), "t")

    assert encoded.hex() == "0a08" + "0a0170" + "120163" + "5002" + "120174"


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_a_transfer_or_refused(data: bytes) -> None:
    try:
        message, topic = decode_transfer(data)
    except DecodeError:
        return

    assert decode_transfer(encode_transfer(message, topic)) == (message, topic)


@pytest.mark.parametrize(
    "lacking",
    [
        waku_pb2.WakuMessageAndTopic(pubsub_topic="t"),
        waku_pb2.WakuMessageAndTopic(message=waku_pb2.WakuMessage(timestamp=1)),
        waku_pb2.WakuMessageAndTopic(message=waku_pb2.WakuMessage(), pubsub_topic="t"),
        waku_pb2.WakuMessageAndTopic(message=waku_pb2.WakuMessage(timestamp=-1), pubsub_topic="t"),
        waku_pb2.WakuMessageAndTopic(
            message=waku_pb2.WakuMessage(timestamp=TIMESTAMP_MAX), pubsub_topic="t"
        ),
    ],
)
def test_a_transfer_without_message_topic_or_usable_time_is_refused(
    lacking: waku_pb2.WakuMessageAndTopic,
) -> None:
    with pytest.raises(DecodeError):
        decode_transfer(lacking.SerializeToString())


def test_a_transfer_over_one_mebibyte_is_refused() -> None:
    with pytest.raises(DecodeError):
        decode_transfer(encode_transfer(replace(MESSAGE, payload=bytes(PAYLOAD_BYTES_MAX)), "t"))


def test_the_deterministic_hash_covers_topic_payload_content_topic_meta_and_time() -> None:
    message = WakuMessage(b"payload", "content", 258, b"meta")

    digest = deterministic_hash("pubsub", message)

    assert digest == hashlib.sha256(b"pubsubpayloadcontentmeta" + b"\0" * 6 + b"\1\2").digest()
    assert sync_id("pubsub", message) == SyncId(258, digest)


def test_a_channel_has_one_shard_and_two_topics() -> None:
    digest = hashlib.sha256(CHANNEL.encode()).digest()

    assert shard(CHANNEL) == (digest[0] * 256 + digest[1]) % 1024
    assert pubsub_topic(CHANNEL) == f"/waku/2/rs/{CLUSTER}/{shard(CHANNEL)}"
    assert content_topic(CHANNEL) == f"/chat-tui/1/{CHANNEL}/proto"
