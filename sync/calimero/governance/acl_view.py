"""Membership at a cut, straight from the definition: slow, and a check of `projection`.

It shares the values of ops with the projection, and no code that decides. Ops are ids, a cut is a
set of ids closed under ancestors.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from sync.calimero.governance import limits
from sync.calimero.governance.ops import (
    Access,
    Add,
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
    SignedGroupOp,
)

Cut = frozenset[OpId]

RANKS: Final = {Role.OWNER: 0, Role.ADMIN: 1}
OF_THE_REST: Final = 2


class AclView(NamedTuple):
    """Roles of those who are in, the policy, and the ops that count, at a cut."""

    roles: dict[Key, Role]
    policy: Policy
    counting: Cut


class Definition:
    """The definition over a set of ops, each of which was taken in."""

    def __init__(self, ops: Iterable[SignedGroupOp]) -> None:
        self.ops = {op.id: op for op in ops}
        self._pasts: dict[OpId, Cut] = {}
        self._views: dict[Cut, AclView] = {}

    def add(self, op: SignedGroupOp) -> None:
        """Add an op: what was said of cuts without it stays true."""
        self.ops[op.id] = op

    def cut(self, heads: Iterable[OpId]) -> Cut:
        """Return ops and all their ancestors."""
        return frozenset().union(*[self.past(head) | {head} for head in heads])

    def past(self, one: OpId) -> Cut:
        """Return all ancestors of an op."""
        stack = [one]
        while stack:
            top = stack[-1]
            parents = self.ops[top].signed.parents
            unknown = [parent for parent in parents if parent not in self._pasts]
            if unknown:
                stack += unknown
                continue
            known = [self._pasts[parent] | {parent} for parent in parents]
            self._pasts[stack.pop()] = frozenset().union(*known)
        return self._pasts[one]

    def acl_view_at(self, cut: Cut) -> AclView:
        """Return the view at a cut."""
        if cut not in self._views:
            self._views[cut] = self._view(cut)
        return self._views[cut]

    def _view(self, cut: Cut) -> AclView:
        counting: set[OpId] = set()
        for rank in range(OF_THE_REST + 1):
            for one in sorted(cut, key=lambda op: (len(self.past(op)), op)):
                if self.rank(one) == rank and not self._asks(one) and not self._void(one, counting):
                    counting.add(one)
        roles = {key: self._role(key, counting) for key in self._everybody(cut)}
        present: dict[Key, Role] = {}
        present.update((key, role) for key, role in roles.items() if role is not Role.NONE)
        return AclView(
            self._fitting(present, counting), self._policy(counting), frozenset(counting)
        )

    def rank(self, one: OpId) -> int:
        """Return the rank of an op's signer at its own cut."""
        op = self.ops[one]
        if isinstance(op.op, Genesis):
            return 0
        view = self.acl_view_at(self.past(one))
        return RANKS.get(view.roles.get(op.signed.signer, Role.NONE), OF_THE_REST)

    def _void(self, one: OpId, counting: set[OpId]) -> bool:
        op, signer = self.ops[one].op, self.ops[one].signed.signer
        if isinstance(op, Leave):
            return False
        for other in counting:
            if (
                not isinstance(self.ops[other].op, Leave)
                and self._takes(other, signer)
                and self._at_once(one, other)
                and self.rank(other) < self.rank(one)
                and not self._overridden(other, signer, counting)
            ):
                return True
        if isinstance(op, Join):
            return op.invite not in counting or any(
                self._ends(other, op.invite) and one not in self.past(other) for other in counting
            )
        if isinstance(op, Invite) and self.rank(one) == OF_THE_REST:
            seen = counting & self.past(one)
            if self._role(signer, seen) < Role.MEMBER:
                return True
            return self._policy(seen).invite is Access.ADMINS
        return False

    def _overridden(self, negative: OpId, target: Key, counting: set[OpId]) -> bool:
        return any(
            self._gives(other, target)
            and self._at_once(negative, other)
            and self.rank(other) < self.rank(negative)
            for other in counting
        )

    def _ends(self, ending: OpId, invite: OpId) -> bool:
        op = self.ops[ending].op
        if isinstance(op, Revoke):
            return op.invite == invite
        saw = invite in self.past(ending)
        if isinstance(op, Rotate):
            return saw
        if isinstance(op, Remove):
            hit = self.ops[invite].signed.signer in op.keys
            return saw or (hit and ending not in self.past(invite))
        return False

    def _role(self, key: Key, counting: Iterable[OpId]) -> Role:
        mine = [one for one in counting if self._takes(one, key) or self._gives(one, key)]
        if key in self._owners():
            return Role.NONE if mine else Role.OWNER
        left = [
            one
            for one in mine
            if not any(self._beats(other, one, key) for other in mine if other != one)
        ]
        if mine and not left:
            left = [one for one in mine if self._takes(one, key)]
        if any(isinstance(self.ops[one].op, Remove | Leave) for one in left):
            return Role.NONE
        lowered = [self._given(one) for one in left if self._takes(one, key)]
        if lowered:
            return min(lowered)
        return max((self._given(one) for one in left), default=Role.NONE)

    def _beats(self, other: OpId, one: OpId, key: Key) -> bool:
        if one in self.past(other):
            return True
        if other in self.past(one) or self._takes(one, key) == self._takes(other, key):
            return False
        ours, theirs = self._weight(one), self._weight(other)
        return theirs < ours or (theirs == ours and self._takes(other, key))

    def _weight(self, one: OpId) -> int:
        return 0 if isinstance(self.ops[one].op, Leave) else self.rank(one)

    def _takes(self, one: OpId, key: Key) -> bool:
        """Return whether an op removes or lowers somebody, or is their leave."""
        signed = self.ops[one].signed
        match signed.op:
            case Leave():
                return signed.signer == key
            case Remove(keys=keys):
                return key in keys
            case SetRole(key=target, role=role):
                had = self.acl_view_at(self.past(one)).roles.get(target, Role.NONE)
                return target == key and role < had
            case _:
                return False

    def _gives(self, one: OpId, key: Key) -> bool:
        """Return whether an op lets somebody in, or gives them a higher role."""
        signed = self.ops[one].signed
        match signed.op:
            case Join():
                return signed.signer == key and not self._asks(one)
            case Add(key=target):
                return target == key
            case SetRole(key=target):
                return target == key and not self._takes(one, key)
            case _:
                return False

    def _given(self, one: OpId) -> Role:
        op = self.ops[one].op
        if isinstance(op, Join):
            op = self.ops[op.invite].op
        assert isinstance(op, Invite | Add | SetRole)
        return op.role

    def _asks(self, one: OpId) -> bool:
        """Return whether an op is the join of somebody whose last act is a removal."""
        signed = self.ops[one].signed
        if not isinstance(signed.op, Join):
            return False
        seen = self.acl_view_at(self.past(one)).counting
        about = [
            other
            for other in seen
            if self._takes(other, signed.signer) or self._gives(other, signed.signer)
        ]
        last = [
            other
            for other in about
            if not any(self._beats(beating, other, signed.signer) for beating in about)
        ]
        return any(isinstance(self.ops[other].op, Remove) for other in last or about)

    def _policy(self, counting: Iterable[OpId]) -> Policy:
        setters = [one for one in counting if isinstance(self.ops[one].op, SetPolicy)]
        fields = []
        for field, name in enumerate(Policy._fields):
            changing = [one for one in setters if self._changes(one, name)]
            last = [
                one for one in changing if not any(one in self.past(other) for other in changing)
            ]
            values = [(self.rank(one), -self._set(one)[field]) for one in last]
            fields.append(Access(-min(values)[1]) if values else self._genesis().policy[field])
        return Policy(*fields)

    def _changes(self, one: OpId, name: str) -> bool:
        before = self.acl_view_at(self.past(one)).policy
        return getattr(self._set(one), name) is not getattr(before, name)

    def _set(self, one: OpId) -> Policy:
        op = self.ops[one].op
        assert isinstance(op, SetPolicy)
        return op.policy

    def _fitting(self, roles: dict[Key, Role], counting: set[OpId]) -> dict[Key, Role]:
        """Leave out who joined last, if there is no room for all."""
        excess = len(roles) - limits.MEMBERS_MAX
        if excess <= 0:
            return roles
        joined = []
        for key in roles.keys() - self._owners():
            entries = [
                (self.ops[one].signed.lamport, one)
                for one in counting
                if self._gives(one, key) and isinstance(self.ops[one].op, Join | Add)
            ]
            if entries and isinstance(self.ops[max(entries)[1]].op, Join):
                joined.append((max(entries), key))
        out = {key for _, key in sorted(joined)[-excess:]}
        return {key: role for key, role in roles.items() if key not in out}

    def _everybody(self, cut: Cut) -> set[Key]:
        named = set(self._owners())
        for one in cut:
            signed = self.ops[one].signed
            match signed.op:
                case Join() | Leave():
                    named.add(signed.signer)
                case Add(key=key) | SetRole(key=key):
                    named.add(key)
                case _:
                    pass
        return named

    def _owners(self) -> set[Key]:
        return {owner.key for owner in self._genesis().owners}

    def _genesis(self) -> Genesis:
        for op in self.ops.values():
            if isinstance(op.op, Genesis):
                return op.op
        raise AssertionError("ops without a genesis")

    def _at_once(self, one: OpId, other: OpId) -> bool:
        return one != other and one not in self.past(other) and other not in self.past(one)
