"""Lies in a handshake, field by field: they cost time, and in the end both hold the same.

No lie makes a node take a snapshot that holds anything already.
"""

from collections.abc import Callable, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from sync.calimero.log import session as log_session
from sync.group.records import Record
from sync.group.snapshots.values import StageSnapshot
from sync.group.values import Altered
from sync.machine import SECOND, PeerId
from sync.manager.registry import WITH_CALIMERO
from sync.sessions.handshake import SyncHandshake, SyncKind, flags
from sync.sessions.protocol import Opening
from sync.sim.disk import Disk
from sync.sim.world import Terms, World

Lie = Callable[[SyncHandshake, SyncHandshake], SyncHandshake]
"""Makes the liar's handshake of its own, and of what the other would say."""

NOISE: Final = b"\x5a" * 32
HUGE: Final = 2**62


def log(**fields: object) -> Lie:
    return lambda ours, _: replace(ours, log=replace(ours.log, **fields))


def state(**fields: object) -> Lie:
    return lambda ours, _: replace(ours, state=replace(ours.state, **fields))


LIES: Final[dict[str, Lie]] = {
    "another root": log(root=NOISE),
    "our root": lambda ours, theirs: replace(ours, log=replace(ours.log, root=theirs.log.root)),
    "nothing held": log(count=0),
    "very much held": log(count=HUGE),
    "a floor": log(floor=HUGE),
    "other heads": log(heads=(NOISE,)),
    "our heads": lambda ours, theirs: replace(ours, log=replace(ours.log, heads=theirs.log.heads)),
    "no heads": log(heads=()),
    "one hole": log(holes=1),
    "a million holes": log(holes=1_000_000),
    "no logs": log(logs=0),
    "very many logs": log(logs=HUGE),
    "other heights": log(heights=NOISE),
    "another state": state(root=NOISE, count=HUGE, depth=60, spread=NOISE * 4),
    "no kind at all": lambda ours, _: replace(ours, supported=0),
    "snapshot alone": lambda ours, _: replace(ours, supported=flags(SyncKind.SNAPSHOT)),
    "every kind": lambda ours, _: replace(ours, supported=flags(*SyncKind)),
    "nothing held, snapshot alone": lambda ours, _: replace(
        ours, log=replace(ours.log, count=0), supported=flags(SyncKind.SNAPSHOT)
    ),
    "governance": lambda ours, _: replace(ours, scope=NOISE),
}


def lie_with(monkeypatch: pytest.MonkeyPatch, world: World, liar: int, lie: Lie) -> list[bytes]:
    """Have one node tell lies; returns the roots that it told so far."""
    honest_peer = world.nodes[1 - liar].identity.peer_id
    told: list[bytes] = []
    made = log_session._handshake

    def lying(
        opening: Opening, forced: SyncKind | None, allowed: frozenset[SyncKind]
    ) -> SyncHandshake:
        ours = made(opening, forced, allowed)
        if opening.peer != honest_peer:
            return ours
        runner = world.nodes[1 - liar].runner
        assert runner is not None
        [group] = runner.groups.values()
        items, held = group.holdings.frozen()
        other = replace(
            opening, local=items, held=held, peer=PeerId("00" * 32), log=group.messages,
            state=group.stating, heights=group.holdings.heights,
        )  # fmt: skip
        told.append(ours.log.root)
        return lie(ours, made(other, None, allowed))

    monkeypatch.setattr(log_session, "_handshake", lying)
    return told


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("what", LIES)
def test_a_lie_costs_time_and_never_data(
    monkeypatch: pytest.MonkeyPatch, what: str, liar: int
) -> None:
    world = World(2, 5, terms=Terms(protocols=WITH_CALIMERO))
    world.run(6 * SECOND)
    for line in range(4):
        world.write_text(line % 2, f"together {line}")
        world.run(SECOND)
    world.partition({0}, {1})
    world.run(20 * SECOND)
    for line in range(6):
        world.write_text(line % 2, f"apart {line}")
        world.run(SECOND)
    staged: list[Record] = []
    commit = Disk.commit

    def watched(disk: Disk, records: Sequence[Record]) -> list[Altered]:
        staged.extend([one for one in records if isinstance(one, StageSnapshot)])
        return commit(disk, records)

    monkeypatch.setattr(Disk, "commit", watched)
    told = lie_with(monkeypatch, world, liar, LIES[what])
    world.heal()

    world.run(150 * SECOND)

    assert told, "it had something to lie about"
    one, other = [node.disk.rows.keys() for node in world.nodes]
    assert len(one) == 10
    assert one == other
    assert not staged
