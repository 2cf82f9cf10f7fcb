"""Reasons for which an op is refused: one a case, named in traces and in the pane."""

from enum import Enum
from typing import Final

from sync.errors import DecodeError


class Refusal(Enum):
    """Reason why an op is not taken in. Up to `TICKET` it lies in its bytes and ancestors."""

    SIZE = "larger than an op may be"
    BYTES = "not the bytes of an op"
    TRAILING = "bytes follow the op"
    VERSION = "of a version that is not known here"
    KIND = "of a kind that is not known here"
    UNSORTED = "members of a set unsorted or twice"
    COUNT = "more or fewer members than allowed"
    TEXT = "a text that is empty or too long"
    ROLE = "a role that cannot stand there"
    NUMBER = "a number out of its range"
    PARENTS = "parents missing, or there should be none"
    GROUP = "of another channel"
    SIGNATURE = "not signed by its signer"
    TICKET = "not signed by the ticket of its invitation"
    NONCE = "does not follow its signer's earlier ops"
    LAMPORT = "not later than its parents, or later by centuries"
    EPOCH = "not the next epoch after those it has seen"
    NOT_A_MEMBER = "its signer was not in"
    NOT_ADMIN = "its signer was no admin"
    NOT_OWNER = "only an owner may do that"
    NOT_INVITING = "its signer may not invite"
    TARGET_OUT = "somebody it names was not in"
    TARGET_IN = "somebody it names was in already"
    TARGET_OWNER = "an owner cannot be removed, added or given a role"
    TARGET_SELF = "its signer names itself"
    UNCHANGED = "it changes nothing"
    NO_INVITE = "its invitation is not among its ancestors, or never counted"
    CODE_ENDED = "its code had ended"
    CROWDED = "as many are in as can be"
    REFUSED_PARENT = "a parent was refused"
    QUOTA = "its signer has no room left"
    FULL = "the channel has no room left"


SENTENCES: Final = {
    Refusal.TEXT: "A text in it is empty or too long.",
    Refusal.NOT_A_MEMBER: "You are not in this channel (any more).",
    Refusal.NOT_ADMIN: "Only admins can do that here.",
    Refusal.NOT_OWNER: "Only an owner can do that: it is about admins.",
    Refusal.NOT_INVITING: "Only admins invite here.",
    Refusal.TARGET_OUT: "They are not in this channel.",
    Refusal.TARGET_IN: "They are in this channel already.",
    Refusal.TARGET_OWNER: "They own this channel: nobody can let in, remove or change an owner.",
    Refusal.TARGET_SELF: "You cannot do that to yourself; /leave takes you out.",
    Refusal.UNCHANGED: "It is so already.",
    Refusal.NO_INVITE: "This code is no longer valid: ask for a new one.",
    Refusal.TICKET: "This code is no longer valid: ask for a new one.",
    Refusal.CODE_ENDED: "This code is no longer valid: ask for a new one.",
    Refusal.CROWDED: "This channel is full: somebody has to go first.",
    Refusal.QUOTA: "You have done as much here as a member can; an admin can go on.",
    Refusal.FULL: "This channel has seen as many changes of its members as it can hold.",
}
"""Sentences for whoever tried it."""


def sentence(refusal: Refusal) -> str:
    """Return what a person is told whose own act is refused."""
    return SENTENCES.get(refusal, f"This cannot be done: it is {refusal.value}.")


class OpError(DecodeError):
    """An op is refused; `refusal` says why."""

    def __init__(self, refusal: Refusal, detail: str = "") -> None:
        super().__init__(detail or f"a governance op is {refusal.value}")
        self.refusal = refusal
