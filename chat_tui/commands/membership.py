"""Commands about who is in a governed channel: list, let in, remove, give roles, set the policy."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.peer_names import Named, one_named
from chat_tui.commands.command import At, Command, Result
from chat_tui.wording import membership, presence, rights, sentences
from chat_tui.wording.membership import ROLES
from sync.errors import LocalError
from sync.view.governance_infos import (
    Access,
    GovernanceInfo,
    MemberInfo,
    Person,
    Policy,
    Right,
    Role,
)
from sync.view.view import ChannelInfo, Snapshot

GIVEN: Final = {ROLES[role]: role for role in (Role.READER, Role.MEMBER, Role.ADMIN)}
"""Roles by the words that name them; an owner is one by what founded the channel alone."""

ACCESSES: Final = {"members": Access.MEMBERS, "admins": Access.ADMINS}

REASON_MAX: Final = 200
"""Characters of a reason that an operation holds: one line of a wide screen."""

ROLE_USAGE: Final = "/role, a name, and reader, member or admin"
POLICY_USAGE: Final = "/policy, one of write, invite, topic or pins, and members or admins"

NEVER_MET: Final = "never met"

CAN: Final = {
    Role.READER: "reads and reacts here",
    Role.MEMBER: "reads and writes here",
    Role.ADMIN: "can also let in, remove, and say who may write and invite",
}


async def members(chat: Chat, _rest: str, at: At) -> Result:
    """Say who is in the open channel."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    if info.governance is None:
        here = [sentences.name_of(snapshot, one.peer) for one in sentences.peers_of(snapshot, info)]
        there = f"Here now: {', '.join(here)}." if here else "Nobody else is here now."
        return Result(text=f"{rights.not_governed(info)} {there}")
    text = membership.members_text(snapshot, info, info.governance)
    return Result(text=text, action=f"members({info.channel!r})")


async def add(chat: Chat, rest: str, at: At) -> Result:
    """Let somebody in, who needs no code then."""
    snapshot, info, governance = _governed(chat, at)
    rights.check(snapshot, info, governance, Right.MEMBERS)
    person, word = one_named(
        _outside(snapshot, governance),
        rest,
        "/add and a name",
        _not_outside(snapshot, info, governance, rest),
        lambda one: presence.of_member(snapshot, one.peer) or NEVER_MET,
    )
    role = _role(word, ROLES[Role.MEMBER])
    if role is Role.ADMIN:
        rights.check(snapshot, info, governance, Right.ADMINS)
    await chat.governing.add(info.channel, person.peer, role)
    name = membership.called(snapshot, person.peer, person.nick)
    title = sentences.channel_title(info)
    return Result(text=f"{name} is in {title} as {ROLES[role]}, without a code.")


async def kick(chat: Chat, rest: str, at: At) -> Result:
    """Remove somebody, with a reason that all can read."""
    snapshot, info, governance = _governed(chat, at)
    rights.check(snapshot, info, governance, Right.MEMBERS)
    member, why = _member(snapshot, info, governance, rest, "/kick, a name, and why if you like")
    if member.peer == snapshot.me:
        raise LocalError("You are the one who is meant: /leave takes you out.")
    rights.check_target(snapshot, info, governance, member)
    if len(why) > REASON_MAX:
        raise LocalError(f"The reason has {len(why):,} characters; {REASON_MAX} is the most.")
    await chat.governing.remove(info.channel, [member.peer], why)
    name = membership.called(snapshot, member.peer, member.nick)
    return Result(
        text=f"{name} is removed and gets nothing new of {sentences.channel_title(info)}; what "
        "they have stays with them. All codes given out before are ended."
    )


async def role(chat: Chat, rest: str, at: At) -> Result:
    """Give somebody who is in another role."""
    snapshot, info, governance = _governed(chat, at)
    rights.check(snapshot, info, governance, Right.MEMBERS)
    member, word = _member(snapshot, info, governance, rest, ROLE_USAGE)
    given = _role(word, "")
    if member.peer == snapshot.me:
        raise LocalError("Nobody changes their own role: another admin or an owner can.")
    rights.check_target(snapshot, info, governance, member)
    if given is Role.ADMIN:
        rights.check(snapshot, info, governance, Right.ADMINS)
    name = membership.called(snapshot, member.peer, member.nick)
    if given is member.role:
        raise LocalError(f"{name} is {_a(given)} already.")
    await chat.governing.set_role(info.channel, member.peer, given)
    return Result(text=f"{name} is {_a(given)} now, and {CAN[given]}.")


async def rotate(chat: Chat, _rest: str, at: At) -> Result:
    """Change the channel's secret, and so end all codes."""
    snapshot, info, governance = _governed(chat, at)
    rights.check(snapshot, info, governance, Right.ROTATE)
    await chat.governing.rotate(info.channel)
    return Result(
        text=f"{sentences.channel_title(info)} has a new secret, which its members get by "
        "themselves. All codes given out before are ended; /invite makes a new one."
    )


async def policy(chat: Chat, rest: str, at: At) -> Result:
    """Say who may write, invite, set the topic and pin; without words, say who may now."""
    snapshot, info, governance = _governed(chat, at)
    if not rest:
        return Result(text=_policy_now(governance))
    field, _, who = rest.casefold().partition(" ")
    if field not in Policy._fields or who.strip() not in ACCESSES:
        raise LocalError(f"Write {POLICY_USAGE}.")
    rights.check(snapshot, info, governance, Right.POLICY)
    access = ACCESSES[who.strip()]
    if getattr(governance.policy, field) is access:
        raise LocalError(f"That is so already. {_policy_now(governance)}")
    await chat.governing.set_policy(info.channel, **{field: access})
    return Result(text=_policy_now(governance, **{field: access}))


async def govern(chat: Chat, _rest: str, at: At) -> Result:
    """Found a channel that goes on from this one, where people can be let in and removed."""
    info = channel_info(chat, at.channel)
    title = sentences.channel_title(info)
    if info.governance is not None:
        raise LocalError(f"{title} is such a channel already; /members says who is in.")
    if info.open or info.direct is not None:
        raise LocalError(
            f"{rights.not_governed(info)} Private channels of the older kind can be gone on from."
        )
    founded = await chat.governing.govern(info.channel)
    new = sentences.channel_title(channel_info(chat, founded))
    return Result(
        text=f"{new} goes on from {title}, and you are its owner. Its code stands in {title}: "
        "whoever reads it there can come, with a program that is new enough.",
        channel=founded,
    )


def _governed(chat: Chat, at: At) -> tuple[Snapshot, ChannelInfo, GovernanceInfo]:
    """Return what is known of the open channel.

    Raises:
        LocalError: none is open, or nothing says who is in it.
    """
    info = channel_info(chat, at.channel)
    return chat.snapshot(), info, rights.governed(info)


def _member(
    snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo, rest: str, usage: str
) -> tuple[MemberInfo, str]:
    """Return who of those in is named, and what stands behind.

    Raises:
        LocalError: nobody is, or several are.
    """
    known = {one.peer: one.nick for one in snapshot.peers}
    people = [
        one if one.peer not in known else _called(one, known[one.peer])
        for one in governance.members
    ]
    title = sentences.channel_title(info)
    return one_named(
        people,
        rest,
        usage,
        lambda word: f"Nobody called {word} is in {title}. /members says who is.",
        lambda one: f"{ROLES[one.role]}, {presence.of_member(snapshot, one.peer) or NEVER_MET}",
    )


def _called(member: MemberInfo, nick: str) -> MemberInfo:
    """Return somebody by the name they go by now, or by the one they came in with."""
    return replace(member, nick=nick or member.nick)


def _outside(snapshot: Snapshot, governance: GovernanceInfo) -> list[Person]:
    """Return who is known and not in, who asks first."""
    people: dict[str, Person] = {}
    known: list[Named] = [*governance.asking, *snapshot.peers, *governance.gone]
    for one in known:
        if governance.member(one.peer) is None:
            people.setdefault(one.peer, Person(one.peer, one.nick))
    return [*people.values()]


def _not_outside(
    snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo, rest: str
) -> Callable[[str], str]:
    """Return what to say if nobody who is not in is named: whether somebody is who is."""

    def said(word: str) -> str:
        try:
            member, _ = _member(snapshot, info, governance, rest, "")
        except LocalError:
            return (
                f"Nobody called {word} is known here. /who lists everyone; a code, which /invite "
                "makes, lets in somebody you have not met."
            )
        name = membership.called(snapshot, member.peer, member.nick)
        return f"{name} is in already, as {ROLES[member.role]}."

    return said


def _role(word: str, usual: str) -> Role:
    """Return the role that a word names.

    Raises:
        LocalError: it names none that can be given.
    """
    wanted = (word or usual).casefold()
    if wanted == ROLES[Role.OWNER]:
        raise LocalError(
            "Owners are those who founded the channel, for ever; the highest role to give is admin."
        )
    if wanted not in GIVEN:
        said = f"{word} is no role" if word else "Something is missing"
        raise LocalError(f"{said}: the roles are {', '.join(GIVEN)}. Write {ROLE_USAGE}.")
    return GIVEN[wanted]


def _a(role: Role) -> str:
    """Return a role as what somebody is."""
    return f"an {ROLES[role]}" if role is Role.ADMIN else f"a {ROLES[role]}"


def _policy_now(governance: GovernanceInfo, **changed: Access) -> str:
    """Return who may do what, or will once `changed` holds."""
    now = governance.policy._replace(**changed)
    told = [
        f"{what}: {rights.those_who(access)}"
        for what, access in zip(("Write", "invite", "set the topic", "pin"), now, strict=True)
    ]
    return f"{', '.join(told)}. Readers read and react."


ROWS: Final = (
    Command(("/members",), "", "who is in, with which role, since when", members),
    Command(("/add",), "name [role]", "let somebody in, without a code", add),
    Command(("/kick",), "name [reason]", "remove somebody; ends all codes", kick),
    Command(("/role",), "name role", "make somebody reader, member or admin", role),
    Command(("/policy",), "[what] [who]", "who may write, invite, ...: members, admins", policy),
    Command(("/rotate",), "", "change the secret; ends all codes", rotate),
    Command(("/govern",), "", "go on in a channel where people have roles", govern),
)
