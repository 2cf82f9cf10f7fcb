"""Lines withdrawn stay so while machines are made anew, and after a start."""

import random

import pytest

from sync.group import values
from sync.group.clock_policy import Policy
from sync.machine import DAY
from sync.runner.runner import Runner
from tests.support.sync.alone.turned import LOBBY, Driver
from tests.support.sync.entries import CHANNEL
from tests.support.sync.entries import Author as Writer
from tests.support.sync.groups import NOW

TOMORROW = NOW + DAY
"""Reading of her machines' clock, which began with the wrong one."""


def followed(*, set_right: bool = False) -> tuple[Driver, Writer]:
    """Alice began and wrote with a clock a day ahead; bob was there, and she followed him.

    Or her clock was `set_right`, and bob agreed with it.
    """
    alice, bob = Driver(), Writer("bob")
    alice.runner.feed_all(values.OwnClock(0, policy=Policy.FOLLOW))
    alice.write(1)
    alice.turn(TOMORROW)
    if set_right:
        alice.runner.feed_all(values.OwnClock(-DAY, policy=Policy.FOLLOW, was_set=True))
    alice.runner.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    alice.runner.queue_input(
        CHANNEL, values.MemberClock(bob.peer_id, -DAY, "10.0.0.2", standing=True)
    )
    batch = alice.turn(TOMORROW)
    assert batch.begin_anew
    assert any(isinstance(one, values.Withdrawn) for one in alice.released)
    alice.released.clear()
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    return alice, bob


def step_by_step(driver: Driver) -> None:
    """Turn for one input at a time, as where each takes a whole slice."""
    while driver.runner.busy:
        batch = driver.runner.turn(TOMORROW, lambda: True)
        driver.disk.commit(batch.records)
        driver.released += [release.effect for release in batch.releases]


def statuses(driver: Driver) -> list[values.Status]:
    return [row.status for row in driver.disk.rows.values()]


@pytest.mark.parametrize("set_right", [False, True])
def test_what_was_withdrawn_does_not_come_back_while_machines_are_made_anew(
    *, set_right: bool
) -> None:
    alice, _ = followed(set_right=set_right)

    step_by_step(alice)
    alice.runner.rebuild({CHANNEL: alice.disk.restore()})
    step_by_step(alice)

    assert not [one for one in alice.released if isinstance(one, values.Deliver)]
    assert statuses(alice) == [values.Status.PARKED]
    alice.write(2)
    alice.turn(TOMORROW)
    header = list(alice.disk.rows.values())[-1].message.entry.header
    assert header.created_ns == NOW, "and we go by bob's clock"


def test_nor_does_it_come_back_after_a_start_with_a_clock_that_is_still_wrong() -> None:
    alice, bob = followed()
    again = Runner(alice.author(), random.Random(1))
    again.feed_all(values.OwnClock(0, policy=Policy.FOLLOW))
    again.add_channel(LOBBY, alice.disk.restore())
    alice.runner = again

    step_by_step(alice)
    again.queue_input(CHANNEL, values.PeerJoined(bob.peer_id))
    again.queue_input(CHANNEL, values.MemberClock(bob.peer_id, -DAY, "10.0.0.2", standing=True))
    step_by_step(alice)

    assert not [one for one in alice.released if isinstance(one, values.Deliver)]
    assert statuses(alice) == [values.Status.PARKED]


def test_a_channel_taken_up_later_hears_of_our_clock_before_its_history() -> None:
    alice = Driver()
    alice.runner.feed_all(values.OwnClock(-DAY, was_set=True))
    alice.turn()
    alice.runner.remove_channel(CHANNEL, NOW)
    alice.runner.add_channel(LOBBY, alice.disk.restore())

    batch = alice.turn()

    events = [addressed.event for addressed in batch.inputs]
    assert events[0] == values.OwnClock(-DAY), "nobody has set it since"
    assert isinstance(events[1], values.Restored)
