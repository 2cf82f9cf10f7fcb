"""The causal graph of a channel's ops: each knows all its ancestors, as a set of bits.

Ops are numbered in the order they came in, ancestors first; bit `n` stands for op `n`. What is
asked of two ops, whether one knew of the other, is then one shift.
"""

from bisect import bisect, bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.ops import (
    TAG_SIZE,
    Add,
    Epoch,
    Genesis,
    Join,
    Key,
    Leave,
    Op,
    OpId,
    Remove,
    Rotate,
    SetRole,
    SignedGroupOp,
)
from sync.calimero.governance.refusal import OpError, Refusal
from sync.machine import Nanos

OWNERS: Final = 0
ADMINS: Final = 1
OTHERS: Final = 2

ONE: Final = ord("1")

UNTOUCHED: Final = (False, False, False, False)


class Judgement(NamedTuple):
    """Facts of an op at its own parents: fixed for ever, so they are stored with it."""

    rank: int
    """Rank of its signer: `OWNERS`, `ADMINS` or `OTHERS`."""

    lowers: bool = False
    """It gives somebody a lower role than they had."""

    touched: tuple[bool, bool, bool, bool] = UNTOUCHED
    """Fields of the policy that it changes."""

    asks: bool = False
    """A join of somebody who was removed: it lets nobody in."""


class Act(NamedTuple):
    """An op in the graph, without the secrets it wraps."""

    number: int
    id: OpId
    signer: Key
    nonce: int
    lamport: int
    created_ns: Nanos
    op: Op
    judgement: Judgement
    unseen_from: int
    """The first earlier op that it has not seen; of itself, if it has seen all."""

    unseen_rest: int
    """Bits of the earlier ops that it has not seen, from `unseen_from` on.

    Most ops have seen all but the latest, so this is short where the bits of all ancestors are not.
    """

    wrapped: int = 0
    """Bits of those for whom its epoch is wrapped, by their places in `Dag.tags`."""

    strange: bytes = b""
    """Tags that nobody had who was named before, one after the other."""

    @property
    def bit(self) -> int:
        """Its own bit."""
        return 1 << self.number

    @property
    def unseen(self) -> int:
        """Bits of the earlier ops that are no ancestors: neither knew of the other."""
        return self.unseen_rest << self.unseen_from

    @property
    def before(self) -> int:
        """Bits of its ancestors."""
        return self.bit - 1 ^ self.unseen

    def knew(self, number: int) -> bool:
        """Return whether an op is one of its ancestors."""
        if number < self.unseen_from:
            return number < self.number
        return number < self.number and not self.unseen_rest >> number - self.unseen_from & 1

    @property
    def rank(self) -> int:
        """Rank of its signer at its own parents."""
        return self.judgement.rank

    @property
    def place(self) -> tuple[int, OpId]:
        """Its place in the transcript."""
        return self.lamport, self.id

    @property
    def targets(self) -> tuple[Key, ...]:
        """People whose membership or role it is about."""
        match self.op:
            case Add(key=key) | SetRole(key=key):
                return (key,)
            case Join() | Leave():
                return (self.signer,)
            case Remove(keys=keys):
                return keys
            case _:
                return ()

    @property
    def negative(self) -> bool:
        """It takes somebody out, or lowers them."""
        return self.judgement.lowers or isinstance(self.op, Remove | Leave)

    @property
    def epoch(self) -> Epoch | None:
        """The epoch it begins, without what it wraps."""
        return self.op.epoch if isinstance(self.op, Remove | Rotate) else None


class Dag:
    """All ops of a channel that were taken in, ancestors first."""

    def __init__(self) -> None:
        self.acts: list[Act] = []
        self.numbers: dict[OpId, int] = {}
        self.heads: list[OpId] = []
        """Ids of the ops that no other one has seen, sorted."""
        self.by_signer: dict[Key, list[int]] = {}
        """Ops of each signer by their nonces."""
        self.forked: dict[Key, set[int]] = {}
        """Nonces that a signer used twice."""
        self.tags: dict[bytes, int] = {}
        """Places of the tags of all who were let in, in the order in which they came."""
        self._head_ids: tuple[OpId, ...] | None = None
        self._judgements: dict[Judgement, Judgement] = {}

    def __len__(self) -> int:
        return len(self.acts)

    @property
    def whole(self) -> int:
        """Bits of all ops."""
        return (1 << len(self.acts)) - 1

    def head_ids(self) -> tuple[OpId, ...]:
        """Return the ids of the heads, sorted."""
        if self._head_ids is None:
            self._head_ids = tuple(self.heads)
        return self._head_ids

    def closure(self, heads: Iterable[OpId]) -> int | None:
        """Return the bits of ops and all their ancestors; None if one of them is not here."""
        if heads is self._head_ids:
            return self.whole
        closed = 0
        for head in heads:
            number = self.numbers.get(head)
            if number is None:
                return None
            closed |= self.acts[number].before | 1 << number
        return closed

    def missing(self, parents: Iterable[OpId]) -> tuple[OpId, ...]:
        """Return those that are not here."""
        return tuple(parent for parent in parents if parent not in self.numbers)

    def check_place(self, op: SignedGroupOp, before: int) -> None:
        """Refuse an op whose counters do not follow its ancestors'.

        Raises:
            OpError: its lamport or its nonce.
        """
        latest = max(
            (self.acts[self.numbers[parent]].lamport for parent in op.signed.parents), default=-1
        )
        if not latest < op.signed.lamport <= latest + limits.LAMPORT_STEP_MAX:
            raise OpError(Refusal.LAMPORT)
        if op.signed.nonce != self.next_nonce(op.signed.signer, before):
            raise OpError(Refusal.NONCE)

    def next_nonce(self, signer: Key, before: int) -> int:
        """Return the nonce of a signer's next op that has seen `before`."""
        for number in reversed(self.by_signer.get(signer, ())):
            if before >> number & 1:
                return self.acts[number].nonce + 1
        return 1

    def append(self, op: SignedGroupOp, judgement: Judgement, before: int) -> Act:
        """Take in an op whose parents are here."""
        signed = op.signed
        number = len(self.acts)
        unseen = (1 << number) - 1 ^ before
        unseen_from = (unseen & -unseen).bit_length() - 1 if unseen else number
        wrapped, strange = self._wrapped_by(signed.op)
        signed_by = self.by_signer.setdefault(signed.signer, [])
        signer = self.acts[signed_by[0]].signer if signed_by else signed.signer  # kept once
        act = Act(
            number=number,
            id=op.id,
            signer=signer,
            nonce=signed.nonce,
            lamport=signed.lamport,
            created_ns=signed.created_ns,
            op=_light(signed.op),
            judgement=self._judgements.setdefault(judgement, judgement),
            unseen_from=unseen_from,
            unseen_rest=unseen >> unseen_from,
            wrapped=wrapped,
            strange=strange,
        )
        self._note_tags(act)
        self.acts.append(act)
        self.numbers[op.id] = act.number
        self._note_head(op)
        place = bisect(signed_by, act.nonce, key=self._nonce)
        if place and self._nonce(signed_by[place - 1]) == act.nonce:
            self.forked.setdefault(act.signer, set()).add(act.nonce)
        signed_by.insert(place, number)
        return act

    def is_head(self, op: OpId) -> bool:
        """Return whether an op is here that no other one has seen."""
        place = bisect_left(self.heads, op)
        return self.heads[place : place + 1] == [op]

    def _note_head(self, op: SignedGroupOp) -> None:
        """Take in the newest head; others that it has seen are its parents, having no child."""
        for parent in filter(self.is_head, op.signed.parents):
            del self.heads[bisect_left(self.heads, parent)]
        insort(self.heads, op.id)
        self._head_ids = None

    def tags_of(self, act: Act) -> set[bytes]:
        """Return the tags of those for whom an op wraps a secret."""
        known = list(self.tags)
        strange = range(0, len(act.strange), TAG_SIZE)
        return {known[place] for place in bits(act.wrapped)}.union(
            [act.strange[place : place + TAG_SIZE] for place in strange]
        )

    def _wrapped_by(self, op: Op) -> tuple[int, bytes]:
        """Return for whom an op wraps a secret: bits of known tags, and the others."""
        if not isinstance(op, Remove | Rotate) or not op.epoch.wrapped:
            return 0, b""
        places = self.tags
        strange: list[bytes] = []
        digits = bytearray(b"0") * (len(places) + 1)
        for tag in op.epoch.wrapped.tags:
            place = places.get(tag)
            if place is None:
                strange.append(tag)
            else:
                digits[-1 - place] = ONE
        return int(digits, 2), b"".join(strange)

    def _note_tags(self, act: Act) -> None:
        match act.op:
            case Genesis(owners=owners):
                came = [owner.key for owner in owners]
            case Add(key=key):
                came = [key]
            case Join():
                came = [act.signer]
            case _:
                return
        for key in came:
            self.tags.setdefault(key[:TAG_SIZE], len(self.tags))

    def _nonce(self, number: int) -> int:
        return self.acts[number].nonce


def bits(mask: int) -> Iterator[int]:
    """Yield the numbers of the ops in a set of bits, rising."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _light(op: Op) -> Op:
    """Return an op without what it wraps: that stays on the disk."""
    match op:
        case Remove(epoch=epoch) | Rotate(epoch=epoch):
            return replace(op, epoch=Epoch(epoch.number, epoch.ephemeral))
        case _:
            return op


def founder(act: Act) -> Genesis:
    """Return the genesis that an act, the first one, is."""
    assert isinstance(act.op, Genesis)
    return act.op
