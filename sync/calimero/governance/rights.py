"""Right of a signer at an op's own parents: whoever has it not is refused, at every node alike."""

from collections.abc import Collection

from sync.calimero.governance import limits
from sync.calimero.governance.dag import (
    ADMINS,
    OTHERS,
    OWNERS,
    UNTOUCHED,
    Judgement,
    bits,
)
from sync.calimero.governance.ops import (
    Access,
    Add,
    Epoch,
    Genesis,
    Invite,
    Join,
    Key,
    Leave,
    Remove,
    Revoke,
    Role,
    Rotate,
    SetPolicy,
    SetRole,
    SignedGroupOp,
)
from sync.calimero.governance.projection import Projection, State
from sync.calimero.governance.refusal import OpError, Refusal
from sync.calimero.governance.signing import group_of, ticket_holds

FOUNDING: Judgement = Judgement(OWNERS)


def judge(projection: Projection, op: SignedGroupOp, state: State) -> Judgement:
    """Return what an op is at its own parents, whose state this is.

    Raises:
        OpError: its signer had no right to it; `refusal` says why.
    """
    signer = op.signed.signer
    role = state.role(signer)
    match op.op:
        case Genesis():
            raise OpError(Refusal.GROUP)
        case Join():
            return _join(projection, op, op.op, state)
        case Leave():
            _need(role is not Role.NONE, Refusal.NOT_A_MEMBER)
            return Judgement(rank_of(role))
        case Invite():
            _invite(role, state)
            return Judgement(rank_of(role))
        case _:
            _need(role is not Role.NONE, Refusal.NOT_A_MEMBER)
            _need(role >= Role.ADMIN, Refusal.NOT_ADMIN)
            return _by_admin(projection, op, state)


def rank_of(role: Role) -> int:
    """Return the rank that a role gives an op."""
    return {Role.OWNER: OWNERS, Role.ADMIN: ADMINS}.get(role, OTHERS)


def _by_admin(projection: Projection, op: SignedGroupOp, state: State) -> Judgement:
    """Judge an op that admins and owners alone may sign."""
    signer, role = op.signed.signer, state.role(op.signed.signer)
    owners = projection.folds.owners
    lowers, touched = False, UNTOUCHED
    match op.op:
        case Revoke(invite=invite):
            number = projection.dag.numbers.get(invite, 0)
            counts = state.counting >> number & 1
            made = projection.dag.acts[number].op
            _need(bool(counts) and isinstance(made, Invite), Refusal.NO_INVITE)
        case Add(key=key, role=given):
            _check_target(key, signer, owners)
            _need(state.role(key) is Role.NONE, Refusal.TARGET_IN)
            _need(given < Role.ADMIN or role is Role.OWNER, Refusal.NOT_OWNER)
            _need(state.room.size < limits.MEMBERS_MAX, Refusal.CROWDED)
        case Remove(keys=keys, epoch=epoch):
            for key in keys:
                _check_target(key, signer, owners)
                _check_power(state.role(key), role)
            _check_epoch(projection, epoch, state)
        case SetRole(key=key, role=given):
            _check_target(key, signer, owners)
            had = state.role(key)
            _check_power(had, role)
            _need(given < Role.ADMIN or role is Role.OWNER, Refusal.NOT_OWNER)
            _need(given is not had, Refusal.UNCHANGED)
            lowers = given < had
        case SetPolicy(policy=policy):
            pairs = zip(policy, state.policy, strict=True)
            write, invite_, topic, pins = (new is not old for new, old in pairs)
            touched = write, invite_, topic, pins
            _need(any(touched), Refusal.UNCHANGED)
        case Rotate(epoch=epoch):
            _check_epoch(projection, epoch, state)
        case _:
            raise AssertionError(op.op)
    return Judgement(rank_of(role), lowers, touched)


def _join(projection: Projection, op: SignedGroupOp, join: Join, state: State) -> Judgement:
    """Judge somebody who enters by a code; who was removed only asks."""
    signer, dag = op.signed.signer, projection.dag
    _need(signer not in projection.folds.owners, Refusal.TARGET_OWNER)
    number = dag.numbers.get(join.invite)
    if number is None or not state.counting >> number & 1:
        raise OpError(Refusal.NO_INVITE)
    invite = dag.acts[number]
    if not isinstance(invite.op, Invite):
        raise OpError(Refusal.NO_INVITE)
    _need(ticket_holds(group_of(op), signer, join, invite.op.ticket), Refusal.TICKET)
    ended = code_ended(projection, number, state)
    standing = state.people.get(signer)
    if standing is not None:
        _need(not standing.member, Refusal.TARGET_IN)
        if isinstance(dag.acts[standing.act].op, Remove):
            return Judgement(OTHERS, asks=True)
    _need(not ended, Refusal.CODE_ENDED)
    return Judgement(OTHERS)


def code_ended(projection: Projection, invite: int, state: State) -> bool:
    """Return whether the code of an invitation, by its number, had ended at a cut."""
    acts = projection.dag.acts
    ending = projection.relations.ending & state.counting & ~acts[invite].before
    return any(projection.relations.ends(acts[number], acts[invite]) for number in bits(ending))


def _invite(role: Role, state: State) -> None:
    _need(role is not Role.NONE, Refusal.NOT_A_MEMBER)
    least = Role.MEMBER if state.policy.invite is Access.MEMBERS else Role.ADMIN
    _need(role >= least, Refusal.NOT_INVITING)


def _check_target(key: Key, signer: Key, owners: Collection[Key]) -> None:
    _need(key != signer, Refusal.TARGET_SELF)
    _need(key not in owners, Refusal.TARGET_OWNER)


def _check_power(target: Role, signer: Role) -> None:
    """Refuse who acts on somebody not in, or on an equal: power points down."""
    _need(target is not Role.NONE, Refusal.TARGET_OUT)
    _need(target < signer, Refusal.NOT_OWNER)


def _check_epoch(projection: Projection, epoch: Epoch, state: State) -> None:
    begun = projection.dag.acts[state.epoch].epoch
    _need(epoch.number == (begun.number if begun else 0) + 1, Refusal.EPOCH)


def _need(holds: bool, refusal: Refusal) -> None:  # noqa: FBT001  # reads as the rule it is
    if not holds:
        raise OpError(refusal)
