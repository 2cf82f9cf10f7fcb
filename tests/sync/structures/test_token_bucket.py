"""Token buckets: a burst, then so many a second, for each key on its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.machine import MILLISECOND, SECOND, Nanos
from sync.structures.token_bucket import KEYS_MAX, Buckets

NOW: Nanos = 1_763_700_000 * SECOND


def taken(buckets: Buckets, key: str, times: int, now: Nanos) -> int:
    """Try to take `times` tokens and return how many there were."""
    return sum(buckets.take_token(key, now) for _ in range(times))


@pytest.mark.parametrize("burst", [1, 2, 64])
def test_a_bucket_is_full_at_first_and_not_fuller(burst: int) -> None:
    buckets = Buckets(per_second=8, burst=burst)

    assert taken(buckets, "bob", burst, NOW) == burst
    assert not buckets.take_token("bob", NOW)


def test_tokens_flow_in_one_after_the_other() -> None:
    buckets = Buckets(per_second=8, burst=2)
    taken(buckets, "bob", 2, NOW)

    assert not buckets.take_token("bob", NOW + 124 * MILLISECOND)
    assert buckets.take_token("bob", NOW + 125 * MILLISECOND)
    assert not buckets.take_token("bob", NOW + 249 * MILLISECOND)
    assert buckets.take_token("bob", NOW + 250 * MILLISECOND)


def test_a_long_silence_fills_a_bucket_and_no_more() -> None:
    buckets = Buckets(per_second=8, burst=3)
    taken(buckets, "bob", 3, NOW)

    assert taken(buckets, "bob", 10, NOW + 3600 * SECOND) == 3


def test_asking_an_empty_bucket_costs_nothing() -> None:
    patient, impatient = Buckets(per_second=1, burst=1), Buckets(per_second=1, burst=1)
    patient.take_token("bob", NOW)
    impatient.take_token("bob", NOW)

    for eighth in range(8):
        impatient.take_token("bob", NOW + eighth * SECOND // 8)

    assert patient.take_token("bob", NOW + SECOND)
    assert impatient.take_token("bob", NOW + SECOND)


def test_each_key_has_a_bucket_of_its_own() -> None:
    buckets = Buckets(per_second=8, burst=1)
    buckets.take_token("bob", NOW)

    assert buckets.take_token("carol", NOW)
    assert not buckets.take_token("bob", NOW)


def test_the_key_that_was_silent_longest_is_forgotten_first() -> None:
    buckets = Buckets(per_second=1, burst=1)
    for number in range(KEYS_MAX):
        buckets.take_token(f"peer {number}", NOW)

    full = [buckets.take_token("peer 0", NOW), buckets.take_token("peer 1", NOW)]
    buckets.take_token("one more", NOW)
    buckets.take_token("peer 0", NOW)

    assert full == [False, False]
    assert not buckets.take_token("peer 1", NOW)
    assert buckets.take_token("peer 2", NOW), "forgotten, so it is full again"
    assert len(buckets._levels) == KEYS_MAX


@given(st.lists(st.integers(0, 400), max_size=60), st.integers(1, 5), st.integers(1, 20))
def test_never_more_than_a_burst_and_what_flowed_in(
    waits: list[int], burst: int, per_second: int
) -> None:
    buckets = Buckets(per_second, burst)
    now, given_out = NOW, 0

    for wait in waits:
        now += wait * MILLISECOND
        given_out += buckets.take_token("bob", now)

        assert given_out <= burst + (now - NOW) * per_second / SECOND + 1e-6
