"""One who sends more than anybody reads: the others talk on as if it were not there."""

import pytest

from sync.group import values
from sync.machine import MILLISECOND, SECOND, MessageId, Nanos
from sync.manager.registry import WAKU_ONLY, WITH_P2PANDA
from sync.runner.batch import Release
from sync.runner.input_queue import CROWDED_BY_ONE
from sync.sessions.protocol import Protocols
from sync.sim.network import Link
from sync.sim.rooms import further_channel
from sync.sim.world import Terms, World
from tests.support.sync.hostiles import Mallory

WORK: Nanos = 3 * MILLISECOND
"""Cost of an input: 333 a second, of which a member may take 20 while others wait."""

NEAR = Link(delay=(MILLISECOND, 2 * MILLISECOND))


FRIENDS = frozenset({0, 1})
PRIVATE = further_channel(1)
LINES = 300
"""More than a burst: most of them are put off."""


class Latencies:
    """Latency of each line of node `writer` to each of the others, in nanoseconds."""

    def __init__(self, world: World, writer: int) -> None:
        self.of: dict[tuple[MessageId, int], Nanos] = {}
        self._world = world
        self._writer = writer
        self._written: dict[MessageId, Nanos] = {}
        world.listeners.append(self._hear)

    def write(self, text: str) -> None:
        self._asked = self._world.now
        self._world.write_text(self._writer, text)

    def _hear(self, number: int, release: Release) -> None:
        effect = release.effect
        if isinstance(effect, values.Written):
            self._written[effect.message_id] = self._asked
        elif isinstance(effect, values.Deliver) and effect.message_id in self._written:
            taken = self._world.now - self._written[effect.message_id]
            self.of[effect.message_id, number] = taken

    def longest(self, receivers: int) -> Nanos:
        """The longest, if every line came to so many others, and infinitely long otherwise."""
        if len(self.of) < len(self._written) * (receivers + 1):
            return 10**30
        return max(self.of.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slow", "protocols"),
    [
        pytest.param(False, WITH_P2PANDA, id="alike-p2panda too"),
        pytest.param(True, WAKU_ONLY, id="one slower-Waku Sync"),
        pytest.param(False, WAKU_ONLY, id="alike-Waku Sync", marks=pytest.mark.grid),
        pytest.param(True, WITH_P2PANDA, id="one slower-p2panda too", marks=pytest.mark.grid),
    ],
)
def test_a_thousand_lines_a_second_of_one_make_no_line_of_others_wait_a_second(
    slow: bool,  # a parameter of the test
    protocols: Protocols,
) -> None:
    world = World(4, 1, NEAR, Terms(work=WORK, protocols=protocols))
    world.run(10 * SECOND)
    if slow:
        world.slow_disk(0, 10 * MILLISECOND)
    mallory, latencies = Mallory(world, 3), Latencies(world, 1)
    author = mallory.author("flood")
    backlogs = []

    for tenth in range(60):
        if tenth < 30:
            mallory.flood(author, 100)
        if tenth % 5 == 0:
            latencies.write(f"honest {tenth}")
        world.run(SECOND // 10)
        backlogs.append(
            max(
                node.runner.inputs.backlog.get(mallory.peer_id, 0)
                for node in world.nodes
                if node.runner
            )
        )
    world.run(2 * SECOND)

    assert latencies.longest(2) < SECOND
    assert max(backlogs) >= CROWDED_BY_ONE
    world.check_bounds()


def test_roots_without_end_of_a_stranger_keep_no_friend_waiting_in_another_channel() -> None:
    world = World(3, 1, NEAR, Terms(work=WORK, protocols=WAKU_ONLY, rooms=(FRIENDS,)))
    world.run(6 * SECOND)
    stranger = world.nodes[2].identity.peer_id

    for tenth in range(50):
        for _ in range(100):
            world.give(0, values.RootTold(stranger, bytes(32)))
        if tenth == 10:
            for number in range(LINES):
                world.write_text(1, f"line {number}", PRIVATE)
        world.run(SECOND // 10)

    assert len(world.nodes[0].disks[PRIVATE]) == LINES
    assert world.nodes[0].runner is not None
    assert world.nodes[0].runner.inputs.backlog[stranger] >= CROWDED_BY_ONE, "it floods still"
    world.check_bounds()
