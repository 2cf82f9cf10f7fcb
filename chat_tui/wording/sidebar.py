"""The list at the side: channels, members of the open one, people. Pure functions of a snapshot."""

from collections.abc import Callable
from typing import Final

from textual.content import Content

from chat_tui.keys.table import USUAL, Chosen, with_keys
from chat_tui.text.safe_text import clean_nick
from chat_tui.text.times import milliseconds
from chat_tui.wording import membership, presence, sentences
from chat_tui.wording.clicks import channel_click, clickable, key_click, peer_click
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.panels import (
    DIM,
    GOOD,
    TITLE,
    TRUST_STYLES,
    counted,
    here_first,
    nobody_mentioned,
    sign,
)
from sync.machine import ChannelId
from sync.view.governance_infos import GovernanceInfo, Role
from sync.view.view import PeerInfo, PeerState, Snapshot

SIDEBAR_CELLS: Final = 23
"""Wide enough for most names with their state; the same in `app.tcss`."""

SIDEBAR_WIDTH: Final = SIDEBAR_CELLS - 2
"""Of its text, without its frame."""

NAMESAKE_CELLS: Final = SIDEBAR_WIDTH - 5
"""Of a name with its key: beside a sign, a space, and what is thought of the key."""

MEMBERS_SHOWN: Final = 8
"""Members in the list at the side: /members shows all."""

GONE_SHOWN: Final = 8
"""People in the list at the side who are not here: the others are in that of F3."""


def sidebar(
    snapshot: Snapshot,
    shown: ChannelId | None,
    unread: Callable[[ChannelId], int],
    glyphs: Glyphs,
    mentioned: Callable[[ChannelId], int] = nobody_mentioned,
    chosen: Chosen = USUAL,
) -> Content:
    """Return channels and peers, one line each."""
    lines = [Content.styled("CHANNELS", TITLE)]
    for info in snapshot.channels:
        new = unread(info.channel)
        waits = counted(new, mentioned(info.channel))
        right = Content.styled(f" {waits}", "bold $warning") if new else Content("")
        if info.direct is not None:
            other = presence.other_end(snapshot, info)
            right = (
                Content.styled(glyphs.gone, DIM) if other is None else sign(other, glyphs)
            ) + right
        lead = ">" if info.channel == shown else " "
        title = sentences.title_within(info, SIDEBAR_WIDTH - right.cell_length - len(lead) - 2)
        row = _row(Content(f"{lead} {title}"), right, SIDEBAR_WIDTH)
        row = row.stylize("bold $primary") if info.channel == shown else row
        lines.append(channel_click(row, info.channel))
    here_now = sentences.find(snapshot, shown)
    governance = None if here_now is None else here_now.governance
    peers = here_first(snapshot)
    if governance is not None:
        lines += [Content(""), *_members(snapshot, governance, glyphs)]
        peers = [one for one in peers if governance.member(one.peer) is None]
    is_listed = governance is not None and governance.member(snapshot.me) is not None
    if peers or not is_listed:
        title = "PEERS" if governance is None else "OTHERS"
        lines += [Content(""), Content.styled(title, TITLE)]
    if not is_listed:
        me = Content.assemble((glyphs.here, GOOD), f" {clean_nick(snapshot.nick)}")
        lines.append(_row(me, Content.styled("you", DIM), SIDEBAR_WIDTH))
    here = sum(peer.state is PeerState.UP for peer in peers)
    for peer in peers[: here + GONE_SHOWN]:
        style = "" if peer.state is PeerState.UP else DIM
        called = sentences.called_within(snapshot, peer, NAMESAKE_CELLS)
        name = sign(peer, glyphs) + Content.styled(f" {called}", style)
        thought = Content.styled(f" {glyphs.trust[peer.trust]}", TRUST_STYLES[peer.trust])
        is_shared = called != clean_nick(peer.nick)
        # The key is what tells them apart, and there is no room for both.
        state = thought if is_shared else Content.styled(_presence(snapshot, peer), DIM) + thought
        lines.append(peer_click(_row(name, state, SIDEBAR_WIDTH), peer.peer))
    if (more := len(peers) - here - GONE_SHOWN) > 0:
        key = with_keys("{peers}", chosen)
        lines.append(key_click(Content.styled(f"  and {more:,} more, {key}", DIM), "peers"))
    return Content("\n").join(lines)


def _members(snapshot: Snapshot, governance: GovernanceInfo, glyphs: Glyphs) -> list[Content]:
    """Return who is in the open channel, a line each: who has a role of their own, then others."""
    lines = [Content.styled(f"MEMBERS {len(governance.members):,}", TITLE)]
    peers = {one.peer: one for one in snapshot.peers}
    for one in governance.members[:MEMBERS_SHOWN]:
        peer = peers.get(one.peer)
        here = Content.styled(glyphs.here, GOOD) if one.peer == snapshot.me else None
        here = here or (Content.styled(glyphs.gone, DIM) if peer is None else sign(peer, glyphs))
        role = "" if one.role is Role.MEMBER else membership.ROLES[one.role]
        is_gone = peer is not None and peer.state is PeerState.DOWN
        where = _presence(snapshot, peer) if peer is not None and (is_gone or peer.away) else ""
        right = Content.styled(role or where, DIM)
        if peer is not None:
            right += Content.styled(f" {glyphs.trust[peer.trust]}", TRUST_STYLES[peer.trust])
        room = SIDEBAR_WIDTH - right.cell_length - here.cell_length - 2
        called = membership.called(snapshot, one.peer, one.nick)
        name = here + f" {sentences.cut(called, one.peer, room)}"
        row = _row(name, right, SIDEBAR_WIDTH)
        lines.append(row if one.peer == snapshot.me else peer_click(row, one.peer))
    if (more := len(governance.members) - MEMBERS_SHOWN) > 0:
        rest = Content.styled(f"  and {more:,} more, /members", DIM)
        lines.append(clickable(rest, "app.submit('/members')"))
    return lines


def _presence(snapshot: Snapshot, peer: PeerInfo) -> str:
    if peer.state is PeerState.DOWN:
        return presence.gone_shortly(snapshot, peer)
    if peer.away:
        return "away"
    if peer.syncing:
        return "comparing"
    return "here" if peer.rtt_ns is None else milliseconds(peer.rtt_ns)


def _row(left: Content, right: Content, width: int) -> Content:
    """Return a line with a part at either edge; the left one gives way."""
    room = width - right.cell_length
    left = left.truncate(room - 1, ellipsis=True)
    return left.pad_right(room - left.cell_length) + right
