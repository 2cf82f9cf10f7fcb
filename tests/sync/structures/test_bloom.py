"""Bloom filters: the bytes of `@waku/sds`, no false "not", and constant size for ever."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.structures.bloom import FILL_MAX, ReceivedFilter, RollingBloomFilter
from sync.structures.bloom_parameters import LAN, WAKU, BloomParameters

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "sds.json").read_text(encoding="utf-8")
)
PARAMETERS = st.builds(
    BloomParameters, capacity=st.integers(1, 60), error_rate=st.sampled_from([0.5, 0.05, 0.001])
)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def ids(count: int, start: int = 0) -> list[str]:
    return [digest(f"msg-{number}") for number in range(start, start + count)]


def holding(parameters: BloomParameters, items: list[str]) -> RollingBloomFilter:
    bloom = RollingBloomFilter(parameters)
    for item in items:
        bloom.insert(item)
    return bloom


def set_bits(data: bytes) -> list[int]:
    """Read the layout the slow way: 64-bit words, big-endian, lowest bit first."""
    words = [int.from_bytes(data[start : start + 8], "big") for start in range(0, len(data), 8)]
    return [
        64 * word + bit for word, value in enumerate(words) for bit in range(64) if value >> bit & 1
    ]


def published(kind: str) -> list[Any]:
    return list(VECTORS[kind])


@pytest.mark.parametrize(
    "vector",
    [
        row
        for row in published("bloom_params")
        if not row["k_in"] and not row["force_bits_per_elem"]
    ],
    ids=lambda row: f"{row['capacity']} at {row['error_rate']}",
)
def test_the_published_sizes_follow_from_capacity_and_error_rate(vector: dict[str, Any]) -> None:
    parameters = BloomParameters(vector["capacity"], vector["error_rate"])

    assert parameters.k == vector["k"]
    assert parameters.m_bits == vector["m_bits"]
    assert parameters.size_bytes == vector["bytes"]


def test_the_two_profiles_have_the_agreed_sizes() -> None:
    assert (LAN.k, LAN.m_bits, LAN.size_bytes) == (10, 15_000, 1_880)
    assert (WAKU.k, WAKU.m_bits, WAKU.size_bytes) == (10, 150_000, 18_752)


def test_an_ascii_id_has_the_published_positions() -> None:
    items = VECTORS["bloom_hash"]["items"]
    expected = {row["item"]: tuple(row["positions"]) for row in items if row["ascii"]}

    assert len(expected) >= 16
    assert {item: WAKU.positions(item) for item in expected} == expected


def test_a_non_ascii_item_has_positions_of_its_own() -> None:
    # Known and stated: a foreign peer hashes UTF-16 units where we hash UTF-8.
    others = [row for row in VECTORS["bloom_hash"]["items"] if not row["ascii"]]

    assert others
    for row in others:
        assert WAKU.positions(row["item"]) != tuple(row["positions"])
        assert row["item"] in holding(WAKU, [row["item"]])


@pytest.mark.parametrize("vector", published("bloom"), ids=lambda row: str(row["name"]))
def test_a_filter_has_the_published_bytes(vector: dict[str, Any]) -> None:
    parameters = BloomParameters(vector["capacity"], vector["error_rate"])
    empty = RollingBloomFilter(parameters).to_bytes()

    data = holding(parameters, vector["inserted"]).to_bytes()

    assert hashlib.sha256(empty).hexdigest() == vector["before_sha256"]
    assert hashlib.sha256(data).hexdigest() == vector["after_sha256"]
    assert set_bits(data) == vector["set_bits"]
    if "after_b64" in vector:
        assert data == base64.b64decode(vector["after_b64"])
    received = ReceivedFilter.read(data, parameters)
    assert [[item, item in received] for item, _ in vector["lookups"]] == vector["lookups"]


@pytest.mark.parametrize(
    "vector",
    [row for row in published("bloom_fp") if row["inserted"] <= WAKU.capacity],
    ids=lambda row: f"{row['inserted']} ids",
)
def test_a_filter_is_wrong_exactly_as_often_as_published(vector: dict[str, Any]) -> None:
    data = holding(WAKU, ids(vector["inserted"])).to_bytes()
    received = ReceivedFilter.read(data, WAKU)

    wrong = sum(digest(f"probe-{number}") in received for number in range(vector["probes"]))

    assert hashlib.sha256(data).hexdigest() == vector["bytes_sha256"]
    assert wrong == vector["false_positives"]


@given(PARAMETERS, st.lists(st.text(), unique=True, max_size=200))
def test_the_newest_half_is_always_there(parameters: BloomParameters, items: list[str]) -> None:
    bloom = holding(parameters, items)

    assert all(item in bloom for item in items[-(parameters.capacity // 2 + 1) :])
    assert bloom.count <= parameters.capacity
    assert len(bloom.to_bytes()) == parameters.size_bytes


@given(PARAMETERS, st.integers(0, 200))
def test_a_roll_over_leaves_exactly_the_newest(parameters: BloomParameters, count: int) -> None:
    items = ids(count)

    bloom = holding(parameters, items)

    kept = items[count - bloom.count :]
    assert bloom.to_bytes() == holding(parameters, kept).to_bytes()
    assert bloom.count >= min(count, parameters.capacity // 2 + 1)
    assert bloom.count == count or count > parameters.capacity


@given(st.integers(1, 300), st.lists(st.integers(1, 120), max_size=12))
def test_its_bits_are_those_of_what_it_holds_whenever_somebody_asks(
    capacity: int, batches: list[int]
) -> None:
    parameters = BloomParameters(capacity, 0.05)
    bloom, items = RollingBloomFilter(parameters), ids(sum(batches))
    came = 0
    for batch in batches:
        for item in items[came : came + batch]:
            bloom.insert(item)
        came += batch

        held = items[came - bloom.count : came]

        positions = {position for item in held for position in parameters.positions(item)}
        assert set_bits(bloom.to_bytes()) == sorted(positions)


def test_a_full_filter_rolls_over_at_the_next_id() -> None:
    items = ids(1001)
    full, rolled = holding(LAN, items[:1000]), holding(LAN, items[:1000])

    rolled.insert(items[1000])

    assert full.count == 1000
    assert full.fill == pytest.approx(0.487, abs=0.01)
    assert rolled.count == 501
    assert rolled.to_bytes() == holding(LAN, items[500:]).to_bytes()


def test_a_known_id_is_not_counted_again() -> None:
    once, thrice = holding(LAN, ids(5)), holding(LAN, ids(5) * 3)

    assert thrice.count == once.count == 5
    assert thrice.to_bytes() == once.to_bytes()


@given(PARAMETERS, st.integers(0, 150))
def test_the_fill_is_the_share_of_set_bits(parameters: BloomParameters, count: int) -> None:
    bloom = holding(parameters, ids(count))

    assert bloom.fill == len(set_bits(bloom.to_bytes())) / parameters.m_bits
    assert bloom.false_positive_rate == bloom.fill**parameters.k


def test_the_expected_rate_of_a_full_filter_is_that_of_its_parameters() -> None:
    full = holding(LAN, ids(LAN.capacity))

    assert full.false_positive_rate == pytest.approx(LAN.error_rate, rel=0.25)
    assert RollingBloomFilter(LAN).false_positive_rate == 0


@given(st.lists(st.text(), max_size=100), st.text())
def test_a_filter_that_was_sent_answers_like_the_one_that_was_kept(
    items: list[str], other: str
) -> None:
    parameters = BloomParameters(capacity=100, error_rate=0.01)
    kept = holding(parameters, items)

    sent = ReceivedFilter.read(kept.to_bytes(), parameters)

    assert all(item in sent for item in items)
    assert (other in sent) == (other in kept)


@pytest.mark.parametrize("size", [0, LAN.size_bytes - 1, LAN.size_bytes + 8, WAKU.size_bytes])
def test_a_filter_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(DecodeError, match="belong to this channel"):
        ReceivedFilter.read(bytes(size), LAN)


def test_an_overfull_filter_is_refused() -> None:
    allowed = int(FILL_MAX * LAN.m_bits)
    at_the_limit = ((1 << allowed) - 1).to_bytes(LAN.size_bytes, "big")
    above = ((1 << allowed + 1) - 1).to_bytes(LAN.size_bytes, "big")

    assert isinstance(ReceivedFilter.read(at_the_limit, LAN), ReceivedFilter)
    for data in (above, b"\xff" * LAN.size_bytes):
        with pytest.raises(DecodeError, match="60% at most"):
            ReceivedFilter.read(data, LAN)


@given(st.binary(max_size=24), st.text())
@example(b"\xff" * 16, "x")
@example(bytes(16), "x")
def test_arbitrary_bytes_are_a_filter_or_an_error(data: bytes, item: str) -> None:
    parameters = BloomParameters(capacity=10, error_rate=0.05)

    try:
        received = ReceivedFilter.read(data, parameters)
    except DecodeError:
        return

    assert len(data) == parameters.size_bytes
    assert (item in received) == set(parameters.positions(item)).issubset(set_bits(data))


@pytest.mark.parametrize(("capacity", "error_rate"), [(0, 0.1), (10, 0.0), (10, 0.6), (10, -1.0)])
def test_parameters_that_make_no_filter_are_our_own_mistake(
    capacity: int, error_rate: float
) -> None:
    with pytest.raises(AssertionError):
        BloomParameters(capacity, error_rate)


@given(PARAMETERS, st.integers(0, 80), st.integers(1, 200))
def test_cells_have_the_share_of_set_bits_of_each_part(
    parameters: BloomParameters, count: int, parts: int
) -> None:
    bloom = holding(parameters, ids(count))
    size = parameters.size_bytes
    sizes = [(at + 1) * size // parts - at * size // parts for at in range(parts)]

    cells = bloom.cells(parts)

    assert len(cells) == parts
    assert all(0 <= cell <= 1 for cell in cells)
    together = sum(8 * part * cell for part, cell in zip(sizes, cells, strict=True))
    assert round(together) == len(set_bits(bloom.to_bytes()))
