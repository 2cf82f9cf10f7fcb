"""On slow links: later acknowledgements, requests, answers and second sendings."""

import pytest

from sync.machine import SECOND, Nanos
from sync.sds.channel import Channel
from sync.sds.events import Broadcast, Paced, Rebroadcast
from sync.sds.parameters import LAN
from sync.sds.repair import WINDOW_TRIPS, Window
from sync.sds.timing import ASK_PAUSE, SyncTimer
from tests.support.sync.channels import NOW, advance, channel, hear, message, say

TRIP: Nanos = 8 * SECOND


def paced(name: str, trip: Nanos, seed: int = 0) -> Channel:
    one = channel(name, seed=seed)
    one.handle(Paced(trip), NOW)
    return one


def first_resent(trip: Nanos) -> Nanos:
    alice = paced("alice", trip)
    say(alice, "hello")
    happened = advance(alice, NOW + 100 * SECOND)
    return next(at for at, one in happened if isinstance(one, Rebroadcast)) - NOW


def first_named(trip: Nanos, seed: int) -> Nanos:
    alice = paced("alice", trip, seed)
    hear(alice, message("hello"))
    happened = advance(alice, NOW + 100 * SECOND)
    return next(at for at, one in happened if isinstance(one, Broadcast)) - NOW


def test_a_line_is_sent_again_when_its_acknowledgement_may_have_come() -> None:
    assert first_resent(0) == LAN.resend_after
    assert first_resent(TRIP) >= LAN.resend_after + 3 * TRIP


def test_acknowledgements_are_spread_so_that_one_is_heard_before_the_next() -> None:
    fast = [first_named(0, seed) for seed in range(20)]
    slow = [first_named(TRIP, seed) for seed in range(20)]

    assert max(fast) <= LAN.acknowledge_within[1]
    assert TRIP < max(slow) <= 2 * TRIP


def test_the_window_of_requests_and_answers_grows_with_the_trip() -> None:
    usual, slow = Window.of(LAN, 3), Window.of(LAN, 3, TRIP)

    assert (usual.t_min, usual.t_max) == (LAN.t_min, LAN.t_max)
    assert (slow.t_min, slow.t_max) == (TRIP, WINDOW_TRIPS * TRIP)
    assert slow.lost_after > usual.lost_after


def test_a_window_that_is_long_anyway_stays_as_it_is() -> None:
    assert Window.of(LAN, 3, SECOND) == Window.of(LAN, 3)


@pytest.mark.parametrize("trip", [0, TRIP])
def test_who_has_asked_asks_for_more_a_trip_later(trip: Nanos) -> None:
    alice = paced("alice", trip)
    timer: SyncTimer = alice._timer  # its pause shows in nothing else alone

    timer.asked(NOW)

    assert timer.ask_at(NOW) == NOW + ASK_PAUSE + trip


def test_links_that_are_fast_again_bring_back_the_usual_times() -> None:
    alice = paced("alice", TRIP)
    alice.handle(Paced(0), NOW)
    say(alice, "hello")

    happened = advance(alice, NOW + 100 * SECOND)

    resent = next(at for at, one in happened if isinstance(one, Rebroadcast))
    assert resent == NOW + LAN.resend_after
