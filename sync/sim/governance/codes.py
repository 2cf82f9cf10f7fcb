"""Codes of a governed channel in a world, and removals: without secrets."""

from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import (
    TAG_SIZE,
    WRAPPED_SIZE,
    Epoch,
    GroupId,
    Invite,
    Join,
    Key,
    OpId,
    Remove,
    Role,
    Wrap,
    Wraps,
)
from sync.calimero.governance.signing import ticket_text
from sync.entries.identity import Identity
from sync.group.governing import Governing
from sync.machine import SECOND, Nanos
from sync.sim.governance.levels import Code
from sync.sim.world import World

ASKED_EVERY: Nanos = SECOND // 2
"""Between two looks of somebody with a code whether the op that made it is here."""


def make_code(world: World, number: int, role: Role = Role.MEMBER) -> Code:
    """Let a node make a code, now."""
    seed = world.rng.randbytes(32)
    ticket = Identity.from_seed(seed, seed)
    governance = governing_of(world, number).governance
    epoch = governance.dag.acts[governance.now.epoch].id
    world.act(number, Invite(ticket.public_key, role))
    assert world.levels is not None
    code = Code(ticket, epoch)
    world.levels.given.append(code)
    return code


def removal(world: World, actor: int, *who: Key, reason: str = "spam") -> Remove:
    """Return a removal by a node, with the next epoch that it knows of; what it wraps is empty."""
    governance = governing_of(world, actor).governance
    begun = governance.dag.acts[governance.now.epoch].epoch
    stays = sorted(key for key, one in governance.now.people.items() if one.member)
    wrapped = Wraps.of(Wrap(key[:TAG_SIZE], bytes(WRAPPED_SIZE)) for key in stays if key not in who)
    epoch = Epoch((begun.number if begun else 0) + 1, bytes(32), (), wrapped)
    return Remove(tuple(sorted(who)), epoch, reason)


def take_code(world: World, number: int, code: Code) -> None:
    """Let a stranger take a code: they join once the op that made it is here."""
    node = world.nodes[number]
    assert world.levels is not None
    world.levels.got_code(node, code.epoch)

    def look() -> None:
        if node.runner is not None and not _is_in(world, number):
            join = _join(world, number, code)
            if join is not None:
                world.act(number, join)
                return
        world.time.call(world.now + ASKED_EVERY, look)

    look()


def governing_of(world: World, number: int) -> Governing:
    """Return the governance of a node that is up."""
    runner = world.nodes[number].runner
    assert runner is not None
    assert world.governed is not None
    governing = runner.groups[world.governed].governing
    assert governing is not None
    return governing


def _is_in(world: World, number: int) -> bool:
    peer = world.nodes[number].identity.peer_id
    return governing_of(world, number).is_in(peer) is True


def _join(world: World, number: int, code: Code) -> Join | None:
    """Return the op by which a node joins; None while that of the code is not here."""
    governance = governing_of(world, number).governance
    invite = _invite(governance, code)
    if invite is None:
        return None
    who = world.nodes[number].identity
    key, group = Key(who.public_key), GroupId(governance.group)
    signature = code.ticket.sign(ticket_text(group, invite, key, who.noise_public))
    return Join(invite, who.noise_public, f"node{number}", signature)


def _invite(governance: Governance, code: Code) -> OpId | None:
    for act in governance.dag.acts:
        if isinstance(act.op, Invite) and act.op.ticket == code.ticket.public_key:
            return act.id
    return None
