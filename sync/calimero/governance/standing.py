"""Folds: the role of one person, and each field of the policy, from the ops that count."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from sync.calimero.governance import limits
from sync.calimero.governance.dag import OWNERS, Act, Dag, bits, founder
from sync.calimero.governance.ops import (
    Access,
    Add,
    Invite,
    Join,
    Key,
    Leave,
    Policy,
    Remove,
    Role,
    SetPolicy,
    SetRole,
)
from sync.calimero.governance.relations import Relations

Weight: TypeAlias = tuple[int, bool]


class Standing(NamedTuple):
    """Role of somebody at a cut. `NONE` is one who was in once."""

    role: Role
    act: int
    """The op that decides: who gave the role, or took it."""

    since: int
    """The op that let them in last."""

    @property
    def member(self) -> bool:
        """In, in whatever role."""
        return self.role is not Role.NONE


class Folds:
    """Folds over the ops of one graph; those of people are remembered."""

    def __init__(self, dag: Dag, relations: Relations) -> None:
        self._dag = dag
        self._relations = relations
        self._known: dict[tuple[Key, int], Standing] = {}
        self._noise: dict[Key, bytes] = {}

    def person(self, key: Key, about: int) -> Standing | None:
        """Return the standing of somebody by the ops about them that count; None for a stranger.

        Later beats earlier. At once a negative beats a positive, but a smaller rank beats a larger
        one of the other sign. Of what is left a removal wins, then the lowest that was lowered to,
        then the highest that was given.
        """
        asked = key, about
        standing = self._known.get(asked)
        if standing is None:
            standing = self._owner(about) if key in self.owners else self._other(about)
            if standing is None:
                return None
            if len(self._known) >= limits.FOLDS_CACHED:
                self._known.clear()
            self._known[asked] = standing
        return standing

    @property
    def owners(self) -> Collection[Key]:
        """Owners by the genesis, also those who left."""
        return self.noise.keys()

    @property
    def noise(self) -> dict[Key, bytes]:
        """Noise keys of the owners."""
        if not self._noise and self._dag.acts:
            self._noise = dict(founder(self._dag.acts[0]).owners)
        return self._noise

    def lost(self, about: int) -> dict[int, int]:
        """Return, of the ops about somebody, what lost against an op at once with it: by which."""
        acts = self._acts(about)
        contest = Contest(acts)
        beaten = {}
        for act in acts:
            if not contest.is_known(act) and (winner := contest.winner(act)) is not None:
                beaten[act.number] = winner.number
        return beaten

    def removals(self, about: int) -> list[Act]:
        """Return, of the ops about somebody, the removals that took effect when they were made.

        One that lost against an op at once with it put nobody out. Where each op lost so, the
        negative ones decided.
        """
        acts = self._acts(about)
        contest = Contest(acts)
        stood = [act for act in acts if not contest.loses(act)]
        return [act for act in stood or acts if isinstance(act.op, Remove)]

    def field(self, field: int, setters: int) -> Access:
        """Return a field of the policy by the ops that change it and count.

        Later beats earlier; at once the smaller rank, then the stricter.
        """
        if not setters:
            return founder(self._dag.acts[0]).policy[field]
        newest = self._dag.acts[setters.bit_length() - 1]
        if not setters & newest.unseen:
            return _policy(newest)[field]
        acts = self._acts(setters)
        contest = Contest(acts)
        last = [act for act in acts if not contest.is_known(act)]
        rank = min(act.rank for act in last)
        return max(_policy(act)[field] for act in last if act.rank == rank)

    def role_given(self, act: Act) -> Role:
        """Return the role that an op gives its target."""
        match act.op:
            case Add(role=role) | SetRole(role=role):
                return role
            case Join(invite=invite):
                made = self._dag.acts[self._dag.numbers[invite]].op
                assert isinstance(made, Invite)
                return made.role
            case _:
                return Role.NONE

    def _owner(self, about: int) -> Standing:
        """Return the standing of an owner: in for ever, if they do not leave."""
        if not about:
            return Standing(Role.OWNER, 0, 0)
        return Standing(Role.NONE, _newest(self._acts(about)).number, 0)

    def _other(self, about: int) -> Standing | None:
        if not about:
            return None
        last = self._dag.acts[about.bit_length() - 1]
        if not about & last.unseen:
            role, decides = self.role_given(last), last
        else:
            acts = self._acts(about)
            contest = Contest(acts)
            left = [act for act in acts if not (contest.is_known(act) or contest.loses(act))]
            role, decides = self._decided(left or acts)
        entries = about & self._relations.entries
        if entries & entries - 1:
            since = _newest(self._acts(entries)).number
        else:
            since = entries.bit_length() - 1 if entries else decides.number
        return Standing(role, decides.number, since)

    def _decided(self, left: list[Act]) -> tuple[Role, Act]:
        """Return the role, and the op that gives or takes it, of ops none of which is beaten.

        If each is beaten, as after two removals and two additions on both sides of a cut, all are
        asked, and the negative ones decide.
        """
        if out := [act for act in left if isinstance(act.op, Remove)] or [
            act for act in left if isinstance(act.op, Leave)
        ]:
            return Role.NONE, _newest(out)
        lowered = [act for act in left if act.negative]
        role = (min if lowered else max)(self.role_given(act) for act in lowered or left)
        decides = [act for act in lowered or left if self.role_given(act) is role]
        return role, _newest(decides)

    def _acts(self, mask: int) -> list[Act]:
        return [self._dag.acts[number] for number in bits(mask)]


class Contest:
    """Ops about one matter: which of them others have seen, and which win against one at once.

    Each op is looked at once, with all others as sets of bits: an admin may sign thousands.
    """

    def __init__(self, acts: Sequence[Act]) -> None:
        self._known = 0
        sides: dict[tuple[Weight, bool], list[Act]] = {}
        for act in acts:
            self._known |= act.before
            sides.setdefault((_weight(act), act.negative), []).append(act)
        self._sides = [Side(side) for _, side in sorted(sides.items())]

    def is_known(self, act: Act) -> bool:
        """Return whether another op has seen this one."""
        return bool(self._known >> act.number & 1)

    def loses(self, act: Act) -> bool:
        """Return whether an op of the other sign wins against one it did not know of."""
        return next(self._winning(act), None) is not None

    def winner(self, act: Act) -> Act | None:
        """Return the op that does: of several that of the smallest weight, then of the least id."""
        side = next(self._winning(act), None)
        return None if side is None else side.first_at_once(act)

    def _winning(self, act: Act) -> Iterator["Side"]:
        """Yield the sides that win against an op, the smallest weight first."""
        weight, negative = _weight(act), act.negative
        for side in self._sides:
            if side.weight < weight and side.negative is not negative and side.is_at_once(act):
                yield side


class Side:
    """Ops of one sign and weight."""

    def __init__(self, acts: list[Act]) -> None:
        self.weight, self.negative = _weight(acts[0]), acts[0].negative
        self._acts = sorted(acts, key=lambda act: act.id)
        self._bits = self._unseen = 0
        for act in acts:
            self._bits |= act.bit
            self._unseen |= act.unseen

    def is_at_once(self, act: Act) -> bool:
        """Return whether one of them and another op did not know of each other."""
        return bool(self._unseen >> act.number & 1 or self._bits & act.unseen)

    def first_at_once(self, act: Act) -> Act:
        """Return the first by its id of those."""
        return next(
            one for one in self._acts if not one.knew(act.number) and not act.knew(one.number)
        )


def _newest(acts: list[Act]) -> Act:
    return max(acts, key=lambda act: act.place)


def _weight(act: Act) -> Weight:
    """Return what decides between two ops of other sign: rank, then the negative one.

    Whoever goes has decided for themselves, as an owner would.
    """
    return OWNERS if isinstance(act.op, Leave) else act.rank, not act.negative


def _policy(act: Act) -> Policy:
    assert isinstance(act.op, SetPolicy)
    return act.op.policy
