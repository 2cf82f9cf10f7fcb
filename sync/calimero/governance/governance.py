"""The governance of one channel: takes ops in, keeps those that wait, answers at cuts."""

from collections.abc import Iterable
from copy import copy
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from sync.calimero.governance import limits
from sync.calimero.governance.dag import Act, Dag, Judgement, bits
from sync.calimero.governance.ops import Genesis, GroupId, Join, Key, OpId, Role, SignedGroupOp
from sync.calimero.governance.projection import Loss, Projection, Reason, State
from sync.calimero.governance.refusal import OpError, Refusal
from sync.calimero.governance.rights import FOUNDING, judge
from sync.calimero.governance.signing import group_of
from sync.calimero.governance.waiting import RefusedOps, Waiting

PASSING: Final = frozenset({Refusal.QUOTA, Refusal.FULL})
"""Refusals for want of room: the same op may be taken in later."""


class TakenOp(NamedTuple):
    """An op that was taken in, and what it is at its own parents: both are stored."""

    op: SignedGroupOp
    judgement: Judgement


class Taken(Struct, frozen=True):
    """The op was taken in, and with it those that had waited for it, ancestors first."""

    ops: tuple[TakenOp, ...]
    refused: tuple[tuple[OpId, Refusal], ...] = ()
    """Ops that had waited and turned out to have no right."""


class Waits(Struct, frozen=True):
    """The op waits for these."""

    missing: tuple[OpId, ...]


class Refused(Struct, frozen=True):
    """The op is not taken in."""

    refusal: Refusal


class Known(Struct, frozen=True):
    """The op is here, or waits here, already."""


Received: TypeAlias = Taken | Waits | Refused | Known


class Asking(NamedTuple):
    """Somebody who is not in and asks, or came in by what came to nothing: `/add` lets them in."""

    key: Key
    op: OpId
    reason: Reason


class Governance:
    """All ops of a channel, and its state at any cut of them.

    An op was opened by `signing.open_op` before: signature, form and channel are checked there.
    """

    def __init__(self, group: GroupId) -> None:
        self.group = group
        self.dag = Dag()
        self.projection = Projection(self.dag)
        self.waiting = Waiting()
        self.refused = RefusedOps()
        self._asking: tuple[State, tuple[Asking, ...]] | None = None
        """Those who ask at the state looked at last: each snapshot looks, and thousands may ask."""

    def restore(self, stored: Iterable[TakenOp]) -> None:
        """Take in what this node took in before, ancestors first, without judging it again."""
        assert not self.dag.acts, "restored twice"
        for one in stored:
            self.follow(one)

    def follow(self, taken: TakenOp) -> None:
        """Take in an op that was judged before, or elsewhere, and whose parents are here."""
        before = self.dag.closure(taken.op.signed.parents)
        assert before is not None, "an op is stored without its ancestors"
        self.projection.relations.note(self.dag.append(taken.op, taken.judgement, before))

    def copied(self) -> "Governance":
        """Return what is known now, for another thread: ops that come later do not reach it."""
        one = Governance(self.group)
        for source, target in (
            (self.dag, one.dag),
            (self.projection.relations, one.projection.relations),
        ):
            for name, value in vars(source).items():
                if value is not self.dag:
                    setattr(target, name, copy(value))
        return one

    def receive(self, op: SignedGroupOp, voucher: Key | None = None) -> Received:
        """Take an op in, let it wait for its parents, or refuse it.

        Args:
            op: the op.
            voucher: who took it in before us and gave it to us when asked; None if nobody did.
        """
        assert group_of(op) == self.group, "an op of another channel"
        if op.id in self.dag.numbers or op.id in self.waiting.ops:
            return Known()
        if op.id in self.refused:
            return Refused(self.refused.reasons[op.id])
        if any(parent in self.refused for parent in op.signed.parents):
            return self._refuse(op, Refusal.REFUSED_PARENT)
        if missing := self.dag.missing(op.signed.parents):
            self.waiting.add(op, missing)
            return Waits(missing)
        taken: list[TakenOp] = []
        refused: list[tuple[OpId, Refusal]] = []
        try:
            taken.append(self._take(op, voucher))
        except OpError as error:
            return self._refuse(op, error.refusal)
        self._take_children(op, voucher, taken, refused)
        return Taken(tuple(taken), tuple(refused))

    @property
    def heads(self) -> tuple[OpId, ...]:
        """Ids of the ops that no other has seen, sorted: a cut is named by them."""
        return self.dag.head_ids()

    def foremost_heads(self, signer: Key, count: int) -> tuple[OpId, ...]:
        """Return our heads, sorted; of more than `count` those that matter most to `signer`.

        First one that their membership rests on and one that has seen their latest op, then those
        that count, of smaller ranks before others, the newest first. Whoever signs hundreds at an
        old cut, with the latest Lamport times there are, drives out none of these.
        """
        heads = self.heads
        if len(heads) <= count:
            return heads
        dag, state = self.dag, self.now
        acts = sorted((self.act(head) for head in heads), key=lambda act: act.place)
        acts.reverse()
        acts.sort(key=lambda act: (not state.counting & act.bit, act.rank))
        standing, theirs = state.people.get(signer), dag.by_signer.get(signer)
        needed = [] if standing is None else [standing.act]
        needed += theirs[-1:] if theirs else []
        first = [
            next(act for act in acts if act.number == number or act.knew(number))
            for number in needed
        ]
        return tuple(sorted([act.id for act in dict.fromkeys([*first, *acts])][:count]))

    @property
    def now(self) -> State:
        """The state at our heads."""
        state = self.projection.at(self.dag.head_ids())
        assert state is not None, "nothing is here yet"
        return state

    def act(self, op: OpId) -> Act:
        """Return an op that is here."""
        return self.dag.acts[self.dag.numbers[op]]

    def losses(self, state: State) -> dict[OpId, Loss]:
        """Return, of a state's ops, those that came to nothing for what happened at once."""
        acts, relations = self.dag.acts, self.projection.relations
        lost = {acts[number].id: loss for number, loss in state.voids.items()}
        overruled: dict[int, int] = {}
        for about in relations.about.values():
            for number, winner in self.projection.folds.lost(about & state.counting).items():
                known = overruled.get(number, winner)  # a removal of two, by one op for each
                overruled[number] = min(known, winner, key=lambda one: acts[one].place)
        for number, winner in overruled.items():
            lost[acts[number].id] = Loss(Reason.OVERRULED, winner)
        for key, standing in state.people.items():
            if standing is not state.folded[key]:
                lost[acts[standing.act].id] = Loss(Reason.CROWDED, None)
        return lost

    def asking(self, state: State) -> tuple[Asking, ...]:
        """Return who asks to be let in, or let in again, the first in the transcript first."""
        if self._asking is None or self._asking[0] is not state:
            self._asking = state, self._asking_at(state)
        return self._asking[1]

    def _asking_at(self, state: State) -> tuple[Asking, ...]:
        relations, acts = self.projection.relations, self.dag.acts
        found: dict[Key, tuple[tuple[int, OpId], Reason]] = {}
        entered = [
            (acts[number], loss.reason)
            for number, loss in state.voids.items()
            if relations.entries >> number & 1
        ]
        entered += [
            (acts[number], Reason.ASKS) for number in relations.asking if state.cut >> number & 1
        ]
        entered += [
            (acts[standing.act], Reason.CROWDED)
            for key, standing in state.people.items()
            if standing is not state.folded[key]
        ]
        for act, reason in entered:
            (key,) = act.targets
            out = [
                acts[number]
                for number in bits(relations.about[key] & state.counting)
                if acts[number].knew(act.number) and acts[number].negative
            ]
            if state.role(key) is Role.NONE and not out:
                found[key] = max(found.get(key, (act.place, reason)), (act.place, reason))
        return tuple(
            Asking(key, place[1], reason)
            for key, (place, reason) in sorted(found.items(), key=lambda one: one[1][0])
        )

    def _take(self, op: SignedGroupOp, voucher: Key | None) -> TakenOp:
        """Judge an op whose parents are here, and take it in.

        Raises:
            OpError: it does not follow its ancestors, has no right, or there is no room.
        """
        before = self.dag.closure(op.signed.parents)
        assert before is not None
        self.dag.check_place(op, before)
        if isinstance(op.op, Genesis):
            judgement = FOUNDING
        else:
            self._check_stranger(op)
            self._check_room(op, voucher)
            judgement = judge(self.projection, op, self.projection.state(before))
        self.projection.relations.note(self.dag.append(op, judgement, before))
        return TakenOp(op, judgement)

    def _check_stranger(self, op: SignedGroupOp) -> None:
        """Refuse an op of somebody who never was in, before a state is made for it."""
        signer, projection = op.signed.signer, self.projection
        if signer in projection.relations.about or signer in projection.folds.owners:
            return
        if not isinstance(op.op, Join):
            raise OpError(Refusal.NOT_A_MEMBER)

    def _check_room(self, op: SignedGroupOp, voucher: Key | None) -> None:
        """Refuse an op there is no room for: admins have some of their own, and owners more."""
        signer = op.signed.signer
        role = self.now.role(signer)
        if role >= Role.ADMIN:
            kept = 0 if role is Role.OWNER else limits.OPS_FOR_OWNERS
            if len(self.dag) >= limits.OPS_MAX - kept:
                raise OpError(Refusal.FULL)
            return
        if len(self.dag) >= limits.OPS_MAX - limits.OPS_FOR_ADMINS:
            raise OpError(Refusal.FULL)
        signed = len(self.dag.by_signer.get(signer, ()))
        if signed < limits.OPS_OF_A_MEMBER_MAX:
            return
        if not (self._vouches(voucher, signer) or self._needed(op)):
            raise OpError(Refusal.QUOTA)

    def _vouches(self, voucher: Key | None, signer: Key) -> bool:
        """Return whether somebody else who is in had room for an op of a signer.

        What they write and sign stands on it. If a signer shows different ops to two nodes, both
        take in all of them, or neither would ever read the other one again.
        """
        if voucher is None or voucher == signer:
            return False
        return self.now.role(voucher) is not Role.NONE

    def _needed(self, op: SignedGroupOp) -> bool:
        """Return whether somebody else who is in has an op that waits for this one."""
        return any(
            child.signed.signer != op.signed.signer
            and self.now.role(child.signed.signer) is not Role.NONE
            for child in self.waiting.children(op.id)
        )

    def _take_children(
        self,
        op: SignedGroupOp,
        voucher: Key | None,
        taken: list[TakenOp],
        refused: list[tuple[OpId, Refusal]],
    ) -> None:
        """Take in, or refuse, what waited for an op and for nothing else."""
        came = [op]
        while came:
            for child in self.waiting.children(came.pop().id):
                gone = any(parent in self.refused for parent in child.signed.parents)
                if not gone and self.dag.missing(child.signed.parents):
                    continue
                self.waiting.take(child)
                came.append(child)
                try:
                    if not gone:
                        taken.append(self._take(child, voucher))
                        continue
                    refusal = Refusal.REFUSED_PARENT
                except OpError as error:
                    refusal = error.refusal
                self._refuse(child, refusal)
                refused.append((child.id, refusal))

    def _refuse(self, op: SignedGroupOp, refusal: Refusal) -> Refused:
        """Remember a refused op, and refuse what waits for it."""
        if refusal in PASSING:
            return Refused(refusal)
        self.refused.add(op.id, refusal)
        gone = [op.id]
        while gone:
            for child in self.waiting.children(gone.pop()):
                self.waiting.take(child)
                self.refused.add(child.id, Refusal.REFUSED_PARENT)
                gone.append(child.id)
        return Refused(refusal)
