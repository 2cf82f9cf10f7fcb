"""Lies in the handshake of a session over state, field by field: both agree in the end."""

from collections.abc import Callable
from typing import Final

import pytest
from msgspec.structs import replace

from sync.calimero.state import session as state_session
from sync.calimero.state.contents import Pin, StateKind, Topic
from sync.calimero.state.session import StateView
from sync.machine import SECOND
from sync.manager.registry import WITH_CALIMERO
from sync.sessions.handshake import SyncHandshake, flags
from sync.sessions.protocol import Opening
from sync.sim.world import Terms, World

Lie = Callable[[SyncHandshake, bytes], SyncHandshake]
"""Makes the liar's handshake of its own, and of the other's root."""

NOISE: Final = b"\x5a" * 32
HUGE: Final = 2**62
LYING_FOR: Final = 40 * SECOND


def state(**fields: object) -> Lie:
    return lambda ours, _: replace(ours, state=replace(ours.state, **fields))


LIES: Final[dict[str, Lie]] = {
    "another root": state(root=NOISE),
    "our root": lambda ours, root: replace(ours, state=replace(ours.state, root=root)),
    "no entries": state(count=0),
    "very many entries": state(count=HUGE),
    "a flat tree": state(depth=0),
    "a deep tree": state(depth=60),
    "other parts": state(spread=NOISE * 4),
    "a floor": lambda ours, _: replace(ours, log=replace(ours.log, floor=HUGE)),
    "no kind at all": lambda ours, _: replace(ours, supported=0),
    "other kinds": lambda ours, _: replace(ours, supported=~flags(*state_session.KINDS) & 0xFFFF),
    "governance": lambda ours, _: replace(ours, scope=NOISE),
}


def roots(world: World) -> list[bytes]:
    found = []
    for node in world.nodes:
        assert node.runner is not None
        [group] = node.runner.groups.values()
        found.append(group.stating.registers.tree.root)
    return found


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("what", LIES)
def test_a_lie_about_state_costs_time_and_never_an_entry(
    monkeypatch: pytest.MonkeyPatch, what: str, liar: int
) -> None:
    world = World(2, 5, terms=Terms(protocols=WITH_CALIMERO))
    world.run(6 * SECOND)
    for number in range(2):
        world.write_text(number, "hello")
        world.run(SECOND)
    world.partition({0}, {1})
    world.run(20 * SECOND)
    world.set_state(0, Topic("left"))
    for line in range(20):
        world.set_state(1, Pin(), kind=StateKind.PIN, name=line.to_bytes(32, "big"))
    world.run(6 * SECOND)
    told: list[bytes] = []
    made, until = state_session._handshake, world.now + LYING_FOR
    honest = world.nodes[1 - liar].identity.peer_id

    def lying(view: StateView, opening: Opening, supported: int) -> SyncHandshake:
        ours = made(view, opening, supported)
        if opening.peer != honest or world.now > until:
            return ours
        told.append(ours.state.root)
        return LIES[what](ours, roots(world)[1 - liar])

    monkeypatch.setattr(state_session, "_handshake", lying)
    world.heal()
    world.run(300 * SECOND)

    assert told, "it had something to lie about"
    assert len(set(roots(world))) == 1
    for node in world.nodes:
        assert node.runner is not None
        [group] = node.runner.groups.values()
        kinds = [group.stating.registers.of_kind(kind) for kind in (StateKind.PIN, StateKind.TOPIC)]
        assert [len(one) for one in kinds] == [20, 1]
    world.check()
