"""Searches: whom a channel that misses lines asks, in which order, and how often."""

import random
from itertools import pairwise

from sync.machine import HOUR, MINUTE, SECOND, Nanos, PeerId, Tick
from sync.manager.registry import WAKU_ONLY
from sync.manager.schedule import Manager
from sync.manager.searching import NAMES_PAUSE_MAX, STEP_FIRST
from sync.manager.seeking import ASKING_MAX, LACKING_AFTER
from sync.manager.values import (
    Ended,
    Joined,
    LackingNow,
    Left,
)
from sync.manager.wishes import MISSING
from sync.sessions.values import Outcome
from tests.support.sync.alone.managers import (
    BELOW,
    LOBBY,
    ME,
    NOW,
    PEERS,
    due,
    manager,
    soon,
    starts,
    whom,
)


def test_what_is_missing_is_given_time_to_come_by_itself() -> None:
    made = manager(PEERS[0])

    at_once = made.handle(LackingNow(LOBBY, 1, (PEERS[0],)), NOW)
    [(at, start)] = starts(made, NOW + 60 * SECOND)

    assert at_once == []
    assert at == NOW + LACKING_AFTER
    assert (start.peer, start.protocol, start.why) == (PEERS[0], "waku", MISSING)


def test_what_came_by_itself_needs_no_session() -> None:
    made = manager(PEERS[0])
    made.handle(LackingNow(LOBBY, 1, (PEERS[0],)), NOW)

    made.handle(LackingNow(LOBBY, 0, (PEERS[0],)), NOW + SECOND)

    assert soon(made) is None


def test_one_peer_at_a_time_is_asked_for_what_is_missing() -> None:
    made = manager(*PEERS)

    for count in range(1, 50):
        made.handle(LackingNow(LOBBY, count, tuple(PEERS)), NOW + count)

    assert len(starts(made, NOW + 60 * SECOND)) == 1


def searched(made: Manager, until: Nanos, *, names: int = 1) -> list[tuple[Nanos, PeerId]]:
    """Let every session find nothing, and `names` more be missing each minute, up to `until`."""
    asked, missing, told = [], names, NOW
    while (at := made.deadline()) is not None and at <= until:
        while told <= at:
            missing += names - 1
            made.handle(LackingNow(LOBBY, missing, tuple(PEERS)), told)
            told += MINUTE
        for start in made.handle(Tick(), at):
            made.handle(Ended(LOBBY, start.peer, Outcome.CONVERGED), at)
            asked += [(at, start.peer)] if start.why == MISSING else []
    return asked


def test_for_what_nobody_has_everybody_is_asked_once_and_then_ever_later() -> None:
    made = manager(*PEERS)
    made.handle(LackingNow(LOBBY, 1, tuple(PEERS)), NOW)

    asked = searched(made, NOW + 4 * HOUR)

    rounds = [asked[at : at + len(PEERS)] for at in range(0, len(asked), len(PEERS))]
    began = [first[0][0] - NOW for first in rounds]
    assert all({peer for _, peer in one} == {*PEERS} for one in rounds[:-1])
    assert [later - at for (at, _), (later, _) in pairwise(rounds[0])][:2] == [STEP_FIRST] * 2
    assert began[0] == LACKING_AFTER
    pauses = [later - earlier for earlier, later in pairwise(began)]
    assert all(later > pause for pause, later in pairwise(pauses[:6]))
    assert pauses[5] > 10 * pauses[0]
    assert len(asked) < 10 * len(PEERS)


def test_names_that_are_invented_all_the_time_begin_a_round_every_five_minutes_at_most() -> None:
    made = manager(*PEERS)
    made.handle(LackingNow(LOBBY, 1, tuple(PEERS)), NOW)

    asked = searched(made, NOW + HOUR, names=50)

    assert len(asked) <= (HOUR // NAMES_PAUSE_MAX + 3) * len(PEERS)
    assert len(asked) >= HOUR // NAMES_PAUSE_MAX // 2 * len(PEERS), "an honest gap is not forgotten"


def test_a_session_that_brought_something_and_a_new_peer_are_news() -> None:
    peers = PEERS[:3]
    made = manager(*peers)
    made.handle(LackingNow(LOBBY, 1, tuple(peers)), NOW)
    asked = searched(made, NOW + 30 * SECOND)
    waits = soon(made)
    late = made.handle(Joined(LOBBY, BELOW), NOW + 30 * SECOND)
    made.handle(LackingNow(LOBBY, 1, (*peers, BELOW)), NOW + 30 * SECOND)
    [(at, first)] = starts(made, NOW + 40 * SECOND)

    made.handle(Ended(LOBBY, BELOW, Outcome.CONVERGED, got=3), at)
    [(again, second)] = starts(made, at + STEP_FIRST)

    assert len(asked) == 3
    assert waits is not None
    assert waits > NOW + MINUTE
    assert (late, first.peer, first.why) == ([], BELOW, MISSING)
    assert (again, second.why) == (at + STEP_FIRST, MISSING)


def test_who_brings_a_line_in_each_session_begins_no_round_each_time() -> None:
    """Lines cost little more than names, as long as nobody else has them."""
    made = manager(*PEERS)
    made.handle(LackingNow(LOBBY, 1, tuple(PEERS)), NOW)
    asked: list[PeerId] = []

    while (at := due(made)) < NOW + HOUR:
        for start in made.handle(Tick(), at):
            got = int(start.peer == PEERS[0])
            made.handle(Ended(LOBBY, start.peer, Outcome.CONVERGED, got=got), at)
            asked += [start.peer] if start.why == MISSING else []

    assert len(asked) <= (2 * HOUR // NAMES_PAUSE_MAX + 1) * len(PEERS), "two rounds in that time"


def test_a_session_that_never_ends_keeps_nobody_from_being_asked() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)  # it trickles, for minutes
    made.handle(Joined(LOBBY, BELOW), NOW)
    made.handle(LackingNow(LOBBY, 1, (PEERS[0], BELOW)), NOW)

    asked = starts(made, NOW + ASKING_MAX + SECOND)

    assert [(start.peer, start.why) for _, start in asked] == [(BELOW, MISSING)]


def test_who_begins_one_session_after_the_other_keeps_nobody_from_being_asked() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Joined(LOBBY, BELOW), NOW)
    made.handle(LackingNow(LOBBY, 1, (PEERS[0], BELOW)), NOW)
    asked: list[PeerId] = []

    for turn in range(20):
        now = NOW + turn * SECOND
        asked += whom(made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED, got=1), now))
        asked += whom([start for _, start in starts(made, now + SECOND - 1)])

    assert BELOW in asked


def test_who_names_and_sends_by_turns_begins_no_round_each_time() -> None:
    made = manager(*PEERS)
    begun: list[PeerId] = []

    for turn in range(600):
        now = NOW + turn * SECOND
        made.handle(LackingNow(LOBBY, turn % 4 // 2, tuple(PEERS)), now)
        for at, start in starts(made, now):
            made.handle(Ended(LOBBY, start.peer, Outcome.CONVERGED), at)
            begun.append(start.peer)

    assert len(begun) <= 5 * len(PEERS)


def test_what_is_missing_after_a_long_peace_is_looked_for_at_once() -> None:
    made = manager(*PEERS)
    made.handle(LackingNow(LOBBY, 1, tuple(PEERS)), NOW)
    searched(made, NOW + 20 * MINUTE)
    made.handle(LackingNow(LOBBY, 0, tuple(PEERS)), NOW + 20 * MINUTE)
    later = NOW + HOUR
    while (at := due(made)) < later:
        for start in made.handle(Tick(), at):
            made.handle(Ended(LOBBY, start.peer, Outcome.CONVERGED), at)

    made.handle(LackingNow(LOBBY, 1, tuple(PEERS)), later)

    assert [start.why for _, start in starts(made, later + LACKING_AFTER)] == [MISSING]


def test_a_peer_that_came_and_went_is_remembered_nowhere() -> None:
    made = manager(PEERS[0])
    for number in range(500):
        peer = PeerId(f"{number:064x}")
        now = NOW + number * SECOND
        made.handle(Joined(LOBBY, peer), now)
        made.handle(LackingNow(LOBBY, 1 + number % 2, (peer, PEERS[0])), now)
        for start in made.handle(Tick(), max(now, due(made))):
            made.handle(Ended(LOBBY, start.peer, Outcome.CONVERGED), now)
        made.handle(Left(LOBBY, peer), now)

    assert made.sizes() == {"sessions wished for": 0, "peers asked": 1, "searches": 1}
    made.handle(Left(LOBBY, PEERS[0]), NOW + HOUR)
    assert made.sizes() == {"sessions wished for": 0, "peers asked": 0, "searches": 0}


def test_a_failing_peer_does_not_keep_us_from_asking_another() -> None:
    made = manager(*PEERS[1:])
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    now = NOW
    for _ in range(6):
        made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), now)
        [(now, _)] = starts(made, due(made))
    made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), now)

    made.handle(LackingNow(LOBBY, 1, tuple(PEERS[1:])), now)

    assert [at - now for at, _ in starts(made, now + 10 * SECOND)] == [LACKING_AFTER]
