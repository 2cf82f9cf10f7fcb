"""A hostile member in governance: whatever it signs and sends, the others have one membership.

Every op that anybody takes in is judged by the definition, too (I8 and I9).
"""

import random

import pytest
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.ops import Invite, Key, Role, SetRole
from sync.calimero.governance.signing import open_op
from sync.group import values
from sync.machine import MINUTE, SECOND, PeerId
from sync.sim.governance.codes import governing_of, removal
from sync.sim.governance.hostile import HostileMember
from sync.sim.governance.hostile_acts import ACTS, Mind
from sync.sim.network import Link
from sync.sim.view import SimulatedView
from sync.sim.world import Terms, World
from tests.support.grids import with_grid

SIZE, HOSTILE = 5, 4
HONEST = range(HOSTILE)

MORE = with_grid(range(10, 16), range(16, 60))
"""Seeds: each role twice, once removed and once not; the others are in the whole grid."""


def besieged(seed: int, role: Role, *, removed: bool) -> tuple[World, HostileMember]:
    """Half a minute of acts by somebody with a role.

    They may be removed in the midst of them, while a cut keeps that from those they are with.
    """
    rng = random.Random(seed)
    world = World(SIZE, seed, Link(loss=0.05), Terms(governed=True))
    world.run(20 * SECOND)
    key = Key(world.nodes[HOSTILE].identity.public_key)
    if role is not Role.MEMBER:
        world.act(0, SetRole(key, role))
    world.run(5 * SECOND)
    hostile = HostileMember(world, HOSTILE, rng)
    names = list(ACTS) * 3
    rng.shuffle(names)
    for turn, name in enumerate(names):
        hostile.act(name)
        world.write_text(rng.choice(HONEST), f"line {turn}", world.governed)
        if removed and turn == len(names) // 3:
            world.partition({0, 1}, {2, 3, HOSTILE})
            world.act(0, removal(world, 0, key))
        if removed and turn == 2 * len(names) // 3:
            world.network.heal()
            world.links.rewired()
        world.run(SECOND)
    world.run(11 * MINUTE)  # what waits for ops that nobody signed is let go
    return world, hostile


def check(world: World, *, removed: bool) -> None:
    world.check()
    first = governing_of(world, 0)
    there = {key for key, one in first.governance.now.people.items() if one.member}
    for number in HONEST:
        other = governing_of(world, number)
        if Key(world.nodes[number].identity.public_key) not in there:
            continue  # a hostile admin may put people out
        assert other.governance.heads == first.governance.heads
        assert len(other.governance.waiting.ops) <= limits.WAITING_MAX
        assert not other.pending.entries
    assert first.governance.now.role(Key(world.nodes[0].identity.public_key)) is Role.OWNER
    if removed:
        assert Key(world.nodes[HOSTILE].identity.public_key) not in there


async def flagged(world: World) -> set[PeerId]:
    """Return whose lines claim to know less of governance than those before them did."""
    assert world.governed is not None
    history = SimulatedView(world, 0, [str(one) for one in range(SIZE)], world.governed).history
    page = await history.page(world.governed, before=None, limit=1000)
    stored = {line: await history.stored(world.governed, line.message_id) for line in page}
    return {line.author for line, one in stored.items() if one is not None and one.goes_back}


@pytest.mark.parametrize(
    ("seed", "role", "removed"),
    [(1, Role.MEMBER, False), (2, Role.ADMIN, True)],
)
async def test_the_others_have_one_membership_whatever_a_member_signs_and_sends(
    seed: int, role: Role, removed: bool
) -> None:
    world, hostile = besieged(seed, role, removed=removed)

    assert set(hostile.done) == set(ACTS)
    check(world, removed=removed)
    assert await flagged(world) <= {world.nodes[HOSTILE].identity.peer_id}


async def test_who_signs_as_if_not_knowing_what_they_knew_is_flagged() -> None:
    world = World(SIZE, 1, Link(), Terms(governed=True))
    world.run(20 * SECOND)
    hostile = HostileMember(world, HOSTILE, random.Random(1))
    for number in HONEST:
        world.act(0, SetRole(Key(world.nodes[HOSTILE].identity.public_key), Role.READER))
        world.act(0, SetRole(Key(world.nodes[HOSTILE].identity.public_key), Role.MEMBER))
        world.write_text(number, "an honest line", world.governed)
        world.run(5 * SECOND)
        hostile.act("lines at old cuts")
        world.run(5 * SECOND)

    assert await flagged(world) == {world.nodes[HOSTILE].identity.peer_id}


def test_who_shows_each_side_of_a_cut_other_ops_splits_no_channel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each side has as many of them as there is room for, and builds on these."""
    monkeypatch.setattr(limits, "OPS_OF_A_MEMBER_MAX", 20)
    world = World(SIZE, 3, Link(), Terms(governed=True))
    world.run(20 * SECOND)
    sides = [two_sided(world, side) for side in range(2)]
    for side, with_whom in enumerate([{2, 3, HOSTILE}, {0, 1, HOSTILE}]):
        world.partition(with_whom, {*range(SIZE)} - with_whom)
        world.run(20 * SECOND)
        for content in sides[side]:
            world.say_of_governance(HOSTILE, values.SendOp(content))
        world.run(SECOND // 10)  # before its engine asks what they are, and tells others
        world.write_text(min(with_whom), f"on side {side}", world.governed)
    world.network.heal()
    world.links.rewired()
    world.run(2 * MINUTE)
    world.act(0, removal(world, 0, Key(world.nodes[HOSTILE].identity.public_key)))
    world.run(11 * MINUTE)

    check(world, removed=True)


def two_sided(world: World, side: int) -> list[bytes]:
    """Return a chain of invitations, as many as there is room for."""
    governance = governing_of(world, HOSTILE).governance
    identity, contents = world.nodes[HOSTILE].identity, []
    mind = Mind(random.Random(side), identity, governance, ())
    made = mind.signable(Invite(mind.rng.randbytes(32), Role.MEMBER), governance.heads)
    for _ in range(limits.OPS_OF_A_MEMBER_MAX):
        content = mind.signed(made)
        contents.append(content)
        made = replace(
            made,
            parents=(open_op(content, governance.group).id,),
            nonce=made.nonce + 1,
            lamport=made.lamport + 1,
            op=Invite(mind.rng.randbytes(32), Role.MEMBER),
        )
    return contents


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE)
def test_the_others_have_one_membership_in_more_runs(seed: int) -> None:
    role = [Role.READER, Role.MEMBER, Role.ADMIN][seed % 3]
    removed = bool(seed % 2)
    world, _ = besieged(seed, role, removed=removed)

    check(world, removed=removed)
