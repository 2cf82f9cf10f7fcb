"""Acts of governance as lines of a transcript, and what becomes of them."""

from collections.abc import Iterable, Sequence, Set

from sync.group.governance_parts import (
    Act,
    Add,
    Genesis,
    Governance,
    Invite,
    Join,
    Key,
    Leave,
    OpId,
    Policy,
    Remove,
    Revoke,
    Role,
    SetPolicy,
    SetRole,
    State,
    bits,
)
from sync.group.governing import Governing
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.governance_infos import (
    ActInfo,
    ActKind,
    BecauseInfo,
    LossInfo,
    MembershipShown,
    NickOf,
    OpShown,
    Person,
    RoleChange,
)
from sync.view.governance_projection import KINDS, People
from sync.view.losses import Losses
from sync.view.view import Event, Line, LooksShown


class ActLines:
    """Acts of a channel as lines, as they stand at our heads.

    Args:
        channel: the channel.
        governance: its governance; its founding is here.
        me: the reader.
        nick_of: names people; who has none goes by the name they joined by.
        state: the state they are told at, if it is not that at our heads.
    """

    def __init__(
        self,
        channel: ChannelId,
        governance: Governance,
        me: PeerId,
        nick_of: NickOf,
        state: State | None = None,
    ) -> None:
        self._channel, self._governance, self._me = channel, governance, me
        self._people = People(governance, nick_of)
        self._losses = Losses(governance, governance.now if state is None else state)

    def line(self, act: Act) -> Line:
        """Return an act as a line; its text is empty, for words are of the screens."""
        peer, nick = self._people.person(act.signer)
        return Line(
            channel=self._channel,
            message_id=MessageId(act.id.hex()),
            author=peer,
            nick=nick,
            text="",
            lamport=act.lamport,
            created_ns=act.created_ns,
            own=peer == self._me,
            after_gap=False,
            delivery=None,
            act=self.info(act),
        )

    def info(self, act: Act) -> ActInfo:
        """Return what an act does, to whom, and what became of it."""
        kind, name, role, reason = _kind(act), "", None, ""
        policy: tuple[tuple[str, object], ...] = ()
        match act.op:
            case Genesis():
                name = act.op.name
            case Invite() | Add() | SetRole():
                role = act.op.role
            case Join(invite=invite):
                role = self._invited_as(invite)
            case Remove():
                reason = act.op.reason
            case SetPolicy(policy=new):
                fields = zip(Policy._fields, new, act.judgement.touched, strict=True)
                policy = tuple([(field, access) for field, access, touched in fields if touched])
            case _:
                pass
        loss = self._losses.of(act)
        return ActInfo(
            kind=kind,
            people=self._about(act),
            role=role,
            lowers=act.judgement.lowers,
            policy=policy,  # type: ignore[arg-type]  # fields of a policy are of one type
            reason=reason,
            name=name,
            epoch=None if act.epoch is None else act.epoch.number,
            loss=None if loss is None else LossInfo(loss.reason, self._because(loss.because)),
        )

    def _about(self, act: Act) -> tuple[Person, ...]:
        match act.op:
            case Join(invite=invite) | Revoke(invite=invite):
                return (self._people.person(self._governance.act(invite).signer),)
            case Leave():
                return ()
            case _:
                return tuple([self._people.person(key) for key in act.targets])

    def _invited_as(self, invite: OpId) -> Role:
        made = self._governance.act(invite).op
        assert isinstance(made, Invite)
        return made.role

    def _because(self, number: int | None) -> BecauseInfo | None:
        if number is None:
            return None
        act = self._governance.dag.acts[number]
        signer = self._people.person(act.signer)
        role = act.op.role if isinstance(act.op, Add | SetRole) else None
        return BecauseInfo(act.id.hex(), _kind(act), signer, self._about(act), role)


def _kind(act: Act) -> ActKind:
    return ActKind.ASKED if act.judgement.asks else KINDS[type(act.op)]


def told_of(
    channel: ChannelId,
    governance: Governance,
    ops: Sequence[OpId],
    me: PeerId,
    nick_of: NickOf,
) -> list[OpShown | MembershipShown]:
    """Return what to show of ops that were taken in, all at once: they are the last ones.

    First themselves, then earlier ones that count otherwise for them, then who has another role.
    """
    if not ops:
        return []
    acts = sorted((governance.act(op) for op in ops), key=lambda act: act.number)
    first, last = acts[0].number, acts[-1].number
    after = governance.projection.state((1 << last + 1) - 1)
    before = governance.projection.state((1 << first) - 1) if first else None
    lines = ActLines(channel, governance, me, nick_of, after)
    shown: list[OpShown | MembershipShown] = [
        OpShown(lines.line(act)) for act in sorted(acts, key=lambda act: act.place)
    ]
    moved = after.people.keys() if before is None else _moved(before, after)
    if before is not None:
        turned = sorted(_turned(governance, before, after, acts, moved), key=lambda act: act.place)
        shown += [OpShown(lines.line(act), again=True) for act in turned]
    if changes := _changes(before, after, moved, People(governance, nick_of)):
        shown.append(MembershipShown(channel, changes))
    return shown


def looks_after(channel: ChannelId, told: Iterable[Event]) -> list[LooksShown]:
    """Return that lines are to be read again if somebody is out by what is told of ops."""
    changes = (one.changes for one in told if isinstance(one, MembershipShown))
    out = any(change.after is Role.NONE for one in changes for change in one)
    return [LooksShown(channel)] if out else []


def looks_of(line: Line, governing: Governing | None) -> list[LooksShown]:
    """Return that a line of somebody who is out is to be read again, with its mark."""
    if governing is None or line.own:
        return []
    role = governing.governance.now.role(Key(bytes.fromhex(line.author)))
    return [LooksShown(line.channel)] if role is Role.NONE else []


def _turned(
    governance: Governance, before: State, after: State, new: Iterable[Act], moved: Set[Key]
) -> list[Act]:
    """Return the ops of the earlier state that came to nothing since, or count again.

    Only those can have that a new op, or one that is void or is not any more, is about somebody
    they are about, too.
    """
    acts, about = governance.dag.acts, governance.projection.relations.about
    then, now = Losses(governance, before), Losses(governance, after)
    voids = {
        number
        for number in before.voids.keys() | after.voids.keys()
        if before.voids.get(number) != after.voids.get(number)
    }
    people = {target for act in new for target in act.targets}
    people |= {target for number in voids for target in acts[number].targets}
    people |= moved
    touched = voids.union(*(bits(about[person]) for person in people))
    earlier = [acts[number] for number in touched if before.cut >> number & 1]
    return [act for act in earlier if then.of(act) != now.of(act)]


def _moved(before: State, after: State) -> set[Key]:
    """Return who has another standing than before, also who has found room, or lost it."""
    if before.people is after.people:
        return set()
    was = before.people
    moved = {key for key, standing in after.people.items() if was.get(key) != standing}
    return moved | (was.keys() - after.people.keys())


def _changes(
    before: State | None, after: State, moved: Set[Key], people: People
) -> tuple[RoleChange, ...]:
    """Return who of those who `moved` has another role than before."""
    roles = [
        (key, Role.NONE if before is None else before.role(key), after.role(key))
        for key in sorted(moved)
    ]
    return tuple(
        [
            RoleChange(*people.person(key), was, becomes)
            for key, was, becomes in roles
            if was is not becomes
        ]
    )
