"""Ops that contest each other: neither knew of the other; found when the later one comes in.

Such a pair is fixed by the two ops alone, so it holds at every cut that has both. Whether it has an
effect there is for `projection`.
"""

from collections import defaultdict
from typing import Final, TypeVar

from sync.calimero.governance.dag import ADMINS, OTHERS, OWNERS, Act, Dag, bits
from sync.calimero.governance.ops import (
    Add,
    Invite,
    Join,
    Key,
    Leave,
    Remove,
    Revoke,
    Rotate,
    SetPolicy,
    SetRole,
)

POLICY_FIELDS: Final = 4

Place = TypeVar("Place", int, tuple[int, Key])


class Relations:
    """Contests between the ops of a channel, and the ops about each person; sets are bits."""

    def __init__(self, dag: Dag) -> None:
        self._dag = dag
        self.counting = 0
        """Ops that had the right to be; without joins that only ask."""
        self.about: dict[Key, int] = defaultdict(int)
        """Ops about somebody's membership or role."""
        self.threats: dict[int, int] = {}
        """By op: removals and lowerings of its signer, by a smaller rank, at once with it."""
        self.overrides: dict[tuple[int, Key], int] = {}
        """By an admin's removal or lowering of somebody: what owners gave them at once."""
        self.enders: dict[int, int] = {}
        """By join: ops that end its code and have not seen it."""
        self.touches: dict[int, int] = {}
        """By op: ops not after it that may count otherwise because of it."""
        self.admins_contested: list[int] = []
        """Ops of admins that have a threat."""
        self.of_others: list[int] = []
        """Invites of members, and joins: whether they count depends on earlier ops."""
        self.ending = 0
        """Removals, rotations and revocations."""
        self.entries = 0
        """Ops that let somebody in."""
        self.epochs: list[int] = []
        self.asking: list[int] = []
        """Joins that only ask."""
        self.setters = [0] * POLICY_FIELDS
        """By field of the policy: ops that change it."""
        self._lowered: dict[Key, int] = defaultdict(int)
        self._given_by_owners: dict[Key, int] = defaultdict(int)
        self._joins = 0

    def note(self, act: Act) -> None:
        """Take in the newest op of the graph."""
        if act.judgement.asks:
            self.asking.append(act.number)
            return
        self.counting |= act.bit
        for target in act.targets:
            self.about[target] |= act.bit
        if act.rank != OWNERS and not isinstance(act.op, Leave):
            self._note_threatened(act)
        if act.negative and act.rank != OTHERS and not isinstance(act.op, Leave):
            self._note_negative(act)
        if act.rank == OWNERS and isinstance(act.op, Add | SetRole) and not act.negative:
            self._note_given(act, act.op.key)
        if isinstance(act.op, Add | Join):
            self.entries |= act.bit
        match act.op:
            case Join():
                self.of_others.append(act.number)
                self._note_join(act, act.op)
            case Invite() if act.rank == OTHERS:
                self.of_others.append(act.number)
            case Remove() | Rotate() | Revoke():
                self._note_ending(act)
            case SetPolicy():
                for field, touched in enumerate(act.judgement.touched):
                    self.setters[field] |= act.bit if touched else 0
            case _:
                pass

    def ends(self, ending: Act, invite: Act) -> bool:
        """Return whether an op ends a code, for joins that it has not seen."""
        match ending.op:
            case Revoke(invite=revoked):
                return revoked == invite.id
            case Rotate():
                return ending.knew(invite.number)
            case Remove(keys=keys):
                if ending.knew(invite.number):
                    return True
                return invite.signer in keys and not invite.knew(ending.number)
            case _:
                return False

    def _note_threatened(self, act: Act) -> None:
        unseen = self._lowered[act.signer] & act.unseen
        for number in bits(unseen):
            if self._dag.acts[number].rank < act.rank:
                self._threaten(act.number, number)

    def _note_negative(self, act: Act) -> None:
        for target in act.targets:
            self._lowered[target] |= act.bit
            for number in self._dag.by_signer.get(target, ()):
                other = self._dag.acts[number]
                if act.knew(number):
                    continue
                if act.rank < other.rank and not isinstance(other.op, Leave):
                    self._threaten(number, act.number)
            if act.rank == ADMINS:
                for number in bits(self._given_by_owners[target] & act.unseen):
                    self._override(act.number, target, number)

    def _note_given(self, act: Act, target: Key) -> None:
        self._given_by_owners[target] |= act.bit
        for number in bits(self._lowered[target] & act.unseen):
            if self._dag.acts[number].rank == ADMINS:
                self._override(number, target, act.number)

    def _note_join(self, act: Act, join: Join) -> None:
        self._joins |= act.bit
        invite = self._dag.acts[self._dag.numbers[join.invite]]
        for number in bits(self.ending & act.unseen):
            if self.ends(self._dag.acts[number], invite):
                self._end(act.number, number)

    def _note_ending(self, act: Act) -> None:
        self.ending |= act.bit
        if act.epoch is not None:
            self.epochs.append(act.number)
        for number in bits(self._joins & act.unseen):
            joined = self._dag.acts[number].op
            assert isinstance(joined, Join)
            if self.ends(act, self._dag.acts[self._dag.numbers[joined.invite]]):
                self._end(number, act.number)

    def _threaten(self, number: int, threat: int) -> None:
        if number not in self.threats and self._dag.acts[number].rank == ADMINS:
            self.admins_contested.append(number)
        self._pair(self.threats, number, threat)
        self._pair(self.touches, threat, number)

    def _override(self, negative: int, target: Key, given: int) -> None:
        self._pair(self.overrides, (negative, target), given)
        self._pair(self.touches, given, negative)

    def _end(self, join: int, ending: int) -> None:
        self._pair(self.enders, join, ending)
        self._pair(self.touches, ending, join)

    @staticmethod
    def _pair(pairs: dict[Place, int], one: Place, other: int) -> None:
        pairs[one] = pairs.get(one, 0) | 1 << other
