"""Membership at a cut, straight from the definition: slow, and a check of `projection`.

It shares the values of ops with the projection, and no code that decides. Ops have numbers in the
order in which they came, ancestors first; a cut, closed under ancestors, is one bit for each.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from typing import Final, NamedTuple, NewType, TypeVar

from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.ops import (
    Access,
    Add,
    Epoch,
    Genesis,
    Invite,
    Join,
    Key,
    Leave,
    OpId,
    Policy,
    Remove,
    Revoke,
    Role,
    Rotate,
    SetPolicy,
    SetRole,
    Signable,
    SignedGroupOp,
)

Cut = NewType("Cut", int)
"""Bits of ops that are closed under ancestors."""

NOTHING: Final = Cut(0)
RANKS: Final = {Role.OWNER: 0, Role.ADMIN: 1}
OF_THE_REST: Final = 2
NO_RANKS: Final = (NOTHING,) * (OF_THE_REST + 1)
UNTOUCHED: Final = (False,) * len(Policy._fields)
VIEWS_KEPT: Final = 256
"""Views that are kept until they are all let go: most questions are about a few cuts."""

Value = TypeVar("Value")
InParts = Generator[None, None, Value]
"""Work that may rest at each `yield`."""


class AclView(NamedTuple):
    """Roles of those who are in, the policy, and the ops that count, at a cut."""

    roles: dict[Key, Role]
    policy: Policy
    counting: frozenset[OpId]


class Facts(NamedTuple):
    """An op at its own cut: what holds for it for ever."""

    rank: int
    """Rank of its signer: 0 owner, 1 admin, 2 everybody else."""

    lowers: bool
    """It gives somebody a lower role than they had."""

    changes: tuple[bool, ...]
    """Fields of the policy that it sets to something else."""

    asks: bool
    """It is the join of somebody whose last act is a removal."""


class Definition:
    """The definition over a set of ops, each of which was taken in."""

    def __init__(self, ops: Iterable[SignedGroupOp]) -> None:
        self.numbers: dict[OpId, int] = {}
        self._ops: list[Signable] = []
        self._ids: list[OpId] = []
        self._pasts: list[Cut] = []
        self._facts: dict[int, Facts] = {}
        self._views: dict[Cut, AclView] = {}
        self._about: dict[Key, list[int]] = defaultdict(list)
        """Ops that name somebody, or by which they enter or leave."""
        self._ending: list[int] = []
        self._setting: list[int] = []
        for op in ops:
            self.add(op)

    def add(self, op: SignedGroupOp, facts: Facts | None = None) -> None:
        """Add an op whose ancestors are here: what was said of cuts without it stays true.

        Args:
            op: the op; what it wraps is not kept.
            facts: what it is at its own cut, if that is not to be worked out before it is needed.
        """
        signed, number = op.signed, len(self._ops)
        self._pasts.append(self.cut(signed.parents))
        self.numbers[op.id] = number
        self._ids.append(op.id)
        self._ops.append(_without_secrets(signed))
        for key in _named(signed):
            self._about[key].append(number)
        if isinstance(signed.op, Remove | Rotate | Revoke):
            self._ending.append(number)
        if isinstance(signed.op, SetPolicy):
            self._setting.append(number)
        if facts is not None:
            self._facts[number] = facts

    def op(self, number: int) -> Signable:
        """Return the op of a number, without what it wraps."""
        return self._ops[number]

    def correct(self, number: int, facts: Facts) -> None:
        """Go by other facts of an op than were told."""
        self._facts[number] = facts
        self._views.clear()

    def cut(self, heads: Iterable[OpId]) -> Cut:
        """Return ops and all their ancestors."""
        bits = 0
        for head in heads:
            number = self.numbers[head]
            bits |= self._pasts[number] | 1 << number
        return Cut(bits)

    def acl_view_at(self, cut: Cut) -> AclView:
        """Return the view at a cut."""
        return finished(self.view_in_parts(cut))

    def view_in_parts(self, cut: Cut) -> InParts[AclView]:
        """Return the view at a cut, resting after each op."""
        if cut not in self._views:
            view = yield from self._view(cut)
            if len(self._views) >= VIEWS_KEPT:
                self._views.clear()
            self._views[cut] = view
        return self._views[cut]

    def facts(self, one: int) -> Facts:
        """Return what an op is at its own cut."""
        if one not in self._facts:
            self._facts[one] = finished(self.facts_in_parts(one))
        return self._facts[one]

    def facts_in_parts(self, one: int) -> InParts[Facts]:
        """Work out what an op is at its own cut, whatever is told of it."""
        signed = self._ops[one]
        if isinstance(signed.op, Genesis):
            return Facts(0, lowers=False, changes=UNTOUCHED, asks=False)
        view = yield from self.view_in_parts(self._pasts[one])
        return Facts(
            RANKS.get(view.roles.get(signed.signer, Role.NONE), OF_THE_REST),
            isinstance(signed.op, SetRole)
            and signed.op.role < view.roles.get(signed.op.key, Role.NONE),
            tuple(new is not old for new, old in zip(signed.op.policy, view.policy, strict=True))
            if isinstance(signed.op, SetPolicy)
            else UNTOUCHED,
            isinstance(signed.op, Join) and self._last_is_removal(signed.signer, view),
        )

    def _view(self, cut: Cut) -> InParts[AclView]:
        counting = NOTHING
        ranks: list[list[int]] = [[] for _ in range(OF_THE_REST + 1)]
        for one in _numbers(cut):
            facts = self.facts(one)
            if not facts.asks:
                ranks[facts.rank].append(one)
            yield
        for ops in ranks:
            for one in ops:
                if not self._void(one, counting):
                    counting = Cut(counting | 1 << one)
                yield
        roles: dict[Key, Role] = {}
        for key in [*self._owners(), *self._about]:
            if (role := self._role(key, counting)) is not Role.NONE:
                roles[key] = role
            yield
        return AclView(
            self._fitting(roles, counting),
            self._policy(counting),
            frozenset([self._ids[one] for one in _numbers(counting)]),
        )

    def _void(self, one: int, counting: Cut) -> bool:
        op, signer, rank = self._ops[one].op, self._ops[one].signer, self.facts(one).rank
        if isinstance(op, Leave):
            return False
        for other in self._about.get(signer, ()):
            if (
                counting >> other & 1
                and not isinstance(self._ops[other].op, Leave)
                and self._takes(other, signer)
                and self._at_once(one, other)
                and self.facts(other).rank < rank
                and not self._overridden(other, signer, counting)
            ):
                return True
        if isinstance(op, Join):
            invite = self.numbers[op.invite]
            return not counting >> invite & 1 or any(
                self._ends(other, invite) and not self._knew(other, one)
                for other in self._ending
                if counting >> other & 1
            )
        if isinstance(op, Invite) and rank == OF_THE_REST:
            seen = Cut(counting & self._pasts[one])
            if self._role(signer, seen) < Role.MEMBER:
                return True
            return self._policy(seen).invite is Access.ADMINS
        return False

    def _overridden(self, negative: int, target: Key, counting: Cut) -> bool:
        return any(
            counting >> other & 1
            and self._gives(other, target)
            and self._at_once(negative, other)
            and self.facts(other).rank < self.facts(negative).rank
            for other in self._about.get(target, ())
        )

    def _ends(self, ending: int, invite: int) -> bool:
        op = self._ops[ending].op
        if isinstance(op, Revoke):
            return self.numbers[op.invite] == invite
        saw = self._knew(ending, invite)
        if isinstance(op, Rotate):
            return saw
        if isinstance(op, Remove):
            hit = self._ops[invite].signer in op.keys
            return saw or (hit and not self._knew(invite, ending))
        return False

    def _role(self, key: Key, counting: Cut) -> Role:
        mine = [
            one
            for one in self._about.get(key, ())
            if counting >> one & 1 and (self._takes(one, key) or self._gives(one, key))
        ]
        if key in self._owners():
            return Role.NONE if mine else Role.OWNER
        left = self._unbeaten(mine, key)
        if mine and not left:
            left = [one for one in mine if self._takes(one, key)]
        if any(isinstance(self._ops[one].op, Remove | Leave) for one in left):
            return Role.NONE
        lowered = [self._given(one) for one in left if self._takes(one, key)]
        if lowered:
            return min(lowered)
        return max((self._given(one) for one in left), default=Role.NONE)

    def _unbeaten(self, about: list[int], key: Key) -> list[int]:
        """Return those of ops about somebody that no other one beats.

        Later beats earlier. At once, what takes beats what gives if it weighs no more, and what
        gives beats what takes if it weighs less. They may be thousands, so sets are compared.
        """
        known, taking, giving = NOTHING, [*NO_RANKS], [*NO_RANKS]
        for one in about:
            known = Cut(known | self._pasts[one])
            same = taking if self._takes(one, key) else giving
            same[self._weight(one)] = Cut(same[self._weight(one)] | 1 << one)
        left = []
        for one in about:
            weight, takes = self._weight(one), self._takes(one, key)
            beating = giving[:weight] if takes else taking[: weight + 1]
            if not known >> one & 1 and not any(some & ~self._pasts[one] for some in beating):
                left.append(one)
        return left

    def _weight(self, one: int) -> int:
        return 0 if isinstance(self._ops[one].op, Leave) else self.facts(one).rank

    def _takes(self, one: int, key: Key) -> bool:
        """Return whether an op removes or lowers somebody, or is their leave."""
        signed = self._ops[one]
        match signed.op:
            case Leave():
                return signed.signer == key
            case Remove(keys=keys):
                return key in keys
            case SetRole(key=target):
                return target == key and self.facts(one).lowers
            case _:
                return False

    def _gives(self, one: int, key: Key) -> bool:
        """Return whether an op lets somebody in, or gives them a higher role."""
        signed = self._ops[one]
        match signed.op:
            case Join():
                return signed.signer == key and not self.facts(one).asks
            case Add(key=target):
                return target == key
            case SetRole(key=target):
                return target == key and not self.facts(one).lowers
            case _:
                return False

    def _given(self, one: int) -> Role:
        op = self._ops[one].op
        if isinstance(op, Join):
            op = self._ops[self.numbers[op.invite]].op
        assert isinstance(op, Invite | Add | SetRole)
        return op.role

    def _last_is_removal(self, signer: Key, seen: AclView) -> bool:
        """Return whether somebody's last act that counts is a removal."""
        about = [
            other
            for other in self._about.get(signer, ())
            if self._ids[other] in seen.counting
            and (self._takes(other, signer) or self._gives(other, signer))
        ]
        last = self._unbeaten(about, signer)
        return any(isinstance(self._ops[other].op, Remove) for other in last or about)

    def _policy(self, counting: Cut) -> Policy:
        setters = [one for one in self._setting if counting >> one & 1]
        fields = []
        for field in range(len(Policy._fields)):
            changing = [one for one in setters if self.facts(one).changes[field]]
            last = [
                one for one in changing if not any(self._knew(other, one) for other in changing)
            ]
            values = [(self.facts(one).rank, -self._set(one)[field]) for one in last]
            fields.append(Access(-min(values)[1]) if values else self._genesis().policy[field])
        return Policy(*fields)

    def _set(self, one: int) -> Policy:
        op = self._ops[one].op
        assert isinstance(op, SetPolicy)
        return op.policy

    def _fitting(self, roles: dict[Key, Role], counting: Cut) -> dict[Key, Role]:
        """Leave out who joined last, if there is no room for all."""
        excess = len(roles) - limits.MEMBERS_MAX
        if excess <= 0:
            return roles
        joined = []
        for key in roles.keys() - self._owners():
            entries = [
                (self._ops[one].lamport, self._ids[one], one)
                for one in self._about[key]
                if counting >> one & 1
                and self._gives(one, key)
                and isinstance(self._ops[one].op, Join | Add)
            ]
            if entries and isinstance(self._ops[max(entries)[2]].op, Join):
                joined.append((max(entries), key))
        out = {key for _, key in sorted(joined)[-excess:]}
        return {key: role for key, role in roles.items() if key not in out}

    def _owners(self) -> set[Key]:
        return {owner.key for owner in self._genesis().owners}

    def _genesis(self) -> Genesis:
        genesis = self._ops[0].op
        assert isinstance(genesis, Genesis), "ops without a genesis"
        return genesis

    def _knew(self, one: int, other: int) -> bool:
        """Return whether an op is a descendant of another one."""
        return bool(self._pasts[one] >> other & 1)

    def _at_once(self, one: int, other: int) -> bool:
        return one != other and not self._knew(one, other) and not self._knew(other, one)


def finished(parts: InParts[Value]) -> Value:
    """Return what a work gives, done at once."""
    while True:
        try:
            next(parts)
        except StopIteration as end:
            value: Value = end.value
            return value


def _numbers(cut: Cut) -> Iterator[int]:
    """Yield the numbers of the ops in a cut, rising."""
    for number, digit in enumerate(reversed(f"{cut:b}")):
        if digit == "1":
            yield number


def _named(signed: Signable) -> tuple[Key, ...]:
    match signed.op:
        case Join() | Leave():
            return (signed.signer,)
        case Add(key=key) | SetRole(key=key):
            return (key,)
        case Remove(keys=keys):
            return keys
        case _:
            return ()


def _without_secrets(signed: Signable) -> Signable:
    """Return an op without what it wraps, which is most of it."""
    match signed.op:
        case Remove(epoch=epoch) | Rotate(epoch=epoch):
            light = replace(signed.op, epoch=Epoch(epoch.number, epoch.ephemeral))
            return replace(signed, op=light)
        case _:
            return signed
