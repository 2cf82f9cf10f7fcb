"""State of a channel at a cut: a set of ops closed under ancestors, and which of them count there.

A cut that is one op further than a known one costs little: only if that op contests an earlier one
(`relations.touches`), or the cut lies far from all that are known, is everything counted anew.
Both ways give the same state, whatever the order in which ops came in.
"""

from collections import OrderedDict
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.dag import ADMINS, OTHERS, Act, Dag, bits
from sync.calimero.governance.ops import Access, Invite, Join, Key, OpId, Policy, Role
from sync.calimero.governance.outcomes import Reason
from sync.calimero.governance.relations import POLICY_FIELDS, Relations
from sync.calimero.governance.room import Room, changed, everybody
from sync.calimero.governance.standing import Folds, Standing

__all__ = ["Reason"]  # what is only passed on

INVITING: Final = Policy._fields.index("invite")
"""Place of the field of the policy that says who may invite."""


Heads: TypeAlias = tuple[OpId, ...]
"""Ops that name a cut: these and all their ancestors."""


class Loss(NamedTuple):
    """Reason why an op came to nothing, and the op that did it, by its number."""

    reason: Reason
    because: int | None


class State(Struct, frozen=True):
    """Membership, policy and epoch at a cut; sets of ops are bits."""

    cut: int
    counting: int
    voids: dict[int, Loss]
    room: Room
    policy: Policy
    epoch: int
    """The op that began the newest epoch; the genesis began the first."""

    @property
    def folded(self) -> dict[Key, Standing]:
        """Everybody who was ever in; before those are left out for whom there is no room."""
        return self.room.folded

    @property
    def people(self) -> dict[Key, Standing]:
        """Everybody who was ever in."""
        return self.room.people

    def role(self, key: Key) -> Role:
        """Return somebody's role; `NONE` if they are not in."""
        standing = self.people.get(key)
        return Role.NONE if standing is None else standing.role


class Projection:
    """States at cuts of one graph; the latest asked for are kept."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.relations = Relations(dag)
        self.folds = Folds(dag, self.relations)
        self.anew = 0
        """States that were made from nothing."""
        self._states: OrderedDict[int, State] = OrderedDict()
        self._named: OrderedDict[Heads, State] = OrderedDict()

    def at(self, heads: Heads) -> State | None:
        """Return the state at the cut that these ops and their ancestors are.

        None if there is none: an op is not here, or nothing is named.
        """
        state = self._named.get(heads)
        if state is None:
            cut = self.dag.closure(heads)
            if not cut:
                return None
            state = self._named[heads] = self.state(cut)
            if len(self._named) > limits.STATES_CACHED:
                self._named.popitem(last=False)
        return state

    def state(self, cut: int) -> State:
        """Return the state at a cut, which is closed under ancestors and not empty."""
        state = self._states.get(cut)
        if state is None:
            base = self._nearest(cut)
            state = self._anew(cut) if base is None else self._led(base, cut)
            self._states[cut] = state
            if len(self._states) > limits.STATES_CACHED:
                self._states.popitem(last=False)
        else:
            self._states.move_to_end(cut)
        return state

    def _nearest(self, cut: int) -> State | None:
        """Return the known state that lacks the fewest ops, if these are few."""
        nearest, fewest = None, limits.EXTENSIONS_MAX + 1
        for state in reversed(self._states.values()):
            if not state.cut & ~cut and (lacks := (cut ^ state.cut).bit_count()) < fewest:
                nearest, fewest = state, lacks
                if lacks == 1:
                    break
        return nearest

    def _led(self, state: State, cut: int) -> State:
        """Return the state at `cut`, led there op by op, or anew where one contests others."""
        touches = self.relations.touches
        for number in bits(cut & ~state.cut):
            if touches.get(number, 0) & state.cut:
                return self._anew(cut)
            state = self._further(state, self.dag.acts[number])
        return state

    def _further(self, state: State, act: Act) -> State:
        """Return the state one op further, whose ancestors it has, and which contests none."""
        cut = state.cut | act.bit
        if not self.relations.counting & act.bit:
            return replace(state, cut=cut)
        if loss := self._loss(act, state.counting):
            return replace(state, cut=cut, voids={**state.voids, act.number: loss})
        counting = state.counting | act.bit
        room = state.room
        if targets := act.targets:
            standings = {}
            for target in targets:
                standing = self.folds.person(target, self.relations.about[target] & counting)
                assert standing is not None
                standings[target] = standing
            room = changed(self.dag, room, standings)
        policy = state.policy if not any(act.judgement.touched) else self._policy(counting)
        epoch = self._newer_epoch(state.epoch, act.number)
        return State(cut, counting, state.voids, room, policy, epoch)

    def _anew(self, cut: int) -> State:
        """Return the state at a cut, made from nothing."""
        self.anew += 1
        relations, acts = self.relations, self.dag.acts
        counting = cut & relations.counting
        voids: dict[int, Loss] = {}
        for number in relations.admins_contested:
            if cut >> number & 1 and (loss := self._loss(acts[number], counting)):
                voids[number] = loss
        for number in voids:
            counting &= ~(1 << number)
        present = bin(cut)[:1:-1]
        for number in relations.of_others:
            if number >= len(present):
                break
            if present[number] == "1" and (loss := self._loss(acts[number], counting)):
                voids[number] = loss
                counting &= ~(1 << number)
        folded = {owner: Standing(Role.OWNER, 0, 0) for owner in self.folds.owners}
        for person, about in relations.about.items():
            if standing := self.folds.person(person, about & counting):
                folded[person] = standing
        epoch = 0
        for number in relations.epochs:
            if counting >> number & 1:
                epoch = self._newer_epoch(epoch, number)
        room = everybody(self.dag, folded)
        return State(cut, counting, voids, room, self._policy(counting), epoch)

    def _loss(self, act: Act, counting: int) -> Loss | None:
        """Return why an op that had the right does not count; None if it does.

        Args:
            act: the op.
            counting: ops that count, at least among those it depends on: those of smaller ranks,
                and its ancestors.
        """
        if threats := self.relations.threats.get(act.number, 0) & counting:
            overrides = self.relations.overrides
            hits = [
                number
                for number in bits(threats)
                if not overrides.get((number, act.signer), 0) & counting or act.rank == ADMINS
            ]
            if hits:
                return Loss(Reason.SIGNER_TAKEN_OUT, self._first(hits))
        if act.rank != OTHERS:
            return None
        match act.op:
            case Join(invite=invite):
                invited = self.dag.numbers[invite]
                if not counting >> invited & 1:
                    return Loss(Reason.INVITE_VOID, invited)
                if enders := self.relations.enders.get(act.number, 0) & counting:
                    return Loss(Reason.CODE_ENDED, self._first(list(bits(enders))))
            case Invite():
                return self._inviting_lost(act, counting)
            case _:
                pass
        return None

    def _inviting_lost(self, act: Act, counting: int) -> Loss | None:
        """Return a loss if a member's right to invite rests on what does not count.

        While all that is about the member counts, the right stands: what counted at its own cut and
        was a removal, a lowering or a policy counts here too, or is lost, and a join that was void
        there only adds to it.
        """
        about = self.relations.about[act.signer]
        if about & counting != about and (lost := about & ~counting & act.before):
            standing = self.folds.person(act.signer, about & act.before & counting)
            if standing is None or standing.role < Role.MEMBER:
                return Loss(Reason.RIGHT_LOST, self._first(list(bits(lost))))
        setters = self.relations.setters[INVITING]
        if setters & counting == setters or not (lost := setters & ~counting & act.before):
            return None
        if self.folds.field(INVITING, setters & act.before & counting) is not Access.ADMINS:
            return None
        return Loss(Reason.RIGHT_LOST, self._first(list(bits(lost))))

    def _first(self, numbers: list[int]) -> int | None:
        """Return the op to name, whatever the order of arrival: the first in the transcript."""
        return min(numbers, key=lambda number: self.dag.acts[number].place, default=None)

    def _policy(self, counting: int) -> Policy:
        setters = self.relations.setters
        return Policy(
            *[self.folds.field(field, setters[field] & counting) for field in range(POLICY_FIELDS)]
        )

    def _newer_epoch(self, one: int, other: int) -> int:
        """Return the op with the newer of two epochs: the greater (number, id)."""
        begun = self.dag.acts[other]
        if begun.epoch is None:
            return one
        known = self.dag.acts[one]
        number = 0 if known.epoch is None else known.epoch.number
        return other if (begun.epoch.number, begun.id) > (number, known.id) else one
