"""Exchanges and peers that would keep a session of theirs from its end."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from sync.check.message import CHECK
from sync.group import values
from sync.group.group import Group
from sync.machine import Nanos, Tick
from sync.sessions.protocol import Effect, Finished, Opening, Protocols
from sync.sessions.sessions import STUCK
from sync.sim.rooms import CHANNEL
from sync.sim.world import Terms, World
from sync.waku.session import WAKU_SYNC
from tests.support.toy.session import SAYS, WITHIN, StayingExchange, StayingToy, Toy, ToyExchange


class StuckExchange(ToyExchange):
    """An exchange that does nothing when its time is over."""

    def tick(self, now: Nanos) -> list[Effect]:
        del now
        return []


class StuckToy(Toy, frozen=True):
    def exchange(self, opening: Opening) -> StuckExchange:
        return StuckExchange(opening)


class StuckLive(StayingExchange):
    """An exchange that is live, and whose time is over at once."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._from = opening.at

    def tick(self, now: Nanos) -> list[Effect]:
        del now
        return []

    def deadline(self) -> Nanos | None:
        return self._from + WITHIN


class StuckLiveToy(StayingToy, frozen=True):
    def exchange(self, opening: Opening) -> StuckLive:
        return StuckLive(opening)


class OverExchange(ToyExchange):
    """One that ends in time, and is due all the same."""

    def tick(self, now: Nanos) -> list[Effect]:
        del now
        return [Finished("ended by itself", 0)]


class OverToy(Toy, frozen=True):
    def exchange(self, opening: Opening) -> OverExchange:
        return OverExchange(opening)


class CheckedExchange(ToyExchange):
    """An exchange after which both ends prove what they hold."""

    def payload(self, payload: bytes, now: Nanos) -> list[Effect]:
        effects = super().payload(payload, now)
        return [replace(one, checked=True) if isinstance(one, Finished) else one for one in effects]


class CheckedToy(Toy, frozen=True):
    def exchange(self, opening: Opening) -> CheckedExchange:
        return CheckedExchange(opening)


def offered(toy: Toy) -> tuple[World, Group]:
    """Return a group whose peer has begun session 99 by a toy."""
    world = World(2, 3, terms=Terms(protocols=Protocols((WAKU_SYNC, toy))))
    first, second = world.nodes
    assert second.runner is not None
    group = second.runner.groups[CHANNEL]
    group.handle(values.SessionOffered(99, first.identity.peer_id, toy.stream), world.now)
    return world, group


def ends(effects: Sequence[values.Effect]) -> list[str]:
    return [one.result for one in effects if isinstance(one, values.SessionEnded)]


def test_an_exchange_that_lets_its_time_pass_is_ended() -> None:
    world, group = offered(StuckToy())
    due = world.now + WITHIN

    effects = group.handle(Tick(), due)

    assert ends(effects) == [STUCK]
    assert values.CloseSession(99) in effects
    after = group.deadline()
    assert after is None or after > due


def test_one_that_ends_in_time_ends_once_though_it_is_due() -> None:
    world, group = offered(OverToy())

    effects = group.handle(Tick(), world.now + WITHIN)

    assert ends(effects) == ["ended by itself"]
    assert not group.sessions.running


def test_so_is_one_that_is_live() -> None:
    world, group = offered(StuckLiveToy())
    group.handle(values.SessionPayload(99, SAYS), world.now)
    assert [one.live for one in group.sessions.running.values()] == [True]
    due = world.now + WITHIN

    effects = group.handle(Tick(), due)

    assert ends(effects) == [STUCK]
    assert not group.sessions.running


@pytest.mark.parametrize("early", [b"garbage", b""])
def test_garbage_that_waited_for_the_check_takes_nothing_of_the_last_answer(early: bytes) -> None:
    world, group = offered(CheckedToy())
    first, _ = world.nodes
    group.handle(values.SessionOffered(100, first.identity.peer_id, CHECK), world.now)
    group.handle(values.SessionPayload(100, early), world.now)

    effects = group.handle(values.SessionPayload(99, SAYS), world.now)

    assert [one.session for one in effects if isinstance(one, values.SendPayload)] == [99]
    closed = [one.session for one in effects if isinstance(one, values.CloseSession)]
    assert closed == [99, 100]
    assert [one.startswith("refused: ") for one in ends(effects)] == [True]
    assert [one for one in effects if isinstance(one, values.Refused)]
    assert not group.sessions.running
