"""Scheduling of reconciliation sessions: with whom, when, and why."""

import random
from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from sync.machine import HOUR, MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.choosing import SPAN
from sync.manager.ends import MOVED_MAX, RETRY_FIRST, RETRY_MAX
from sync.manager.presences import OFFER_WITHIN, PRESENCE_WITHIN
from sync.manager.registry import WAKU_ONLY
from sync.manager.schedule import AGAIN_AFTER, Manager
from sync.manager.searching import NAMES_PAUSE_MAX, STEP_FIRST
from sync.manager.seeking import ASKING_MAX, LACKING_AFTER
from sync.manager.values import (
    Announced,
    Asked,
    Ended,
    Joined,
    LackingNow,
    Left,
    LogsOffered,
    Observed,
    Rebuilt,
    Sought,
    Start,
)
from sync.manager.wishes import ASKED, CUT_SHORT, MISSING, NEW_LINK, REGULAR, REGULAR_WHOLE
from sync.sessions.protocol import Protocols
from sync.sessions.sync_config import PERIOD, SESSIONS_MAX
from sync.sessions.values import PUT_OFF, SHARE, Mode, Outcome
from sync.waku.session import WAKU_SYNC
from tests.support.toy.session import ANNOUNCED, TOY

NOW: Nanos = 1_763_700_000 * SECOND
LOBBY = ChannelId("c0" * 16)
ME = PeerId("50" * 32)
BELOW = PeerId("10" * 32)
PEERS = [PeerId(f"{number:02x}" * 32) for number in range(0x60, 0x70)]


def manager(*joined: PeerId) -> Manager:
    """A manager whose sessions with `joined` are over."""
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    for peer in joined:
        made.handle(Joined(LOBBY, peer), NOW)
        made.handle(Ended(LOBBY, peer, Outcome.CONVERGED), NOW)
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
    """Return when the next session is due; None if only the regular one is."""
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
    made = Manager(ME, random.Random(0), WAKU_ONLY)

    with_larger = made.handle(Joined(LOBBY, PEERS[0]), NOW)
    with_smaller = made.handle(Joined(LOBBY, BELOW), NOW)

    assert with_larger == [Start(LOBBY, PEERS[0], "waku", NEW_LINK)]
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
        assert not made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED, got=1000), now)
        assert due(made) == now + RETRY_FIRST
        assert made.handle(Tick(), due(made))


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

    asked = made.handle(Asked(LOBBY, BELOW), NOW)

    assert asked == [Start(LOBBY, BELOW, "waku", ASKED)]


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


# --- Which protocol, and what came of it -------------------------------------------------------

WITH_TOY = Protocols((WAKU_SYNC, TOY))


def met(protocols: Protocols = WITH_TOY) -> Manager:
    """A manager that has met a peer, which speaks the toy."""
    made = Manager(ME, random.Random(0), protocols)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Announced(LOBBY, PEERS[0], frozenset({TOY.name, "another"})), NOW)
    made.handle(Ended(LOBBY, PEERS[0], Outcome.CONVERGED), NOW)
    return made


def test_what_a_peer_announces_is_chosen_and_after_a_failure_another() -> None:
    made = met()

    [first] = made.handle(Asked(LOBBY, PEERS[0]), NOW)
    made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED), NOW)
    [(_, again)] = starts(made, NOW + RETRY_FIRST)

    assert (first.protocol, first.chosen) == (TOY.name, "two messages say whether both are equal")
    assert (again.protocol, again.why) == (WAKU_SYNC.name, ASKED)


def test_what_was_announced_is_forgotten_with_the_link() -> None:
    made = met()

    made.handle(Left(LOBBY, PEERS[0]), NOW)
    [start] = made.handle(Joined(LOBBY, PEERS[0]), NOW)

    assert start.protocol == WAKU_SYNC.name


def test_who_asks_for_a_protocol_gets_no_other_one() -> None:
    made = met()

    [named] = made.handle(Asked(LOBBY, PEERS[0], WAKU_SYNC.name), NOW)
    made.handle(Ended(LOBBY, PEERS[0], Outcome.CONVERGED), NOW)

    assert named.protocol == WAKU_SYNC.name
    assert not made.handle(Asked(LOBBY, PEERS[0], "another"), NOW), "we do not speak it ourselves"


def test_what_moved_meanwhile_is_tried_again_at_once_but_not_for_ever() -> None:
    made = met()
    tries = made.handle(Asked(LOBBY, PEERS[0]), NOW)

    for _ in range(MOVED_MAX):
        [again] = made.handle(Ended(LOBBY, PEERS[0], Outcome.MOVED), NOW)
        assert again.why == tries[0].why

    assert not made.handle(Ended(LOBBY, PEERS[0], Outcome.MOVED), NOW)
    assert soon(made) == NOW + RETRY_FIRST


def test_a_live_session_has_none_of_the_places_and_its_end_asks_for_nothing() -> None:
    made = met()
    made.handle(Asked(LOBBY, PEERS[0]), NOW)

    made.handle(Ended(LOBBY, PEERS[0], Outcome.NOT_CONVERGED, mode=Mode.LIVE), NOW)

    assert made.running == 1
    assert soon(made) is None


# --- Waiting for what a new link tells ----------------------------------------------------------

FAMILY = frozenset({ANNOUNCED.family})


def announcing() -> Manager:
    """A manager that speaks a family of protocols whose author logs are announced."""
    return Manager(ME, random.Random(0), Protocols((WAKU_SYNC, ANNOUNCED)))


def begun(made: Manager) -> Nanos:
    """Return how long after `NOW` the first session begins."""
    return starts(made, NOW + MINUTE)[0][0] - NOW


def test_on_a_new_link_a_session_waits_for_the_presence_but_not_for_ever() -> None:
    made = announcing()

    assert made.handle(Joined(LOBBY, PEERS[0]), NOW) == []
    assert begun(made) == PRESENCE_WITHIN


def test_a_peer_that_does_not_speak_the_family_is_asked_at_once() -> None:
    made = announcing()
    made.handle(Joined(LOBBY, PEERS[0]), NOW)

    [start] = made.handle(Announced(LOBBY, PEERS[0], frozenset()), NOW + 1)

    assert (start.peer, start.protocol) == (PEERS[0], WAKU_SYNC.name)


def test_one_that_does_is_asked_once_it_has_announced_or_a_moment_later() -> None:
    made = announcing()
    for peer in PEERS[:2]:
        made.handle(Joined(LOBBY, peer), NOW)
        assert made.handle(Announced(LOBBY, peer, FAMILY), NOW) == []

    [start] = made.handle(LogsOffered(PEERS[0], frozenset({LOBBY})), NOW + 1)

    assert start.peer == PEERS[0]
    assert begun(made) == OFFER_WITHIN


def test_a_person_who_asks_waits_for_it_too_and_a_second_link_for_nothing() -> None:
    made = announcing()
    made.handle(Joined(LOBBY, BELOW), NOW)
    assert made.handle(Asked(LOBBY, BELOW), NOW) == []
    [start] = made.handle(Announced(LOBBY, BELOW, frozenset()), NOW + 1)
    made.handle(Ended(LOBBY, BELOW, Outcome.CONVERGED), NOW + 2)

    made.handle(Joined(LOBBY, BELOW), NOW + 3)

    assert start.why == ASKED
    assert made.handle(Asked(LOBBY, BELOW), NOW + 3) != []


def test_without_such_a_family_nothing_waits() -> None:
    made = Manager(ME, random.Random(0), Protocols((WAKU_SYNC, TOY)))

    assert len(made.handle(Joined(LOBBY, PEERS[0]), NOW)) == 1


def test_what_a_peer_offers_is_part_of_the_situation_until_its_link_is_gone() -> None:
    made = announcing()
    made.handle(Joined(LOBBY, PEERS[0]), NOW)
    made.handle(Announced(LOBBY, PEERS[0], FAMILY), NOW)
    [told] = made.handle(LogsOffered(PEERS[0], frozenset({LOBBY})), NOW)
    made.handle(Left(LOBBY, PEERS[0]), NOW)
    made.handle(LogsOffered(PEERS[0], frozenset()), NOW)
    made.handle(Joined(LOBBY, PEERS[0]), NOW)

    assert told.protocol == ANNOUNCED.name, "which suits where logs are offered"
    assert made.handle(Announced(LOBBY, PEERS[0], FAMILY), NOW) == []
    assert starts(made, NOW + MINUTE)[0][1].protocol == WAKU_SYNC.name
