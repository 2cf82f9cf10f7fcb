"""The protocol log of sessions over author logs: routes, protocols, and the same at both ends."""

import random
from collections import defaultdict

import pytest

from sync.machine import MILLISECOND, MINUTE, SECOND, PeerId
from sync.manager.registry import WITH_P2PANDA
from sync.p2panda import session
from sync.runner.log_rows import SHARED_FROM, LogKind, LogRow, Role, Route
from sync.sessions.values import RELAY
from sync.sim.network import PERFECT, Link
from sync.sim.recording import Recording
from sync.sim.shapes import line, unlinked
from sync.sim.world import Terms, World
from sync.view.projection import session_infos
from tests.support.storage.archives import divided, preloaded, scattered

LOGS = Terms(protocols=WITH_P2PANDA)
MUTE = Link(loss=1.0)
"""Broadcasts are lost: nothing but sessions brings anything."""


def recorded(world: World) -> tuple[Recording, list[LogRow]]:
    rows: list[LogRow] = []
    recording = Recording("test", rows.extend)
    world.record(recording)
    return recording, rows


def moved(world: World, number: int) -> dict[PeerId, tuple[int, int]]:
    """Return what a node's live sessions passed on and brought, by peer."""
    runner = world.nodes[number].runner
    assert runner is not None
    shown = session_infos(runner.groups.values())
    return {one.peer: (one.have, one.got) for one in shown if one.state == "live"}


@pytest.mark.parametrize("protocol", ["logheight", "sets"])
def test_both_ends_name_the_protocol_and_each_entry_has_its_route(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if protocol == "sets":
        monkeypatch.setattr(session, "SET_LOGS", 10)
    histories = divided(scattered(60), 8, "uniform", random.Random(0))
    world = preloaded(histories, 0, World(2, 0, MUTE, LOGS))
    recording, rows = recorded(world)

    world.run(3 * MINUTE)
    recording.write_exports()

    assert world.converged()
    of_logs: dict[int, list[LogRow]] = defaultdict(list)
    for row in rows:
        if row.kind is LogKind.SESSION_ENDED and row.protocol != "waku":
            of_logs[row.session or 0].append(row)
    assert of_logs
    for number, ends in of_logs.items():
        assert number >= SHARED_FROM
        assert {row.role for row in ends} == {Role.BEGAN, Role.ANSWERED}
        assert {(row.protocol, row.outcome) for row in ends} == {(protocol, "converged")}
        assert len({row.size for row in ends}) == 1, "both count the same bytes"
        about = [row for row in rows if row.session == number]
        assert {row.protocol for row in about} == {protocol}, "who was asked knows it, too"
        started = [row for row in about if row.kind is LogKind.SESSION_STARTED]
        assert {row.role for row in started} == {Role.BEGAN, Role.ANSWERED}
    brought = [row for row in rows if row.kind is LogKind.RECEIVED]
    assert {row.route for row in brought} == {Route.ENTRY}
    assert all(row.peer not in {None, row.node} and row.size for row in brought)
    assert len(brought) == sum(row.items_in or 0 for ends in of_logs.values() for row in ends) == 8


def test_what_a_live_session_passes_on_has_its_own_route() -> None:
    world = World(3, 1, PERFECT, LOGS)
    recording, rows = recorded(world)
    world.network.cuts |= unlinked(line(3))
    world.run(10 * SECOND)
    for node in world.nodes:
        world.write_text(node.number, "first")
    world.run(MINUTE)
    recording.write_exports()
    began = [row for row in rows if row.kind is LogKind.LIVE_STARTED]
    ends: dict[int, list[LogRow]] = defaultdict(list)
    for row in began:
        ends[row.session or 0].append(row)
    assert len(ends) == 2
    for number, both in ends.items():
        assert number >= SHARED_FROM
        assert {row.role for row in both} == {Role.BEGAN, Role.ANSWERED}
        assert {row.protocol for row in both} == {"logheight"}
        assert RELAY in {row.reason for row in both}
    rows.clear()

    world.write_text(0, "again")
    world.run(300 * MILLISECOND)
    recording.write_exports()

    assert world.converged()
    peers = [node.identity.peer_id for node in world.nodes]
    [far] = [row for row in rows if row.kind is LogKind.RECEIVED and row.node == peers[2]]
    assert (far.route, far.peer) == (Route.LIVE, peers[1])
    assert far.size
    assert moved(world, 1)[peers[2]] == (1, 0), "passed on"
    assert moved(world, 2)[peers[1]] == (0, 1), "brought"
    assert LogKind.SESSION_ROUND not in {row.kind for row in rows}, "its bytes are its own row's"
    rows.clear()

    world.crash(1)
    world.run(10 * SECOND)
    recording.write_exports()

    over = {row.node: row for row in rows if row.kind is LogKind.LIVE_ENDED}
    assert set(over) == {peers[0], peers[2]}
    far_end = over[peers[2]]
    assert (far_end.peer, far_end.protocol, far_end.session) == (
        peers[1],
        "logheight",
        next(row.session for row in began if row.node == peers[2]),
    )
    assert (far_end.items_in, far_end.items_out) == (1, 0)
    assert far_end.reason == "interrupted: the peer is gone"
