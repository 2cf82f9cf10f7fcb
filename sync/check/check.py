"""The check after a reconciliation: do both sides now hold the same set, and if not, what differs?

XOR fingerprints can be forged (`sync.waku`, "Where we differ"), so what a reconciliation says is
compared once more, by count and SHA-256, and only what this check calls equal is proof.

Rules:
1. Equal means that count and digest both match what we hold, from the higher floor on; each side
   decides for itself, on a digest bound to both salts and to who sends it.
2. Differences are looked for below the digests; the initiator asks.
3. A limit that is reached ends the check as failed: whatever was not compared is never equal.
"""

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias, assert_never

from msgspec import Struct

from sync.check.descent import Answering, Asking, Found
from sync.check.message import (
    NEED_MAX,
    SALT_BYTES,
    Aside,
    Ask,
    Claim,
    End,
    Ending,
    Frame,
    Hashes,
    Leaves,
    Proof,
    Verdict,
)
from sync.check.phases import ENDINGS, MAY_COME, TRANSITIONS, Phase, Step
from sync.check.proof import check_floor, matches, sealed
from sync.errors import RemoteError
from sync.machine import SECOND, Nanos, Tick
from sync.structures.differences import Differences, Role
from sync.structures.link_trips import as_it_is
from sync.structures.set_digest import Held

INACTIVITY_MAX: Nanos = 15 * SECOND
"""As long as a reconciliation waits."""


class Result(Enum):
    """Result of a check; only `EQUAL` is proof of anything."""

    EQUAL = "equal"
    DIFFERENT = "different"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    REFUSED = "refused"


class Begin(Struct, frozen=True):
    """Input, initiator only: the stream is open."""


class FrameReceived(Struct, frozen=True):
    """Input: the peer's next frame, decoded."""

    frame: Frame


class SendFrame(Struct, frozen=True):
    """Effect: send this frame, length-prefixed, on the check's stream."""

    frame: Frame


class CheckFinished(Struct, frozen=True):
    """Effect, the last one: the check is over."""

    result: Result
    floor: Nanos
    """Whatever the result, nothing was compared below this timestamp; the peer may have put it as
    high as it likes."""

    count: int
    """Ids we hold from there on: those a result of equal is about."""

    rounds: int
    """Frames received."""

    need: int
    have: int
    reason: str
    """Of a check that failed or was refused; else empty."""

    aside: Aside = None
    """Of what we sent before the check, what the peer keeps aside; None if we said nothing of what
    it sent us, or it said nothing."""


Input: TypeAlias = Begin | FrameReceived | Tick
Effect: TypeAlias = SendFrame | Differences | CheckFinished


class Check:
    """One check, of either side."""

    def __init__(  # noqa: PLR0913 - what two sides compare, and for how long
        self,
        role: Role,
        held: Held | None,
        floor: Nanos,
        salt: bytes,
        opened_at: Nanos,
        room: Callable[[], int] = lambda: NEED_MAX,
        *,
        aside: Aside = None,
        grown: Callable[[Nanos], Nanos] = as_it_is,
    ) -> None:
        """Take part as `role`, over a stream opened at `opened_at`.

        Args:
            role: who we are; a responder with nothing to compare declines.
            held: what the reconciliation froze, with what it found missing (`Held.with_found`).
            floor: our retention floor, 0 for none.
            salt: 16 fresh random bytes.
            opened_at: from here on the peer's time runs.
            room: tells how many ids more may be found before there is no memory for them.
            aside: of `held`, what was brought just now and is kept aside.
            grown: tells how long to wait for the peer where a fast one is waited for so long.
        """
        assert len(salt) == SALT_BYTES, "a salt has 16 bytes"
        assert held or role is Role.RESPONDER, "who has nothing to compare does not begin"
        self._role = role
        self._held = held
        self._floor = max(floor, held.digest.floor) if held else floor
        self._salt = salt
        self._room = room
        self._aside = aside
        self._peer_aside: Aside = None
        self._phase = Phase.INITIATING if role is Role.INITIATOR else Phase.AWAITING_CLAIM
        self._grown = grown
        self._expires_at = opened_at + grown(INACTIVITY_MAX)
        self._salts = (salt, salt)
        """Of initiator and responder, once both are known."""
        self._asking: Asking | None = None
        self._answering: Answering | None = None
        self._rounds = 0
        self._need = 0
        self._have = 0
        self._result = Result.TIMED_OUT
        self._reason = ""

    @property
    def phase(self) -> Phase:
        """Phase of the check."""
        return self._phase

    def deadline(self) -> Nanos | None:
        """Return when the peer has been silent for too long; None once the check is over."""
        return None if self._phase is Phase.FINISHED else self._expires_at

    def handle(self, event: Input, now: Nanos) -> list[Effect]:
        """Apply one input.

        Raises:
            RemoteError: a frame that an honest peer does not send now; nothing has changed.
        """
        match event:
            case Begin():
                effects = self._begin()
            case FrameReceived(frame=frame):
                effects = self._on_frame(frame)
                self._rounds += 1
            case Tick():
                return self._on_tick(now)
            case _:
                assert_never(event)
        self._expires_at = now + self._grown(INACTIVITY_MAX)
        return [*effects, self._finished()] if self._phase is Phase.FINISHED else effects

    def _begin(self) -> list[Effect]:
        assert self._phase is Phase.INITIATING, "only the initiator begins, and once"
        self._step(Step.CLAIMED)
        return [SendFrame(Claim(self._salt, self._floor))]

    def _on_tick(self, now: Nanos) -> list[Effect]:
        if self._phase is Phase.FINISHED or now < self._expires_at:
            return []
        self._finish(Step.EXPIRED, Result.TIMED_OUT)
        return [self._finished()]

    def _on_frame(self, frame: Frame) -> list[Effect]:
        state = (self._role, self._phase)
        if not isinstance(frame, MAY_COME.get(state, ())):
            raise RemoteError(f"a {type(frame).__name__} of a check came while {self._phase.value}")
        match frame:
            case Claim():
                return self._on_claim(frame)
            case Proof():
                return self._on_proof(frame)
            case Verdict():
                return self._on_verdict(frame)
            case Ask():
                return self._on_ask(frame)
            case Hashes():
                return self._on_hashes(frame)
            case Leaves():
                answered = self._role is Role.INITIATOR
                return self._on_answered_leaves(frame) if answered else self._on_asked_leaves(frame)
            case End():
                return self._on_end(frame, state)
            case _:
                assert_never(frame)

    def _on_claim(self, claim: Claim) -> list[Effect]:
        check_floor(claim.floor)
        if self._held is None:
            self._finish(Step.DECLINED, Result.REFUSED, Ending.DECLINED)
            return [SendFrame(End(Ending.DECLINED))]
        own_floor = self._floor
        self._narrow(self._held.above(max(own_floor, claim.floor)))
        self._salts = (claim.salt, self._salt)
        self._step(Step.PROVED)
        seal = self._seal(self._role)
        return [SendFrame(Proof(self._salt, own_floor, self._count, seal, self._aside))]

    def _on_proof(self, proof: Proof) -> list[Effect]:
        check_floor(proof.floor)
        assert self._held, "the initiator has what it compares"
        held = self._held.above(max(self._floor, proof.floor))
        salts = (self._salt, proof.salt)
        equal = matches(proof, held, sealed(Role.RESPONDER, *salts, held.digest.root))
        self._narrow(held)
        self._salts = salts
        self._peer_aside = proof.aside
        verdict = SendFrame(Verdict(self._count, self._seal(self._role), self._aside))
        if equal:
            self._finish(Step.EQUAL, Result.EQUAL)
            return [verdict]
        self._step(Step.DIFFERENT)
        self._asking = Asking(
            held, lambda root: sealed(Role.RESPONDER, *salts, root) == proof.digest
        )
        return [verdict, *self._ask_on(self._asking)]

    def _on_verdict(self, verdict: Verdict) -> list[Effect]:
        assert self._held, "who proved something has it"
        self._peer_aside = verdict.aside
        if matches(verdict, self._held, self._seal(Role.INITIATOR)):
            self._finish(Step.EQUAL, Result.EQUAL)
        else:
            self._step(Step.DIFFERENT)
            self._answering = Answering(self._held)
        return []

    def _on_ask(self, question: Ask) -> list[Effect]:
        assert self._answering, "a responder that descends answers"
        answer = self._answering.hashes(question)
        self._step(Step.ASKED)
        return [SendFrame(answer)]

    def _on_asked_leaves(self, question: Leaves) -> list[Effect]:
        assert self._answering, "a responder that descends answers"
        answer, found = self._answering.leaves(question)
        if self._is_too_much(found):
            return self._give_up(Ending.TOO_MANY_DIFFERENCES)
        self._step(Step.ASKED)
        return [SendFrame(answer), *self._differences(found)]

    def _on_hashes(self, answer: Hashes) -> list[Effect]:
        assert self._asking, "an initiator that descends asks"
        self._asking.take_hashes(answer)
        return self._ask_on(self._asking)

    def _on_answered_leaves(self, answer: Leaves) -> list[Effect]:
        assert self._asking, "an initiator that descends asks"
        found = self._asking.take_leaves(answer)
        if self._is_too_much(found):
            return self._give_up(Ending.TOO_MANY_DIFFERENCES)
        return [*self._differences(found), *self._ask_on(self._asking)]

    def _on_end(self, end: End, state: tuple[Role, Phase]) -> list[Effect]:
        if end.ending not in ENDINGS[state]:
            raise RemoteError(f"a check cannot end while {self._phase.value}: {end.ending.value}")
        if end.ending is Ending.DECLINED:
            self._finish(Step.DECLINED, Result.REFUSED, end.ending)
        elif end.ending is not Ending.SETTLED:
            self._finish(Step.GAVE_UP, Result.FAILED, end.ending)
        elif self._need or self._have:
            self._finish(Step.SETTLED, Result.DIFFERENT)
        else:
            raise RemoteError("a check of different sets ends without a difference")
        return []

    def _ask_on(self, asking: Asking) -> list[Effect]:
        """Ask the next question, or end."""
        question = asking.next_question()
        if not isinstance(question, End):
            self._step(Step.ASKED)
        elif question.ending is Ending.SETTLED:
            self._finish(Step.SETTLED, Result.DIFFERENT)
        else:
            return self._give_up(question.ending)
        return [SendFrame(question)]

    def _give_up(self, ending: Ending) -> list[Effect]:
        self._finish(Step.GAVE_UP, Result.FAILED, ending)
        return [SendFrame(End(ending))]

    def _is_too_much(self, found: Found) -> bool:
        ids = len(found.need) + len(found.have)
        return self._need + len(found.need) > NEED_MAX or ids > self._room()

    def _differences(self, found: Found) -> list[Effect]:
        self._need += len(found.need)
        self._have += len(found.have)
        if not (found.need or found.have):
            return []
        return [Differences(tuple(found.need), tuple(found.have))]

    def _narrow(self, held: Held) -> None:
        self._held = held
        self._floor = held.digest.floor

    @property
    def _count(self) -> int:
        return self._held.digest.count if self._held else 0

    def _seal(self, role: Role) -> bytes:
        """Return what `role` sends if it holds what we hold."""
        assert self._held, "who proves something has it"
        return sealed(role, *self._salts, self._held.digest.root)

    def _finish(self, step: Step, result: Result, ending: Ending | None = None) -> None:
        self._step(step)
        self._result = result
        self._reason = ending.value if ending else ""

    def _finished(self) -> CheckFinished:
        """Tell the end, and let go of what was compared: the session goes on to transfer."""
        finished = CheckFinished(
            self._result,
            self._floor,
            self._count,
            self._rounds,
            self._need,
            self._have,
            self._reason,
            None if self._aside is None else self._peer_aside,
        )
        self._held = self._asking = self._answering = None
        return finished

    def _step(self, step: Step) -> None:
        self._phase = TRANSITIONS[self._phase][step]
