"""Ids that a peer claims to have: one budget for all sessions, and gone with their session."""

import gc
from collections.abc import Iterator
from functools import cache
from itertools import count

import pytest

from sync.group import values
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos, PeerId
from sync.sessions.claims import CLAIMS_BYTES_MAX, CLAIMS_LEAST
from sync.sessions.grace import GRACE, LATE_MAX
from sync.sessions.table import COMPARED_MAX, SHOWN_MAX
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, OrderedSet, SyncId
from sync.waku import reconcile
from sync.waku.message import (
    EVERYTHING,
    RECONCILIATION,
    Bounds,
    Fingerprint,
    ItemSet,
    Ranges,
    shard,
)
from sync.waku.reconcile import NEED_MAX
from sync.waku.wire import decode_ranges
from tests.support.sync.entries import CHANNEL
from tests.support.sync.groups import NOW, Member, only
from tests.support.sync.waku.attacked import STREAM, attacked, check_unharmed, offer, ranges, tell


def invented(size: int) -> Iterator[bytes]:
    """Payloads of so many ids each that nobody has, never the same, with something left open."""
    for first in count(1, size):
        yield of_invented(first, size)


@cache
def of_invented(first: int, size: int) -> bytes:
    """One of them; many sessions claim the same."""
    items = tuple([SyncId(at, at.to_bytes(32)) for at in range(first, first + size)])
    middle = SyncId(first + size, ZERO_HASH)
    return ranges(
        ItemSet(Bounds(ORIGIN, middle), items, reconciled=True),
        Fingerprint(Bounds(middle, EVERYTHING.upper), b"\1" * 32),
    )


@pytest.mark.slow
def test_half_a_million_invented_ids_are_too_many_and_are_not_kept() -> None:
    honest, both = attacked()
    offer(honest, both)
    payloads = invented(size=25_000)

    end: list[values.SessionEnded] = []
    while not end:
        end = only(values.SessionEnded, tell(honest, values.SessionPayload(STREAM, next(payloads))))

    assert end[0].result == "refused: a reconciliation payload came while finished"
    assert not end[0].converged
    assert end[0].need <= NEED_MAX
    assert kept(honest) == 0
    check_unharmed(honest, both)


def claim(
    honest: Member, number: int, payloads: int, now: Nanos = NOW
) -> tuple[PeerId, list[values.SessionEnded]]:
    """Have somebody new claim ids, in so many payloads or until the session is over."""
    peer = PeerId(f"{number:064x}")
    honest.join(peer)
    honest.tell(values.SessionOffered(STREAM + number, peer, RECONCILIATION), now)
    claims = invented(size=16_000)
    for _ in range(payloads):
        effects = honest.tell(values.SessionPayload(STREAM + number, next(claims)), now)
        if over := only(values.SessionEnded, effects):
            return peer, over
        if honest.group.sessions.by_peer[peer].settled:
            break
    return peer, []


@pytest.mark.slow
def test_the_claims_of_all_sessions_have_one_budget_and_leave_room_for_an_honest_one() -> None:
    honest, both = attacked()
    for number in range(100):
        both.other.write(f"more {number}")
    sessions = honest.group.sessions
    most = 0
    for number in range(12):
        peer, over = claim(honest, number, payloads=10)
        most = max(most, sum(sessions.claimed))
        assert not any(end.converged for end in over)
        first = sessions.by_peer[peer].transfer.lacking if number == 0 else 0
        assert not first or first >= 100_000  # what one may take is enough for a long history

    assert most <= CLAIMS_BYTES_MAX + 12 * CLAIMS_LEAST
    for minutes in range(1, 10):
        both.ended.clear()
        now = NOW + minutes * MINUTE
        honest.advance(now)
        both.start(honest)
        both.run(now)
        if all(end.converged for end in both.ended):
            break
    assert {end.converged for end in both.ended} == {True}
    assert both.one.shown() == both.other.shown()


def without_a_leader() -> tuple[Member, Nanos]:
    """The member under attack, and a time at which nobody leads: two who did only stalled."""
    honest, both = attacked()
    honest.tell(values.PeerGone(both.other.peer_id))
    for number, now in ((-1, NOW), (-2, NOW + 6 * SECOND)):
        honest.advance(now)
        honest.tell(values.SessionOffered(number, PeerId(f"leader {number}"), RECONCILIATION), now)
        honest.tell(values.SessionPayload(number, one_id()), now)
    later = NOW + 12 * SECOND
    honest.advance(later)
    return honest, later


@pytest.mark.slow
def test_who_claims_in_one_session_after_another_and_sends_nothing_gives_way() -> None:
    honest, begin = without_a_leader()
    sessions = honest.group.sessions
    taken, over = [], []
    for number in range(40):
        now = begin + number * SECOND // 4
        honest.advance(now)
        over += claim(honest, number, payloads=1 + number % 3, now=now)[1]
        taken.append(sum(sessions.claimed))
    friend, ended = claim(honest, 40, payloads=1, now=begin + 10 * SECOND)

    assert CLAIMS_BYTES_MAX // 2 < max(taken) <= CLAIMS_BYTES_MAX + 5 * CLAIMS_LEAST  # of a second
    assert friend not in {end.peer for end in ended}
    assert sessions.by_peer[friend].transfer.lacking == 16_000, "there is room for who comes now"
    assert not any(end.converged for end in over)


def test_of_sessions_that_wait_for_a_little_there_are_so_many_and_no_more() -> None:
    honest, begin = without_a_leader()
    sessions = honest.group.sessions
    for number in range(3 * COMPARED_MAX):
        now = begin + number * MILLISECOND
        honest.tell(values.SessionOffered(number, PeerId(f"{number:064x}"), RECONCILIATION), now)
        honest.tell(values.SessionPayload(number, one_id()), now)
    newest = [PeerId(f"{number:064x}") for number in range(2 * COMPARED_MAX, 3 * COMPARED_MAX)]

    assert list(sessions.by_peer) == newest
    assert len(sessions.claimed) <= COMPARED_MAX + LATE_MAX


def one_id() -> bytes:
    """A payload that says all there is is one message, which nobody has."""
    whole = Bounds(ORIGIN, EVERYTHING.upper)
    return ranges(ItemSet(whole, (SyncId(1, b"\1" * 32),), reconciled=True))


def claimed_ids() -> int:
    """Ids in payloads that are still held."""
    return sum([len(one.id_timestamps) for one in gc.get_objects() if type(one) is Ranges])


def test_what_is_not_answered_to_its_end_is_gone_with_its_session() -> None:
    gc.collect()
    gc.disable()  # a collection comes when there are many objects, and not when they are large
    try:
        before = claimed_ids()
        machine = reconcile.Reconciliation(
            reconcile.Role.RESPONDER, OrderedSet(), (shard(CHANNEL),), NOW
        )
        received = decode_ranges(next(invented(size=16_000)))
        effects = machine.handle(reconcile.PayloadReceived(received), NOW)
        held = claimed_ids()
        del machine, received
        after = claimed_ids()
    finally:
        gc.enable()

    assert effects == [reconcile.Continue()]
    assert held - before >= 16_000
    assert after == before


@pytest.mark.slow
def test_ids_claimed_by_one_session_after_another_are_not_piled_up() -> None:
    honest, both = attacked()
    payloads = invented(size=5_000)

    for number in range(2 * SHOWN_MAX):
        tell(honest, values.SessionOffered(STREAM + number, both.other.peer_id, RECONCILIATION))
        tell(honest, values.SessionPayload(STREAM + number, next(payloads)))
        assert kept_now(honest) <= 5_000
    tell(honest, values.SessionClosed(STREAM + 2 * SHOWN_MAX - 1))

    check_unharmed(honest, both)


def kept_now(honest: Member) -> int:
    """Ids that sessions which are over still hold."""
    return sum(
        len(shown.transfer.found.all) + len(shown.lacked) for shown in honest.group.sessions.shown
    )


def kept(honest: Member) -> int:
    """The same, once the grace is over."""
    honest.advance(NOW + 2 * GRACE)
    return kept_now(honest)
