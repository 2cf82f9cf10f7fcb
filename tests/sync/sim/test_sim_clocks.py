"""A clock that was wrong while its owner was alone: set aside everywhere, told, and sent anew."""

import pytest

from chat_tui.client.simulated import SimulatedChat
from chat_tui.commands.writing import _to_resend
from sync.group.values import SendAgain, Status, Warned, Withdrawn
from sync.machine import HOUR, MINUTE, SECOND, MessageId, Nanos
from sync.runner.batch import Release
from sync.sim.clocks.walls import Person
from sync.sim.network import Link
from sync.sim.world import Terms, World
from sync.view.projection import text_of
from tests.support.grids import with_grid

LONER = 0
DAY_AHEAD: Nanos = 24 * HOUR
TO_1970: Nanos = -55 * 8766 * HOUR
SEEDS = with_grid(range(2), range(2, 4))


class Told:
    """Records the withdrawals and warnings that the loner's person was told."""

    def __init__(self, world: World) -> None:
        self.withdrawn: list[MessageId] = []
        self.sentences: list[str] = []
        world.listeners.append(self.note)

    def note(self, number: int, release: Release) -> None:
        if number == LONER and isinstance(release.effect, Withdrawn):
            self.withdrawn += release.effect.message_ids
        if number == LONER and isinstance(release.effect, Warned):
            self.sentences.append(release.effect.text)


def alone_with_a_wrong_clock(seed: int, offset: Nanos, *, reconcile: bool) -> tuple[World, Told]:
    """One of five is cut off, gets a wrong clock and writes; so do the others; then it heals."""
    world = World(5, seed, Link(loss=0.1, duplicate=0.05), Terms(reconcile=reconcile))
    for node in world.nodes:
        node.wall.person = Person.FOLLOWS
    told = Told(world)
    world.run(6 * SECOND)
    world.write_text(LONER, "before")
    world.run(10 * SECOND)
    world.partition({LONER}, set(range(1, 5)))
    world.run(20 * SECOND)
    world.set_clock(LONER, offset)
    for number in range(3):
        world.write_text(LONER, f"alone {number}")
        world.write_text(1 + number, f"meanwhile {number}")
        world.run(SECOND)
    world.heal()
    world.run(2 * MINUTE)
    return world, told


def parked(world: World, number: int) -> set[MessageId]:
    rows = world.nodes[number].disk.rows
    return {id_ for id_, row in rows.items() if row.status is Status.PARKED}


@pytest.mark.parametrize("reconcile", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_lone_node_wrote_a_day_ahead_is_parked_everywhere_and_its_author_is_told(
    seed: int, *, reconcile: bool
) -> None:
    world, told = alone_with_a_wrong_clock(seed, DAY_AHEAD, reconcile=reconcile)

    early = set(told.withdrawn)
    assert len(early) == 3, f"seed={seed}"
    assert any("everywhere: 3." in text and "/resend" in text for text in told.sentences)
    assert parked(world, LONER) == early
    for number in range(1, 5):
        assert parked(world, number) <= early
        if reconcile:
            assert not early & {id_ for _, id_ in world.nodes[number].disk.log()}
    world.run(20 * MINUTE)
    assert world.converged(), f"seed={seed}"
    world.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_it_can_be_sent_anew_and_the_channel_goes_on(seed: int) -> None:
    world, told = alone_with_a_wrong_clock(seed, DAY_AHEAD, reconcile=False)
    before = [len(log) for log in world.logs()]

    for number in range(3):
        world.write_text(LONER, f"alone {number}, anew")
    world.write_text(2, "an answer")
    world.run(20 * MINUTE)

    assert world.converged(), f"seed={seed}"
    assert {len(log) for log in world.logs()} == {max(before) + 4}
    assert parked(world, LONER) == set(told.withdrawn)
    world.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_lone_node_wrote_in_1970_is_shown_by_everybody(seed: int) -> None:
    world, told = alone_with_a_wrong_clock(seed, TO_1970, reconcile=False)

    world.run(20 * MINUTE)

    assert told.withdrawn == []
    assert world.converged(), f"seed={seed}"
    assert {len(log) for log in world.logs()} == {7}
    world.check()


def test_a_parked_message_is_not_sent_again_and_not_acknowledged() -> None:
    world, told = alone_with_a_wrong_clock(0, DAY_AHEAD, reconcile=False)
    runner = world.nodes[LONER].runner
    assert runner is not None

    group = runner.groups[world.channel]

    assert not set(told.withdrawn) & set(group.sds.outgoing.pending)
    failures = len(world.witness.failures)
    world.give(LONER, SendAgain(told.withdrawn[0]))
    world.run(SECOND)
    assert len(world.witness.failures) == failures + 1, "it is not waiting: it is set aside"


async def test_resend_writes_anew_what_was_set_aside() -> None:
    world, told = alone_with_a_wrong_clock(1, DAY_AHEAD, reconcile=False)
    chat = SimulatedChat(world, LONER, ("alice", "bob", "carol", "dave", "erin"))
    [info] = chat.snapshot().channels
    early = world.nodes[LONER].disk.load(told.withdrawn[1]).entry

    await chat.resend(info.channel, _to_resend(info, told.withdrawn[1][:8]))
    world.run(2 * MINUTE)

    assert info.parked_own == tuple(told.withdrawn)
    for node in world.nodes:
        newest = node.disk.load(node.disk.log()[-1][1]).entry
        assert text_of(newest).text == text_of(early).text
        assert newest.header.created_ns < early.header.created_ns
