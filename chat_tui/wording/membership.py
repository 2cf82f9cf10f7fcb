"""Members of a governed channel, in words: functions of a snapshot, for every face of the chat.

Nicks and reasons are other people's bytes, so each is cleaned here.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import count, day_and_time
from chat_tui.wording import presence, sentences
from sync.machine import PeerId
from sync.view.governance_infos import (
    Access,
    AskingInfo,
    DepartureInfo,
    Entered,
    GovernanceInfo,
    MemberInfo,
    Reason,
    Role,
)
from sync.view.view import ChannelInfo, Snapshot

ROLES: Final = {
    Role.NONE: "not in",
    Role.READER: "reader",
    Role.MEMBER: "member",
    Role.ADMIN: "admin",
    Role.OWNER: "owner",
}

GONE_SHOWN: Final = 10
"""People who went, under those who are in; the transcript has all of it."""

ASKS: Final = {
    Reason.ASKS: "was removed, and asks to be let in again",
    Reason.CROWDED: "came when as many were in as can be",
    Reason.CODE_ENDED: "came by a code that was ended at the same time",
    Reason.INVITE_VOID: "came by a code of somebody removed at the same time",
    Reason.RIGHT_LOST: "was let in by somebody whose right came to nothing",
    Reason.SIGNER_TAKEN_OUT: "was let in by somebody removed at the same time",
    Reason.OVERRULED: "was let in and removed at the same time",
}
"""Why somebody who came is not in."""


class Row(NamedTuple):
    """One person of the list: `standing` is a role, or what they are instead."""

    peer: PeerId
    name: str
    standing: str
    presence: str
    history: str
    """By whom and since when, or what happened."""
    shortly: str = ""
    """The presence for a column."""


def called(snapshot: Snapshot, peer: PeerId, nick: str) -> str:
    """Return what somebody is called who may never have been met."""
    is_known = peer == snapshot.me or presence.met(snapshot, peer) is not None
    if is_known or not nick or sentences.profile_of(snapshot, peer) is not None:
        return sentences.name_of(snapshot, peer)
    return sentences.called(snapshot, peer, nick)


def who(snapshot: Snapshot, peer: PeerId, nick: str) -> str:
    """Return the same in a sentence to the person at the screen, who is `you`."""
    return "you" if peer == snapshot.me else called(snapshot, peer, nick)


def names(snapshot: Snapshot, governance: GovernanceInfo) -> list[str]:
    """Return what the others are called who are in or ask to be."""
    known = [(one.peer, one.nick) for one in governance.members]
    known += [(one.peer, one.nick) for one in governance.asking]
    return [called(snapshot, peer, nick) for peer, nick in known if peer != snapshot.me]


def rows(snapshot: Snapshot, governance: GovernanceInfo) -> list[Row]:
    """Return everybody who is in, who asks to be, and who went last."""
    return [
        *(_member(snapshot, one) for one in governance.members),
        *(_asking(snapshot, one) for one in governance.asking),
        *(_gone(snapshot, one) for one in governance.gone[:GONE_SHOWN]),
    ]


def people(governance: GovernanceInfo) -> list[PeerId]:
    """Return whom `rows` are about."""
    return [
        *(one.peer for one in governance.members),
        *(one.peer for one in governance.asking),
        *(one.peer for one in governance.gone[:GONE_SHOWN]),
    ]


def members_text(snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo) -> str:
    """Return who is in as lines, and what else there is to know of that."""
    people = rows(snapshot, governance)
    width = max((len(one.standing) for one in people), default=0)
    lines = [head(info, governance)]
    for one in people:
        words = [one.name, *([one.presence] if one.presence else []), one.history]
        lines.append(f"{one.standing:<{width}}  {' · '.join(words)}")
    return "\n".join([*lines, *notes(snapshot, info, governance)])


def head(info: ChannelInfo, governance: GovernanceInfo) -> str:
    """Return how many are in, and who may do what."""
    if not governance.read:
        return f"{sentences.channel_title(info)}: the disk is being read."
    if not governance.founded:
        return f"{sentences.channel_title(info)}: not known yet who is in."
    people = len(governance.members)
    verb = "is" if people == 1 else "are"
    in_it = f"{sentences.channel_title(info)}: {count(people, 'person', 'people')} {verb} in."
    return f"{in_it} {policy_words(governance)}"


def policy_words(governance: GovernanceInfo) -> str:
    """Return who may write and invite."""
    write, invite = governance.policy.write, governance.policy.invite
    if write is invite:
        return f"{_those(write)} write and invite."
    return f"{_those(write)} write; {_those(invite).lower()} invite."


def _those(access: Access) -> str:
    return "Members" if access is Access.MEMBERS else "Admins alone"


def notes(snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo) -> list[str]:
    """Return what a person should know and do about who is in, as sentences."""
    found: list[str] = []
    if governance.read and not governance.founded:
        found.append(
            "What founded this channel is not here yet; it comes from whoever is there and in it."
        )
    if warning := depends_on_one(snapshot, governance):
        found.append(warning)
    if governance.owners_gone and governance.members:
        found.append(
            "No owner is in any more: admins go on, but nobody can make or lower an admin. "
            "/create founds another channel."
        )
    addable = [one for one in governance.asking if one.reason is not Reason.CROWDED]
    if addable and governance.role >= Role.ADMIN:
        found.append(f"/add {called(snapshot, addable[0].peer, addable[0].nick)} lets in who asks.")
    if (more := governance.asking_count - len(governance.asking)) > 0:
        found.append(f"{count(more, 'other asks', 'others ask')} to be let in, too.")
    if (more := governance.gone_count - GONE_SHOWN) > 0:
        found.append(f"{count(more, 'other')} went before; the conversation tells of it.")
    if governance.predecessor is not None:
        before = sentences.find(snapshot, governance.predecessor)
        named = "another channel" if before is None else sentences.channel_title(before)
        found.append(f"{sentences.channel_title(info)} goes on from {named}.")
    return found


def depends_on_one(snapshot: Snapshot, governance: GovernanceInfo) -> str:
    """Return a warning if nobody could remove anybody after one profile is lost; else nothing."""
    if governance.only_owner is None:
        return ""
    lost = f"nobody can {lost_with_admins(governance.policy.invite)} anybody"
    if governance.only_owner == snapshot.me:
        return (
            "You are the only owner, and there is no admin: if your profile is lost, "
            f"{lost}. /role NAME admin makes one."
        )
    one = governance.member(governance.only_owner)
    name = called(snapshot, governance.only_owner, "" if one is None else one.nick)
    return (
        f"{name} is the only owner, and there is no admin: if that profile is lost, "
        f"{lost}. Ask {name} to make an admin."
    )


def lost_with_admins(invite: Access) -> str:
    """Return what nobody can do without owner and admin: members let in where they may invite."""
    return "remove or let in" if invite is Access.ADMINS else "remove"


def departed(snapshot: Snapshot, departure: DepartureInfo) -> str:
    """Return how somebody went, as `removed by alice: spam`."""
    if departure.crowded:
        return "came when as many were in as can be"
    if departure.left:
        return "left"
    by = called(snapshot, *departure.by)
    return f"removed by {by}{reason(departure)}"


def reason(departure: DepartureInfo) -> str:
    """Return why somebody was removed, with a colon before it; nothing if nobody said."""
    words = " ".join(clean_text(departure.reason).split())
    return f": {words}" if words else ""


def _member(snapshot: Snapshot, one: MemberInfo) -> Row:
    if one.entered is Entered.FOUNDED:
        how = "founded it,"
    elif one.by is None:
        how = f"{one.entered.value},"
    elif one.entered is Entered.JOINED:
        how = f"by a code of {called(snapshot, *one.by)},"
    else:
        how = f"added by {called(snapshot, *one.by)},"
    by = "" if one.role_by is None else f", {ROLES[one.role]} by {called(snapshot, *one.role_by)}"
    fork = ", signed two acts as one (a copied profile?)" if one.forked else ""
    name = called(snapshot, one.peer, one.nick)
    status = sentences.status_of(snapshot, one.peer)
    said = f'; "{status}"' if status else ""
    history = f"{how} {day_and_time(one.since_ns)}{by}{fork}{said}"
    here, shortly = _where(snapshot, one.peer)
    return Row(one.peer, name, ROLES[one.role], here, history, shortly)


def _asking(snapshot: Snapshot, one: AskingInfo) -> Row:
    name = called(snapshot, one.peer, one.nick)
    here, shortly = _where(snapshot, one.peer)
    return Row(one.peer, name, "asks", here, ASKS[one.reason], shortly)


def _where(snapshot: Snapshot, peer: PeerId) -> tuple[str, str]:
    return presence.of_member(snapshot, peer), presence.of_member(snapshot, peer, short=True)


def _gone(snapshot: Snapshot, one: DepartureInfo) -> Row:
    what = f"{departed(snapshot, one)}, {day_and_time(one.at_ns)}"
    return Row(one.peer, called(snapshot, one.peer, one.nick), "gone", "", what)


def in_words(names: Sequence[str]) -> str:
    """Return names as `alice`, `alice or bob`, `alice, bob or carol`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
