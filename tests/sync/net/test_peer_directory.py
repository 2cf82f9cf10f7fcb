"""Peer events that the UI gets."""

import pytest

from sync.machine import SECOND
from sync.net.links.mesh import Mesh
from sync.net.peer_directory import SHOWN_BURST, Roster
from sync.view.view import PeerShown, PeerState
from tests.support.sync.nodes import HOST, Station, stations, until

pytestmark = pytest.mark.net


async def test_who_comes_and_goes_all_the_time_is_shown_seldom_and_last_as_it_is() -> None:
    alice, bob = Station("alice", "tea"), Station("bob", "tea")
    roster = Roster(alice.mesh)
    shown: list[PeerShown | None] = []

    def is_named(mesh: Mesh) -> bool:
        return mesh.peers.nick_of(bob.me) == "bob"

    async with stations(alice, bob):
        now = alice.clock.now()
        for _ in range(20):
            await alice.mesh.connect(HOST, bob.port)
            await until(lambda: is_named(alice.mesh), "bob is here")
            shown.append(roster.update(bob.me, now))
            alice.mesh.peers.links[bob.me][0].close("again")
            await until(lambda: not alice.mesh.peers.shares(bob.me), "bob is gone")
            shown.append(roster.update(bob.me, now))
        soon = [event for event in shown if event is not None]
        later = roster.overdue(now + SECOND)

    assert len(soon) == SHOWN_BURST
    assert [event.state for event in later] == [PeerState.DOWN]
    assert roster.overdue(now + 2 * SECOND) == []
