"""Phases of a check, and what may come in each."""

from enum import Enum

from sync.check.message import Ask, Claim, End, Ending, Frame, Hashes, Leaves, Proof, Verdict
from sync.structures.differences import Role


class Phase(Enum):
    """Phase of the check."""

    INITIATING = "initiating"
    AWAITING_CLAIM = "awaiting the claim"
    AWAITING_PROOF = "awaiting the proof"
    AWAITING_VERDICT = "awaiting the verdict"
    DESCENDING = "descending"
    FINISHED = "finished"


class Step(Enum):
    """Step that changes the phase of a check."""

    CLAIMED = "claim sent"
    PROVED = "claim answered with our proof"
    DECLINED = "there is nothing to compare"
    EQUAL = "count and digest match"
    DIFFERENT = "they do not match"
    ASKED = "question sent or answered"
    SETTLED = "every difference has been shown"
    GAVE_UP = "a limit is reached"
    EXPIRED = "nothing came in time"


TRANSITIONS: dict[Phase, dict[Step, Phase]] = {
    Phase.INITIATING: {Step.CLAIMED: Phase.AWAITING_PROOF, Step.EXPIRED: Phase.FINISHED},
    Phase.AWAITING_CLAIM: {
        Step.PROVED: Phase.AWAITING_VERDICT,
        Step.DECLINED: Phase.FINISHED,
        Step.EXPIRED: Phase.FINISHED,
    },
    Phase.AWAITING_PROOF: {
        Step.EQUAL: Phase.FINISHED,
        Step.DIFFERENT: Phase.DESCENDING,
        Step.DECLINED: Phase.FINISHED,
        Step.EXPIRED: Phase.FINISHED,
    },
    Phase.AWAITING_VERDICT: {
        Step.EQUAL: Phase.FINISHED,
        Step.DIFFERENT: Phase.DESCENDING,
        Step.EXPIRED: Phase.FINISHED,
    },
    Phase.DESCENDING: {
        Step.ASKED: Phase.DESCENDING,
        Step.SETTLED: Phase.FINISHED,
        Step.GAVE_UP: Phase.FINISHED,
        Step.EXPIRED: Phase.FINISHED,
    },
    Phase.FINISHED: {},
}

MAY_COME: dict[tuple[Role, Phase], tuple[type[Frame], ...]] = {
    (Role.INITIATOR, Phase.AWAITING_PROOF): (Proof, End),
    (Role.INITIATOR, Phase.DESCENDING): (Hashes, Leaves, End),
    (Role.RESPONDER, Phase.AWAITING_CLAIM): (Claim,),
    (Role.RESPONDER, Phase.AWAITING_VERDICT): (Verdict,),
    (Role.RESPONDER, Phase.DESCENDING): (Ask, Leaves, End),
}
"""Frames the peer may send; in every other state none."""

ENDINGS: dict[tuple[Role, Phase], tuple[Ending, ...]] = {
    (Role.INITIATOR, Phase.AWAITING_PROOF): (Ending.DECLINED,),
    (Role.INITIATOR, Phase.DESCENDING): (Ending.TOO_MANY_DIFFERENCES,),
    (Role.RESPONDER, Phase.DESCENDING): (
        Ending.SETTLED,
        Ending.LEAF_TOO_LARGE,
        Ending.TOO_MANY_QUESTIONS,
        Ending.TOO_MANY_DIFFERENCES,
    ),
}
"""Why the peer may end the check."""
