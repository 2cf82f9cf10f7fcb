"""Histories of governed channels: people who sign, and ops at any cut."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from sync.calimero.governance.governance import Governance, Received, Taken, TakenOp
from sync.calimero.governance.ops import (
    NO_GROUP,
    OPEN_POLICY,
    Access,
    Add,
    Epoch,
    Genesis,
    Invite,
    Join,
    Key,
    Leave,
    Op,
    OpId,
    Owner,
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
from sync.calimero.governance.signing import group_of, sign, ticket_text
from sync.entries.identity import Identity

NAMES: Final = ("alice", "bob", "carol", "dave", "erin", "mallory", "trent", "walter")


@cache
def person(name: str) -> Identity:
    """Return somebody whose keys are made of their name."""
    return Identity.from_seed(name.encode().ljust(32, b"s"), name.encode().ljust(32, b"n"))


def key(name: str) -> Key:
    """Return somebody's key."""
    return Key(person(name).public_key)


@cache
def noise(name: str) -> bytes:
    return person(name).noise_public


@cache
def ticket_of(code: str) -> Identity:
    """Return the key pair that a code has."""
    return person(f"code {code}")


@cache
def ticket_signature(group: bytes, invite: OpId, name: str, code: str) -> bytes:
    return ticket_of(code).sign(ticket_text(group, invite, key(name), noise(name)))  # type: ignore[arg-type]


def genesis(*owners: str, policy: Policy = OPEN_POLICY) -> SignedGroupOp:
    """Return the op that founds a channel."""
    named = tuple(sorted(Owner(key(owner), noise(owner)) for owner in owners))
    op = Genesis("friends", "lan", bytes(16), named, None, policy)
    signed = Signable(NO_GROUP, (), key(owners[0]), 1, 1, 1, op)
    return sign(signed, person(owners[0]).sign)


@dataclass(frozen=True)
class Code:
    """An invitation somebody gave out, with the secret of its ticket."""

    op: SignedGroupOp
    name: str


class History:
    """A channel whose ops are signed at chosen cuts; `ops` are all that were taken in."""

    def __init__(self, *owners: str, policy: Policy = OPEN_POLICY, signing: bool = False) -> None:
        founded = genesis(*owners, policy=policy)
        self.signing = signing
        self.governance = Governance(group_of(founded))
        self.ops: list[SignedGroupOp] = []
        self.names = {key(owner): owner for owner in owners}
        self.take(founded)

    def again(self) -> "History":
        """Return the same channel, which goes on by itself."""
        copy = History.__new__(History)
        copy.signing = self.signing
        copy.ops = list(self.ops)
        copy.names = dict(self.names)
        copy.governance = Governance(self.governance.group)
        judged = [self.governance.act(op.id).judgement for op in self.ops]
        copy.governance.restore(map(TakenOp, self.ops, judged))
        return copy

    @property
    def founded(self) -> SignedGroupOp:
        return self.ops[0]

    def take(self, op: SignedGroupOp) -> Received:
        received = self.governance.receive(op)
        if isinstance(received, Taken):
            self.ops += [taken.op for taken in received.ops]
        return received

    def made(
        self, name: str, op: Op, after: Iterable[SignedGroupOp] | None = None
    ) -> SignedGroupOp:
        """Return an op of somebody who has seen `after`, or all there is."""
        parents = (
            self.governance.heads if after is None else tuple(sorted({one.id for one in after}))
        )
        dag = self.governance.dag
        before = dag.closure(parents)
        assert before is not None
        lamport = 1 + max(dag.acts[dag.numbers[parent]].lamport for parent in parents)
        self.names[key(name)] = name
        signed = Signable(
            self.governance.group,
            parents,
            key(name),
            dag.next_nonce(key(name), before),
            lamport,
            lamport * 1_000,
            op,
        )
        return sign(signed, person(name).sign if self.signing else lambda _: bytes(64))

    def act(self, name: str, op: Op, after: Iterable[SignedGroupOp] | None = None) -> SignedGroupOp:
        """Sign an op and take it in; it must be taken."""
        made = self.made(name, op, after)
        received = self.take(made)
        assert isinstance(received, Taken), received
        return made

    def add(
        self,
        name: str,
        who: str,
        role: Role = Role.MEMBER,
        after: Iterable[SignedGroupOp] | None = None,
    ) -> SignedGroupOp:
        return self.act(name, Add(key(who), noise(who), role), after)

    def remove(
        self, name: str, *who: str, after: Iterable[SignedGroupOp] | None = None
    ) -> SignedGroupOp:
        return self.act(name, self.removal(*who, after=after), after)

    def removal(self, *who: str, after: Iterable[SignedGroupOp] | None = None) -> Remove:
        return Remove(tuple(sorted(map(key, who))), self.epoch(after), "spam")

    def rotation(self, after: Iterable[SignedGroupOp] | None = None) -> Rotate:
        return Rotate(self.epoch(after))

    def set_role(
        self, name: str, who: str, role: Role, after: Iterable[SignedGroupOp] | None = None
    ) -> SignedGroupOp:
        return self.act(name, SetRole(key(who), role), after)

    def invite(
        self,
        name: str,
        code: str,
        role: Role = Role.MEMBER,
        after: Iterable[SignedGroupOp] | None = None,
    ) -> SignedGroupOp:
        return self.act(name, Invite(ticket_of(code).public_key, role), after)

    def joining(self, who: str, invite: SignedGroupOp, code: str) -> Join:
        signature = ticket_signature(self.governance.group, invite.id, who, code)
        return Join(invite.id, noise(who), who, signature)

    def join(
        self,
        who: str,
        invite: SignedGroupOp,
        code: str,
        after: Iterable[SignedGroupOp] | None = None,
    ) -> SignedGroupOp:
        return self.act(who, self.joining(who, invite, code), after)

    def epoch(self, after: Iterable[SignedGroupOp] | None = None) -> Epoch:
        """Return the next epoch after those that somebody has seen."""
        governance = self.governance
        heads = governance.heads if after is None else [one.id for one in after]
        cut = governance.dag.closure(heads)
        assert cut is not None
        begun = governance.dag.acts[governance.projection.state(cut).epoch].epoch
        return Epoch((begun.number if begun else 0) + 1, bytes(32))

    def roles(self) -> dict[str, Role]:
        """Return the role of everybody who is in, at the heads."""
        return named_roles(self.governance)


def named_roles(governance: Governance) -> dict[str, Role]:
    names = everybody()
    return {
        names[one]: standing.role
        for one, standing in governance.now.people.items()
        if standing.member
    }


@cache
def everybody() -> dict[Key, str]:
    """Return names by key, of all whom tests know."""
    names = (*NAMES, *(f"guest {number}" for number in range(64)))
    return {key(name): name for name in names}


def joined_by_many(seed: int) -> History:
    """Return a channel in which people come in by one code at many cuts, and some are put out."""
    history, rng = History("alice"), random.Random(seed)
    history.add("alice", "walter", Role.ADMIN)
    joins = [history.invite("alice", "code")]
    for number in range(24):
        name = f"guest {number}"
        after = [rng.choice(joins)] if rng.random() < 0.7 else None
        joined = history.made(name, history.joining(name, joins[0], "code"), after)
        if isinstance(history.take(joined), Taken):
            joins.append(joined)
        other = f"guest {rng.randrange(number + 1)}"
        chance = rng.random()
        if chance < 0.2:
            history.take(history.made(other, Leave(), [rng.choice(joins)]))
        elif chance < 0.3:
            history.take(history.made("alice", Add(key(other), noise(other), Role.MEMBER)))
        elif chance < 0.4:
            history.take(history.made("walter", history.removal(*{name, other})))
    return history


class RandomHistory:
    """Ops of a channel in three parts of a cut, that meet now and then; seeded."""

    PARTS: Final = 3

    def __init__(self, seed: int, count: int) -> None:
        self.rng = random.Random(seed)
        owners = NAMES[: 1 + seed % 2]
        invite = Access.ADMINS if seed % 5 == 0 else Access.MEMBERS
        self.history = History(*owners, policy=Policy(invite=invite))
        self.codes: list[Code] = []
        self.guests = 0
        self.parts = [[self.history.founded] for _ in range(self.PARTS)]
        """Heads that each part has seen."""
        self.grow(count)

    def grow(self, count: int) -> None:
        for _ in range(count):
            part = self.rng.randrange(self.PARTS)
            if self.rng.random() < 0.2:
                other = self.rng.randrange(self.PARTS)
                self.parts[part] = self.parts[other] = self.merged(
                    self.parts[part] + self.parts[other]
                )
                continue
            self.step(part)

    def merged(self, heads: list[SignedGroupOp]) -> list[SignedGroupOp]:
        """Return the heads among ops."""
        dag = self.history.governance.dag
        acts = {one.id: dag.acts[dag.numbers[one.id]] for one in heads}
        kept = {
            one.id: one
            for one in heads
            if not any(other.before & acts[one.id].bit for other in acts.values())
        }
        return list(kept.values())

    def step(self, part: int) -> None:
        """Let somebody do something, if they may."""
        heads = self.parts[part]
        drawn = self.draw(heads)
        if drawn is None:
            return
        name, op, code = drawn
        self.try_op(part, name, op, code)

    def try_op(self, part: int, name: str, op: Op, code: str | None) -> None:
        made = self.history.made(name, op, self.parts[part])
        if isinstance(self.history.take(made), Taken):
            self.parts[part] = [made]
            if code is not None:
                self.codes.append(Code(made, code))

    def present(self, heads: list[SignedGroupOp]) -> dict[str, Role]:
        governance = self.history.governance
        cut = governance.dag.closure([one.id for one in heads])
        assert cut is not None
        names = everybody()
        state = governance.projection.state(cut)
        return {names[one]: standing.role for one, standing in state.people.items()}

    def seen_codes(self, heads: list[SignedGroupOp]) -> list[Code]:
        dag = self.history.governance.dag
        cut = dag.closure([one.id for one in heads])
        assert cut is not None
        return [code for code in self.codes if cut >> dag.numbers[code.op.id] & 1]

    def draw(self, heads: list[SignedGroupOp]) -> tuple[str, Op, str | None] | None:
        """Return somebody and what they try; the code that they give out, if it is one."""
        rng, history = self.rng, self.history
        present = self.present(heads)
        codes = self.seen_codes(heads)
        if codes and rng.random() < 0.25:
            code = rng.choice(codes)
            gone = [name for name, role in present.items() if role is Role.NONE]
            if gone and rng.random() < 0.3:
                who = rng.choice(gone)
            else:
                who = f"guest {self.guests % 64}"
                self.guests += 1
            return who, history.joining(who, code.op, code.name), None
        able = [name for name, role in present.items() if role >= Role.MEMBER]
        if not able:
            return None
        name = rng.choice(able)
        if rng.random() < 0.04:
            return name, Leave(), None
        if present[name] < Role.ADMIN or rng.random() < 0.15:
            made = f"{len(self.history.ops)}"
            return name, Invite(ticket_of(made).public_key, Role(rng.choice([1, 2]))), made
        return name, self.draw_of_admin(heads, present, codes), None

    def draw_of_admin(
        self, heads: list[SignedGroupOp], present: dict[str, Role], codes: list[Code]
    ) -> Op:
        rng, history = self.rng, self.history
        chance = rng.random()
        if chance < 0.05:
            return history.rotation(heads)
        if chance < 0.1 and codes:
            return Revoke(rng.choice(codes).op.id)
        if chance < 0.2:
            return SetPolicy(Policy(*[rng.choice(list(type(Policy()[0]))) for _ in range(4)]))
        who = rng.choice([*NAMES[1:], *present])
        role = Role(rng.choice([1, 2, 3]))
        if present.get(who, Role.NONE) is Role.NONE:
            return Add(key(who), noise(who), role)
        if rng.random() < 0.4:
            others = [one for one in present if rng.random() < 0.1 and one != who]
            return history.removal(who, *others[:1], after=heads)
        return SetRole(key(who), role)
