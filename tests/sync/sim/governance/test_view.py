"""A view of a simulated participant tells of governance what a live node tells."""

from sync.calimero.governance.ops import Key
from sync.entries.changes import Reactions
from sync.machine import SECOND
from sync.sim.governance.codes import removal
from sync.sim.network import Link
from sync.sim.view import SimulatedView
from sync.sim.world import Terms, World
from sync.view.view import Event, LineChanged, LooksShown, MessageShown


def test_lines_are_read_again_when_their_author_is_removed_and_when_a_late_one_comes() -> None:
    world = World(4, 3, Link(), Terms(governed=True))
    channel = world.governed
    assert channel is not None
    events: list[Event] = []
    SimulatedView(world, 1, ["alice", "bob", "carol", "dave"], channel).subscribe(events.append)
    world.run(20 * SECOND)
    assert LooksShown(channel) not in events

    world.partition({0, 1}, {2, 3})
    world.write_text(2, "nobody told me", channel)
    world.act(0, removal(world, 0, Key(world.nodes[2].identity.public_key)))
    world.run(5 * SECOND)
    assert events.count(LooksShown(channel)) == 1

    world.write_text(0, "she is gone", channel)
    world.run(SECOND)
    assert events.count(LooksShown(channel)) == 1
    world.network.heal()
    world.links.rewired()
    world.run(60 * SECOND)

    assert [one.line.text for one in events if isinstance(one, MessageShown)][
        -1
    ] == "nobody told me"
    assert events.count(LooksShown(channel)) == 2


def test_a_line_is_read_again_when_somebody_reacts_to_it_and_its_author_is_out() -> None:
    world = World(3, 3, Link(), Terms(governed=True))
    channel = world.governed
    assert channel is not None
    events: list[Event] = []
    SimulatedView(world, 1, ["alice", "bob", "carol"], channel).subscribe(events.append)
    world.run(20 * SECOND)
    world.write_text(2, "buy this", channel)
    world.run(5 * SECOND)
    [line] = [one.line for one in events if isinstance(one, MessageShown)]

    world.change(0, Reactions(line.message_id, ("+1",)), channel)
    world.run(5 * SECOND)
    assert LooksShown(channel) not in events
    world.act(0, removal(world, 0, Key(world.nodes[2].identity.public_key)))
    world.run(5 * SECOND)
    events.clear()
    world.change(0, Reactions(line.message_id, ("-1",)), channel)
    world.run(5 * SECOND)

    assert [type(one) for one in events if isinstance(one, LineChanged | LooksShown)] == [
        LineChanged,
        LooksShown,
    ]
