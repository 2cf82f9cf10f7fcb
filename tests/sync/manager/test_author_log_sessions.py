"""Sessions over whole author logs: when they begin, by which protocol, and what follows them."""

import random

import pytest
from msgspec.structs import replace

from sync.machine import DAY, MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.choosing import SPAN
from sync.manager.ends import RETRY_FIRST
from sync.manager.histories import AWAY, COMPARED_MAX, NEVER, Histories
from sync.manager.live_sessions import RELAYS_MAX
from sync.manager.registry import WITH_P2PANDA
from sync.manager.schedule import UNBEGUN_AFTER, Manager
from sync.manager.values import (
    Announced,
    Asked,
    Compared,
    Ended,
    Joined,
    Left,
    LogsOffered,
    Rebuilt,
    Relayed,
    Sought,
    Start,
    WentLive,
)
from sync.manager.wishes import AGAIN_MAX, ASKED, MANY_CAME, NEW_LINK, PUSHED_MANY
from sync.p2panda.session import SET_LOGS
from sync.sessions.values import PUT_OFF, RELAY, RELAYS, Mode, Outcome

LOBBY, OTHER = ChannelId("c0" * 16), ChannelId("c1" * 16)
ME, PEER = PeerId("11" * 32), PeerId("22" * 32)
NOW: Nanos = 1_750_000_000 * SECOND

CONVERGED = Ended(LOBBY, PEER, Outcome.CONVERGED, protocol="waku", whole=True, logs=3)
FAILED = replace(CONVERGED, outcome=Outcome.NOT_CONVERGED, whole=False)


def linked(compared: Nanos | None = None, *, logs: int = 3, offers: bool = True) -> list[Start]:
    """Return what begins on a new link to a peer that speaks p2panda."""
    return meeting(compared, logs=logs, offers=offers)[1]


def meeting(
    compared: Nanos | None = None, *, logs: int = 3, offers: bool = True, dialled: bool = False
) -> tuple[Manager, list[Start]]:
    made = Manager(ME, random.Random(0), WITH_P2PANDA)
    if compared is not None:
        made.handle(Compared(LOBBY, ((PEER, compared),)), NOW)
    began = [*made.handle(Joined(LOBBY, PEER, logs=logs, dialled=dialled), NOW)]
    began += made.handle(Announced(LOBBY, PEER, frozenset({"p2panda"})), NOW)
    channels = frozenset({LOBBY} if offers else ())
    began += made.handle(LogsOffered(PEER, channels), NOW)
    return made, [*began, *made.handle(Tick(), NOW + MINUTE)]


@pytest.mark.parametrize(
    ("compared", "why"),
    [(None, NEVER), (NOW - DAY, AWAY), (NOW + SECOND, AWAY), (NOW - DAY + SECOND, "")],
)
def test_who_was_not_compared_for_a_day_takes_the_last_hour_and_then_whole_logs(
    compared: Nanos | None, why: str
) -> None:
    made, [first] = meeting(compared)
    then = made.handle(replace(CONVERGED, whole=not why), NOW + SECOND)

    assert (first.protocol, first.why, first.span) == ("waku", NEW_LINK, SPAN if why else None)
    assert first.to_now is bool(why)
    assert [(one.protocol, one.why, one.span) for one in then] == (
        [("logheight", why, None)] if why else []
    )


def test_who_offers_nothing_is_compared_whole_at_once() -> None:
    began = linked(offers=False)

    assert [(one.protocol, one.span) for one in began] == [("waku", None)]


@pytest.mark.parametrize(("logs", "name"), [(SET_LOGS, "logheight"), (SET_LOGS + 1, "sets")])
def test_the_number_of_logs_decides_about_the_mode(logs: int, name: str) -> None:
    made, _ = meeting(logs=logs)

    [then] = made.handle(replace(CONVERGED, logs=logs), NOW)

    assert then.protocol == name


def test_what_was_compared_once_is_not_compared_by_logs_again() -> None:
    made, _ = meeting()
    made.handle(CONVERGED, NOW)
    made.handle(replace(CONVERGED, protocol="logheight"), NOW)
    made.handle(Left(LOBBY, PEER), NOW)
    made.handle(LogsOffered(PEER, frozenset()), NOW)

    made.handle(Joined(LOBBY, PEER, logs=3), NOW)
    made.handle(Announced(LOBBY, PEER, frozenset({"p2panda"})), NOW)
    [again] = made.handle(LogsOffered(PEER, frozenset({LOBBY})), NOW)

    assert (again.protocol, again.span) == ("waku", None)


def test_after_two_sessions_that_came_to_nothing_the_other_kind_is_tried() -> None:
    made, [first] = meeting(NOW)
    tried = [first.protocol]
    now = NOW

    for _ in range(5):
        made.handle(FAILED, now)
        now = max(now, made.deadline() or 0)
        tried += [one.protocol for one in made.handle(Tick(), now)]

    assert tried == ["waku", "waku", "logheight", "logheight", "waku", "waku"]


@pytest.mark.parametrize(("got", "follows"), [(PUSHED_MANY, True), (PUSHED_MANY - 1, False)])
def test_who_got_many_messages_acknowledges_them_by_a_session_over_logs(
    got: int, follows: bool
) -> None:
    made, _ = meeting(NOW)
    made.handle(CONVERGED, NOW)

    then = made.handle(replace(CONVERGED, got=got), NOW)
    last = made.handle(replace(CONVERGED, got=got, protocol="logheight"), NOW)

    assert [(one.protocol, one.why) for one in then] == [("logheight", MANY_CAME)] * follows
    assert last == [], "what came by logs was acknowledged there"


def test_a_person_names_one_even_with_many_logs_and_gets_none_that_is_not_offered() -> None:
    made, _ = meeting(NOW, logs=SET_LOGS + 1)
    made.handle(replace(CONVERGED, logs=SET_LOGS + 1), NOW)

    [named] = made.handle(Asked(LOBBY, PEER, "logheight"), NOW)
    made.handle(replace(CONVERGED, protocol="logheight", logs=SET_LOGS + 1), NOW)
    made.handle(LogsOffered(PEER, frozenset()), NOW)

    assert (named.protocol, named.why) == ("logheight", ASKED)
    assert made.handle(Asked(LOBBY, PEER, "logheight"), NOW) == []


def test_sessions_over_logs_are_counted_from_0_until_the_last_link_is_gone() -> None:
    made, _ = meeting(NOW)
    made.handle(CONVERGED, NOW)
    counts = []
    for _ in range(3):
        [start] = made.handle(Asked(LOBBY, PEER, "logheight"), NOW)
        counts.append(start.count)
        made.handle(replace(CONVERGED, protocol="logheight"), NOW)
    made.handle(Left(LOBBY, PEER), NOW)
    made.handle(Joined(LOBBY, PEER), NOW)
    made.handle(Announced(LOBBY, PEER, frozenset({"p2panda"})), NOW)
    made.handle(LogsOffered(PEER, frozenset({LOBBY})), NOW)
    made.handle(CONVERGED, NOW)

    [start] = made.handle(Asked(LOBBY, PEER, "logheight"), NOW)

    assert (counts, start.count) == ([0, 1, 2], 0)


def test_who_was_put_off_by_a_newcomer_is_compared_by_logs() -> None:
    made, _ = meeting()
    made.handle(replace(CONVERGED, outcome=Outcome.BENIGN, whole=False), NOW)

    [start] = made.handle(Sought(LOBBY, (PEER,), PUT_OFF), NOW)

    assert (start.protocol, start.why) == ("logheight", PUT_OFF)


def test_of_too_many_peers_the_one_compared_longest_ago_is_forgotten() -> None:
    histories = Histories()
    peers = [PeerId(f"{number:064x}") for number in range(COMPARED_MAX + 1)]
    for number, peer in enumerate(peers):
        histories.compared(LOBBY, peer, NOW + number)

    assert histories.whole_needed(LOBBY, peers[0], NOW + MINUTE) == NEVER
    assert histories.whole_needed(LOBBY, peers[1], NOW + MINUTE) == ""


# --- Relays ------------------------------------------------------------------------------------

LIVE_OVER = Ended(LOBBY, PEER, Outcome.NOT_CONVERGED, mode=Mode.LIVE)


def compared(*, dialled: bool = False) -> Manager:
    made, _ = meeting(NOW, dialled=dialled)
    made.handle(CONVERGED, NOW)
    return made


def went_live() -> Manager:
    made = compared()
    [start] = made.handle(Relayed(LOBBY, PEER), NOW)
    assert (start.protocol, start.why, start.live) == ("logheight", RELAY, True)
    made.handle(WentLive(LOBBY, PEER), NOW)
    made.handle(replace(CONVERGED, protocol="logheight"), NOW)
    return made


def test_a_relay_is_asked_to_stay_once() -> None:
    made = went_live()

    assert made.handle(Relayed(LOBBY, PEER), NOW) == []


def test_while_another_session_with_it_runs_the_wish_waits_and_is_not_forgotten() -> None:
    made, _ = meeting(NOW)
    assert made.handle(Relayed(LOBBY, PEER), NOW) == []

    [start] = made.handle(CONVERGED, NOW)

    assert start.live


def test_one_that_was_cut_begins_anew_and_one_that_ended_politely_does_not() -> None:
    cut, polite = went_live(), went_live()

    assert cut.handle(LIVE_OVER, NOW) == []
    [again] = cut.handle(Tick(), NOW + RETRY_FIRST)
    polite.handle(replace(LIVE_OVER, outcome=Outcome.BENIGN), NOW)

    assert (again.why, again.live) == (RELAY, True)
    assert polite.handle(Tick(), NOW + RETRY_FIRST) == []


def test_after_machines_made_anew_it_begins_anew() -> None:
    made = went_live()

    made.handle(Rebuilt(LOBBY), NOW)
    [again] = made.handle(Tick(), NOW + RETRY_FIRST)

    assert again.live


def test_one_that_the_peer_wanted_is_the_peers_to_begin_anew() -> None:
    made = compared()
    made.handle(WentLive(LOBBY, PEER), NOW)

    made.handle(LIVE_OVER, NOW)

    assert made.handle(Tick(), NOW + RETRY_FIRST) == []


def test_who_needs_us_and_begins_nothing_is_asked_to_stay_if_we_dialled_it() -> None:
    dialled, other = compared(dialled=True), compared()
    for made in (dialled, other):
        assert made.handle(Relayed(LOBBY, PEER, for_it=True), NOW) == []

    [start] = dialled.handle(Tick(), NOW + UNBEGUN_AFTER)

    assert (start.why, start.live) == (RELAYS, True)
    assert other.handle(Tick(), NOW + UNBEGUN_AFTER) == []


def test_who_can_dial_us_begins_itself() -> None:
    made = compared(dialled=True)
    made.handle(Joined(LOBBY, PEER), NOW)  # it dialled us, too
    made.handle(Relayed(LOBBY, PEER, for_it=True), NOW)

    assert not [one for one in made.handle(Tick(), NOW + UNBEGUN_AFTER) if one.live]


def test_who_needs_us_and_has_begun_is_not_asked() -> None:
    made = compared(dialled=True)
    made.handle(Relayed(LOBBY, PEER, for_it=True), NOW)

    made.handle(WentLive(LOBBY, PEER), NOW)

    assert made.handle(Tick(), NOW + UNBEGUN_AFTER) == []


def test_who_needs_us_after_it_has_begun_is_not_asked() -> None:
    made = compared(dialled=True)
    made.handle(WentLive(LOBBY, PEER), NOW)
    made.handle(Relayed(LOBBY, PEER, for_it=True), NOW)

    assert not [one for one in made.handle(Tick(), NOW + UNBEGUN_AFTER) if one.live]


def test_who_offers_nothing_is_no_relay() -> None:
    made = compared()
    made.handle(LogsOffered(PEER, frozenset()), NOW)

    assert made.handle(Relayed(LOBBY, PEER), NOW) == []


def test_no_more_relays_are_wanted_than_a_few() -> None:
    made = went_live()
    others = [PeerId(f"{number:02x}" * 32) for number in range(0x30, 0x30 + RELAYS_MAX)]
    begun: list[Start] = []
    for peer in others:
        made.handle(Joined(LOBBY, peer, logs=3), NOW)
        made.handle(Announced(LOBBY, peer, frozenset({"p2panda"})), NOW)
        made.handle(LogsOffered(peer, frozenset({LOBBY})), NOW)
        made.handle(replace(CONVERGED, peer=peer), NOW)
        made.handle(replace(CONVERGED, peer=peer, protocol="logheight"), NOW)
        begun += made.handle(Relayed(LOBBY, peer), NOW)

    assert [one.peer for one in begun if one.live] == others[: RELAYS_MAX - 1]


def test_one_that_gave_way_to_another_is_tried_again_and_still_to_stay() -> None:
    made = compared()
    made.handle(Relayed(LOBBY, PEER), NOW)

    made.handle(replace(CONVERGED, outcome=Outcome.BENIGN, whole=False), NOW)
    [again] = made.handle(Tick(), NOW + RETRY_FIRST)

    assert (again.why, again.live) == (RELAY, True)


def test_one_that_a_person_asked_for_and_that_gave_way_is_tried_again_and_not_for_ever() -> None:
    made = compared()
    made.handle(Asked(LOBBY, PEER, "sets"), NOW)
    now, begun = NOW, 0

    for _ in range(10):
        benign = Ended(LOBBY, PEER, Outcome.BENIGN, protocol="sets")
        made.handle(benign, now)
        now += MINUTE
        begun += sum(one.why == ASKED for one in made.handle(Tick(), now))

    assert begun == AGAIN_MAX


def test_who_asks_while_another_session_runs_gets_one_of_their_own() -> None:
    made, _ = meeting(NOW)
    assert made.handle(Asked(LOBBY, PEER), NOW) == []

    [start] = made.handle(CONVERGED, NOW)

    assert start.why == ASKED
