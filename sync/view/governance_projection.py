"""From a channel's governance to what the UI may know of it (`sync.view.governance_infos`)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec.structs import astuple

from sync.group.governance_parts import (
    Act,
    Add,
    Doing,
    Genesis,
    Governance,
    Invite,
    Join,
    Key,
    Leave,
    Loss,
    Reason,
    Remove,
    Revoke,
    Role,
    Rotate,
    SetPolicy,
    SetRole,
    Standing,
    State,
    bits,
    may,
    rotation_wanted,
)
from sync.group.governing import Governing
from sync.machine import ChannelId, PeerId
from sync.view.governance_infos import (
    ActKind,
    AskingInfo,
    CatchUpInfo,
    DepartureInfo,
    Entered,
    EpochInfo,
    GovernanceInfo,
    MemberInfo,
    NickOf,
    OpInfo,
    Person,
    Right,
)
from sync.view.losses import Losses

OPS_SHOWN: Final = 20
"""Ops of a snapshot: those that came last, a screen of them; the transcript has all."""

KINDS: Final[dict[type, ActKind]] = {
    Genesis: ActKind.FOUNDED,
    Invite: ActKind.INVITED,
    Revoke: ActKind.REVOKED,
    Join: ActKind.JOINED,
    Add: ActKind.ADDED,
    Remove: ActKind.REMOVED,
    Leave: ActKind.LEFT,
    SetRole: ActKind.ROLE,
    SetPolicy: ActKind.POLICY,
    Rotate: ActKind.ROTATED,
}

ROWS_MAX: Final = 100
"""People who ask, people who went, and secrets, in a snapshot: what fits no screen is counted."""

DOING: Final = {
    Right.WRITE: Doing.WRITE,
    Right.REACT: Doing.REACT,
    Right.HIDE: Doing.HIDE,
    Right.TOPIC: Doing.TOPIC,
    Right.PIN: Doing.PIN,
}


def governance_info(governing: Governing, me: PeerId, nick_of: NickOf) -> GovernanceInfo:
    """Return who is in a channel, and how its governance stands, at our heads."""
    governance = governing.governance
    if not governance.dag.acts:
        return GovernanceInfo(
            founded=False,
            waiting_ops=len(governance.waiting.ops),
            refused_ops=len(governance.refused.reasons),
            pending=len(governing.pending.entries),
            catch_ups=tuple([CatchUpInfo(*astuple(one)) for one in governing.catch_ups.latest()]),
        )
    people = People(governance, nick_of)
    state, genesis = governance.now, governance.dag.acts[0].op
    assert isinstance(genesis, Genesis)
    key = Key(bytes.fromhex(me))
    role, here = state.role(key), people.members(state)
    gone, gone_count = people.gone(state)
    asking, asking_count = people.asking(state, key)
    epochs, epochs_count = people.epochs(state)
    return GovernanceInfo(
        founded=True,
        role=role,
        rights=rights_of(role, state),
        departure=people.departure(key, state),
        name=genesis.name,
        predecessor=None if genesis.predecessor is None else ChannelId(genesis.predecessor.hex()),
        policy=state.policy,
        members=here,
        asking=asking,
        asking_count=asking_count,
        gone=gone,
        gone_count=gone_count,
        only_owner=_only_owner(here),
        owners_gone=all(one.role is not Role.OWNER for one in here),
        heads=tuple([head.hex() for head in governance.heads]),
        ops=len(governance.dag),
        waiting_ops=len(governance.waiting.ops),
        refused_ops=len(governance.refused.reasons),
        void_ops=len(state.voids),
        pending=len(governing.pending.entries),
        drains=tuple(sorted(governing.outcomes.items())),
        dropped=tuple(sorted(Counter(one.value for one in governing.dropped.values()).items())),
        epochs=epochs,
        epochs_count=epochs_count,
        latest=latest_ops(governance, people),
        catch_ups=tuple([CatchUpInfo(*astuple(one)) for one in governing.catch_ups.latest()]),
        divergences=tuple(
            sorted((plane.value, count) for plane, count in governing.answers.divergences.items())
        ),
        answers_checked=governing.answers.checked,
        answers_skipped=governing.answers.skipped,
        rotation_wanted="" if (why := rotation_wanted(governance, state)) is None else why.value,
    )


def rights_of(role: Role, state: State) -> tuple[Right, ...]:
    """Return what a role may do under the policy of a state."""
    if role is Role.NONE:
        return ()
    rights = [right for right, doing in DOING.items() if may(role, state.policy, doing)]
    if role >= state.policy.invite.least:
        rights.append(Right.INVITE)
    if role >= Role.ADMIN:
        rights += [Right.MEMBERS, Right.POLICY, Right.ROTATE]
    if role is Role.OWNER:
        rights.append(Right.ADMINS)
    return (*rights, Right.LEAVE)


def _only_owner(members: Sequence[MemberInfo]) -> PeerId | None:
    """Return the one owner who is in, if there is no admin beside."""
    leading = [one for one in members if one.role >= Role.ADMIN]
    if len(leading) == 1 and leading[0].role is Role.OWNER:
        return leading[0].peer
    return None


class People:
    """People of a channel by its ops, each with the name that `nick_of` or their join gives."""

    def __init__(self, governance: Governance, nick_of: NickOf) -> None:
        self._governance = governance
        self._acts = governance.dag.acts
        self._nick_of = nick_of
        asked = map(self._acts.__getitem__, governance.projection.relations.asking)
        self._asked_as = {act.signer: act.op.nick for act in asked if isinstance(act.op, Join)}

    def person(self, key: Key) -> Person:
        """Return somebody with their name: the one they go by, or else came in with."""
        peer = PeerId(key.hex())
        return Person(peer, self._nick_of(peer) or self._joined_as(key))

    def members(self, state: State) -> tuple[MemberInfo, ...]:
        """Return who is in, the highest role first, of each the longest in first."""
        inside = [(key, one) for key, one in state.people.items() if one.member]
        inside.sort(key=lambda one: (-one[1].role, self._acts[one[1].since].place, one[0]))
        return tuple([self._member(key, standing) for key, standing in inside])

    def gone(self, state: State) -> tuple[tuple[DepartureInfo, ...], int]:
        """Return who was in once, the last to go first, and how many they are."""
        outside = [(key, one) for key, one in state.folded.items() if not one.member]
        outside.sort(key=lambda one: self._acts[one[1].act].place, reverse=True)
        shown = [self._departure(key, one, state) for key, one in outside[:ROWS_MAX]]
        return tuple(shown), len(outside)

    def departure(self, key: Key, state: State) -> DepartureInfo | None:
        """Return how somebody went; None if they are in, or never were."""
        standing = state.people.get(key)
        if standing is None or standing.member:
            return None
        return self._departure(key, standing, state)

    def asking(self, state: State, me: Key) -> tuple[tuple[AskingInfo, ...], int]:
        """Return who asks to be let in, the first in the transcript first, and how many they are.

        Of more than are shown we come first, and who only found no place last: any number of keys
        may enter by one code.
        """
        asking = self._governance.asking(state)
        if len(asking) > ROWS_MAX:
            crowded = Reason.CROWDED
            asking = tuple(sorted(asking, key=lambda one: (one.key != me, one.reason is crowded)))
        shown = asking[:ROWS_MAX]
        infos = [AskingInfo(*self.person(one.key), one.reason, one.op.hex()) for one in shown]
        return tuple(infos), len(asking)

    def epochs(self, state: State) -> tuple[tuple[EpochInfo, ...], int]:
        """Return the secrets that ops began, the newest first, and how many they are."""
        begun = [
            self._acts[0],
            *map(self._acts.__getitem__, self._governance.projection.relations.epochs),
        ]
        begun.sort(
            key=lambda act: (
                act.number == state.epoch,
                act.epoch.number if act.epoch else 0,
                act.id,
            ),
            reverse=True,
        )
        infos = [
            EpochInfo(
                number=act.epoch.number if act.epoch else 0,
                op_id=act.id.hex(),
                by=self.person(act.signer),
                begun_ns=act.created_ns,
                counts=bool(state.counting & act.bit) or act.number == 0,
                newest=act.number == state.epoch,
            )
            for act in begun[:ROWS_MAX]
        ]
        return tuple(infos), len(begun)

    def _member(self, key: Key, standing: Standing) -> MemberInfo:
        entry, decides = self._acts[standing.since], self._acts[standing.act]
        entered, by = self._entry(entry, key)
        peer, nick = self.person(key)
        return MemberInfo(
            peer=peer,
            nick=nick,
            role=standing.role,
            since_ns=entry.created_ns,
            entered=entered,
            by=by,
            role_by=self.person(decides.signer) if isinstance(decides.op, SetRole) else None,
            forked=key in self._governance.dag.forked,
        )

    def _entry(self, act: Act, key: Key) -> tuple[Entered, Person | None]:
        """Return how somebody came in by an op, and who let them in."""
        match act.op:
            case Join(invite=invite):
                return Entered.JOINED, self.person(self._governance.act(invite).signer)
            case Add():
                return Entered.ADDED, self.person(act.signer)
            case Genesis():
                return Entered.FOUNDED, None
            case _:
                # Their entry came to nothing and a later op about them stands: the newest tells.
                relations = self._governance.projection.relations
                entries = relations.about[key] & relations.entries
                return self._entry(self._acts[entries.bit_length() - 1], key)

    def _departure(self, key: Key, standing: Standing, state: State) -> DepartureInfo:
        act = self._acts[standing.act]
        peer, nick = self.person(key)
        return DepartureInfo(
            peer=peer,
            nick=nick,
            by=self.person(act.signer),
            left=isinstance(act.op, Leave),
            reason=act.op.reason if isinstance(act.op, Remove) else "",
            at_ns=act.created_ns,
            op_id=act.id.hex(),
            crowded=state.folded[key].member,
        )

    def _joined_as(self, key: Key) -> str:
        """Return the nick of somebody's newest join; empty if they never joined by a code."""
        relations = self._governance.projection.relations
        entries = relations.about.get(key, 0) & relations.entries
        joins = [act.op for act in map(self._acts.__getitem__, bits(entries))]
        nicks = [op.nick for op in joins if isinstance(op, Join)]
        return self._asked_as.get(key, nicks[-1] if nicks else "")


def latest_ops(governance: Governance, people: People) -> tuple[OpInfo, ...]:
    """Return the ops that were taken in last, the last first."""
    state, acts = governance.now, governance.dag.acts
    losses, latest = Losses(governance, state), acts[: -OPS_SHOWN - 1 : -1]
    return tuple([_op_info(act, governance, people, state, losses.of(act)) for act in latest])


def _op_info(
    act: Act, governance: Governance, people: People, state: State, loss: Loss | None
) -> OpInfo:
    because = None if loss is None or loss.because is None else governance.dag.acts[loss.because]
    return OpInfo(
        op_id=act.id.hex(),
        kind=ActKind.ASKED if act.judgement.asks else KINDS[type(act.op)],
        by=people.person(act.signer),
        people=tuple([people.person(key) for key in act.targets]),
        lamport=act.lamport,
        nonce=act.nonce,
        rank=act.rank,
        head=governance.dag.is_head(act.id),
        counts=act.number == 0 or (loss is None and bool(state.counting & act.bit)),
        reason=None if loss is None else loss.reason,
        because="" if because is None else because.id.hex(),
    )
