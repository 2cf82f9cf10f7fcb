"""Commands that invite: a code of a channel, a message with it to one person, and accepting it."""

import os
from typing import Final

from msgspec.structs import replace

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.message_names import ID_PREFIX, line_among, line_named
from chat_tui.client.peer_names import peer_named
from chat_tui.commands.channels import join
from chat_tui.commands.command import At, Command, Result
from chat_tui.terminal.character_sets import glyphs_of, usual_glyphs
from chat_tui.text.qr import ascii_blocks, half_blocks
from chat_tui.wording import rights, sentences
from chat_tui.wording.glyphs import ASCII
from chat_tui.wording.invitations import invitation_to, offered
from chat_tui.wording.membership import ROLES
from sync.errors import LocalError
from sync.machine import ChannelId, PeerId
from sync.view.governance_infos import GovernanceInfo, Right, Role
from sync.view.view import ChannelInfo, Line, PeerInfo, PeerState, Snapshot, Trust

END: Final = "end"
QR: Final = "qr"

INVITED: Final = {"reader": Role.READER, "member": Role.MEMBER}
"""Roles that a code can give."""

NOT_GIVEN: Final = {ROLES[Role.ADMIN], ROLES[Role.OWNER]}

LOOKED_THROUGH: Final = 50
"""Last messages of a channel among which an invitation is looked for."""

NOT_INVITED: Final = (
    "Nobody has invited you among the last messages here and in channels of two. /accept and the "
    "beginning of a message's id names one; /join takes a code."
)
NO_OFFER: Final = "That message has no invite code and names no open channel."


async def invite(chat: Chat, rest: str, at: At) -> Result:
    """Show the code of the open channel, with `qr` to scan, too; or send it to who is named."""
    info = channel_info(chat, at.channel)
    title = sentences.channel_title(info)
    words = rest.casefold().split()
    if not {*words} <= {*INVITED, *NOT_GIVEN, QR, END}:
        return await invite_person(chat, info, rest)
    if info.governance is not None:
        return await _invite_governed(chat, info, info.governance, words)
    if info.open:
        return Result(
            text=f"{title} is open to everybody on this network: /join "
            f"{sentences.typed_title(info)} is enough."
        )
    code = chat.memberships.invite(info.channel)
    text = f"{invitation(title)}\n\n/join {code}"
    if QR in words:
        text = "\n".join([text, "", *_to_scan(chat, code)])
        return Result(text=text)
    return Result(text=text, action=f"invite({info.channel!r})")


async def _invite_governed(
    chat: Chat, info: ChannelInfo, governance: GovernanceInfo, words: list[str]
) -> Result:
    """Make a code by which somebody becomes member or reader, or end all there are.

    Raises:
        LocalError: we may not, or the words mean nothing here.
    """
    snapshot, title = chat.snapshot(), sentences.channel_title(info)
    if words == [END]:
        rights.check(snapshot, info, governance, Right.ROTATE)
        await chat.governing.end_invites(info.channel)
        return Result(
            text=f"All codes of {title} are ended: nobody comes in by them any more. /invite "
            "makes a new one."
        )
    roles = [INVITED[word] for word in words if word in INVITED]
    if len(roles) > 1 or any(word not in {*INVITED, QR} for word in words):
        raise LocalError(
            f"Write /invite, /invite reader, or /invite {END}, which ends all codes; who is to be "
            "an admin gets the role once they are in, with /role."
        )
    rights.check(snapshot, info, governance, Right.INVITE)
    role = roles[0] if roles else Role.MEMBER
    code = await chat.governing.invite(info.channel, role)
    text = f"{invitation(title, role)}\n\n/join {code}"
    if QR in words:
        return Result(text="\n".join([text, "", *_to_scan(chat, code)]))
    return Result(text=text, action=f"show_code({info.channel!r}, {code!r}, {int(role)})")


def _to_scan(chat: Chat, code: str) -> list[str]:
    """Return a code to scan; half blocks, where the terminal has them, fit into 80 columns."""
    narrow = glyphs_of(chat.settings, usual_glyphs(os.environ)) is not ASCII
    return half_blocks(code) if narrow else ascii_blocks(code)


def invitation(title: str, role: Role | None = None) -> str:
    """Return what a code is good for; `role` is the one it gives where people have roles."""
    if role is None:
        return f"Anyone with this code can read and write in {title}; share it with care:"
    can = "read" if role is Role.READER else "read and write"
    return (
        f"Whoever has this code can come into {title} and {can}, until the next removal, /rotate "
        f"or /invite {END}; share it with care:"
    )


async def invite_person(chat: Chat, info: ChannelInfo, rest: str) -> Result:
    """Send somebody the code of a channel in the channel of two with them.

    Raises:
        LocalError: nobody of that name is known, they are in already, or we may not.
    """
    peer, word = peer_named(chat, rest, "/invite and a name")
    snapshot, title = chat.snapshot(), sentences.channel_title(info)
    name = sentences.name_of(snapshot, peer.peer)
    role = _role(word, name)
    _check(snapshot, info, peer, name)
    way_in = await _way_in(chat, snapshot, info, role)
    direct = await chat.people.open_direct(peer.peer)
    await chat.send_text(direct, invitation_to(sentences.typed_title(info), way_in))
    found = sentences.find(chat.snapshot(), direct)
    place = f"@{name}" if found is None else sentences.channel_title(found)
    if peer.state is PeerState.UP:
        text = f"{name} is invited to {title}: the code stands in {place}."
    else:
        text = f"{name} is not here: the invitation to {title} waits in {place} until they come."
    if info.governance is not None:
        text += " It holds until the next removal, /rotate or /invite end."
        if _was_removed(info.governance, peer.peer):
            text += f" They were removed before, so it only asks: /add {name} lets them in."
    return Result(text=text)


def _was_removed(governance: GovernanceInfo, peer: PeerId) -> bool:
    """Return whether a code lets somebody only ask to be let in again."""
    return any(one.peer == peer and not one.left for one in governance.gone)


def _role(word: str, name: str) -> Role | None:
    """Return the role that stands behind a name.

    Raises:
        LocalError: something else stands there.
    """
    if word and word.casefold() not in INVITED:
        raise LocalError(
            f"Write /invite {name}, or /invite {name} reader; who is to be an admin gets the role "
            "once they are in, with /role."
        )
    return INVITED[word.casefold()] if word else None


def _check(snapshot: Snapshot, info: ChannelInfo, peer: PeerInfo, name: str) -> None:
    """Refuse to invite who is in, or whose key has changed.

    Raises:
        LocalError: that is so.
    """
    title = sentences.channel_title(info)
    member = None if info.governance is None else info.governance.member(peer.peer)
    if member is not None:
        raise LocalError(f"{name} is in {title} already, as {ROLES[member.role]}.")
    if info.governance is None and peer.peer in info.peers and peer.state is PeerState.UP:
        raise LocalError(f"{name} is in {title} already.")
    if peer.trust is Trust.CHANGED:
        raise LocalError(
            f"{name} came with another key than before: /verify {name} or /trust {name} first."
        )


async def _way_in(chat: Chat, snapshot: Snapshot, info: ChannelInfo, role: Role | None) -> str:
    """Return what somebody enters to come into a channel.

    Raises:
        LocalError: it is one of two, we may not invite, or it has no roles to give.
    """
    if info.governance is not None:
        rights.check(snapshot, info, info.governance, Right.INVITE)
        return await chat.governing.invite(info.channel, role or Role.MEMBER)
    if role is not None:
        raise LocalError(f"{rights.not_governed(info)} Invite without a role.")
    return sentences.typed_title(info) if info.open else chat.memberships.invite(info.channel)


async def accept(chat: Chat, rest: str, at: At) -> Result:
    """Join the channel that a message invites to: the one meant, else the newest of others."""
    line = await _meant(chat, rest, at)
    offer = offered(line.text)
    if offer is None:
        raise LocalError(NO_OFFER)
    return replace(await join(chat, offer.way_in, at), took_up=line)


async def _meant(chat: Chat, rest: str, at: At) -> Line:
    """Return the message with the invitation.

    Raises:
        LocalError: there is none, or nobody and no message is named so.
    """
    snapshot = chat.snapshot()
    if not rest and at.selected is not None and at.channel is not None:
        return await line_named(chat, at.channel, at.selected)
    twos = [info.channel for info in snapshot.channels if info.direct is not None]
    places = list(dict.fromkeys([*([] if at.channel is None else [at.channel]), *twos]))
    if not rest:
        return await _newest(chat, places)
    try:
        peer, _ = peer_named(chat, rest, "/accept and a name")
    except LocalError:
        if ID_PREFIX.fullmatch(rest.casefold()):
            return await line_among(chat, places, rest.casefold(), "here or in a channel of two")
        raise
    direct = [info.channel for info in snapshot.channels if info.direct == peer.peer]
    return await _newest(chat, direct)


async def _newest(chat: Chat, places: list[ChannelId]) -> Line:
    found: list[Line] = []
    for channel in places:
        lines = await chat.history.page(channel, before=None, limit=LOOKED_THROUGH)
        found += [one for one in lines if not one.own and offered(one.text) is not None]
    if not found:
        raise LocalError(NOT_INVITED)
    return max(found, key=lambda one: one.created_ns)


ROWS: Final = (
    Command(
        ("/invite",), "[name|qr|end]", "a code, with reader: to read alone; end: ends all", invite
    ),
    Command(("/accept",), "[name or id]", "join what a message invites you to", accept),
)
