"""Dialling of addresses: when, back-off, limits, and which are never forgotten."""

from itertools import pairwise
from random import Random

import pytest

from sync.machine import HOUR, MINUTE, SECOND, PeerId
from sync.net.links.addresses import (
    ADDRESSES_MAX,
    BESIDE_A_LINK,
    DOUBTED_PER_HOST_MAX,
    OURSELVES_AGAIN,
    RETRY_DOUBTED_MAX,
    RETRY_FIRST,
    RETRY_KNOWN_MAX,
    RETRY_OTHER_MAX,
    SILENT_FOR,
    SILENT_FROM,
    STABLE_AFTER,
    Addresses,
    Candidate,
)

NOW = 1_000_000 * SECOND
BOB, EVE = PeerId("b0" * 32), PeerId("e0" * 32)


def addresses(seed: int = 0) -> Addresses:
    return Addresses(Random(seed))


def waits(book: Addresses, candidate: Candidate, failures: int) -> list[int]:
    """Fail `failures` dials in a row and return the wait after each."""
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


def test_where_we_answered_ourselves_is_looked_at_again_later_whatever_is_announced() -> None:
    """Another computer may have that address by then."""
    book = addresses()
    ours = book.add("10.0.0.2", 1, NOW)
    book.led_to_ourselves(ours, NOW)

    book.add("10.0.0.2", 1, NOW + SECOND)
    assert book.due(NOW + OURSELVES_AGAIN - 1) == []
    assert book.due(NOW + OURSELVES_AGAIN) == [ours]
    book.hurry(NOW + SECOND)
    assert book.due(NOW + SECOND) == [ours]


def test_who_answers_where_we_did_before_is_dialled_like_anybody() -> None:
    book = addresses()
    ours = book.add("10.0.0.2", 1, NOW)
    book.led_to_ourselves(ours, NOW)
    book.answered(ours, BOB, NOW + SECOND)

    book.lost(BOB, HOUR, NOW + HOUR)

    assert book.due(NOW + HOUR + RETRY_FIRST) == [ours]


def test_a_claim_is_no_answer_and_each_peer_has_one() -> None:
    book = addresses()
    real = book.add("10.0.0.2", 1, NOW)
    book.answered(real, BOB, NOW)
    named = book.add("10.0.0.9", 9, NOW, named=True)

    for port in range(1, 3 * ADDRESSES_MAX):
        book.claim(EVE, ("10.0.0.9", port), NOW, believed=False)

    claimed = [one for one in book.known.values() if one.claimed_by == EVE]
    assert [(one.port, one.peer, one.answered_at) for one in claimed] == [
        (3 * ADDRESSES_MAX - 1, None, None)
    ]
    assert real in book.known.values()
    assert named.peer is None
    assert real.peer == BOB


@pytest.mark.parametrize("believed", [True, False])
def test_who_claimed_an_address_is_dialled_there_once_the_link_is_lost(*, believed: bool) -> None:
    book = addresses()
    book.claim(BOB, ("10.0.0.2", 1), NOW, believed=believed)
    assert book.due(NOW + BESIDE_A_LINK - 1) == []

    book.lost(BOB, MINUTE, NOW + MINUTE)

    [candidate] = book.due(NOW + MINUTE + RETRY_FIRST)
    assert candidate.port == 1
    assert candidate.doubted is not believed


def test_a_claim_hides_nobody_who_answered_there() -> None:
    book = addresses()
    real = book.add("10.0.0.2", 1, NOW)
    book.answered(real, BOB, NOW)

    book.claim(EVE, ("10.0.0.2", 1), NOW, believed=True)

    assert (real.peer, real.claimed_by) == (BOB, None)


def test_what_was_announced_goes_before_what_is_claimed() -> None:
    book = addresses()
    book.claim(BOB, ("10.0.0.2", 1), NOW, believed=False)

    for number in range(2 * ADDRESSES_MAX):
        book.announce(f"10.1.{number >> 8}.{number & 255}", 1, NOW)

    assert ("10.0.0.2", 1) in book.known


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


# --- What was only announced -------------------------------------------------------------------


def test_of_a_host_that_is_announced_with_many_ports_one_is_dialled_at_a_time() -> None:
    book = addresses()
    for port in range(1, 1001):
        book.announce("10.0.0.9", port, NOW + port)

    [first] = book.due(NOW + SECOND)
    first.dialling = True

    assert first.port == 1000  # a flood is older than who comes after it
    assert book.due(NOW + SECOND) == []
    assert len(book.known) == DOUBTED_PER_HOST_MAX


def test_what_is_announced_again_outlives_a_flood_of_new_ports_of_its_host_and_goes_first() -> None:
    """Two whose hosts were announced with forged ports for eight seconds did not meet any more."""
    book = addresses()
    real = book.announce("10.0.0.9", 46021, NOW)
    for port in range(1, 100):
        book.announce("10.0.0.9", port, NOW + port)
    assert ("10.0.0.9", real.port) not in book.known

    book.announce("10.0.0.9", real.port, NOW + 25 * SECOND, again=True)
    for port in range(100, 200):
        book.announce("10.0.0.9", port, NOW + 25 * SECOND + port)

    [first] = book.due(NOW + MINUTE)
    assert first.port == real.port
    assert len(book.known) == DOUBTED_PER_HOST_MAX


def test_a_host_that_never_answers_is_dialled_ever_later_however_often_it_is_announced() -> None:
    book = addresses()
    count = 0
    now, dialled = NOW, []
    while now < NOW + 2 * HOUR:
        count += 1
        book.announce("10.0.0.9", 1 + count % 60_000, now)
        for candidate in book.due(now):
            dialled.append(now)
            book.failed(candidate, now)
        now += SECOND

    gaps = [after - before for before, after in pairwise(dialled)]
    assert len(dialled) < 30
    assert gaps[:3] < gaps[3:6] < gaps[6:9]
    assert max(gaps) <= RETRY_DOUBTED_MAX + SECOND


def test_forty_programs_that_are_behind_one_address_are_all_found_at_once() -> None:
    book = addresses()
    found = set()
    for port in range(1, 41):
        book.announce("10.0.0.2", port, NOW + port)
        while ready := book.due(NOW + port):
            for candidate in ready:
                book.answered(candidate, PeerId(f"{candidate.port:064x}"), NOW + port)
                found.add(candidate.port)

    assert found == set(range(1, 41))


def test_who_is_really_there_is_found_among_forged_ports() -> None:
    book = addresses()
    for port in range(1, 6):
        book.announce("10.0.0.2", port, NOW)
    book.announce("10.0.0.2", 46021, NOW)

    dialled = set()
    for now in range(NOW, NOW + MINUTE, SECOND):
        for candidate in book.due(now):
            dialled.add(candidate.port)
            book.failed(candidate, now)

    assert 46021 in dialled


def test_once_one_of_ours_answers_at_a_host_what_else_is_announced_there_is_dialled_at_once() -> (
    None
):
    book = addresses()
    for port in (1, 2, 3):
        book.announce("10.0.0.2", port, NOW)
    for _ in range(5):
        book.failed(book.announce("10.0.0.2", 1, NOW), NOW)
    assert book.due(NOW) == []

    book.answered(book.announce("10.0.0.2", 2, NOW), BOB, NOW)

    assert [one.port for one in book.due(NOW)] == [3]


def test_what_is_remembered_or_named_or_has_answered_is_in_no_doubt() -> None:
    book = addresses()
    remembered = book.add("10.0.0.9", 1, NOW)
    named = book.announce("10.0.0.9", 2, NOW)
    book.add("10.0.0.9", 2, NOW, named=True)
    answered = book.announce("10.0.0.9", 3, NOW)
    book.answered(answered, BOB, NOW)
    book.failed(answered, NOW)
    for port in range(10, 20):
        book.failed(book.announce("10.0.0.9", port, NOW), NOW)

    assert {one.port for one in book.due(NOW)} == {remembered.port, named.port}
    assert book.announce("10.0.0.9", 3, NOW).next_at <= NOW + RETRY_FIRST


def test_the_doubts_about_hosts_are_bounded_and_end_with_the_network() -> None:
    book = addresses()
    for number in range(3 * ADDRESSES_MAX):
        candidate = book.announce(f"10.0.{number // 250}.{number % 250}", 1, NOW)
        book.failed(candidate, NOW)

    assert len(book._doubts) <= ADDRESSES_MAX
    book.hurry(NOW)
    assert len(book.due(NOW)) == ADDRESSES_MAX


def test_an_address_where_another_program_is_announced_may_be_anothers() -> None:
    book = addresses()
    candidate = book.announce("10.0.0.2", 1, NOW, "bobs")
    book.answered(candidate, BOB, NOW)

    book.announce("10.0.0.2", 1, NOW + HOUR, "bobs")
    same = candidate.renewed
    book.announce("10.0.0.2", 1, NOW + HOUR, "eves")

    assert (same, candidate.renewed) == (False, True)


def test_an_address_that_was_claimed_may_be_anothers_too() -> None:
    book = addresses()
    book.claim(BOB, ("10.0.0.2", 1), NOW, believed=True)

    candidate = book.announce("10.0.0.2", 1, NOW + HOUR, "eves")

    assert candidate.claimed_by == BOB
    assert candidate.renewed


def test_names_that_change_all_the_time_cost_a_dial_in_half_a_minute() -> None:
    book = addresses()
    candidate = book.announce("10.0.0.2", 1, NOW, "bobs")
    dials = 0
    for number in range(1_000):
        now = NOW + number * SECOND // 10
        book.announce("10.0.0.2", 1, now, f"forged {number}")
        if number == 0 or (candidate.renewed and candidate in book.due(now)):
            dials += 1
            book.answered(candidate, BOB, now)

    assert dials == 1 + 100 * SECOND // BESIDE_A_LINK


def test_another_program_that_does_not_answer_is_dialled_ever_later() -> None:
    book = addresses()
    candidate = book.announce("10.0.0.2", 1, NOW, "bobs")
    book.answered(candidate, BOB, NOW)
    now = NOW + BESIDE_A_LINK
    book.announce("10.0.0.2", 1, now, "eves")

    for _ in range(10):
        book.failed(candidate, now)

    assert candidate.next_at - now > RETRY_KNOWN_MAX


def test_who_is_announced_and_takes_no_connection_is_told_for_a_while() -> None:
    book = addresses()
    remembered = book.add("10.0.0.2", 1, NOW)
    announced, ours, theirs = [book.announce(f"10.0.0.{one}", 1, NOW) for one in (3, 4, 5)]
    waits(book, announced, SILENT_FROM - 1)
    early = book.silent(NOW)
    for one in (remembered, announced, theirs):
        waits(book, one, SILENT_FROM)
    book.led_to_ourselves(ours, NOW)
    book.answered(theirs, BOB, NOW)
    waits(book, theirs, SILENT_FROM)

    assert early == []
    assert book.silent(NOW) == [announced]
    assert book.silent(NOW + SILENT_FOR) == []


def test_whoever_dials_us_from_where_they_are_announced_is_not_told_of() -> None:
    book = addresses()
    waits(book, book.announce("10.0.0.3", 1, NOW), SILENT_FROM)

    book.claim(BOB, ("10.0.0.3", 1), NOW, believed=True)

    assert book.silent(NOW) == []
