"""Acts of governance in words, and why one came to nothing; safe to show."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from chat_tui.text.listing import listed
from chat_tui.text.safe_text import clean_nick, clean_text
from sync.entries.identity import short_fingerprint
from sync.machine import PeerId
from sync.view.governance_infos import (
    Access,
    ActInfo,
    ActKind,
    BecauseInfo,
    LossInfo,
    Person,
    Reason,
    Role,
)
from sync.view.view import Line

Called: TypeAlias = Callable[[PeerId, str], str]
"""Returns the name of somebody who goes by a nick, with what tells them apart; safe to show."""

SIGN: Final = "*"
"""Sign that stands for an author beside an act."""

A_ROLE: Final = {
    Role.READER: "a reader",
    Role.MEMBER: "a member",
    Role.ADMIN: "an admin",
    Role.OWNER: "an owner",
    Role.NONE: "nobody",
}

MAY: Final = {"write": "write", "invite": "invite", "topic": "set the topic", "pins": "pin"}
"""Fields of the policy, as things that somebody may do."""

ENDS_CODES: Final = (ActKind.REMOVED, ActKind.ROTATED)
"""Acts that end all codes given out before."""


def plainly_called(peer: PeerId, nick: str) -> str:
    """Return a name without regard to others of that name; a key has its fingerprint."""
    return clean_nick(nick) if nick.strip() else short_fingerprint(peer)


def sentence(line: Line, called: Called = plainly_called) -> str:
    """Return what an act says: "alice removed mallory: spam", or why it came to nothing."""
    act = line.act
    assert act is not None
    signer = name_of(Person(line.author, line.nick), called)
    if act.loss is None:
        return _done(act, signer, called)
    return _lost(act, act.loss, signer, called)


def named_in(line: Line) -> list[Person]:
    """Return everybody whom an act names, also for whom it came to nothing; none in a message."""
    if line.act is None:
        return []
    because = None if line.act.loss is None else line.act.loss.because
    others = [] if because is None else [because.by, *because.people]
    return [Person(line.author, line.nick), *line.act.people, *others]


def name_of(person: Person, called: Called) -> str:
    """Return what somebody is called; a key without a name is its fingerprint."""
    return called(*person) if person.nick.strip() else short_fingerprint(person.peer)


def _names(people: Sequence[Person], called: Called) -> str:
    return listed([name_of(one, called) for one in people])


def _done(act: ActInfo, signer: str, called: Called) -> str:
    match act.kind:
        case ActKind.FOUNDED:
            return f"{signer} founded #{clean_nick(act.name)}"
        case ActKind.INVITED:
            return f"{signer} gave out a code that lets in {_plural(act.role)}"
        case ActKind.JOINED:
            role = "" if act.role is Role.MEMBER else f" as {A_ROLE[act.role or Role.NONE]}"
            return f"{signer} joined by a code of {_names(act.people, called)}{role}"
        case ActKind.ASKED:
            return f"{signer}, who was removed, asks to be let in again"
        case _:
            return f"{signer} {_did(act.kind, act, called)}"


def _did(kind: ActKind, act: ActInfo, called: Called) -> str:
    """Return what somebody did, in the past tense, without who."""
    match kind:
        case ActKind.ADDED:
            role = "" if act.role is Role.MEMBER else f" as {A_ROLE[act.role or Role.NONE]}"
            return f"added {_names(act.people, called)}{role}"
        case ActKind.REMOVED:
            why = " ".join(clean_text(act.reason).split())
            return f"removed {_names(act.people, called)}{f': {why}' if why else ''}"
        case ActKind.ROLE:
            return f"made {_names(act.people, called)} {A_ROLE[act.role or Role.NONE]}"
        case ActKind.POLICY:
            return policy(act.policy)
        case ActKind.LEFT:
            return "left"
        case ActKind.REVOKED:
            return f"ended a code of {_names(act.people, called)}"
        case _:
            return "changed the secret and ended all codes"


def policy(fields: Sequence[tuple[str, Access]]) -> str:
    """Return what was changed of who may do what: "let only admins write"."""
    parts = []
    for access, who in ((Access.ADMINS, "only admins"), (Access.MEMBERS, "members")):
        may = [MAY[field] for field, given in fields if given is access]
        if may:
            parts.append(f"{who} {listed(may)}")
    return f"let {', and '.join(parts)}"


def _plural(role: Role | None) -> str:
    return "readers" if role is Role.READER else "members"


def _lost(act: ActInfo, loss: LossInfo, signer: str, called: Called) -> str:
    said = f"{_named(act, signer, called)} came to nothing, for {_why(loss, act, signer, called)}"
    if act.kind is ActKind.JOINED:
        if loss.reason is Reason.CROWDED:  # nobody can be added, either
            return f"{said}; {signer} is in once there is room"
        return f"{said}; /add {signer} lets them in"
    if act.kind is ActKind.ADDED:
        return f"{said}; /add {_names(act.people, called)} lets them in"
    if act.kind is ActKind.INVITED:
        return f"{said}; /invite makes another one"
    return said


def _named(act: ActInfo, signer: str, called: Called) -> str:
    """Return an act as a thing: "bob's invitation of carol"."""
    whose = f"{signer}'s"
    match act.kind:
        case ActKind.INVITED:
            return f"{whose} code"
        case ActKind.JOINED:
            return f"{_names(act.people, called)}'s invitation of {signer}"
        case ActKind.ADDED:
            return f"{whose} adding of {_names(act.people, called)}"
        case ActKind.REMOVED:
            return f"{whose} removal of {_names(act.people, called)}"
        case ActKind.ROLE:
            return f"{whose} making {_names(act.people, called)} {A_ROLE[act.role or Role.NONE]}"
        case ActKind.POLICY:
            return f"{whose} change of who may do what"
        case ActKind.LEFT:
            return f"{whose} leaving"
        case ActKind.REVOKED:
            return f"{whose} ending of a code"
        case ActKind.FOUNDED | ActKind.ROTATED | ActKind.ASKED:
            return f"{whose} change of the secret"


def _why(loss: LossInfo, act: ActInfo, signer: str, called: Called) -> str:
    because = loss.because
    match loss.reason:
        case Reason.CROWDED:
            return "as many are in as can be"
        case Reason.RIGHT_LOST:
            return f"what gave {signer} the right to it came to nothing, too"
        case Reason.INVITE_VOID:
            return "the code had come to nothing"
        case Reason.CODE_ENDED if because is not None and because.kind in ENDS_CODES:
            return f"{_had(because, called)}, which ends all codes"
        case _ if because is not None:
            return _had(because, called)
        case _:
            return f"something at once with {_named(act, signer, called)} weighed more"


def _had(because: BecauseInfo, called: Called) -> str:
    """Return the act that another one lost against: "alice had removed bob"."""
    by = name_of(because.by, called)
    match because.kind:
        case ActKind.JOINED:
            return f"{by} had joined"
        case ActKind.ROTATED:
            return f"{by} had changed the secret"
        case _:
            did = ActInfo(because.kind, because.people, because.role)
            return f"{by} had {_did(because.kind, did, called)}"
