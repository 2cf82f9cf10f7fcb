"""A governed channel in all kinds of trouble: everybody who is in has one log, who is out knows."""

import random

import pytest

from sync.calimero.governance.ops import Add, Key, Op, Role, SetRole
from sync.calimero.state.contents import Topic
from sync.entries.changes import Reactions
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.manager.registry import WITH_CALIMERO
from sync.sim.governance.codes import governing_of, make_code, take_code
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.sync.governed_sim import drawn_about, key_of
from tests.support.sync.worlds.troubles import LINKS, Acts, Troubles

SIZE = 6
ABLE = (0, 1, 3)
"""The owner and two whom it makes admins."""

ACTS = 60


class GovernedTroubles(Troubles):
    """People of a governed channel, and what goes wrong meanwhile, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        strangers = frozenset({4, 5} if seed % 2 else {5})
        terms = Terms(
            governed=True,
            governed_alone=seed % 3 == 0,
            strangers=strangers,
            protocols=WITH_CALIMERO,
            work=rng.choice([0, 0, MILLISECOND]),
        )
        super().__init__(World(SIZE, seed, rng.choice(LINKS), terms), rng, SIZE)
        assert self.world.governed is not None
        self.channel = self.world.governed
        self.acts: Acts = (
            (5, self.write),
            (3, self.govern),
            (1, self.react),
            (1, self.set_topic),
            (1, self.let_in),
            (1, self.crash),
            (1, self.crash_in_commit),
            (2, self.refuse),
            (1, self.cut),
            (1, self.set_clock),
        )

    def run(self) -> World:
        """Let all of it happen, mend everything, and wait until it is quiet."""
        world = self.world
        world.run(20 * SECOND)
        for number in ABLE[1:]:
            world.act(0, SetRole(key_of(world, number), Role.ADMIN))
        world.run(8 * SECOND)
        self.happen(self.acts, ACTS)
        self.end()
        world.run(40 * MINUTE)  # until what was stamped ahead takes its place
        return world

    def is_able(self, number: int) -> bool:
        """Return whether a node is up and has read its ops."""
        world = self.world
        up = world.nodes[number].runner is not None
        return up and bool(governing_of(world, number).governance.dag.acts)

    def write(self, number: int) -> None:
        self.world.write_text(number, f"{self.rng.random()}", self.channel)

    def govern(self, number: int) -> None:
        able = self.rng.choice(ABLE)
        if self.is_able(able):
            self.world.act(able, self.drawn(able, number))

    def drawn(self, actor: int, number: int) -> Op:
        world, rng = self.world, self.rng
        other = key_of(world, number if number not in (0, actor) else 2)
        if rng.random() < 0.6:
            return drawn_about(world, actor, other, rng)
        again = world.nodes[rng.randrange(1, SIZE)].identity
        return Add(Key(again.public_key), again.noise_public, Role.MEMBER)

    def react(self, number: int) -> None:
        log = self.world.nodes[number].disks[self.channel].log()
        if log and self.world.nodes[number].runner is not None:
            _, message_id = self.rng.choice(log)
            self.world.change(number, Reactions(message_id, ("👍",)), self.channel)

    def set_topic(self, number: int) -> None:
        if self.world.nodes[number].runner is not None:
            self.world.set_state(number, Topic(f"{self.rng.random()}"), self.channel)

    def let_in(self, number: int) -> None:
        able, newcomer = self.rng.choice(ABLE), self.rng.choice((4, 5))
        if not self.is_able(able):
            return
        code = make_code(self.world, able)
        self.world.run(SECOND)
        if self.world.nodes[newcomer].runner is not None:
            take_code(self.world, newcomer, code)

    def crash_in_commit(self, number: int) -> None:
        self.world.crash_in_commit(number)
        self.write(number)


@pytest.mark.parametrize("seed", with_grid(range(2), range(2, 60)))
def test_whatever_happens_everybody_who_is_in_has_one_log_and_one_membership(seed: int) -> None:
    world = GovernedTroubles(seed).run()

    world.check()
    heads = {
        governing_of(world, node.number).governance.heads
        for node in world.nodes
        if governing_of(world, node.number).is_in(node.identity.peer_id)
    }
    assert len(heads) == 1
