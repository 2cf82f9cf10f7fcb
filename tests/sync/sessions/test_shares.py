"""Sharing out what is missing: the leader, the shares, and peers that only cause delay."""

from itertools import pairwise

import pytest

from sync.check import check
from sync.machine import SECOND, Nanos, PeerId
from sync.sessions import receiving
from sync.sessions.protocol import Finished
from sync.sessions.session import STALLED_AFTER, Session
from sync.sessions.shares import (
    FAILURES_MAX,
    FINDS_WITHIN,
    PAGE_WITHIN,
    PLAIN_FOR,
    SHARE_MIN,
    SHARE_WITHIN,
    Shares,
)
from sync.sessions.values import PAGE, SessionKey
from sync.waku.session import WAKU_SYNC
from tests.support.sync.entries import CHANNEL
from tests.support.sync.waku.sets import numbered

NOW: Nanos = 1_000 * SECOND
MANY = [numbered(number) for number in range(10 * PAGE)]
DONE = Finished("reconciled", 3, checked=True)
EQUAL = check.CheckFinished(check.Result.EQUAL, 0, 0, 0, 0, 0, "")
LONG: Nanos = 1_000 * SECOND
"""Later, when the leader has proved to be slow."""
BOB, CAROL, DAVE = (PeerId(name * 64) for name in "bcd")


def session(peer: PeerId, now: Nanos = NOW) -> Session:
    one = Session(1, SessionKey(CHANNEL, peer), WAKU_SYNC, "test", now, now)
    one.moved_at = now
    return one


def led(then: int = -2 * PAGE) -> tuple[Shares, Session]:
    """Bob's session leads, has found all of `MANY`, and brought the newest page and one more.

    `then` says which one: the first of the page before, or of all.
    """
    shares, leader = Shares(), session(BOB)
    assert shares.admits(leader, NOW)
    leader.transfer.handle(receiving.Wanted(tuple(MANY)), NOW)
    leader.exchanged, leader.need = DONE, len(MANY)
    shares.found(leader, NOW)
    come(shares, leader, len(MANY) - PAGE, len(MANY))
    assert shares.idle({CAROL}, set(), NOW + LONG) == (), "whoever knows no order gives no share"
    come(shares, leader, *slice(then, then + 1).indices(len(MANY))[:2])
    return shares, leader


def come(shares: Shares, leader: Session, first: int, last: int) -> None:
    """So many of them are here, by whatever way."""
    for one in MANY[first:last]:
        leader.transfer.handle(receiving.Here(one), NOW)
        shares.came(one)


def test_while_one_session_leads_others_that_find_a_difference_are_put_off() -> None:
    shares, leader = led()

    assert shares.admits(leader, NOW)
    assert not shares.admits(session(CAROL), NOW)
    shares.ended(leader)
    assert not shares.busy
    assert shares.finished() == (CAROL,)


def test_shares_are_the_oldest_first_and_never_of_the_page_the_leader_brings() -> None:
    shares, _ = led()
    windows = []
    while (window := shares.window(CAROL, 3, NOW + LONG)) is not None:
        windows.append(window)

    assert windows[0].lower.timestamp == MANY[0].timestamp
    assert all(later.lower >= earlier.upper for earlier, later in pairwise(windows))
    assert windows[-1].upper <= MANY[-2 * PAGE]
    assert windows[-1].upper > MANY[-2 * PAGE - SHARE_MIN]


def test_of_a_leader_that_goes_on_with_the_oldest_others_bring_the_newest() -> None:
    shares, leader = led(then=0)
    windows = []
    while (window := shares.window(CAROL, 3, NOW + LONG)) is not None:
        windows.append(window)

    assert windows[0].upper.timestamp == MANY[-PAGE - 1].timestamp + 1
    assert all(later.upper <= earlier.lower for earlier, later in pairwise(windows))
    assert windows[-1].lower > MANY[PAGE - 1]
    assert windows[-1].lower < MANY[PAGE + SHARE_MIN]
    assert not shares.met

    shares.paged(NOW)
    come(shares, leader, 0, PAGE - 1)
    assert not shares.paged(NOW), "the page is not whole"
    come(shares, leader, PAGE - 1, PAGE + SHARE_MIN)
    assert shares.paged(NOW)
    assert shares.met


def test_such_a_leader_goes_on_alone_to_the_end() -> None:
    shares, leader = led(then=0)

    for page in range(9):
        come(shares, leader, page * PAGE, (page + 1) * PAGE)
        assert shares.paged(NOW)
        assert not shares.met
    assert shares.idle({CAROL}, set(), NOW + LONG) == ()


def test_what_the_leader_brings_soon_by_itself_is_asked_of_nobody_else() -> None:
    shares, leader = led()
    come(shares, leader, len(MANY) - PAGE, len(MANY))

    assert shares.idle({CAROL}, set(), NOW + SECOND // 10) == ()
    assert shares.idle({CAROL}, set(), NOW + SECOND) == (CAROL,)


def test_a_leader_goes_on_only_with_what_nobody_else_brings() -> None:
    shares, leader = led()
    while shares.window(CAROL, 1, NOW + LONG) is not None:
        pass
    assert not shares.met

    come(shares, leader, len(MANY) - 2 * PAGE, len(MANY))

    assert shares.paged(NOW)
    assert shares.met


def test_a_leader_alone_goes_on_to_the_end() -> None:
    shares, leader = led()

    for page in range(9, 0, -1):
        come(shares, leader, page * PAGE, (page + 1) * PAGE)
        assert not shares.met


def test_what_one_does_not_bring_is_asked_of_another() -> None:
    shares, leader = led()
    leader.moved_at = NOW + SECOND
    lost = shares.window(CAROL, 2, NOW + LONG)
    failed = session(CAROL)

    assert shares.stalled({CAROL: failed}, NOW + STALLED_AFTER - 1) == []
    assert shares.stalled({CAROL: failed}, NOW + STALLED_AFTER) == [failed]
    shares.ended(failed)

    assert shares.idle({BOB, CAROL, DAVE}, {BOB}, NOW + LONG) == (DAVE,)
    assert shares.window(DAVE, 2, NOW + LONG) == lost


def test_who_proves_not_to_have_it_either_is_no_liar_and_nobody_else_is_asked() -> None:
    shares, _ = led()
    lacked = shares.window(CAROL, 2, NOW + LONG)
    honest = session(CAROL)
    honest.checked = EQUAL

    shares.ended(honest)

    assert shares.window(CAROL, 2, NOW + LONG) not in {lacked, None}


def test_a_peer_that_never_has_a_place_is_not_asked_for_ever() -> None:
    shares, _ = led()
    for _ in range(FAILURES_MAX):
        assert shares.idle({CAROL}, set(), NOW + LONG) == (CAROL,)
        assert shares.window(CAROL, 2, NOW + LONG) is not None
        shares.ended(session(CAROL))

    assert shares.idle({CAROL}, set(), NOW + LONG) == ()
    assert shares.window(CAROL, 2, NOW + LONG) is None


def test_a_share_that_trickles_is_asked_elsewhere_in_a_minute() -> None:
    shares, _ = led()
    shares.window(CAROL, 2, NOW + LONG)
    slow = session(CAROL)
    slow.moved_at = NOW + SHARE_WITHIN - SECOND

    assert shares.stalled({CAROL: slow}, NOW + SHARE_WITHIN) == [slow]


def test_a_leader_that_finds_nothing_keeps_others_waiting_for_seconds_only() -> None:
    shares, silent = Shares(), session(BOB)
    assert shares.admits(silent, NOW)

    assert shares.deadline({}) == NOW + STALLED_AFTER
    shares.stalled({}, NOW + STALLED_AFTER)

    assert not shares.busy
    assert shares.admits(session(CAROL), NOW + STALLED_AFTER)


def test_a_leader_that_trickles_ceases_to_lead() -> None:
    shares, finding = Shares(), session(BOB)
    shares.admits(finding, NOW)
    finding.moved_at = NOW + FINDS_WITHIN - SECOND
    assert shares.deadline({}) == NOW + FINDS_WITHIN

    shares, bringing = led()
    bringing.moved_at = NOW + PAGE_WITHIN - SECOND
    assert shares.deadline({}) == NOW + PAGE_WITHIN


def test_many_who_keep_others_waiting_delay_them_twice_at_most() -> None:
    shares, now = Shares(), NOW
    for peer in (BOB, CAROL):
        assert shares.admits(session(peer, now), now)
        now += STALLED_AFTER
        shares.stalled({}, now)

    assert shares.admits(session(DAVE, now), now)
    assert not shares.busy
    assert shares.admits(session(DAVE, now), now + PLAIN_FOR)
    assert shares.busy


@pytest.mark.parametrize("then", [0, -2 * PAGE])
def test_of_equal_timestamps_all_are_in_one_share(then: int) -> None:
    shares, leader = Shares(), session(BOB)
    same = sorted(one._replace(timestamp=5) for one in MANY)
    shares.admits(leader, NOW)
    leader.transfer.handle(receiving.Wanted(tuple(same)), NOW)
    leader.exchanged = DONE
    shares.found(leader, NOW)
    for one in (*same[-PAGE:], same[then]):
        shares.came(one)

    window = shares.window(CAROL, 3, NOW + LONG)

    assert window is not None
    assert (window.lower.timestamp, window.upper.timestamp) == (5, 6)
    assert shares.window(DAVE, 3, NOW + LONG) is None
