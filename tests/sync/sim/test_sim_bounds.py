"""I7 is asserted of every table there is: one that nobody has named a bound for is found."""

from collections import deque

import pytest

from sync.calimero.governance import limits
from sync.calimero.governance.ops import Key, Leave, Role, SetRole
from sync.machine import SECOND
from sync.sds.incoming import MISSING_MAX
from sync.sim.bounds import check_bounds, tables
from sync.sim.governance.codes import removal
from sync.sim.world import Terms, World


@pytest.fixture(scope="module")
def besieged() -> World:
    """A world of which every act of hostile members has left something in every table."""
    world = World(5, 1, terms=Terms(hostile=2))
    assert world.hostiles is not None
    world.run(6 * SECOND)
    for number in range(3):
        world.write_text(number, "hello")
        world.tell_typing(number)
    world.run(SECOND)
    for act in world.hostiles.acts:
        for member in world.hostiles.members:
            world.hostiles.act(member, act)
        world.run(SECOND // 2)
    return world


def test_every_table_of_a_node_has_a_bound(besieged: World) -> None:
    found = [table for node in besieged.honest if node.runner for table in tables(node.runner)]

    unbounded = {table.name for table in found if table.most is None}

    assert not unbounded, "name a limit in the code, and it in `sync.sim.bounds.BOUNDS`"
    assert len({table.name for table in found}) > 60
    assert all(table.size <= table.most for table in found if table.most is not None)


@pytest.fixture(scope="module")
def governed() -> World:
    """Both sides of a cut govern and write; an op waits, a line is dropped, another one waits."""
    world = World(4, 1, terms=Terms(governed=True))
    assert world.governed is not None
    keys = [Key(node.identity.public_key) for node in world.nodes]
    world.run(6 * SECOND)
    world.partition({0, 1}, {2, 3})
    world.act(0, SetRole(keys[2], Role.READER))
    world.act(0, removal(world, 0, keys[3]))
    world.act(2, Leave())
    world.write_text(1, "hello", world.governed)
    world.run(5 * SECOND)
    world.heal()
    world.run(30 * SECOND)
    return world


def test_every_table_of_governance_has_a_bound(governed: World) -> None:
    found = [table for node in governed.nodes if node.runner for table in tables(node.runner)]

    assert not {table.name for table in found if table.most is None}
    assert {"Dag.acts", "Pending.entries", "Relations.touches"} <= {table.name for table in found}
    assert all(table.size <= table.most for table in found if table.most is not None)


def test_ops_over_their_bound_are_told(governed: World, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = governed.nodes[0].runner
    assert runner is not None
    check_bounds(runner, 0)
    monkeypatch.setattr(limits, "OPS_MAX", 2)

    with pytest.raises(AssertionError, match=r"I7: node 0 has \d+ in Dag\.acts, 4 at most"):
        check_bounds(runner, 0)


def test_a_table_that_grows_over_its_bound_is_told(besieged: World) -> None:
    runner = besieged.nodes[0].runner
    assert runner is not None
    [group] = runner.groups.values()
    check_bounds(runner, 0)
    missing = group.sds.incoming.missing
    known = dict(missing)
    missing.update({f"invented {at}": next(iter(missing.values())) for at in range(MISSING_MAX)})  # type: ignore[misc]  # ids

    with pytest.raises(AssertionError, match=r"I7: node 0 has \d+ in Incoming\.missing, 4096"):
        check_bounds(runner, 0)

    group.sds.incoming.missing = known


def test_a_table_that_nobody_thought_of_is_found(besieged: World) -> None:
    runner = besieged.nodes[1].runner
    assert runner is not None
    runner.afterthoughts = deque([1, 2])  # type: ignore[attr-defined]  # as if somebody added it

    named = {table.name: table for table in tables(runner)}

    assert named["Runner.afterthoughts"].most is None
    assert named["Runner.afterthoughts"].size == 2
    del runner.afterthoughts  # type: ignore[attr-defined]  # the same
