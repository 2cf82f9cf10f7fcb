"""The list at the side: channels, members of the open one, people. Pure functions of a snapshot."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol

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
    UNSEEN,
    Unseen,
    here_first,
    sign,
)
from sync.machine import ChannelId
from sync.view.governance_infos import GovernanceInfo, MemberInfo, Role
from sync.view.view import ChannelInfo, PeerInfo, PeerState, Snapshot

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

ANY_HEIGHT: Final = 10_000


class _List(Protocol):
    """A part of the list at the side."""

    @property
    def wanted(self) -> int:
        """Lines that it has where there is room."""

    def lines(self, room: int) -> list[Content]:
        """Return it in so many lines, where these are enough for its heading."""


def sidebar(
    snapshot: Snapshot,
    shown: ChannelId | None,
    unseen: Unseen,
    glyphs: Glyphs,
    chosen: Chosen = USUAL,
    room: int = ANY_HEIGHT,
) -> Content:
    """Return channels and people, one line each, in `room` lines.

    Each part has at least half of the lines that are left, and says how many of its own there is no
    room for.
    """
    parts: list[_List] = [_Channels(snapshot, shown, unseen, glyphs)]
    here_now = sentences.find(snapshot, shown)
    governance = None if here_now is None else here_now.governance
    peers = here_first(snapshot)
    if governance is not None:
        parts.append(_members(snapshot, governance, glyphs))
        peers = [one for one in peers if governance.member(one.peer) is None]
    is_listed = governance is not None and governance.member(snapshot.me) is not None
    if peers or not is_listed:
        heading = [Content(""), Content.styled("PEERS" if governance is None else "OTHERS", TITLE)]
        if not is_listed:
            me = Content.assemble((glyphs.here, GOOD), f" {clean_nick(snapshot.nick)}")
            heading.append(_row(me, Content.styled("you", DIM), SIDEBAR_WIDTH))
        parts.append(_peers(snapshot, peers, heading, glyphs, chosen))
    lines: list[Content] = []
    for number, part in enumerate(parts, start=1):
        left, others = room - len(lines), sum(one.wanted for one in parts[number:])
        lines += part.lines(max(left - others, left // 2))
    return Content("\n").join(lines)


class _Channels(NamedTuple):
    """Our channels; where there is no room for all, those around the open one."""

    snapshot: Snapshot
    shown: ChannelId | None
    unseen: Unseen
    glyphs: Glyphs

    @property
    def wanted(self) -> int:
        return 1 + len(self.snapshot.channels)

    def lines(self, room: int) -> list[Content]:
        ours = self.snapshot.channels
        at = next((number for number, one in enumerate(ours) if one.channel == self.shown), 0)
        first, end = window(len(ours), at, room - 1)
        return [
            Content.styled("CHANNELS", TITLE),
            *self._rest(self.glyphs.above, ours[:first]),
            *[self._channel(info) for info in ours[first:end]],
            *self._rest(self.glyphs.below, ours[end:]),
        ]

    def _channel(self, info: ChannelInfo) -> Content:
        right = self._waiting(info)
        if info.direct is not None:
            other = presence.other_end(self.snapshot, info)
            glyphs = self.glyphs
            gone = Content.styled(glyphs.gone, DIM)
            right = (gone if other is None else sign(other, glyphs)) + right
        is_open = info.channel == self.shown
        lead = ">" if is_open else " "
        title = sentences.title_within(info, SIDEBAR_WIDTH - right.cell_length - len(lead) - 2)
        row = _row(Content(f"{lead} {title}"), right, SIDEBAR_WIDTH)
        return channel_click(row.stylize("bold $primary") if is_open else row, info.channel)

    def _rest(self, sign: str, infos: Sequence[ChannelInfo]) -> list[Content]:
        """Return how many channels lie above or below, and how much of them nobody has seen."""
        if not infos:
            return []
        left = Content.styled(f"{sign} {len(infos):,} more", DIM)
        return [key_click(_row(left, self._waiting(*infos), SIDEBAR_WIDTH), "switch")]

    def _waiting(self, *infos: ChannelInfo) -> Content:
        waits = self.unseen.counted(*(info.channel for info in infos))
        return Content.styled(f" {waits}", UNSEEN) if waits else Content("")


def window(count: int, at: int, room: int) -> tuple[int, int]:
    """Return which of `count` lines have room, `at` among them: the first one, and the end.

    A line is left for those above them if there are any, and one for those below.
    """
    if count <= room:
        return 0, count
    inner = max(1, room - 2)
    first = at - inner // 2
    if first <= 1:
        return 0, inner + 1
    if first + inner >= count - 1:
        return count - inner - 1, count
    return first, first + inner


class _People(NamedTuple):
    """People under a heading; each has a line made once there is room for it."""

    heading: Sequence[Content]
    rows: Sequence[Callable[[], Content]]
    most: int
    """Of them, that are shown at once in however many lines."""
    rest: Callable[[str], Content]
    """Makes a line of how many others there are."""

    @property
    def wanted(self) -> int:
        return len(self.heading) + min(len(self.rows), self.most + 1)

    def lines(self, room: int) -> list[Content]:
        most = self.most if self.wanted <= room else max(0, room - len(self.heading) - 1)
        lines = [*self.heading, *(row() for row in self.rows[:most])]
        if (more := len(self.rows) - most) > 0:
            lines.append(self.rest(f"  {more:,} more"))
        return lines


def _members(snapshot: Snapshot, governance: GovernanceInfo, glyphs: Glyphs) -> _People:
    """Return who is in the open channel: who has a role of their own, then others."""

    def row_of(one: MemberInfo) -> Content:
        peer = presence.met(snapshot, one.peer)
        here = Content.styled(glyphs.here, GOOD) if one.peer == snapshot.me else None
        here = here or (Content.styled(glyphs.gone, DIM) if peer is None else sign(peer, glyphs))
        role = "" if one.role is Role.MEMBER else membership.ROLES[one.role]
        is_gone = peer is not None and peer.state is PeerState.DOWN
        where = _presence(snapshot, peer) if peer is not None and (is_gone or peer.away) else ""
        mine = "you" if one.peer == snapshot.me else ""
        right = Content.styled(" ".join(part for part in (role or where, mine) if part), DIM)
        if peer is not None:
            right += Content.styled(f" {glyphs.trust[peer.trust]}", TRUST_STYLES[peer.trust])
        room = SIDEBAR_WIDTH - right.cell_length - here.cell_length - 2
        called = membership.called(snapshot, one.peer, one.nick)
        name = here + f" {sentences.cut(called, one.peer, room)}"
        row = _row(name, right, SIDEBAR_WIDTH)
        return row if one.peer == snapshot.me else peer_click(row, one.peer)

    def rest(more: str) -> Content:
        return clickable(Content.styled(f"{more}, /members", DIM), "app.submit('/members')")

    members = governance.members
    heading = [Content(""), Content.styled(f"MEMBERS {len(members):,}", TITLE)]
    return _People(heading, [partial(row_of, one) for one in members], MEMBERS_SHOWN, rest)


def _peers(
    snapshot: Snapshot,
    peers: Sequence[PeerInfo],
    heading: Sequence[Content],
    glyphs: Glyphs,
    chosen: Chosen,
) -> _People:
    """Return who is here, and some of those who were."""

    def row_of(peer: PeerInfo) -> Content:
        style = "" if peer.state is PeerState.UP else DIM
        called = sentences.called_within(snapshot, peer, NAMESAKE_CELLS)
        name = sign(peer, glyphs) + Content.styled(f" {called}", style)
        thought = Content.styled(f" {glyphs.trust[peer.trust]}", TRUST_STYLES[peer.trust])
        is_shared = called != clean_nick(peer.nick)
        # The key is what tells them apart, and there is no room for both.
        state = thought if is_shared else Content.styled(_presence(snapshot, peer), DIM) + thought
        return peer_click(_row(name, state, SIDEBAR_WIDTH), peer.peer)

    def rest(more: str) -> Content:
        key = with_keys("{peers}", chosen)
        return key_click(Content.styled(f"{more}, {key}", DIM), "peers")

    here = sum(peer.state is PeerState.UP for peer in peers)
    return _People(heading, [partial(row_of, one) for one in peers], here + GONE_SHOWN, rest)


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
