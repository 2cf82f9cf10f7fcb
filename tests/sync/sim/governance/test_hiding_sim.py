"""An admin hides lines of others in the simulator: everybody shows the same, whatever came when."""

from sync.calimero.governance.ops import Key, Role, SetRole
from sync.entries.changes import Redaction
from sync.machine import MINUTE, SECOND, MessageId, PeerId
from sync.sim.network import Link
from sync.sim.world import Terms, World


def hidden_by(world: World, message_id: MessageId) -> list[PeerId | None]:
    """Return who has hidden a line, at each node."""
    assert world.governed is not None
    return [node.disks[world.governed].look(message_id).hidden_by for node in world.nodes]


def test_what_an_admin_hides_is_hidden_everywhere_and_what_a_member_hides_nowhere() -> None:
    world = World(4, 3, Link(), Terms(governed=True))
    channel = world.governed
    assert channel is not None
    world.run(20 * SECOND)
    world.act(0, SetRole(Key(world.nodes[1].identity.public_key), Role.ADMIN))
    world.write_text(2, "buy", channel)
    world.write_text(3, "sell", channel)
    world.run(5 * SECOND)
    bought, sold = (
        next(
            one
            for one, row in world.nodes[0].disks[channel].rows.items()
            if text in row.message.entry.body
        )
        for text in (b"buy", b"sell")
    )

    world.partition({0, 1}, {2, 3})
    world.change(1, Redaction(bought), channel)
    world.change(2, Redaction(sold), channel)
    world.run(5 * SECOND)
    world.network.heal()
    world.links.rewired()
    world.run(2 * MINUTE)

    world.check()
    assert hidden_by(world, bought) == [world.nodes[1].identity.peer_id] * 4
    assert hidden_by(world, sold) == [None] * 4
