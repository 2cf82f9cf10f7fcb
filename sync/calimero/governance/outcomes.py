"""Outcomes of ops and entries: words that are stored, traced and shown."""

from enum import Enum


class Reason(Enum):
    """Reason why an op that had the right came to nothing."""

    SIGNER_TAKEN_OUT = "its signer was removed or lowered at once"
    RIGHT_LOST = "its signer's right rests on an op that came to nothing"
    INVITE_VOID = "its invitation came to nothing"
    CODE_ENDED = "its code was ended at once"
    OVERRULED = "another op about the same person, at once, weighs more"
    CROWDED = "as many are in as can be"
    ASKS = "a removed person asks to be let in again"


class Dropped(Enum):
    """Label of an entry that was dropped."""

    REMOVED = "removed"
    NEVER_MEMBER = "never_member"
    NOT_MEMBER = "not_member"
    """In, without the right to do that."""


class Lateness(Enum):
    """Place of an entry beside the removals of its author that its cut does not know."""

    IN_TIME = "nobody has removed its author since"
    SEALED = "the remover had it"
    BEYOND = "sent without knowing of the removal"
    FOLDED = "answers what knew of the removal, and claims not to"
