"""Messages of a snapshot: one spelling each, limits before memory is taken, a digest of a page."""

import contextlib
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sync.calimero.log import snapshot_messages
from sync.calimero.log.snapshot_messages import (
    CHUNK_MAX,
    RECORD_MAX,
    RECORDS_MAX,
    TAGS,
    Message,
    SnapshotChunk,
    SnapshotDone,
    SnapshotMore,
    SnapshotRequest,
    chunk_of,
    decode,
    encode,
    head_of,
    in_pages,
)
from sync.errors import DecodeError
from sync.machine import MessageId
from sync.sessions.sync_config import CONFIG, SyncConfig

MUTATIONS = 4_000
PLACE = (7, MessageId("ab" * 32))
CHUNK = chunk_of(3, (b"one", b"", b"three"), PLACE, 9)
MESSAGES: list[Message] = [
    CHUNK,
    chunk_of(0, (b"state",), None, 9, of_state=True),
    chunk_of(4, (), None, 9, last=True),
    SnapshotRequest(None, 4),
    SnapshotRequest(PLACE, 1),
    SnapshotMore(1),
    SnapshotDone(),
]

places = st.none() | st.tuples(
    st.integers(0, 2**64 - 1), st.binary(min_size=32, max_size=32).map(lambda one: one.hex())
)
messages = st.one_of(
    st.builds(
        chunk_of,
        st.integers(0, 2**32 - 1),
        st.lists(st.binary(max_size=40), max_size=5),
        places,
        st.integers(0, 2**64 - 1),
        of_state=st.booleans(),
        last=st.booleans(),
    ),
    st.builds(SnapshotRequest, places, st.integers(0, 255)),
    st.builds(SnapshotMore, st.integers(0, 255)),
    st.just(SnapshotDone()),
)


@given(messages)
def test_every_message_is_read_as_it_was_written(message: Message) -> None:
    payload = encode(message)
    assert decode(payload) == message
    if isinstance(message, SnapshotChunk):
        assert head_of(payload) == message.head


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_in_its_one_spelling_or_refused(data: bytes) -> None:
    with contextlib.suppress(DecodeError):
        assert encode(decode(data)) == data


@pytest.mark.parametrize("message", MESSAGES, ids=[type(one).__name__ for one in MESSAGES])
def test_mutated_bytes_are_a_message_in_its_one_spelling_or_refused(message: Message) -> None:
    rng = random.Random(1)
    for _ in range(MUTATIONS):
        data = bytearray(encode(message))
        for _ in range(rng.randint(1, 2)):
            data[rng.randrange(len(data))] = rng.choice([0, 1, 2, 255, rng.randrange(256)])
        if rng.random() < 0.1:
            del data[rng.randrange(len(data)) :]
        with contextlib.suppress(DecodeError):
            assert encode(decode(bytes(data))) == bytes(data)
        with contextlib.suppress(DecodeError):
            head_of(bytes(data))


@pytest.mark.parametrize("at", range(len(encode(CHUNK))))
def test_every_flipped_bit_of_the_records_of_a_page_is_noticed(at: int) -> None:
    data = bytearray(encode(CHUNK))
    head = len(data) - sum(4 + len(one) for one in CHUNK.records) - 4
    data[at] ^= 1
    if at >= head:
        with pytest.raises(DecodeError):
            decode(bytes(data))
    else:
        with contextlib.suppress(DecodeError):
            assert decode(bytes(data)) != CHUNK


def u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


HEAD = bytes([TAGS[SnapshotChunk]]) + u32(0) + bytes(32) + b"\0\0" + bytes(8) + b"\0"
REFUSED = {
    "nothing": b"",
    "an unknown kind": b"\x09",
    "bytes behind it": encode(SnapshotDone()) + b"\0",
    "a million records": HEAD + u32(10**6),
    "a record too many": encode(chunk_of(0, (b"",) * (RECORDS_MAX + 1), None, 1)),
    "a record of a gigabyte": HEAD + u32(1) + u32(2**30),
    "a record too large": encode(chunk_of(0, (bytes(RECORD_MAX + 1),), None, 1)),
    "a page too large": bytes([2]) + bytes(CHUNK_MAX),
    "another digest": encode(SnapshotChunk(replace(CHUNK.head, digest=bytes(32)), CHUNK.records)),
    "a flag of two": encode(SnapshotRequest(None, 1))[:1] + b"\x02\x01",
}


@pytest.mark.parametrize("payload", REFUSED.values(), ids=REFUSED)
def test_what_no_honest_peer_sends_is_refused(payload: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(payload)


def test_lengths_are_checked_before_memory_is_taken() -> None:
    payloads = (HEAD + u32(2**31), HEAD + u32(1) + u32(2**31), bytes([2]) + bytes(2**20))
    tracemalloc.start()
    for payload in payloads:
        with pytest.raises(DecodeError):
            decode(payload)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 1024


def test_records_are_cut_into_pages_of_which_each_can_be_read() -> None:
    records = [bytes(size) for size in (10, CONFIG.snapshot_chunk_size, 1, RECORD_MAX, 5, 5)]
    pages = list(in_pages(records))
    assert [one for page in pages for one in page] == records
    assert len(pages) > 1
    for page in pages:
        assert len(encode(chunk_of(0, page, PLACE, 1))) <= CHUNK_MAX
        decode(encode(chunk_of(0, page, PLACE, 1)))
    assert [len(page) for page in in_pages([b""] * (RECORDS_MAX + 1))] == [RECORDS_MAX, 1]


def test_pages_are_of_the_size_that_the_config_says(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [bytes(100)] * 40
    whole = list(in_pages(records))
    monkeypatch.setattr(snapshot_messages, "CONFIG", SyncConfig(snapshot_chunk_size=1_000))

    parts = list(in_pages(records))

    assert len(whole) == 1
    assert all(sum(map(len, part)) <= 1_000 for part in parts)
    assert len(parts) >= 4
