"""Checks decisive answers of the projection against the definition, which is slow."""

from collections import Counter
from typing import Final, NamedTuple

from sync.calimero.governance import limits
from sync.calimero.governance.acl_view import AclView, Definition, Facts, InParts, finished
from sync.calimero.governance.ops import Access, Key, OpId, Role, SignedGroupOp
from sync.calimero.governance.projection import Heads
from sync.calimero.governance.verdicts import Doing, Plane

ADMINS: Final = (Role.ADMIN, Role.OWNER)


class Answer(NamedTuple):
    """A decisive answer at a cut all of which is here."""

    key: Key
    heads: Heads
    granted: bool
    doing: Doing | None = None
    """None: whether they are in, asked of a peer that wants to sync."""


class Divergence(NamedTuple):
    """An answer that the definition does not give (`unified_projection_divergence`)."""

    plane: Plane
    answer: Answer


class Answers:
    """Answers that nobody has checked yet, and what came of the others.

    A driver takes them and checks them when it has time; without one the oldest are skipped.
    """

    def __init__(self) -> None:
        self.checked = 0
        """Answers that the definition was asked about."""
        self.skipped = 0
        """Answers it was not asked about, for want of time or room."""
        self.divergences: Counter[Plane] = Counter()
        self._waiting: dict[Answer, None] = {}

    def note(self, answer: Answer) -> None:
        """Keep an answer to be checked, once."""
        self._waiting[answer] = None
        if len(self._waiting) > limits.ANSWERS_UNCHECKED_MAX:
            del self._waiting[next(iter(self._waiting))]
            self.skipped += 1

    def take(self) -> list[Answer]:
        """Return the answers to check, oldest first, and forget them."""
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def told(self, checked: int, skipped: int, divergences: tuple[Divergence, ...]) -> None:
        """Count what came of answers that were taken."""
        self.checked += checked
        self.skipped += skipped
        self.divergences.update(divergence.plane for divergence in divergences)


class CrossCheck:
    """The definition, over ops that are added as they are taken in."""

    def __init__(self) -> None:
        self.definition = Definition(())

    def __contains__(self, op: OpId) -> bool:
        return op in self.definition.numbers

    def __len__(self) -> int:
        return len(self.definition.numbers)

    def add(self, op: SignedGroupOp, told: Facts | None = None) -> None:
        """Add an op whose ancestors are here; `told`: what the projection made of it."""
        self.definition.add(op, told)

    def view(self, heads: Heads) -> AclView:
        """Return what the definition says of a cut."""
        return self.definition.acl_view_at(self.definition.cut(heads))

    def check(self, answer: Answer) -> Divergence | None:
        """Return where the definition differs from an answer; None if nowhere."""
        return finished(self.check_in_parts(answer))

    def check_in_parts(self, answer: Answer) -> InParts[Divergence | None]:
        """Check an answer, resting now and then."""
        view = yield from self.definition.view_in_parts(self.definition.cut(answer.heads))
        granted = (
            answer.key in view.roles
            if answer.doing is None
            else allowed(view, answer.key, answer.doing)
        )
        if granted is answer.granted:
            return None
        if answer.doing is None:
            return Divergence(Plane.SYNC, answer)
        return Divergence(Plane.CUT_GRANT if answer.granted else Plane.CUT, answer)

    def check_op_in_parts(self, number: int) -> InParts[Divergence | None]:
        """Check what the projection made of an op at its own cut, resting now and then.

        All else is answered from what was told of the ops before, so that one cut is enough.
        """
        told, asked = self.definition.facts(number), self.definition.op(number)
        found = yield from self.definition.facts_in_parts(number)
        if found == told:
            return None
        self.definition.correct(number, found)
        answer = Answer(asked.signer, asked.parents, granted=True)
        more = (told.rank, told.asks, told.lowers) < (found.rank, found.asks, found.lowers)
        return Divergence(Plane.CUT_GRANT if more else Plane.CUT, answer)


def allowed(view: AclView, key: Key, doing: Doing) -> bool:
    """Return whether somebody may do something by the definition: `verdicts.may`, said anew."""
    role = view.roles.get(key)
    if role is None:
        return False
    asked = {
        Doing.WRITE: view.policy.write,
        Doing.TOPIC: view.policy.topic,
        Doing.PIN: view.policy.pins,
        Doing.HIDE: Access.ADMINS,
    }
    if doing not in asked:
        return True  # a reaction: readers have theirs, too
    return role in ADMINS if asked[doing] is Access.ADMINS else role is not Role.READER
