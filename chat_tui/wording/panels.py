"""Styled texts of the panels around the conversation: pure functions of a snapshot.

Names in it are peers' text, so nothing here is ever parsed as markup.
"""

from collections.abc import Callable, Sequence
from typing import Final

from textual.content import Content

from chat_tui.keys.names import name_of
from chat_tui.keys.table import BY_ID, USUAL, Chosen, with_keys
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from chat_tui.text.times import count, milliseconds
from chat_tui.wording import channel_state, membership, presence, sentences
from chat_tui.wording.clicks import channel_click, clickable, key_click, peer_click
from chat_tui.wording.glyphs import Glyphs, sparkline
from sync.entries.identity import short_fingerprint
from sync.machine import ChannelId
from sync.view.governance_infos import GovernanceInfo, Role
from sync.view.view import ChannelInfo, Level, Notice, PeerInfo, PeerState, Snapshot, Trust

SIDEBAR_CELLS: Final = 23
"""Wide enough for most names with their state; the same in `app.tcss`."""

SIDEBAR_WIDTH: Final = SIDEBAR_CELLS - 2
"""Of its text, without its frame."""

NAMESAKE_CELLS: Final = SIDEBAR_WIDTH - 5
"""Of a name with its key: beside a sign, a space, and what is thought of the key."""

DIM: Final = "$foreground 75%"
TITLE: Final = "bold $secondary"
GOOD: Final = "$success"
BUSY: Final = "$warning"
BAD: Final = "$error"

TRUST_STYLES: Final = {
    Trust.VERIFIED: GOOD,
    Trust.FIRST_SEEN: DIM,
    Trust.BLOCKED: BAD,
    Trust.CHANGED: f"bold {BAD}",
}

LACKING_MUCH: Final = 8.0
"""Messages lacking that have the highest sign at least: a single one is a low step."""

BEFORE_TOPIC: Final = " · "

TOPIC_CELLS_MIN: Final = 12
"""Cells below which a topic says nothing; /topic shows all of it."""

MEMBERS_SHOWN: Final = 8
"""Members in the list at the side: /members shows all."""

GONE_SHOWN: Final = 8
"""People in the list at the side who are not here: the others are in that of F3."""

OPEN_NOW: Final = "app.open_debug('Now')"
"""The click on how well everybody agrees."""

KEYS: Final = ("help", "debug", "peers", "demo", "search", "palette", "quit")
"""The ids of the keys in the last line (`chat_tui.keys.table`)."""
GIVING_WAY: Final = ("demo", "search", "palette", "peers", "debug")
"""Those that are left out where there is no room, this one first; they stay in the help."""
ANY_WIDTH: Final = 1_000
NEXT_CHANNEL: Final = ("next_active", "Next channel")


def nobody_mentioned(_channel: ChannelId) -> int:
    """Say of every channel that nobody is addressed in it."""
    return 0


def header(
    snapshot: Snapshot, info: ChannelInfo | None, glyphs: Glyphs, lacked: Sequence[float] = ()
) -> Content:
    """Return the left part of the first line: the channel, who is here, whether all agree.

    `lacked`: what was lacking over the last minute, drawn behind the word.
    """
    if info is None:
        return Content.styled("no channel", "bold")
    parts: list[Content | str | tuple[str, str]] = [
        key_click(Content.styled(sentences.channel_title(info), "bold"), "switch"),
        "  ",
        key_click(Content(sentences.others_here(snapshot, info)), "peers"),
    ]
    other = next((one for one in snapshot.peers if one.peer == info.direct), None)
    if other is not None:
        parts += [" · ", trust(other.trust, glyphs)]
    state = sentences.agreement(snapshot, info)
    line = sparkline(lacked, len(lacked), glyphs, peak=LACKING_MUCH)
    course = f" {line}" if line else ""
    if state == sentences.IN_SYNC:
        parts += [
            " · ",
            clickable(Content.styled(f"{glyphs.here} {state}{course}", GOOD), OPEN_NOW),
        ]
    elif state:
        parts += [
            " · ",
            clickable(Content.styled(f"{glyphs.busy} {state}{course}", BUSY), OPEN_NOW),
        ]
    return Content.assemble(*parts)


def fits(info: ChannelInfo | None, room: int) -> bool:
    """Return whether so many cells are enough for the topic, if there is one."""
    least = TOPIC_CELLS_MIN if info is not None and channel_state.topic_of(info) else 0
    return room >= least


def topic(info: ChannelInfo | None, room: int) -> Content:
    """Return the topic in so many cells, behind a dot; nothing if there is none, or no room."""
    text = "" if info is None else channel_state.topic_of(info)
    if not text or room < TOPIC_CELLS_MIN:
        return Content("")
    shown = Content.styled(f"{BEFORE_TOPIC}{clip_cells(text, room - len(BEFORE_TOPIC))}", DIM)
    return clickable(shown, "app.submit('/topic')")


def trust(what: Trust, glyphs: Glyphs) -> Content:
    """Return what is thought of a key, as sign and word."""
    return Content.styled(f"{glyphs.trust[what]} {what.value}", TRUST_STYLES[what])


def addressee(info: ChannelInfo | None, *, barred: bool = False) -> Content:
    """Return who reads what is written here: the title of the input; `barred`: nobody does."""
    if info is None:
        return Content("no channel")
    if barred:
        title = sentences.channel_title(info)
        return Content.styled(f"{title}: you cannot write here", BUSY)
    return Content(f"to {sentences.channel_title(info)}, {sentences.openness(info)}")


def whoami(snapshot: Snapshot) -> Content:
    """Return the right part of the first line: our name and key."""
    shown = Content.assemble(
        (clean_nick(snapshot.nick), "bold"), " ", (short_fingerprint(snapshot.me), DIM)
    )
    return clickable(shown, "app.submit('/whoami')")


def name(snapshot: Snapshot) -> Content:
    """Return our name alone, for where there is no room for the key."""
    return Content.styled(clean_nick(snapshot.nick), "bold")


def status(
    sentence: str, said: Notice | None, *, barred: bool = False, kept: bool = False
) -> Content:
    """Return what happens and what comes next; a notice comes before it.

    Args:
        sentence: what happens.
        said: the notice, if there is one.
        barred: whether the sentence says why nothing can be written.
        kept: whether the sentence stays in sight, above the notice.
    """
    if said is None:
        return Content.styled(sentence, BUSY if barred else DIM)
    style = "bold $error" if said.level is Level.ERROR else GOOD
    notice = Content.styled(clean_text(said.text), style)
    return Content("\n").join([status(sentence, None, barred=barred), notice]) if kept else notice


def chip(below: int, above: int, glyphs: Glyphs, chosen: Chosen = USUAL) -> Content:
    """Return how many unseen messages there are, for somebody who reads further up."""
    words: list[str] = []
    if above:
        key = with_keys("{unread}", chosen)
        words.append(f"{glyphs.above} {count(above, 'earlier message')} arrived · {key}")
    words.append(f"{glyphs.below} {below:,} new · End jumps" if below else "End: newest")
    return Content.styled(f" {' · '.join(words)} ", "bold $accent")


def keys(
    snapshot: Snapshot,
    shown: ChannelId | None,
    unread: Callable[[ChannelId], int],
    chosen: Chosen,
    mentioned: Callable[[ChannelId], int] = nobody_mentioned,
    width: int = ANY_WIDTH,
) -> Content:
    """Return the last line: the keys there really are, and channels with unread messages.

    Of the usual keys, as many as `width` has room for beside the channels.
    """
    waiting = [
        (info, new)
        for info in snapshot.channels
        if info.channel != shown and (new := unread(info.channel))
    ]
    news = [
        channel_click(
            Content.styled(
                f" {sentences.channel_title(info)} {_waiting(new, mentioned(info.channel))}",
                "bold $warning",
            ),
            info.channel,
        )
        for info, new in waiting
    ]
    labels = {id_: BY_ID[id_].label for id_ in KEYS} | dict([NEXT_CHANNEL] if waiting else [])
    named = {
        id_: key_click(
            Content.assemble((name_of(chosen[id_][0]), "bold $accent"), f" {label}  "), id_
        )
        for id_, label in labels.items()
    }
    for id_ in GIVING_WAY:
        used = sum(part.cell_length for part in (*named.values(), *news))
        if used - (0 if waiting else len("  ")) <= width:
            break
        del named[id_]
    return Content("").join([*named.values(), *news])


def _waiting(new: int, mentions: int) -> str:
    """Return how many messages wait, and of those how many are addressed to the reader."""
    if not mentions:
        return f"{new:,}"
    return f"@{mentions:,}" if mentions == new else f"{new:,} @{mentions:,}"


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
        waits = _waiting(new, mentioned(info.channel))
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


def here_first(snapshot: Snapshot) -> list[PeerInfo]:
    """Return everybody, who is here first."""
    return sorted(snapshot.peers, key=lambda peer: peer.state is not PeerState.UP)


def sign(peer: PeerInfo, glyphs: Glyphs) -> Content:
    """Return the sign of whether somebody is here."""
    if peer.state is PeerState.DOWN:
        return Content.styled(glyphs.gone, DIM)
    if peer.syncing:
        return Content.styled(glyphs.busy, BUSY)
    return Content.styled(glyphs.here, GOOD)


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
