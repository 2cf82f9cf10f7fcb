"""Retrieval by hint: what no participant has any more comes from a Store node."""

from sync.machine import MINUTE, SECOND
from sync.sim.network import Link
from sync.sim.store import Store
from sync.sim.world import Terms, World

ALICE, BOB, CAROL = range(3)


def after_a_loss_whose_sender_is_gone() -> World:
    """Nobody heard alice's first line; her second names it, and then she is off for good."""
    world = World(3, seed=4, terms=Terms(reconcile=False))
    world.run(6 * SECOND)
    store = Store(world)
    world.network.link = Link(loss=1.0)
    world.write_text(ALICE, "nobody hears this")
    world.run(SECOND // 10)
    world.network.link = Link()
    world.write_text(ALICE, "it builds on that")
    world.run(SECOND // 10)
    world.crash(ALICE)
    assert len(store) == 2
    return world


def test_a_message_that_nobody_else_has_is_fetched_by_its_hint() -> None:
    world = after_a_loss_whose_sender_is_gone()

    world.run(MINUTE)

    assert [len(log) for log in world.logs()] == [2, 2, 2]
    assert world.witness.gaps == 0


def test_without_a_store_it_is_shown_after_a_gap() -> None:
    world = after_a_loss_whose_sender_is_gone()
    world.listeners.clear()

    world.run(MINUTE)
    waiting = [len(log) for log in world.logs()]
    world.run(2 * MINUTE)

    assert waiting == [2, 0, 0]
    assert [len(log) for log in world.logs()] == [2, 1, 1]
    assert world.witness.gaps == 2
