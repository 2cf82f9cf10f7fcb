"""Where to dial, and when: back-off, room, and what is never forgotten."""

from random import Random

import pytest

from sync.machine import HOUR, SECOND, PeerId
from sync.net.addresses import (
    ADDRESSES_MAX,
    RETRY_FIRST,
    RETRY_KNOWN_MAX,
    RETRY_OTHER_MAX,
    STABLE_AFTER,
    Addresses,
    Candidate,
)

NOW = 1_000_000 * SECOND
BOB = PeerId("b0" * 32)


def addresses(seed: int = 0) -> Addresses:
    return Addresses(Random(seed))


def waits(book: Addresses, candidate: Candidate, failures: int) -> list[int]:
    """How long each of so many failed dials makes us wait, one right after the other."""
    now, found = NOW, []
    for _ in range(failures):
        book.failed(candidate, now)
        found.append(candidate.next_at - now)
        now = candidate.next_at
    return found


@pytest.mark.parametrize("seed", range(20))
def test_an_address_that_answered_lately_is_dialled_again_within_one_to_five_seconds(
    seed: int,
) -> None:
    book = addresses(seed)
    candidate = book.add("10.0.0.2", 1, NOW)
    book.answered(candidate, BOB, NOW)

    found = waits(book, candidate, 12)

    assert all(RETRY_FIRST <= wait <= RETRY_KNOWN_MAX for wait in found)
    assert max(found) > 4 * SECOND


@pytest.mark.parametrize("seed", range(20))
def test_any_other_address_is_dialled_again_within_one_to_thirty_seconds(seed: int) -> None:
    book = addresses(seed)
    candidate = book.add("10.0.0.2", 1, NOW)

    found = waits(book, candidate, 12)

    assert all(RETRY_FIRST <= wait <= RETRY_OTHER_MAX for wait in found)
    assert found[0] < 2 * SECOND
    assert min(found[-3:]) > 20 * SECOND


def test_an_address_that_last_answered_over_an_hour_ago_is_like_any_other() -> None:
    book = addresses()
    candidate = book.add("10.0.0.2", 1, NOW)
    book.answered(candidate, BOB, NOW - 2 * HOUR)

    assert max(waits(book, candidate, 12)) > RETRY_KNOWN_MAX


def test_a_new_address_is_due_at_once_and_not_while_it_is_dialled() -> None:
    book = addresses()
    candidate = book.add("10.0.0.2", 1, NOW)

    assert book.due(NOW) == [candidate]
    candidate.dialling = True
    assert book.due(NOW) == []


def test_ourselves_are_never_due() -> None:
    book = addresses()
    book.add("10.0.0.2", 1, NOW).ourselves = True

    assert book.due(NOW + HOUR) == []


def test_those_that_answered_come_first_then_those_last_heard_of() -> None:
    book = addresses()
    known = book.add("10.0.0.2", 1, NOW - HOUR)
    book.answered(known, BOB, NOW - HOUR)
    first, second = book.add("10.0.0.3", 1, NOW - 2), book.add("10.0.0.4", 1, NOW - 1)

    assert book.due(NOW) == [known, second, first]


def test_an_announcement_shortens_the_wait_to_a_second() -> None:
    book = addresses()
    candidate = book.add("10.0.0.2", 1, NOW)
    waits(book, candidate, 10)

    book.add("10.0.0.2", 1, NOW)

    assert candidate.next_at == NOW + RETRY_FIRST


def test_naming_an_address_makes_it_due_at_once() -> None:
    book = addresses()
    candidate = book.add("10.0.0.2", 1, NOW)
    waits(book, candidate, 10)

    book.add("10.0.0.2", 1, NOW, named=True)

    assert book.due(NOW) == [candidate]


def test_when_a_long_link_is_lost_its_address_is_dialled_within_a_second() -> None:
    book = addresses()
    candidate, other = book.add("10.0.0.2", 1, NOW), book.add("10.0.0.3", 1, NOW)
    for each, peer in ((candidate, BOB), (other, PeerId("ca" * 32))):
        waits(book, each, 3)
        book.answered(each, peer, NOW)

    book.lost(BOB, STABLE_AFTER, NOW)

    assert NOW <= candidate.next_at < NOW + RETRY_FIRST
    assert candidate.failures == 0
    assert other.next_at >= NOW + RETRY_OTHER_MAX


def test_links_that_end_at_once_are_dialled_ever_later() -> None:
    book = addresses()
    candidate = book.add("10.0.0.2", 1, NOW)
    found, now = [], NOW
    for _ in range(6):
        book.answered(candidate, BOB, now)
        book.lost(BOB, SECOND // 100, now)
        found.append(candidate.next_at - now)
        now = candidate.next_at

    assert found[0] < 2 * SECOND
    assert all(wait >= 4 * SECOND for wait in found[3:])


def test_a_changed_network_ends_all_waiting() -> None:
    book = addresses()
    for host in range(5):
        waits(book, book.add("10.0.0.2", host, NOW), 5)

    book.hurry(NOW)

    assert len(book.due(NOW)) == 5


def test_a_flood_of_addresses_leaves_those_that_answered_and_those_that_were_named() -> None:
    book = addresses()
    answered = book.add("10.0.0.2", 1, NOW)
    book.answered(answered, BOB, NOW)
    named = book.add("10.0.0.3", 1, NOW, named=True)

    for port in range(1, 1001):
        book.add("10.9.9.9", port, NOW)
    last = book.add("10.0.0.4", 1, NOW)

    assert len(book.known) == ADDRESSES_MAX
    assert all(one in book.known.values() for one in (answered, named, last))


def test_even_named_addresses_are_bounded() -> None:
    book = addresses()

    for port in range(1, 2 * ADDRESSES_MAX):
        book.add("10.9.9.9", port, NOW, named=True)

    assert len(book.known) == ADDRESSES_MAX
