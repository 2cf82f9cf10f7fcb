"""Who reconciles with whom, when, and why."""

import random
from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager import (
    AGAIN_AFTER,
    ASKED,
    CUT_SHORT,
    LACKING_AFTER,
    MISSING,
    NEW_LINK,
    PERIOD,
    REGULAR,
    REGULAR_WHOLE,
    RETRY_FIRST,
    RETRY_MAX,
    SESSIONS_MAX,
    SPAN,
    Asked,
    Ended,
    Joined,
    LackingNow,
    Left,
    Manager,
    Rebuilt,
    Start,
)

NOW: Nanos = 1_763_700_000 * SECOND
LOBBY = ChannelId("c0" * 16)
ME = PeerId("50" * 32)
BELOW = PeerId("10" * 32)
PEERS = [PeerId(f"{number:02x}" * 32) for number in range(0x60, 0x70)]


def manager(*joined: PeerId) -> Manager:
    """A manager whose sessions with `joined` are over."""
    made = Manager(ME, random.Random(0))
    for peer in joined:
        made.handle(Joined(LOBBY, peer), NOW)
        made.handle(Ended(LOBBY, peer, converged=True), NOW)
    return made


def due(made: Manager) -> Nanos:
    deadline = made.deadline()
    assert deadline is not None
    return deadline


def starts(made: Manager, until: Nanos) -> list[tuple[Nanos, Start]]:
    """Tick at every deadline up to `until`."""
    started: list[tuple[Nanos, Start]] = []
    while (at := made.deadline()) is not None and at <= until:
        started += [(at, start) for start in made.handle(Tick(), at)]
    return started


def soon(made: Manager) -> Nanos | None:
    """When the next session is due that does not come by itself."""
    due = made.deadline()
    return None if due is None or due >= NOW + 4 * MINUTE else due


def whom(started: Sequence[Start]) -> list[PeerId]:
    return [start.peer for start in started]


def test_another_link_to_a_peer_is_reconciled_over_too() -> None:
    made = manager(PEERS[0])

    at_once = made.handle(Joined(LOBBY, PEERS[0]), NOW)
    later = starts(made, NOW + AGAIN_AFTER)

    assert at_once == []
    assert [(at, start.peer, start.why) for at, start in later] == [
        (NOW + AGAIN_AFTER, PEERS[0], NEW_LINK)
    ]


def test_on_a_new_link_the_smaller_key_begins() -> None:
    made = Manager(ME, random.Random(0))

    with_larger = made.handle(Joined(LOBBY, PEERS[0]), NOW)
    with_smaller = made.handle(Joined(LOBBY, BELOW), NOW)

    assert with_larger == [Start(LOBBY, PEERS[0], "waku", NEW_LINK)]
    assert with_smaller == []


def test_no_more_sessions_run_at_once_than_the_limit() -> None:
    made = Manager(ME, random.Random(0))

    begun = [start for peer in PEERS for start in made.handle(Joined(LOBBY, peer), NOW)]
    full = soon(made)
    freed = made.handle(Ended(LOBBY, PEERS[0], converged=True), NOW)

    assert whom(begun) == PEERS[:SESSIONS_MAX]
    assert full is None
    assert whom(freed) == [PEERS[SESSIONS_MAX]]
    assert made.running == SESSIONS_MAX


def test_a_session_that_failed_is_tried_again_ever_later() -> None:
    made = Manager(ME, random.Random(0))
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    now, waits = NOW, []

    for _ in range(8):
        made.handle(Ended(LOBBY, PEERS[0], converged=False), now)
        [(at, start)] = starts(made, now + RETRY_MAX)
        waits.append((at - now) // SECOND)
        now = at
        assert start.why == NEW_LINK

    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]
    assert RETRY_FIRST == 2 * SECOND


def test_a_session_that_converged_is_not_repeated() -> None:
    made = manager(PEERS[0])

    assert soon(made) is None


def test_what_is_missing_is_given_time_to_come_by_itself() -> None:
    made = manager(PEERS[0])

    at_once = made.handle(LackingNow(LOBBY, 1, (PEERS[0],)), NOW)
    later = starts(made, NOW + 60 * SECOND)

    assert at_once == []
    assert later == [(NOW + LACKING_AFTER, Start(LOBBY, PEERS[0], "waku", MISSING))]


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


def test_while_something_is_missing_everybody_is_asked_once_and_then_ever_later() -> None:
    peers = PEERS[:3]
    made = manager(*peers)
    made.handle(LackingNow(LOBBY, 1, tuple(peers)), NOW)
    [(now, start)] = starts(made, NOW + LACKING_AFTER)
    asked, waits = [start.peer], []

    for converged in (True, False, True, False, True, False):
        made.handle(Ended(LOBBY, start.peer, converged=converged), now)
        [(at, start)] = starts(made, now + RETRY_MAX)
        waits.append((at - now) // SECOND)
        asked.append(start.peer)
        now = at

    assert set(asked[:3]) == set(peers)
    assert waits[:2] == [2, 2]
    assert waits[2] > 2
    assert max(waits) <= RETRY_MAX // SECOND


def test_a_failing_peer_does_not_keep_us_from_asking_another() -> None:
    made = manager(*PEERS[1:])
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    now = NOW
    for _ in range(6):
        made.handle(Ended(LOBBY, PEERS[0], converged=False), now)
        [(now, _)] = starts(made, due(made))
    made.handle(Ended(LOBBY, PEERS[0], converged=False), now)

    made.handle(LackingNow(LOBBY, 1, tuple(PEERS[1:])), now)

    assert [at - now for at, _ in starts(made, now + 10 * SECOND)] == [LACKING_AFTER]


def test_a_session_of_the_peer_that_converged_is_as_good_as_ours() -> None:
    made = manager(PEERS[0])
    made.handle(LackingNow(LOBBY, 1, (PEERS[0],)), NOW)
    made.handle(LackingNow(LOBBY, 0, (PEERS[0],)), NOW)
    made.handle(Joined(LOBBY, PEERS[1]), NOW)
    made.handle(Ended(LOBBY, PEERS[1], converged=False), NOW)

    made.handle(Ended(LOBBY, PEERS[1], converged=True), NOW + SECOND)

    assert soon(made) is None


def test_a_session_of_the_peer_that_was_cut_short_is_repeated_by_us() -> None:
    one = manager(BELOW)

    one.handle(Ended(LOBBY, BELOW, converged=False), NOW)
    started = starts(one, NOW + 3 * RETRY_FIRST)
    one.handle(Ended(LOBBY, BELOW, converged=True), NOW + 3 * RETRY_FIRST)

    assert [(start.peer, start.why) for _, start in started] == [(BELOW, CUT_SHORT)]
    assert soon(one) is None


def test_whoever_left_is_neither_waited_for_nor_asked() -> None:
    made = Manager(ME, random.Random(0))
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Left(LOBBY, PEERS[0]), NOW)
    made.handle(Ended(LOBBY, PEERS[0], converged=False), NOW)

    asked = made.handle(Asked(LOBBY, PEERS[0]), NOW)

    assert asked == []
    assert made.running == 0
    assert soon(made) is None


def test_a_person_may_ask_at_any_time() -> None:
    made = manager(BELOW)

    asked = made.handle(Asked(LOBBY, BELOW), NOW)

    assert asked == [Start(LOBBY, BELOW, "waku", ASKED)]


def test_asking_while_a_session_runs_begins_no_second_one() -> None:
    made = Manager(ME, random.Random(0))
    made.handle(Joined(LOBBY, PEERS[0]), NOW)

    asked = made.handle(Asked(LOBBY, PEERS[0]), NOW)
    made.handle(Ended(LOBBY, PEERS[0], converged=True), NOW + SECOND)

    assert asked == []
    assert soon(made) is None


def test_after_a_failed_commit_sessions_are_tried_again_and_hold_no_places() -> None:
    made = Manager(ME, random.Random(0))
    cut = [start for peer in PEERS for start in made.handle(Joined(LOBBY, peer), NOW)]

    begun = deque(made.handle(Rebuilt(LOBBY), NOW))
    rejoined = [start for peer in PEERS for start in made.handle(Joined(LOBBY, peer), NOW)]
    done, now = set(), NOW
    while begun or soon(made) is not None:
        if not begun:
            now = due(made)
            begun.extend(made.handle(Tick(), now))
        done.add(begun[0].peer)
        begun.extend(made.handle(Ended(LOBBY, begun.popleft().peer, converged=True), now))

    assert len(cut) == SESSIONS_MAX
    assert rejoined == []
    assert done == set(PEERS)
    assert made.running == 0


def test_while_every_commit_fails_sessions_begin_ever_later() -> None:
    made = Manager(ME, random.Random(0))
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    now, waits = NOW, []

    for _ in range(5):
        made.handle(Rebuilt(LOBBY), now)
        [(at, _)] = starts(made, now + RETRY_MAX)
        waits.append((at - now) // SECOND)
        now = at

    assert waits == [2, 4, 8, 16, 32]


def test_every_five_minutes_the_last_hour_is_compared_with_one_peer_at_random() -> None:
    made = manager(*PEERS)
    began: list[tuple[Nanos, Start]] = []
    asked: set[PeerId] = set()

    while len(began) < 24:
        now = due(made)
        for start in made.handle(Tick(), now):
            if start.why in (REGULAR, REGULAR_WHOLE):
                began.append((now, start))
                asked.add(start.peer)
            made.handle(Ended(LOBBY, start.peer, converged=True), now)

    waits = [later - now for (now, _), (later, _) in pairwise(began)]
    spans = [start.span for _, start in began]
    assert 0.9 * PERIOD <= min(waits) <= max(waits) <= 1.1 * PERIOD
    assert spans == ([SPAN] * 11 + [None]) * 2
    assert len(asked) > 3


def test_alone_nothing_is_compared_regularly() -> None:
    made = Manager(ME, random.Random(0))
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Left(LOBBY, PEERS[0]), NOW)

    assert made.handle(Tick(), due(made)) == []
    assert made.deadline() is None
