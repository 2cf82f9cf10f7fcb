"""The protocol that a session speaks, and the wait for what a new link tells."""

import random

from sync.machine import MINUTE, Nanos
from sync.manager.ends import MOVED_MAX, RETRY_FIRST
from sync.manager.presences import OFFER_WITHIN, PRESENCE_WITHIN
from sync.manager.schedule import Manager
from sync.manager.values import (
    Announced,
    Asked,
    Ended,
    Joined,
    Left,
    LogsOffered,
)
from sync.manager.wishes import ASKED
from sync.sessions.protocol import Protocols
from sync.sessions.values import Mode, Outcome
from sync.waku.session import WAKU_SYNC
from tests.support.sync.alone.managers import BELOW, LOBBY, ME, NOW, PEERS, soon, starts
from tests.support.toy.session import ANNOUNCED, TOY

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
