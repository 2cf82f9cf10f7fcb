"""The local log: the ids of a sorted list, whatever they look like and whenever they came."""

import hashlib
import pickle
import random
from collections.abc import Callable
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sync.machine import MessageId
from sync.sds.log import (
    CHUNK_MAX,
    HEX_CHARACTERS,
    ID_BYTES,
    PARTS,
    RECENT_MAX,
    SLOTS_MIN,
    IdTable,
    OrderedLog,
)
from tests.support.storage.rows import log_rows

LAMPORT_MAX = 2**64 - 1
HEX_IDS = st.integers(0, 2**256 - 1).map(lambda number: MessageId(f"{number:064x}"))
SAME_PART = st.integers(0, 2**40).map(lambda number: MessageId(f"{number << 192:064x}"))
"""Ids that all fall into one part of the table, and often into one slot of it."""
ODD_IDS = st.text(max_size=70).map(MessageId) | HEX_IDS.map(lambda id_: MessageId(id_.upper()))
PLACES = st.tuples(st.integers(0, 5) | st.integers(0, LAMPORT_MAX), HEX_IDS | SAME_PART | ODD_IDS)


def digest(number: int) -> MessageId:
    return MessageId(hashlib.sha256(b"%d" % number).hexdigest())


def rows_of(ids: list[MessageId]) -> NDArray[np.uint8]:
    """Return ids as rows of bytes."""
    return np.frombuffer(bytes.fromhex("".join(ids)), np.uint8).reshape(-1, ID_BYTES)


def sorted_log(places: list[tuple[int, MessageId]]) -> OrderedLog:
    log = OrderedLog()
    for lamport, message_id in places:
        log.insert(lamport, message_id)
    return log


def distinct(places: list[tuple[int, MessageId]]) -> list[tuple[int, MessageId]]:
    """The first place of each id."""
    return [(lamport, id_) for id_, lamport in {id_: at for at, id_ in reversed(places)}.items()]


# --- The order ---------------------------------------------------------------------------------


@given(st.lists(PLACES, max_size=60).map(distinct))
def test_a_log_is_a_sorted_list(places: list[tuple[int, MessageId]]) -> None:
    log = sorted_log(places)

    assert list(log) == sorted(places)
    assert len(log) == len(places)
    assert log.last == (max(places) if places else (-1, ""))
    assert all(message_id in log for _, message_id in places)


@given(st.lists(PLACES, max_size=40).map(distinct), PLACES)
def test_what_is_not_there_is_not_found(
    places: list[tuple[int, MessageId]], other: tuple[int, MessageId]
) -> None:
    log = sorted_log(places)

    assert (other[1] in log) == (other[1] in [message_id for _, message_id in places])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("times", [1, 2, 3])
def test_thousands_of_one_time_stand_by_id_across_the_chunks(times: int, seed: int) -> None:
    places = [(n % times, digest(n)) for n in range(2 * CHUNK_MAX + 9)]
    random.Random(seed).shuffle(places)

    log = sorted_log(places)

    assert list(log) == sorted(places)
    assert max(map(len, log._chunks)) <= CHUNK_MAX


@pytest.mark.parametrize("falling", [True, False])
def test_an_order_of_arrival_that_always_hits_one_end_is_sorted_too(falling: bool) -> None:
    places = sorted(((7, digest(n)) for n in range(3 * CHUNK_MAX)), reverse=falling)

    assert list(sorted_log(places)) == sorted(places)


def test_the_highest_and_the_lowest_time_have_their_place() -> None:
    log = sorted_log([(LAMPORT_MAX, digest(1)), (0, digest(2)), (LAMPORT_MAX, digest(0))])

    assert list(log) == sorted([(0, digest(2)), (LAMPORT_MAX, digest(0)), (LAMPORT_MAX, digest(1))])
    assert log.last == max(log)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 40))
def test_the_newest_are_the_end_of_the_order(lamports: list[int], count: int) -> None:
    places = [(lamport, digest(n)) for n, lamport in enumerate(lamports)]

    newest = sorted_log(places).newest(count)

    assert newest == [message_id for _, message_id in sorted(places)][max(0, len(places) - count) :]


@pytest.mark.parametrize("count", [0, 1, CHUNK_MAX, CHUNK_MAX + 1, 3 * CHUNK_MAX])
def test_the_newest_come_from_as_many_chunks_as_needed(count: int) -> None:
    places = sorted((n // 3, digest(n)) for n in range(2 * CHUNK_MAX + 5))

    newest = sorted_log(places).newest(count)

    assert newest == [message_id for _, message_id in places[max(0, len(places) - count) :]]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 10))
def test_above_a_time_is_all_that_is_later(lamports: list[int], lamport: int) -> None:
    places = [(at, digest(n)) for n, at in enumerate(lamports)]

    assert sorted_log(places).above(lamport) == [id_ for at, id_ in sorted(places) if at > lamport]


@pytest.mark.parametrize("lamport", [0, 1, CHUNK_MAX // 3, CHUNK_MAX])
def test_above_a_time_reaches_across_the_chunks(lamport: int) -> None:
    places = sorted((n // 3, digest(n)) for n in range(2 * CHUNK_MAX + 5))

    assert sorted_log(places).above(lamport) == [id_ for at, id_ in places if at > lamport]


# --- After a start -----------------------------------------------------------------------------


def restored(places: list[tuple[int, MessageId]]) -> OrderedLog:
    log = OrderedLog()
    log.restore(log_rows(places))
    return log


def test_an_empty_log_is_restored_as_an_empty_log() -> None:
    log = restored([])

    assert (list(log), len(log), log.last, log.newest(3)) == ([], 0, (-1, ""), [])


@pytest.mark.parametrize("size", [1, 2, CHUNK_MAX - 1, CHUNK_MAX, CHUNK_MAX + 1, 5000])
def test_a_restored_log_is_the_one_that_was_written(size: int) -> None:
    places = sorted((LAMPORT_MAX - n // 4, digest(n)) for n in range(size))

    log = restored(places)

    assert list(log) == places
    assert log.last == places[-1]
    assert len(log) == size
    assert all(message_id in log for _, message_id in places)
    assert digest(size) not in log


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 9), HEX_IDS | SAME_PART), max_size=40),
    st.lists(PLACES, max_size=40),
)
def test_a_restored_log_goes_on_like_one_that_never_stopped(
    before: list[tuple[int, MessageId]], after: list[tuple[int, MessageId]]
) -> None:
    old = sorted(distinct(before))
    new = [place for place in distinct(after) if place[1] not in {id_ for _, id_ in old}]

    log = restored(old)
    for lamport, message_id in new:
        assert message_id not in log
        log.insert(lamport, message_id)

    assert list(log) == sorted(old + new)
    assert all(message_id in log for _, message_id in old + new)


def test_what_came_long_ago_is_found_as_well_as_what_came_last() -> None:
    log = restored(sorted((1, digest(n)) for n in range(1000)))
    for number in range(1000, 1000 + 3 * RECENT_MAX):
        log.insert(number, digest(number))

    assert all(digest(number) in log for number in range(1000 + 3 * RECENT_MAX))
    assert len(log.recent) + len(log._less_recent) <= 2 * RECENT_MAX


def test_a_log_is_restored_only_once() -> None:
    log = restored([(1, digest(1))])

    with pytest.raises(AssertionError, match="restored once"):
        log.restore(log_rows([(2, digest(2))]))


# --- The table of ids --------------------------------------------------------------------------


@given(st.lists(HEX_IDS | SAME_PART | ODD_IDS, unique=True, max_size=60))
@example([MessageId("00" * 32), MessageId("short"), MessageId("FF" * 32), MessageId("ff" * 32)])
def test_ids_are_numbered_as_they_come_and_found_by_name(ids: list[MessageId]) -> None:
    table = IdTable()

    numbers = [table.add(message_id) for message_id in ids]

    assert numbers == list(range(len(ids)))
    assert len(table) == len(ids)
    assert [table.find(message_id) for message_id in ids] == numbers
    assert [table.id_of(number) for number in numbers] == ids


@pytest.mark.parametrize(
    "odd",
    [
        digest(1).upper(),
        digest(1)[:-2] + "  ",
        " " + digest(1)[1:],
        digest(1)[:-1],
        digest(1) + "00",
        "\uff41" * HEX_CHARACTERS,
        "g" * HEX_CHARACTERS,
        "",
    ],
)
def test_an_id_that_is_not_the_one_way_to_write_32_bytes_is_another_id(odd: str) -> None:
    plain = IdTable()
    plain.add(digest(1))
    both = IdTable()
    both.add(odd)
    both.add(digest(1))

    assert plain.find(odd) is None
    assert (both.find(odd), both.find(digest(1))) == (0, 1)
    assert (both.id_of(0), both.id_of(1)) == (odd, digest(1))


def test_the_place_of_an_odd_id_is_not_that_of_32_zero_bytes() -> None:
    table = IdTable()
    table.add("odd")

    assert table.find("00" * 32) is None
    assert table.add("00" * 32) == 1
    assert (table.find("odd"), table.find("00" * 32)) == (0, 1)


def test_what_was_looked_for_in_vain_and_another_id_that_is_added_are_not_confused() -> None:
    table = IdTable()
    table.add(digest(0))

    assert table.find(digest(1)) is None
    table.add(digest(2))
    table.add(digest(1))
    table.add("odd")

    assert [table.find(one) for one in (digest(0), digest(2), digest(1), "odd")] == [0, 1, 2, 3]


def test_one_part_grows_and_the_others_are_left_alone() -> None:
    table = IdTable()
    crowded = [MessageId(f"{number:016x}{number:048x}") for number in range(1000)]
    for message_id in crowded:
        table.add(message_id)

    assert [table.find(message_id) for message_id in crowded] == list(range(1000))
    assert [index for index, part in enumerate(table._parts) if part is not None] == [0]


@settings(max_examples=50)
@given(
    st.lists(HEX_IDS | SAME_PART | ODD_IDS, unique=True, max_size=30),
    st.lists(HEX_IDS | SAME_PART, unique=True, max_size=60),
    st.lists(HEX_IDS | SAME_PART | ODD_IDS, unique=True, max_size=30),
)
def test_many_at_once_are_the_same_as_one_by_one(
    before: list[MessageId], together: list[MessageId], after: list[MessageId]
) -> None:
    together = [id_ for id_ in together if id_ not in before]
    after = [id_ for id_ in after if id_ not in before and id_ not in together]
    table = IdTable()

    for message_id in before:
        table.add(message_id)
    table.extend(rows_of(together))
    for message_id in after:
        table.add(message_id)

    everything = before + together + after
    assert [table.find(message_id) for message_id in everything] == list(range(len(everything)))
    assert [table.id_of(number) for number in range(len(everything))] == everything


@pytest.mark.parametrize("first", [0, 1, SLOTS_MIN, 3 * PARTS])
def test_thousands_fit_into_partly_filled_parts(first: int) -> None:
    ids = [digest(number) for number in range(first + 5 * PARTS)]
    table = IdTable()
    for message_id in ids[:first]:
        table.add(message_id)

    table.extend(rows_of(ids[first:]))

    assert [table.find(message_id) for message_id in ids] == list(range(len(ids)))
    assert table.find(digest(len(ids))) is None


def test_ids_that_all_want_the_last_slot_of_a_part_go_round_to_its_beginning() -> None:
    ids = [MessageId(f"{SLOTS_MIN - 1 + (n << 20):016x}{n:048x}") for n in range(SLOTS_MIN // 2)]
    table = IdTable()

    table.extend(rows_of(ids))

    assert [table.find(message_id) for message_id in ids] == list(range(len(ids)))


def pickled(table: IdTable) -> IdTable:
    """A copy, made as tests make copies of whole nodes."""
    copied: IdTable = pickle.loads(pickle.dumps(table))
    return copied


@pytest.mark.parametrize("copied", [deepcopy, pickled])
def test_a_copy_of_many_at_once_goes_its_own_way(copied: Callable[[IdTable], IdTable]) -> None:
    table = IdTable()
    ids = [digest(number) for number in range(3_000)]
    table.extend(rows_of(ids[:-1]))
    other = copied(table)
    other.add(ids[-1])

    assert [other.find(one) for one in ids] == list(range(3_000))
    assert table.find(ids[-1]) is None
