"""Announcements of author logs in words: in `/whois`, and in the details of the people screen."""

from chat_tui.wording.person import whois
from sync.group import values
from sync.machine import SECOND
from sync.manager.registry import WAKU_ONLY
from sync.p2panda.announcements import schema_id
from sync.p2panda.messages import Announce, encode
from sync.sessions.protocol import Protocols
from sync.sim.rooms import CHANNEL
from sync.sim.view import SimulatedView
from sync.sim.world import Terms, World
from sync.waku.session import WAKU_SYNC
from tests.support.toy.session import ANNOUNCED


def row(world: World) -> str:
    """Return what node 0 says of node 1's announcements."""
    snapshot = SimulatedView(world, 0, ("alice", "bob")).snapshot()
    said = whois(snapshot, snapshot.peers[0]).splitlines()
    return "".join(line.removeprefix("logs").strip() for line in said if line.startswith("logs"))


def announces(world: World, announce: Announce) -> None:
    """Let node 0 hear another announcement of node 1."""
    world.give(0, values.LogsAnnounced(world.nodes[1].identity.peer_id, encode(announce)))
    world.run(SECOND)


def test_whois_says_what_is_announced_and_that_other_versions_are_not_requested() -> None:
    world = World(2, 1, terms=Terms(protocols=Protocols((WAKU_SYNC, ANNOUNCED))))
    world.run(6 * SECOND)
    told = "it was told of 1 channel"
    assert row(world) == f"announces those of 1 channel; {told}"

    announces(world, Announce(2, world.now, (schema_id(CHANNEL),)))
    assert row(world) == f"announces with version 2: nothing is requested; {told}"

    announces(world, Announce(1, world.now, ()))
    assert row(world) == f"announces those of 0 channels; {told}"


def test_whois_says_nothing_of_it_where_nothing_is_announced() -> None:
    world = World(2, 1, terms=Terms(protocols=WAKU_ONLY))
    world.run(6 * SECOND)

    assert row(world) == ""
