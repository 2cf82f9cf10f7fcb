"""With a peer that speaks it a handshake comes first, and what it picks goes on."""

import random

import pytest
from msgspec.structs import replace

from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.ends import (
    FAILED_RETRY_MAX,
    GOVERNANCE_WITHIN,
    MOVED_MAX,
    PUT_OFF_FOR,
    RETRY_FIRST,
)
from sync.manager.registry import WITH_CALIMERO
from sync.manager.schedule import Manager
from sync.manager.values import (
    Announced,
    Asked,
    Ended,
    Joined,
    LackingNow,
    LogsOffered,
    Relayed,
    Sought,
    Start,
    StateDiffers,
)
from sync.manager.wishes import ASKED, MANY_CAME, MISSING, NEW_LINK, OTHER_STATE, PUSHED_MANY
from sync.sessions.handshake import SyncKind
from sync.sessions.sync_config import CONFIG, PERIOD, SyncConfig
from sync.sessions.values import GOVERNANCE, PUT_OFF, RELAY, SHARE, Outcome, Plane

NOW: Nanos = 1_763_700_000 * SECOND
TEA = ChannelId("c0" * 16)
ME = PeerId("50" * 32)
BELOW = PeerId("10" * 32)
BOB, CAROL = PeerId("60" * 32), PeerId("61" * 32)
OLD = frozenset({"p2panda", "state", "hash", "level"})
NEW = OLD | {"log", "delta"}
LOGS = 3


def linked(
    *peers: PeerId, spoken: frozenset[str] = NEW, config: SyncConfig = CONFIG
) -> tuple[Manager, list[Start]]:
    """Return a manager with links to these peers, and what it began."""
    made = Manager(ME, random.Random(0), WITH_CALIMERO, config)
    begun: list[Start] = []
    for peer in peers:
        begun += made.handle(Joined(TEA, peer, logs=LOGS), NOW)
        begun += made.handle(Announced(TEA, peer, spoken), NOW)
        begun += made.handle(LogsOffered(peer, frozenset({TEA})), NOW)
    return made, begun


def settled(*peers: PeerId) -> Manager:
    """Return a manager that has agreed with these peers."""
    made, _ = linked(*peers)
    for peer in peers:
        over(made, peer, Outcome.CONVERGED)
    return made


def over(
    made: Manager, peer: PeerId, outcome: Outcome, by: str = "log", now: Nanos = NOW, got: int = 0
) -> list[Start]:
    ended = Ended(TEA, peer, outcome, got, protocol=by, whole=True, logs=LOGS)
    return list(made.handle(ended, now))


def picked(made: Manager, peer: PeerId, then: str, now: Nanos = NOW) -> list[Start]:
    """End a handshake that has picked how to go on."""
    ended = Ended(TEA, peer, Outcome.BENIGN, protocol="log", then=then, then_why="so", estimate=7)
    ended = replace(ended, logs=LOGS)
    return list(made.handle(ended, now))


def due(made: Manager, until: Nanos) -> list[tuple[Nanos, Start]]:
    started: list[tuple[Nanos, Start]] = []
    while (at := made.deadline()) is not None and at <= until:
        started += [(at, start) for start in made.handle(Tick(), at)]
    return started


def by(starts: list[Start]) -> list[tuple[PeerId, str, str]]:
    return [(one.peer, one.protocol, one.why) for one in starts]


# --- What comes first --------------------------------------------------------------------------


def test_on_a_new_link_a_handshake_over_everything_comes_first() -> None:
    _, begun = linked(BOB)

    assert by(begun) == [(BOB, "log", NEW_LINK)]
    assert begun[0].span is None
    assert begun[0].offered
    assert begun[0].chosen == "the handshake decides how"


def test_with_an_older_program_it_is_the_last_hour_and_then_logs() -> None:
    made, begun = linked(BOB, spoken=OLD)

    assert by(begun) == [(BOB, "waku", NEW_LINK)]
    assert begun[0].span is not None
    then = over(made, BOB, Outcome.CONVERGED, "waku")
    assert [one.protocol for one in then] == ["logheight"]


def test_a_newcomer_without_a_snapshot_takes_the_last_hour_first() -> None:
    made = Manager(ME, random.Random(0), WITH_CALIMERO)
    made.handle(Joined(TEA, BOB), NOW)
    made.handle(Announced(TEA, BOB, NEW), NOW)

    [first] = made.handle(LogsOffered(BOB, frozenset({TEA})), NOW)
    [then] = over(made, BOB, Outcome.CONVERGED, "waku")

    assert (first.protocol, first.chosen) == ("waku", "what is newest comes first")
    assert (then.protocol, then.span) == ("log", None)


def test_a_handshake_comes_first_for_every_reason() -> None:
    made = settled(BOB)

    assert [one.protocol for one in made.handle(Asked(TEA, BOB), NOW)] == ["log"]
    over(made, BOB, Outcome.CONVERGED)
    made.handle(LackingNow(TEA, 1, (BOB,)), NOW)
    [(_, missing)] = due(made, NOW + 10 * SECOND)
    assert (missing.protocol, missing.why) == ("log", MISSING)
    over(made, BOB, Outcome.CONVERGED)
    made.handle(LackingNow(TEA, 0, ()), NOW)
    [(_, regular)] = due(made, NOW + PERIOD * 11 // 10)
    assert (regular.protocol, regular.span) == ("log", None)
    over(made, BOB, Outcome.CONVERGED)
    [sought] = made.handle(Sought(TEA, (BOB,), PUT_OFF), NOW)
    assert sought.protocol == "log"
    [many] = over(made, BOB, Outcome.CONVERGED, "waku", got=PUSHED_MANY)
    assert (many.protocol, many.why) == ("log", MANY_CAME)


def test_shares_live_sessions_and_what_a_person_names_need_no_handshake() -> None:
    made = settled(BOB)

    [share] = made.handle(Sought(TEA, (BOB,), SHARE, once=True), NOW)
    assert share.protocol == "waku"
    over(made, BOB, Outcome.CONVERGED, "waku")
    [live] = made.handle(Relayed(TEA, BOB), NOW)
    assert (live.protocol, live.why, live.live) == ("logheight", RELAY, True)
    over(made, BOB, Outcome.CONVERGED, "logheight")
    for name in ("waku", "logheight", "hash", "level"):
        [start] = made.handle(Asked(TEA, BOB, name), NOW)
        assert (start.protocol, start.why) == (name, ASKED)
        plane = Plane.STATE if name in {"hash", "level"} else Plane.LOG
        made.handle(Ended(TEA, BOB, Outcome.CONVERGED, plane=plane, protocol=name), NOW)


# --- What goes on ------------------------------------------------------------------------------


@pytest.mark.parametrize("then", ["logheight", "sets", "waku"])
def test_what_is_picked_begins_at_once_for_the_same_reason(then: str) -> None:
    made, _ = linked(BOB)

    [start] = picked(made, BOB, then)

    assert by([start]) == [(BOB, then, NEW_LINK)]
    assert (start.chosen, start.cost, start.span) == ("so", 7, None)


def test_governance_comes_first_and_then_a_handshake_again_but_not_for_ever() -> None:
    made, _ = linked(BOB)
    now = NOW

    for _ in range(MOVED_MAX):
        assert picked(made, BOB, GOVERNANCE, now) == []
        now += GOVERNANCE_WITHIN
        [(at, again)] = due(made, now)
        assert (at, again.protocol) == (now, "log")
    assert picked(made, BOB, GOVERNANCE, now) == []
    assert due(made, now + 50 * SECOND) == []


def test_what_was_picked_and_cannot_be_had_is_not_picked_for_ever() -> None:
    made, _ = linked(BOB)
    made.handle(LogsOffered(BOB, frozenset()), NOW)

    [start] = picked(made, BOB, "logheight")

    assert start.protocol == "waku"


# --- What failed -------------------------------------------------------------------------------


def test_a_kind_that_failed_is_told_with_the_next_handshake_until_both_agree() -> None:
    made, _ = linked(BOB)
    picked(made, BOB, "logheight")
    over(made, BOB, Outcome.NOT_CONVERGED, "logheight")

    [(at, again)] = due(made, NOW + RETRY_FIRST)
    assert (at, again.protocol, again.why) == (NOW + RETRY_FIRST, "log", NEW_LINK)
    assert again.failed == {SyncKind.LOG_HEIGHT}
    over(made, BOB, Outcome.NOT_CONVERGED, "delta", at)
    [(at, again)] = due(made, at + 2 * RETRY_FIRST)
    assert again.failed == {SyncKind.LOG_HEIGHT, SyncKind.DELTA}
    over(made, BOB, Outcome.CONVERGED, "delta", at)
    [after] = made.handle(Asked(TEA, BOB), at)
    assert after.failed == frozenset()


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [(Outcome.NOT_CONVERGED, {SyncKind.SKETCH}), (Outcome.BENIGN, set())],
)
def test_a_kind_that_hands_over_at_once_has_failed_if_it_says_so(
    outcome: Outcome, failed: set[SyncKind]
) -> None:
    made, _ = linked(BOB)
    ended = Ended(TEA, BOB, outcome, protocol="sketch", then="waku", then_why="so", logs=LOGS)

    [goes_on] = made.handle(ended, NOW)
    assert (goes_on.protocol, goes_on.chosen) == ("waku", "so")
    over(made, BOB, Outcome.BENIGN, "waku")
    [(_, again), *_] = due(made, NOW + 2 * MINUTE)

    assert again.protocol == "log"
    assert again.failed == failed


def test_once_the_last_resort_failed_all_kinds_are_tried_anew() -> None:
    made, _ = linked(BOB)
    over(made, BOB, Outcome.NOT_CONVERGED, "delta")
    [(at, _)] = due(made, NOW + RETRY_FIRST)
    picked(made, BOB, "waku", at)
    over(made, BOB, Outcome.NOT_CONVERGED, "waku", at)

    [(_, again)] = due(made, at + MINUTE)

    assert (again.protocol, again.failed) == ("log", frozenset())


def test_after_a_handshake_that_failed_another_protocol_says_whether_both_agree() -> None:
    made, _ = linked(BOB)
    over(made, BOB, Outcome.NOT_CONVERGED, "log")

    [(_, again)] = due(made, NOW + RETRY_FIRST)

    assert again.protocol == "waku"


def test_failures_are_tried_again_after_two_to_the_n_seconds_up_to_256() -> None:
    made, _ = linked(BOB)
    now, pauses = NOW, []
    for _ in range(10):
        over(made, BOB, Outcome.NOT_CONVERGED, "waku", now)
        made._periodic._regular.clear()
        [(at, _)] = due(made, now + FAILED_RETRY_MAX)
        pauses.append((at - now) // SECOND)
        now = at

    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 256, 256]


@pytest.mark.parametrize("outcome", [Outcome.BENIGN, Outcome.MOVED])
def test_what_has_not_failed_makes_no_kind_fail_and_no_pause_longer(outcome: Outcome) -> None:
    made, _ = linked(BOB)
    now = NOW
    for _ in range(3):
        over(made, BOB, outcome, "delta", now)
        started = due(made, now + MINUTE)
        now = started[-1][0] if started else now
    over(made, BOB, Outcome.NOT_CONVERGED, "delta", now)

    [(at, again)] = due(made, now + MINUTE)

    assert (at - now, again.failed) == (RETRY_FIRST, frozenset({SyncKind.DELTA}))


def test_of_state_too_the_kind_that_failed_is_left_out() -> None:
    made = settled(BOB)
    [first] = made.handle(StateDiffers(TEA, BOB), NOW)
    ended = Ended(TEA, BOB, Outcome.NOT_CONVERGED, plane=Plane.STATE, protocol="hash")
    made.handle(ended, NOW)

    [(at, again)] = due(made, NOW + RETRY_FIRST)

    assert (first.protocol, first.why, first.failed) == ("state", OTHER_STATE, frozenset())
    assert (at, again.protocol, again.failed) == (
        NOW + RETRY_FIRST,
        "state",
        frozenset({SyncKind.HASH}),
    )


def state_over(made: Manager, outcome: Outcome, *, answered: bool = True) -> list[Start]:
    ended = Ended(TEA, BOB, outcome, plane=Plane.STATE, protocol="hash", answered=answered)
    return list(made.handle(ended, NOW))


@pytest.mark.parametrize("agreed", [Outcome.CONVERGED, Outcome.BENIGN])
def test_a_root_told_before_both_agreed_begins_no_second_session_unless_a_person_asks(
    agreed: Outcome,
) -> None:
    made = settled(BOB)
    [_] = made.handle(StateDiffers(TEA, BOB), NOW)
    assert not made.handle(StateDiffers(TEA, BOB), NOW)
    assert not state_over(made, agreed)
    [_] = made.handle(StateDiffers(TEA, BOB), NOW)
    assert not made.handle(Asked(TEA, BOB, "hash"), NOW)
    [asked] = state_over(made, agreed)
    assert asked.why == ASKED


def test_state_that_was_put_off_is_compared_moments_later_and_not_for_ever() -> None:
    made = settled(BOB)
    [_] = made.handle(StateDiffers(TEA, BOB), NOW)
    for _ in range(MOVED_MAX):
        assert not state_over(made, Outcome.BENIGN, answered=False)
        [(at, again)] = due(made, NOW + PUT_OFF_FOR)
        assert (at, again.protocol, again.failed) == (NOW + PUT_OFF_FOR, "state", frozenset())
    assert not state_over(made, Outcome.BENIGN, answered=False)
    assert not due(made, NOW + MINUTE)
    [_] = made.handle(StateDiffers(TEA, BOB), NOW)
    assert not state_over(made, Outcome.BENIGN)
    assert not due(made, NOW + MINUTE), "both agree on what both can judge"
    [_] = made.handle(StateDiffers(TEA, BOB), NOW)
    benign = Ended(TEA, BOB, Outcome.BENIGN, plane=Plane.STATE, protocol="state", then=GOVERNANCE)
    assert not made.handle(benign, NOW)
    [(at, _)] = due(made, NOW + GOVERNANCE_WITHIN)
    assert at == NOW + GOVERNANCE_WITHIN


# --- The periodic tick -------------------------------------------------------------------------


def regular(made: Manager, now: Nanos) -> tuple[Nanos, PeerId]:
    [(at, start)] = due(made, now + PERIOD * 11 // 10)
    over(made, start.peer, Outcome.CONVERGED, now=at)
    return at, start.peer


def test_of_equals_the_peer_is_compared_with_that_was_tried_the_longest_ago() -> None:
    made = settled(BOB, CAROL)
    at, chosen = NOW, []
    for _ in range(4):
        at, peer = regular(made, at)
        chosen.append(peer)

    assert chosen in ([BOB, CAROL, BOB, CAROL], [CAROL, BOB, CAROL, BOB])


def test_who_has_told_another_root_comes_first() -> None:
    made = settled(BOB, CAROL)
    at, first = regular(made, NOW)
    made.handle(StateDiffers(TEA, first), at)
    ended = Ended(TEA, first, Outcome.NOT_CONVERGED, plane=Plane.STATE, protocol="hash")
    made.handle(ended, at)
    made._slots.wishes.clear()

    assert regular(made, at)[1] == first


def test_who_answers_sooner_comes_before_who_was_tried_longer_ago() -> None:
    made, _ = linked(BOB, CAROL)
    over(made, BOB, Outcome.CONVERGED, now=NOW + 2 * SECOND)
    over(made, CAROL, Outcome.CONVERGED, now=NOW + SECOND // 100)

    at, first = regular(made, NOW)
    _, second = regular(made, at)

    assert first == second == CAROL


def test_sync_config_says_how_many_run_at_once_and_how_often() -> None:
    _, begun = linked(BOB, CAROL, config=SyncConfig(max_concurrent=1))
    assert len(begun) == 1

    made, _ = linked(BOB, config=SyncConfig(interval=MINUTE, frequency=2))
    over(made, BOB, Outcome.CONVERGED)
    started = due(made, NOW + MINUTE * 11 // 20)
    assert [one.peer for _, one in started] == [BOB]
