"""Acts of a member who is hostile in governance: a table of functions, each of which yields deeds.

All that it signs is signed with its own key, at any old cut, or is no rightly signed op at all; so
whatever of it is taken in must be judged alike by everybody, and by the definition.
"""

import random
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.catch_up import GroupStateHeartbeat, encode_heartbeat
from sync.calimero.governance.dag import Act as KnownAct
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import (
    WRAPPED_SIZE,
    Add,
    Epoch,
    GroupId,
    Invite,
    Key,
    Leave,
    Op,
    OpId,
    Policy,
    Remove,
    Role,
    Rotate,
    SetPolicy,
    SetRole,
    Signable,
    Wrap,
    Wraps,
)
from sync.calimero.governance.roles import Access
from sync.calimero.governance.wire import DOMAIN, encode_signable
from sync.entries.identity import Identity

WRAPPED_SHARE: Final = 0.8
LEAVING_SHARE: Final = 0.02
BURST: Final = 20
"""Ops in one go."""


class SayOp(Struct, frozen=True):
    """The bytes of an op, to everybody."""

    content: bytes


class SayHeartbeat(Struct, frozen=True):
    """A heartbeat, to everybody."""

    payload: bytes


class SayLine(Struct, frozen=True):
    """A rightly signed line that names this cut, to everybody."""

    heads: tuple[OpId, ...]
    follows: bool = False
    """Set if it goes on with the log of the line before; else it begins another."""


Deed: TypeAlias = SayOp | SayHeartbeat | SayLine


class Mind(Struct, frozen=True):
    """Knowledge and key of a hostile member."""

    rng: random.Random
    identity: Identity
    governance: Governance
    """As its own engine knows it."""

    contents: tuple[bytes, ...]
    """Ops on its disk."""

    @property
    def key(self) -> Key:
        """Its own key."""
        return Key(self.identity.public_key)

    def somebody(self) -> Key:
        """Return a key that some op is about, or a new one."""
        known = list(self.governance.projection.relations.about)
        return self.rng.choice([*known, Key(self.rng.randbytes(32))])

    def invented(self) -> OpId:
        """Return the id of an op that nobody signed."""
        return OpId(self.rng.randbytes(32))

    def cut(self) -> tuple[OpId, ...]:
        """Return an old cut: one or two of the ops that are here, sorted."""
        acts = self.governance.dag.acts
        return tuple(sorted({self.rng.choice(acts).id for _ in range(self.rng.choice([1, 1, 2]))}))

    def signable(self, op: Op, parents: tuple[OpId, ...], *, step: int = 1) -> Signable:
        """Return an op of its own at a cut, in its place there."""
        dag = self.governance.dag
        before = dag.closure(parents)
        assert before is not None
        seen: list[KnownAct] = [dag.acts[dag.numbers[parent]] for parent in parents]
        lamport = max(act.lamport for act in seen) + step
        nonce = dag.next_nonce(self.key, before)
        group = self.governance.group
        return Signable(group, parents, self.key, nonce, lamport, lamport, op)

    def signed(self, signable: Signable) -> bytes:
        """Return an op with its signature, whatever it says."""
        content = encode_signable(signable)
        return content + self.identity.sign(DOMAIN + content)

    def epoch(self, parents: tuple[OpId, ...]) -> Epoch:
        """Return the next epoch at a cut; some who stay may lack theirs."""
        state = self.governance.projection.at(parents)
        assert state is not None
        begun = self.governance.dag.acts[state.epoch].epoch
        tags = sorted({key[:8] for key, one in state.people.items() if one.member})
        wrapped = [
            Wrap(tag, bytes(WRAPPED_SIZE)) for tag in tags if self.rng.random() < WRAPPED_SHARE
        ]
        return Epoch((begun.number if begun else 0) + 1, bytes(32), (), Wraps.of(wrapped))

    def drawn(self, parents: tuple[OpId, ...]) -> Op:
        """Return any op."""
        draw = self.rng
        if draw.random() < LEAVING_SHARE:
            return Leave()
        match draw.randrange(6):
            case 0:
                return Remove((self.somebody(),), self.epoch(parents), "you")
            case 1:
                return SetRole(self.somebody(), draw.choice([Role.READER, Role.MEMBER, Role.ADMIN]))
            case 2:
                return SetPolicy(Policy(*draw.choices(list(Access), k=4)))
            case 3:
                return Add(self.somebody(), draw.randbytes(32), draw.choice([Role(1), Role(2)]))
            case 4:
                return Rotate(self.epoch(parents))
            case _:
                return Invite(draw.randbytes(32), Role.MEMBER)


Act: TypeAlias = Callable[[Mind], Iterator[Deed]]


def sign_at_old_cuts(mind: Mind) -> Iterator[Deed]:
    """Ops at cuts from before whatever it has seen, some with times far ahead."""
    for _ in range(mind.rng.choice([1, 3])):
        cut = mind.cut()
        step = mind.rng.choice([1, limits.LAMPORT_STEP_MAX])
        yield SayOp(mind.signed(mind.signable(mind.drawn(cut), cut, step=step)))


def fork(mind: Mind) -> Iterator[Deed]:
    """Two ops at one place: neither knows of the other."""
    cut = mind.governance.heads[: limits.PARENTS_MAX]
    for _ in range(2):
        yield SayOp(mind.signed(mind.signable(mind.drawn(cut), cut)))


def flood(mind: Mind) -> Iterator[Deed]:
    """Invitations at one cut, one after the other."""
    cut = mind.cut()
    for _ in range(BURST):
        op = Invite(mind.rng.randbytes(32), Role.MEMBER)
        yield SayOp(mind.signed(mind.signable(op, cut)))


def forge(mind: Mind) -> Iterator[Deed]:
    """Ops in the name of others, of another channel, without the domain, changed, or too large."""
    cut = mind.cut()
    true = mind.signable(mind.drawn(cut), cut)
    yield SayOp(mind.signed(replace(true, signer=mind.somebody())))
    yield SayOp(mind.signed(replace(true, group=GroupId(mind.rng.randbytes(16)))))
    content = encode_signable(true)
    yield SayOp(content + mind.identity.sign(content))
    at = mind.rng.randrange(len(content))
    changed = bytearray(mind.signed(true))
    changed[at] ^= 1 << mind.rng.randrange(8)
    yield SayOp(bytes(changed))
    yield SayOp(mind.rng.randbytes(limits.OP_SIZE_MAX + 1))


def invent_parents(mind: Mind) -> Iterator[Deed]:
    """Ops that stand on others which nobody signed."""
    cut = mind.cut()
    for _ in range(BURST):
        true = mind.signable(Invite(mind.rng.randbytes(32), Role.MEMBER), cut)
        yield SayOp(mind.signed(replace(true, parents=(mind.invented(),))))


def replay(mind: Mind) -> Iterator[Deed]:
    """Ops of others again."""
    for content in mind.rng.sample(mind.contents, min(BURST, len(mind.contents))):
        yield SayOp(content)


def beat_falsely(mind: Mind) -> Iterator[Deed]:
    """Heartbeats with heads that nobody has, or fewer ops than anybody."""
    heads = tuple(sorted(mind.invented() for _ in range(mind.rng.choice([1, limits.HEADS_MAX]))))
    count = mind.rng.choice([0, 2**40])
    yield SayHeartbeat(encode_heartbeat(GroupStateHeartbeat(mind.governance.group, heads, count)))
    first = (mind.governance.dag.acts[0].id,)
    yield SayHeartbeat(encode_heartbeat(GroupStateHeartbeat(mind.governance.group, first, 1)))
    yield SayHeartbeat(mind.rng.randbytes(40))


def write_at_old_cuts(mind: Mind) -> Iterator[Deed]:
    """Lines that name an old cut, also after one that knew all, or one that nobody knows."""
    yield SayLine(mind.governance.heads[: limits.HEADS_MAX])
    yield SayLine(mind.cut(), follows=True)
    yield SayLine((mind.invented(),))


ACTS: Final[dict[str, Act]] = {
    "ops at old cuts": sign_at_old_cuts,
    "forked ops": fork,
    "floods of invitations": flood,
    "forged ops": forge,
    "invented parents of ops": invent_parents,
    "replayed ops": replay,
    "false heartbeats": beat_falsely,
    "lines at old cuts": write_at_old_cuts,
}
"""By the name that people read; a name says what others suffer."""
