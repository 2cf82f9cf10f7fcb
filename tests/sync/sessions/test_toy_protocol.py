"""A protocol of two messages, of which nothing outside its folder and a registry knows.

Registered, it is chosen, run between simulated nodes and over sockets, shown as a card, logged and
exported.
"""

from pathlib import Path

import pytest

from chat_tui.debug.range_rows import payload_detail, session_detail
from chat_tui.debug.sync_cards import session_cards
from storage.archive.simulated import SimulatedExport
from storage.archive.tables import LOG_DIR
from sync.group import values
from sync.machine import MILLISECOND, SECOND, Tick
from sync.manager.wishes import ASKED
from sync.runner.log_rows import LogKind
from sync.sessions.protocol import Protocols
from sync.sessions.values import Outcome
from sync.sim.network import Link
from sync.sim.rooms import CHANNEL
from sync.sim.view import SimulatedView
from sync.sim.world import Terms, World
from sync.view.view import SyncShown
from sync.waku.session import WAKU_SYNC
from tests.support.storage.exports import read
from tests.support.sync.nodes import TEA, Host, host, meet, until
from tests.support.toy.session import TOY, WITHIN

WITH_TOY = Protocols((WAKU_SYNC, TOY))
QUICK = Link(delay=(1 * MILLISECOND, 2 * MILLISECOND))


def toys(protocols: Protocols = WITH_TOY) -> World:
    """Two nodes that have met, and hold one line."""
    world = World(2, 3, QUICK, Terms(protocols=protocols))
    world.run(6 * SECOND)
    world.write_text(0, "a line")
    world.run(6 * SECOND)
    return world


def asked(world: World) -> list[values.SessionEnded]:
    """Return the ends of the sessions by it for which node 0's person asked; its own end first."""
    world.witness.sessions.clear()
    first, second = world.nodes
    assert first.runner is not None
    first.runner.ask_sync(CHANNEL, second.identity.peer_id, world.now)
    world.run(20 * SECOND)
    toys = [one for one in world.witness.sessions if one.protocol == TOY.name]
    return sorted(toys, key=lambda one: one.why != ASKED)


def test_it_is_chosen_where_the_peer_has_announced_it_and_both_ends_are_equal() -> None:
    world = toys()

    ours, theirs = asked(world)

    assert (ours.why, ours.outcome, ours.result) == (ASKED, Outcome.CONVERGED, "equal")
    assert (theirs.outcome, theirs.result) == (Outcome.CONVERGED, "equal")
    assert {one.protocol for one in world.witness.sessions} == {TOY.name}, "there was no other one"


def test_whoever_does_not_speak_it_is_asked_by_the_usual_one() -> None:
    assert asked(toys(Protocols((WAKU_SYNC,)))) == []


def test_where_the_ends_differ_it_says_so_and_another_brings_what_lacks() -> None:
    world = toys()
    world.network.link = Link(loss=1.0, delay=QUICK.delay)  # of broadcasts; streams go on
    world.write_text(1, "a line that nobody hears")
    world.run(10 * MILLISECOND)

    ended = asked(world)

    assert {(one.outcome, one.result) for one in ended} == {(Outcome.NOT_CONVERGED, "different")}
    others = [one for one in world.witness.sessions if one.protocol == WAKU_SYNC.name]
    assert {one.outcome for one in others} == {Outcome.CONVERGED}
    assert world.nodes[0].disk.rows.keys() == world.nodes[1].disk.rows.keys()


def test_garbage_on_its_stream_ends_its_session_with_the_reason() -> None:
    world = toys()
    first, second = world.nodes
    assert second.runner is not None
    effects = second.runner.groups[CHANNEL].handle(
        values.SessionOffered(99, first.identity.peer_id, TOY.stream), world.now
    )
    assert not effects

    effects = second.runner.groups[CHANNEL].handle(values.SessionPayload(99, b"no"), world.now)

    [ended] = [one for one in effects if isinstance(one, values.SessionEnded)]
    assert (ended.protocol, ended.outcome) == (TOY.name, Outcome.NOT_CONVERGED)
    assert ended.result == "refused: the toy says something else"


def test_a_silent_peer_ends_its_session_in_its_own_time() -> None:
    world = toys()
    first, second = world.nodes
    assert second.runner is not None
    group = second.runner.groups[CHANNEL]
    group.handle(values.SessionOffered(99, first.identity.peer_id, TOY.stream), world.now)
    running = group.sessions.numbered(99)
    assert running is not None
    assert running.deadline() == world.now + WITHIN

    effects = group.handle(Tick(), world.now + WITHIN)

    [ended] = [one for one in effects if isinstance(one, values.SessionEnded)]
    assert (ended.outcome, ended.result) == (Outcome.NOT_CONVERGED, "timed out")


def test_it_is_shown_as_a_card() -> None:
    world = toys()
    view = SimulatedView(world, 0, ("alice", "bob"))
    asked(world)
    snapshot = view.snapshot()

    [info] = snapshot.channels
    shown = [one for one in snapshot.sessions if one.protocol == TOY.name]
    card = session_cards(snapshot, info)[0]

    assert card.title == f"Session {shown[0].number} with bob"
    rows = [(row.subject, row.text.rsplit(" ms", maxsplit=1)[0]) for row in card.rows]
    assert rows[0][1].startswith("toy · equal · ")
    assert rows[1:6] == [
        ("why", "asked by the person · everything · proved to agree"),
        ("kind", "two messages say whether both are equal · expected 20.1 kB"),
        ("rt 1", "out 39 B, what is here"),
        ("rt 1", "in 38 B, the same is here"),
        ("", "1 round trip · 39 B out · 38 B in"),
    ]
    assert payload_detail(shown[0], 1).plain == "The peer sent: the same is here."
    assert "by the protocol toy" in session_detail(snapshot, shown[0]).plain


def test_it_is_logged_and_exported(tmp_path: Path) -> None:
    with SimulatedExport(tmp_path / "out", 3) as export:
        world = World(2, 3, QUICK, Terms(protocols=WITH_TOY))
        world.record(export.recorded.recording)
        world.run(6 * SECOND)
        ours = asked(world)[0]
        export.recorded.recording.write_exports()
        export.recorded.ended(world.nodes)

    noted = read(tmp_path / "out", LOG_DIR)
    rows = [row for row in noted if row["protocol"] == ours.protocol and row["session"]]

    mine = [row for row in rows if row["node"] == world.nodes[0].identity.peer_id]
    assert {row["session"] for row in rows} == {mine[0]["session"]}, "the same at both ends"
    assert [row["kind"] for row in mine] == [
        LogKind.SESSION_STARTED,
        LogKind.SESSION_ROUND,
        LogKind.SESSION_ROUND,
        LogKind.SESSION_ENDED,
    ]
    assert mine[-1]["bytes"] == 39 + 38


@pytest.mark.net
async def test_it_runs_over_sockets(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea", protocols=WITH_TOY) as alice,
        host(tmp_path, "bob", "tea", protocols=WITH_TOY) as bob,
    ):
        await meet(alice, bob)
        await alice.write(TEA, "a line")
        await until(lambda: bob.texts() == ["a line"], "both hold the same")
        await until(lambda: alice.shown(SyncShown) and bob.shown(SyncShown), "they have met")
        alice.node.ask_sync(TEA, bob.me)
        await until(lambda: told(alice) and told(bob), "both say what came of it")

        assert (told(alice), told(bob)) == (["equal"], ["equal"])


def told(one: Host) -> list[str]:
    return [shown.result for shown in one.shown(SyncShown) if shown.protocol == TOY.name]


@pytest.mark.net
async def test_a_program_that_does_not_speak_it_is_not_asked_by_it(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice", "tea", protocols=WITH_TOY) as alice,
        host(tmp_path, "bob", "tea") as bob,
    ):
        await meet(alice, bob)
        await until(lambda: alice.shown(SyncShown) and bob.shown(SyncShown), "they have met")
        before = len(alice.shown(SyncShown))
        alice.node.ask_sync(TEA, bob.me)
        await until(lambda: len(alice.shown(SyncShown)) > before, "a session is over")

        assert told(alice) == []
        assert bob.node.snapshot().refused == {}
