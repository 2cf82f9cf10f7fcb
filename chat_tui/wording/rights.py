"""Sentences about what one may not do in a channel: why, who may, and what to do instead."""

from collections.abc import Callable
from typing import Final, TypeAlias

from chat_tui.wording import membership, sentences
from chat_tui.wording.membership import ROLES
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.view.governance_infos import Access, GovernanceInfo, MemberInfo, Right, Role
from sync.view.view import ChannelInfo, PeerState, Snapshot

ASKED_SHOWN: Final = 3
"""People named whom one can ask: more would not fit the line."""

NEEDED: Final = {
    Right.WRITE: "write here",
    Right.REACT: "react here",
    Right.HIDE: "hide what somebody else wrote",
    Right.INVITE: "invite",
    Right.TOPIC: "set the topic",
    Right.PIN: "pin",
    Right.MEMBERS: "let in, remove, or give a role",
    Right.ADMINS: "make, lower or remove an admin",
    Right.POLICY: "say who may do what",
    Right.ROTATE: "change the secret and end all codes",
    Right.LEAVE: "leave",
}
"""Rights, as what an admin or an owner can do."""


class NotAllowedError(LocalError):
    """Somebody may not do what they asked for, by their role here and the policy, as it is now."""


Standing: TypeAlias = tuple[Role, tuple[Right, ...], str, bool]
"""Role, rights, the op that ended a membership, and whether one asks to be let in again."""


def standing(snapshot: Snapshot, info: ChannelInfo | None) -> Standing | None:
    """Return all of a person's own that decides what they may do in a channel; None if nothing."""
    governance = None if info is None else info.governance
    if governance is None or not governance.read:
        return None
    asks = any(one.peer == snapshot.me for one in governance.asking)
    ended = "" if governance.departure is None else governance.departure.op_id
    return governance.role, governance.rights, ended, asks


def as_long_as_now(
    snapshot: Snapshot, channel: ChannelId | None
) -> Callable[[Snapshot], str | None]:
    """Return what tells whether a refusal still holds: empty until one's standing changes."""
    before = standing(snapshot, sentences.find(snapshot, channel))

    def then(now: Snapshot) -> str | None:
        return "" if standing(now, sentences.find(now, channel)) == before else None

    return then


def governed(info: ChannelInfo) -> GovernanceInfo:
    """Return who is in a channel.

    Raises:
        LocalError: nothing says who is in it; the sentence tells what there is instead.
    """
    if info.governance is None:
        raise LocalError(not_governed(info))
    return info.governance


def not_governed(info: ChannelInfo) -> str:
    """Return why nobody can be let in, removed or given a role here, and what to do instead."""
    title = sentences.channel_title(info)
    if info.direct is not None:
        return f"{title} is for two people alone: /block cuts off, /leave leaves."
    if info.open:
        return (
            f"{title} is open to everybody on this network: nobody has a role there, and nobody "
            "can be removed. /block hides somebody from you."
        )
    return (
        f"{title} is for whoever has its code: nobody has a role there, and nobody can be removed. "
        "/govern founds a channel that goes on from it, where that can be done."
    )


def refuse(snapshot: Snapshot, channel: ChannelId, right: Right) -> None:
    """Stop what the person may not do with lines of a channel: write, react, hide.

    Raises:
        NotAllowedError: they may not; says why, and what to do.
    """
    info = sentences.find(snapshot, channel)
    if info is None or info.governance is None or not info.governance.read:
        return
    if info.governance.may(right):
        return
    if right is Right.WRITE:
        raise NotAllowedError(why_not_writing(snapshot, info))
    check(snapshot, info, info.governance, right)


def as_long_as_out(channel: ChannelId) -> Callable[[Snapshot], str | None]:
    """Return what tells whether a sentence about being out of a channel still holds."""

    def then(now: Snapshot) -> str | None:
        info = sentences.find(now, channel)
        governance = None if info is None else info.governance
        return "" if governance is None or governance.role is Role.NONE else None

    return then


def why_not_writing(snapshot: Snapshot, info: ChannelInfo | None) -> str:
    """Return why the person cannot write in a channel, and what to do; empty if they can."""
    governance = None if info is None else info.governance
    if info is None or governance is None or not governance.read:
        return ""
    if governance.may(Right.WRITE):
        return ""
    if out := why_out(snapshot, info, governance):
        return out
    asked = whom_to_ask(snapshot, info, governance, Role.ADMIN)
    if governance.role is Role.READER:
        return f"{as_reader(Right.WRITE)} {asked}"
    return f"Admins alone write in {sentences.channel_title(info)}; you can react. {asked}"


def why_out(snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo) -> str:
    """Return why the person is not in a channel, and the way in; empty if they are in."""
    if governance.role is not Role.NONE or not governance.read:
        return ""
    title = sentences.channel_title(info)
    departure = governance.departure
    if departure is not None and departure.crowded:
        return f"As many are in {title} as can be, so you are not: an admin can make room."
    if any(one.peer == snapshot.me for one in governance.asking):
        what = "You are not in, and ask to be let in"
        if departure is not None and not departure.left:
            by = membership.called(snapshot, *departure.by)
            what = f"{by} removed you{membership.reason(departure)}. You ask to be let in again"
        return f"{what}: an admin does it with /add."
    if departure is None:
        if not governance.founded:
            return f"What founded {title} is not here yet: it comes from whoever is in it and here."
        return f"You are not in {title} yet: somebody who is in it and here lets you in."
    if departure.left:
        return f"You have left {title}: a new code, or an admin's /add, lets you in again."
    by = membership.called(snapshot, *departure.by)
    return (
        f"{by} removed you{membership.reason(departure)}. "
        "What is here stays; only an admin can let you in again."
    )


def check(snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo, right: Right) -> None:
    """Stop what the person may not do.

    Raises:
        NotAllowedError: they may not; says who may.
    """
    if governance.may(right) or not governance.read:
        return
    if out := why_out(snapshot, info, governance):
        raise NotAllowedError(out)
    if right is Right.INVITE and governance.policy.invite is Access.MEMBERS:
        asked = whom_to_ask(snapshot, info, governance, Role.MEMBER)
        raise NotAllowedError(f"{as_reader(right)} {asked}")
    least = Role.OWNER if right is Right.ADMINS else Role.ADMIN
    able = "an owner" if least is Role.OWNER else "an admin or an owner"
    asked = whom_to_ask(snapshot, info, governance, least)
    raise NotAllowedError(f"Only {able} can {NEEDED[right]}. {asked}")


def check_setting(snapshot: Snapshot, info: ChannelInfo, right: Right) -> None:
    """Stop whoever may not set the topic or pin, which everybody may where nobody governs.

    Raises:
        NotAllowedError: they may not; says who may, by the policy.
    """
    governance = info.governance
    if governance is None or not governance.read or governance.may(right):
        return
    if out := why_out(snapshot, info, governance):
        raise NotAllowedError(out)
    asked = whom_to_ask(snapshot, info, governance, Role.ADMIN)
    if governance.role is Role.READER:
        raise NotAllowedError(f"{as_reader(right)} {asked}")
    field = "topic" if right is Right.TOPIC else "pins"
    raise NotAllowedError(
        f"Admins alone {NEEDED[right]} in {sentences.channel_title(info)} (/policy {field}). "
        f"{asked}"
    )


def as_reader(right: Right) -> str:
    """Return what readers are told who may not do what members may."""
    what = "write" if right is Right.WRITE else NEEDED[right]
    return f"You are a reader here: you can read and react, not {what}."


def check_target(
    snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo, target: MemberInfo
) -> None:
    """Stop what the person may not do to somebody who is in.

    Raises:
        LocalError: it is an owner, or an admin and they are no owner; says so.
    """
    name = membership.called(snapshot, target.peer, target.nick)
    if target.role is Role.OWNER:
        title = sentences.channel_title(info)
        raise LocalError(
            f"{name} is an owner of {title}, by what founded it: owners stay until they leave "
            "themselves, and have no other role."
        )
    if target.role is Role.ADMIN:
        check(snapshot, info, governance, Right.ADMINS)


def whom_to_ask(
    snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo, least: Role
) -> str:
    """Return who can do it for the person, as `Ask alice (owner).`; who is here comes first."""
    able = [one for one in governance.members if one.role >= least and one.peer != snapshot.me]
    here = {one.peer for one in snapshot.peers if one.state is PeerState.UP}
    able.sort(key=lambda one: one.peer not in here)
    if not able:
        title = sentences.channel_title(info)
        return f"Nobody who can is in {title} any more: /create founds another channel."
    names = [
        f"{membership.called(snapshot, one.peer, one.nick)} ({ROLES[one.role]})"
        for one in able[:ASKED_SHOWN]
    ]
    return f"Ask {membership.in_words(names)}."


def those_who(access: Access) -> str:
    """Return who may do something by the policy."""
    return "members" if access is Access.MEMBERS else "admins alone"
