"""Probing a filter for many messages at once gives the same as for each of them."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.machine import MessageId, PeerId
from sync.sds.probes import PEERS_MAX, ROWS_MIN, Probes
from sync.structures.bloom import ReceivedFilter, RollingBloomFilter
from sync.structures.bloom_parameters import LAN, BloomParameters
from tests.support.sync.channels import message_id, peer

SMALL = BloomParameters(capacity=30, error_rate=0.05)
IDS = [message_id(str(number)) for number in range(3 * ROWS_MIN)]
SOME = st.lists(st.sampled_from(IDS), max_size=10)
WHAT_HAPPENS = st.lists(
    st.tuples(st.just("add"), st.lists(st.sampled_from(IDS), max_size=ROWS_MIN), st.none())
    | st.tuples(st.sampled_from(["remove", "forget"]), SOME, st.none())
    | st.tuples(st.just("hear"), SOME, st.sampled_from(["bob", "carol", "dave"])),
    max_size=12,
)


def filter_of(ids: Iterable[MessageId], parameters: BloomParameters = LAN) -> bytes:
    bloom = RollingBloomFilter(parameters)
    for held in ids:
        bloom.insert(held)
    return bloom.to_bytes()


def probes_for(ids: Iterable[MessageId]) -> Probes:
    probes = Probes(LAN)
    for sought in ids:
        probes.add(sought)
    return probes


@given(WHAT_HAPPENS)
def test_hits_are_those_of_asking_for_one_message_after_another(
    events: list[tuple[str, list[MessageId], str | None]],
) -> None:
    probes = Probes(SMALL)
    sought: set[MessageId] = set()
    told: dict[PeerId, set[MessageId]] = {}
    for what, ids, who in events:
        if what == "hear":
            assert who is not None
            received = ReceivedFilter.read(filter_of(ids, SMALL), SMALL)
            before = told.setdefault(peer(who), set())
            expected = {id_ for id_ in sought - before if id_ in received}

            hits = probes.hits(filter_of(ids, SMALL), peer(who))

            assert sorted(hits) == sorted(expected)
            before |= expected
            continue
        for one in ids:
            if what == "add" and one not in sought:
                probes.add(one)
                sought.add(one)
            if what == "remove" and one in sought:
                probes.remove(one)
                sought.remove(one)
            if what != "add" and one in {id_ for known in told.values() for id_ in known}:
                if what == "forget" and one in sought:
                    probes.forget(one)
                for known in told.values():
                    known.discard(one)


def test_a_message_is_told_of_once_for_each_peer() -> None:
    probes = probes_for(IDS[:2])

    bob = [probes.hits(filter_of(IDS[:1]), peer("bob")) for _ in range(2)]
    more = probes.hits(filter_of(IDS[:2]), peer("bob"))
    carol = probes.hits(filter_of(IDS[:2]), peer("carol"))

    assert bob == [[IDS[0]], []]
    assert more == [IDS[1]]
    assert sorted(carol) == sorted(IDS[:2])


@pytest.mark.parametrize("count", [1, ROWS_MIN - 1, ROWS_MIN, ROWS_MIN + 1, 5 * ROWS_MIN])
def test_there_is_room_for_as_many_messages_as_wait(count: int) -> None:
    ids = [message_id(f"m{number}") for number in range(count)]
    probes = probes_for(ids[:1])
    probes.hits(filter_of(ids[:1]), peer("bob"))
    for sought in ids[1:]:
        probes.add(sought)

    assert sorted(probes.hits(filter_of(ids), peer("bob"))) == sorted(ids[1:])
    assert sorted(probes.hits(filter_of(ids), peer("carol"))) == sorted(ids)
    assert len(probes._ids) < 2 * max(count, ROWS_MIN)


def test_a_message_that_takes_the_place_of_another_inherits_nothing() -> None:
    probes = probes_for(IDS[:ROWS_MIN])
    probes.hits(filter_of(IDS[:ROWS_MIN]), peer("bob"))

    probes.remove(IDS[3])
    probes.add(IDS[ROWS_MIN])

    assert len(probes._ids) == ROWS_MIN, "the row was free"
    assert probes.hits(filter_of(IDS[3:4]), peer("bob")) == []
    assert probes.hits(filter_of(IDS[ROWS_MIN : ROWS_MIN + 1]), peer("bob")) == [IDS[ROWS_MIN]]


def test_what_was_said_of_a_message_that_begins_anew_is_forgotten() -> None:
    probes = probes_for(IDS[:2])
    probes.hits(filter_of(IDS[:2]), peer("bob"))

    probes.forget(IDS[0])

    assert probes.hits(filter_of(IDS[:2]), peer("bob")) == [IDS[0]]


def test_the_first_of_too_many_peers_is_forgotten_and_told_about_once_more() -> None:
    probes = probes_for(IDS[:1])
    holding = filter_of(IDS[:1])
    for number in range(PEERS_MAX):
        probes.hits(holding, peer(f"peer {number}"))

    full = probes.hits(holding, peer("peer 0"))
    one_more = probes.hits(holding, peer("one more"))

    assert (full, one_more) == ([], [IDS[0]])
    assert probes.hits(holding, peer("peer 1")) == []
    assert probes.hits(holding, peer("peer 0")) == [IDS[0]]


def test_peers_whose_filters_hold_nothing_of_ours_are_not_remembered() -> None:
    probes = probes_for(IDS[:1])

    for number in range(10):
        probes.hits(filter_of(()), peer(f"peer {number}"))

    assert not probes._held_by


def test_a_malformed_filter_is_an_error_where_something_is_looked_for() -> None:
    probes = probes_for(IDS[:1])

    with pytest.raises(DecodeError):
        probes.hits(b"short", peer("bob"))
    probes.remove(IDS[0])
    assert probes.hits(b"short", peer("bob")) == [], "nobody read it"
