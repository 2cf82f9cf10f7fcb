"""Scheduling of reconciliation sessions: with whom, when, and why."""

import random
from collections import deque
from itertools import pairwise

from sync.machine import HOUR, MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.choosing import SPAN
from sync.manager.ends import RETRY_FIRST, RETRY_MAX
from sync.manager.registry import WAKU_ONLY
from sync.manager.schedule import AGAIN_AFTER, Manager
from sync.manager.values import (
    Asked,
    Ended,
    Joined,
    LackingNow,
    Left,
    Observed,
    Rebuilt,
    Sought,
    Start,
)
from sync.manager.wishes import (
    ASKED,
    CUT_SHORT,
    MISSING,
    NEW_LINK,
    PUSHED_MANY,
    REGULAR,
    REGULAR_WHOLE,
)
from sync.sessions.sync_config import PERIOD, SESSIONS_MAX
from sync.sessions.values import PUT_OFF, SHARE, Outcome
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


def test_another_link_to_a_peer_is_reconciled_over_too() -> None:
    made = manager(PEERS[0])

    at_once = made.handle(Joined(LOBBY, PEERS[0]), NOW)
    later = starts(made, NOW + AGAIN_AFTER)

    assert at_once == []
    assert [(at, start.peer, start.why) for at, start in later] == [
        (NOW + AGAIN_AFTER, PEERS[0], NEW_LINK)
    ]


def test_on_a_new_link_the_smaller_key_begins() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)

    with_larger = made.handle(Joined(LOBBY, PEERS[0]), NOW)
    with_smaller = made.handle(Joined(LOBBY, BELOW), NOW)

    [start] = with_larger
    assert (start.peer, start.protocol, start.why) == (PEERS[0], "waku", NEW_LINK)
    assert with_smaller == []


def test_no_more_sessions_run_at_once_than_the_limit() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)

    begun = [start for peer in PEERS for start in made.handle(Joined(LOBBY, peer), NOW)]
    full = soon(made)
    freed = made.handle(Ended(LOBBY, PEERS[0], Outcome.CONVERGED), NOW)

    assert whom(begun) == PEERS[:SESSIONS_MAX]
    assert full is None
    assert whom(freed) == [PEERS[SESSIONS_MAX]]
    assert made.running == SESSIONS_MAX


def test_no_peer_holds_more_than_one_place() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    channels = [ChannelId(f"{number:02x}" * 16) for number in range(SESSIONS_MAX)]

    started = [start for each in channels for start in made.handle(Joined(each, PEERS[0]), NOW)]
    started += made.handle(Joined(LOBBY, PEERS[1]), NOW)

    assert [start.peer for start in started] == PEERS[:2]
    assert soon(made) is None  # nothing is due while that peer's session goes on
    [following] = made.handle(Ended(channels[0], PEERS[0], Outcome.CONVERGED), NOW + SECOND)
    assert (following.peer, following.channel) == (PEERS[0], channels[1])


def test_no_address_holds_all_places_and_who_is_elsewhere_comes_first() -> None:
    """Whoever makes up keys could keep a friend from the history for hours, minutes each."""
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    crowd, friends = PEERS[:8], PEERS[8:10]

    started = [
        start for peer in crowd for start in made.handle(Joined(LOBBY, peer, host="10.0.0.9"), NOW)
    ]
    waits = soon(made)
    first = made.handle(Joined(LOBBY, friends[0], host="10.0.0.1"), NOW + SECOND)
    none_free = made.handle(Joined(LOBBY, friends[1], host="10.0.0.2"), NOW + SECOND)
    second = made.handle(Ended(LOBBY, crowd[0], Outcome.CONVERGED), NOW + 2 * SECOND)

    assert whom(started) == crowd[: SESSIONS_MAX - 1]
    assert waits is None, "nothing is due while that address has its share"
    assert (whom(first), none_free, whom(second)) == ([friends[0]], [], [friends[1]])


def test_a_person_who_asks_need_not_wait_for_others_of_that_address() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    for peer in PEERS[:4]:
        made.handle(Joined(LOBBY, peer, host="10.0.0.9"), NOW)

    assert whom(made.handle(Asked(LOBBY, PEERS[3]), NOW)) == [PEERS[3]]


def test_who_keeps_failing_waits_for_everybody_else() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    hostile, late = PEERS[:SESSIONS_MAX], PEERS[SESSIONS_MAX]
    for peer in hostile:
        made.handle(Joined(LOBBY, peer), NOW)
    for peer in hostile:
        made.handle(Ended(LOBBY, peer, Outcome.NOT_CONVERGED), NOW)

    started = made.handle(Joined(LOBBY, late), NOW + RETRY_MAX)

    assert whom(started) == [late, *hostile[:-1]]


def test_a_session_that_brought_something_goes_on_soon() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)

    for number in range(10):
        now = NOW + number * 10 * SECOND
        few = Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED, got=PUSHED_MANY - 1)
        assert not made.handle(few, now)
        assert due(made) == now + RETRY_FIRST
        assert made.handle(Tick(), due(made))


def test_a_session_that_brought_a_part_of_a_long_history_goes_on_at_once() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)

    for number in range(10):
        many = Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED, got=PUSHED_MANY)
        assert made.handle(many, NOW + number * SECOND)


def test_a_session_that_failed_is_tried_again_ever_later() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    now, waits = NOW, []

    for _ in range(8):
        made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), now)
        [(at, start)] = starts(made, now + RETRY_MAX)
        waits.append((at - now) // SECOND)
        now = at
        assert start.why == NEW_LINK

    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]
    assert RETRY_FIRST == 2 * SECOND


def test_a_session_that_converged_is_not_repeated() -> None:
    made = manager(PEERS[0])

    assert soon(made) is None


def test_a_session_of_the_peer_that_converged_is_as_good_as_ours() -> None:
    made = manager(PEERS[0])
    made.handle(LackingNow(LOBBY, 1, (PEERS[0],)), NOW)
    made.handle(LackingNow(LOBBY, 0, (PEERS[0],)), NOW)
    made.handle(Joined(LOBBY, PEERS[1]), NOW)
    made.handle(Ended(LOBBY, PEERS[1], Outcome.NOT_CONVERGED), NOW)

    made.handle(Ended(LOBBY, PEERS[1], Outcome.CONVERGED), NOW + SECOND)

    assert soon(made) is None


def test_a_session_of_the_peer_that_was_cut_short_is_repeated_by_us() -> None:
    one = manager(BELOW)

    one.handle(Ended(LOBBY, BELOW, Outcome.NOT_CONVERGED), NOW)
    started = starts(one, NOW + 3 * RETRY_FIRST)
    one.handle(Ended(LOBBY, BELOW, Outcome.CONVERGED), NOW + 3 * RETRY_FIRST)

    assert [(start.peer, start.why) for _, start in started] == [(BELOW, CUT_SHORT)]
    assert soon(one) is None


def test_two_who_never_agree_try_again_ever_later_both() -> None:
    """Each failed session of the one made the other begin anew, every few seconds for ever."""
    made = manager(PEERS[0])
    made.handle(Asked(LOBBY, PEERS[0]), NOW)
    made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), NOW)
    now, waits = NOW, []

    for _ in range(6):
        [(at, _)] = starts(made, now + RETRY_MAX)
        made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), at)
        made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), at + SECOND)  # begun by them
        waits.append((at - now) // SECOND)
        now = at

    assert waits == [2, 4, 8, 16, 32, 60]
    made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED, got=1), now + 2 * SECOND)
    [(at, start)] = starts(made, now + RETRY_MAX)
    assert (at - now) // SECOND == 6, "what brings something goes on soon"
    assert start.why == CUT_SHORT


def test_whoever_left_is_neither_waited_for_nor_asked() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Left(LOBBY, PEERS[0]), NOW)
    made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), NOW)

    asked = made.handle(Asked(LOBBY, PEERS[0]), NOW)

    assert asked == []
    assert made.running == 0
    assert soon(made) is None


def test_a_person_may_ask_at_any_time() -> None:
    made = manager(BELOW)

    [asked] = made.handle(Asked(LOBBY, BELOW), NOW)

    assert (asked.peer, asked.protocol, asked.why) == (BELOW, "waku", ASKED)


def test_asking_while_a_session_runs_begins_no_second_one() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)

    asked = made.handle(Asked(LOBBY, PEERS[0]), NOW)
    made.handle(Ended(LOBBY, PEERS[0], Outcome.CONVERGED), NOW + SECOND)

    assert asked == []
    assert soon(made) is None


def test_after_a_failed_commit_sessions_are_tried_again_and_hold_no_places() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    cut = [start for peer in PEERS for start in made.handle(Joined(LOBBY, peer), NOW)]

    begun = deque(made.handle(Rebuilt(LOBBY), NOW))
    rejoined = [start for peer in PEERS for start in made.handle(Joined(LOBBY, peer), NOW)]
    done, now = set(), NOW
    while begun or soon(made) is not None:
        if not begun:
            now = due(made)
            begun.extend(made.handle(Tick(), now))
        done.add(begun[0].peer)
        begun.extend(made.handle(Ended(LOBBY, begun.popleft().peer, Outcome.CONVERGED), now))

    assert len(cut) == SESSIONS_MAX
    assert rejoined == []
    assert done == set(PEERS)
    assert made.running == 0


def test_while_every_commit_fails_sessions_begin_ever_later() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
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
            made.handle(Ended(LOBBY, start.peer, Outcome.CONVERGED), now)

    waits = [later - now for (now, _), (later, _) in pairwise(began)]
    spans = [start.span for _, start in began]
    assert 0.9 * PERIOD <= min(waits) <= max(waits) <= 1.1 * PERIOD
    assert spans == ([SPAN] * 11 + [None]) * 2
    assert len(asked) > 3


def test_an_author_who_was_let_in_is_compared_with_next_and_once() -> None:
    for wanted in PEERS[:6]:
        made = manager(*PEERS[:6])
        made.handle(Observed(LOBBY, wanted), NOW)
        due = made.deadline()
        assert due is not None
        [first] = made.handle(Tick(), due)
        made.handle(Ended(LOBBY, first.peer, Outcome.CONVERGED), due)

        assert (first.peer, first.why) == (wanted, REGULAR)
        assert made._periodic.observed == {}


def test_an_author_without_a_link_is_nobody_to_compare_with() -> None:
    made = manager(PEERS[0])
    made.handle(Observed(LOBBY, PEERS[9]), NOW)
    due = made.deadline()
    assert due is not None

    assert [start.peer for start in made.handle(Tick(), due)] == [PEERS[0]]


def test_alone_nothing_is_compared_regularly() -> None:
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Left(LOBBY, PEERS[0]), NOW)

    assert made.handle(Tick(), due(made)) == []
    assert made.deadline() is None


def test_a_channel_that_seeks_sessions_gets_them_at_once_as_far_as_there_are_places() -> None:
    made = manager(*PEERS[:6])

    started = made.handle(Sought(LOBBY, tuple(PEERS[:6]), SHARE, once=True), NOW)

    assert [start.peer for start in started] == PEERS[:SESSIONS_MAX]
    assert {start.why for start in started} == {SHARE}


def test_a_share_that_failed_is_not_tried_again_by_itself() -> None:
    made = manager(PEERS[0])
    made.handle(Sought(LOBBY, (PEERS[0],), SHARE, once=True), NOW)

    made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), NOW)

    assert due(made) > NOW + RETRY_MAX


def test_who_was_put_off_has_its_turn_when_the_channel_says_so_and_in_a_minute_at_latest() -> None:
    made = manager()
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Ended(LOBBY, PEERS[0], Outcome.BENIGN), NOW)

    assert due(made) == NOW + RETRY_MAX
    [start] = made.handle(Sought(LOBBY, (PEERS[0],), PUT_OFF), NOW + SECOND)

    assert (start.peer, start.why) == (PEERS[0], PUT_OFF)


def test_who_announced_no_port_is_never_dialled_for_a_session() -> None:
    made, deaf, other = manager(), PEERS[0], PEERS[1]
    begun = [*made.handle(Joined(LOBBY, deaf, accepts=False), NOW)]
    begun += made.handle(LackingNow(LOBBY, 3, (deaf,)), NOW)
    begun += made.handle(Sought(LOBBY, (deaf,), SHARE), NOW)
    begun += made.handle(Ended(LOBBY, deaf, Outcome.NOT_CONVERGED), NOW)
    begun += made.handle(Tick(), NOW + HOUR)
    alone = made.deadline()
    begun += made.handle(Joined(LOBBY, other), NOW + HOUR)
    made.handle(Ended(LOBBY, other, Outcome.CONVERGED), NOW + HOUR)
    made.handle(LackingNow(LOBBY, 4, (deaf, other)), NOW + HOUR)
    for minute in range(1, 121):
        for start in made.handle(Tick(), NOW + HOUR + minute * MINUTE):
            begun.append(start)
            made.handle(Ended(LOBBY, start.peer, Outcome.CONVERGED), NOW + HOUR + minute * MINUTE)

    assert alone is None
    assert {start.peer for start in begun} == {other}
    assert not made.may_dial(LOBBY, deaf)
    assert sum(start.why == MISSING for start in begun) < 30, "a round is over without it"
