"""Histories that are about to come: when a channel waits for one, and when no longer."""

import random

import pytest
from msgspec.structs import replace

from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.expectations import EXPECTED_WITHIN
from sync.manager.registry import WAKU_ONLY, WITH_P2PANDA
from sync.manager.schedule import Manager
from sync.manager.values import (
    Announced,
    Compared,
    Ended,
    Expected,
    Input,
    Joined,
    Left,
    LogsOffered,
    Rebuilt,
)
from sync.sessions.protocol import Protocols
from sync.sessions.values import Outcome

LOBBY = ChannelId("c0" * 16)
ME, PEER, THIRD = PeerId("11" * 32), PeerId("22" * 32), PeerId("33" * 32)
NOW: Nanos = 1_750_000_000 * SECOND

LAST_HOUR = Ended(LOBBY, PEER, Outcome.CONVERGED, protocol="waku")
WHOLE = replace(LAST_HOUR, protocol="logheight", whole=True)
BEGUN_TOO = replace(LAST_HOUR, outcome=Outcome.BENIGN)
CUT = replace(LAST_HOUR, outcome=Outcome.NOT_CONVERGED)


def joined(protocols: Protocols = WITH_P2PANDA, *compared: PeerId) -> tuple[Manager, list[bool]]:
    """Return a manager on a new link to PEER, and whether its history is expected."""
    made = Manager(ME, random.Random(0), protocols)
    made.handle(Compared(LOBBY, tuple((one, NOW - MINUTE) for one in compared)), NOW)
    made.handle(Joined(LOBBY, PEER), NOW)
    return made, told(made)


def told(manager: Manager) -> list[bool]:
    news = manager.expectations.take_news()
    assert {one[:2] for one in news} <= {(LOBBY, PEER)}
    return [one.comes for one in news]


def test_the_history_of_who_was_never_compared_is_expected_for_a_moment() -> None:
    made, expected = joined()
    made.handle(Tick(), NOW + EXPECTED_WITHIN - 1)
    early = told(made)
    assert made.deadline() == NOW + EXPECTED_WITHIN

    made.handle(Tick(), NOW + EXPECTED_WITHIN)

    assert (expected, early, told(made)) == ([True], [], [False])


def test_programs_without_author_logs_and_who_was_compared_are_expected_to_bring_nothing() -> None:
    assert joined(WAKU_ONLY)[1] == []
    assert joined(WITH_P2PANDA, PEER)[1] == []


def test_beside_somebody_compared_nobody_is_expected_to_bring_a_history() -> None:
    made = Manager(ME, random.Random(0), WITH_P2PANDA)
    made.handle(Compared(LOBBY, ((THIRD, NOW - MINUTE),)), NOW)
    made.handle(Joined(LOBBY, THIRD), NOW)
    made.handle(Joined(LOBBY, PEER), NOW)

    assert made.expectations.take_news() == []


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        (Announced(LOBBY, PEER, frozenset()), True),
        (Announced(LOBBY, PEER, frozenset({"p2panda"})), False),
        (LogsOffered(PEER, frozenset({LOBBY})), False),
        (LAST_HOUR, False),
        (BEGUN_TOO, False),
        (WHOLE, True),
        (CUT, True),
        (Left(LOBBY, PEER), True),
        (Rebuilt(LOBBY), True),
    ],
)
def test_it_is_expected_until_no_session_over_logs_can_follow(event: Input, ends: bool) -> None:
    made, _ = joined()

    made.handle(event, NOW + SECOND)

    assert told(made) == ([False] if ends else [])
    assert Expected(LOBBY, PEER, comes=False) not in made.expectations.take_news()
