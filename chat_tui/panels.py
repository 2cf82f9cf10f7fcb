"""What the panels around the conversation say, as styled text: pure functions of a snapshot.

Names in it are peers' text, so nothing here is ever parsed as markup.
"""

from collections.abc import Callable
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from chat_tui import reports
from chat_tui.marks import Glyphs
from chat_tui.text import clean_nick, clean_text, count, milliseconds
from sync.identity import short_fingerprint
from sync.machine import ChannelId, PeerId
from sync.view import ChannelInfo, Level, Notice, PeerInfo, PeerState, Snapshot

SIDEBAR_CELLS: Final = 24
"""Wide enough for most names with their state; the same in `app.tcss`."""

SIDEBAR_WIDTH: Final = SIDEBAR_CELLS - 3
"""Of its text, without padding and border."""

DIM: Final = "$foreground 75%"
TITLE: Final = "bold $secondary"
GOOD: Final = "$success"
BUSY: Final = "$warning"

KEYS: Final = (("F1", "Help"), ("F2", "Protocol"), ("F3", "Peers"), ("Ctrl+Q", "Quit"))
NEXT_CHANNEL: Final = ("Alt+A", "Next channel")


def header(snapshot: Snapshot, info: ChannelInfo | None, glyphs: Glyphs) -> Content:
    """Return the left part of the first line: the channel, who is here, whether all agree."""
    if info is None:
        return Content.styled("no channel", "bold")
    parts: list[Content | str | tuple[str, str]] = [
        (reports.channel_title(info), "bold"),
        f"  {reports.others_here(snapshot, info)}",
    ]
    state = reports.agreement(snapshot, info)
    if state == reports.IN_SYNC:
        parts += [" · ", (f"{glyphs.here} {state}", GOOD)]
    elif state:
        parts += [" · ", (f"{glyphs.busy} {state}", BUSY)]
    return Content.assemble(*parts)


def addressee(info: ChannelInfo | None) -> Content:
    """Return who reads what is written here: the title of the input."""
    if info is None:
        return Content("no channel")
    return Content(f"to {reports.channel_title(info)}, {reports.openness(info)}")


def whoami(snapshot: Snapshot) -> Content:
    """Return the right part of the first line: our name and key."""
    return Content.assemble(
        (clean_nick(snapshot.nick), "bold"), " ", (short_fingerprint(snapshot.me), DIM)
    )


def status(sentence: str, said: Notice | None) -> Content:
    """Return what happens and what comes next; a notice comes before it."""
    if said is None:
        return Content.styled(sentence, DIM)
    style = "bold $error" if said.level is Level.ERROR else GOOD
    return Content.styled(clean_text(said.text), style)


def chip(below: int, above: int, glyphs: Glyphs) -> Content:
    """Return how many unseen messages there are, for somebody who reads further up."""
    words: list[str] = []
    if above:
        words.append(f"{glyphs.above} {count(above, 'earlier message')} arrived")
    words.append(f"{glyphs.below} {below:,} new · End jumps" if below else "End: newest")
    return Content.styled(f" {' · '.join(words)} ", "bold $accent")


def keys(
    snapshot: Snapshot, shown: ChannelId | None, unread: Callable[[ChannelId], int]
) -> Content:
    """Return the last line: the keys, and channels with unread messages."""
    waiting = [
        (info, new)
        for info in snapshot.channels
        if info.channel != shown and (new := unread(info.channel))
    ]
    parts: list[Content | str | tuple[str, str]] = []
    for key, word in (*KEYS, NEXT_CHANNEL) if waiting else KEYS:
        parts += [(key, "bold $accent"), f" {word}  "]
    for info, new in waiting:
        parts.append((f" {reports.channel_title(info)} {new:,}", "bold $warning"))
    return Content.assemble(*parts)


def sidebar(
    snapshot: Snapshot, shown: ChannelId | None, unread: Callable[[ChannelId], int], glyphs: Glyphs
) -> Content:
    """Return channels and peers, one line each."""
    lines = [Content.styled("CHANNELS", TITLE)]
    for info in snapshot.channels:
        new = unread(info.channel)
        right = Content.styled(f"{new:,}", "bold $warning") if new else Content("")
        if info.channel == shown:
            name = Content(f"> {reports.channel_title(info)}")
            lines.append(_row(name, right, SIDEBAR_WIDTH).stylize("bold $primary"))
        else:
            lines.append(_row(Content(f"  {reports.channel_title(info)}"), right, SIDEBAR_WIDTH))
    lines += [Content(""), Content.styled("PEERS", TITLE)]
    me = Content.assemble((glyphs.here, GOOD), f" {clean_nick(snapshot.nick)}")
    lines.append(_row(me, Content.styled("you", DIM), SIDEBAR_WIDTH))
    for peer in _here_first(snapshot):
        style = "" if peer.state is PeerState.UP else DIM
        name = _sign(peer, glyphs) + Content.styled(f" {clean_nick(peer.nick)}", style)
        lines.append(_row(name, Content.styled(_presence(peer), DIM), SIDEBAR_WIDTH))
    return Content("\n").join(lines)


def people(snapshot: Snapshot, glyphs: Glyphs) -> Content:
    """Return everybody we have met, in columns, and what to do about who is not there."""
    names = [clean_nick(nick) for nick in (snapshot.nick, *(p.nick for p in snapshot.peers))]
    width = max(cell_len(name) for name in names)

    def row(sign: Content, nick: str, who: PeerId, words: Content, style: str) -> Content:
        name = Content.styled(f" {clean_nick(nick)}  ", style)
        name = name.pad_right(width + 3 - name.cell_length)
        return sign + name + Content.styled(f"{short_fingerprint(who)}  ", DIM) + words

    here = Content.styled(glyphs.here, GOOD)
    lines = [row(here, snapshot.nick, snapshot.me, Content("you"), "bold")]
    for peer in _here_first(snapshot):
        style = "bold" if peer.state is PeerState.UP else DIM
        words = Content.styled(
            " · ".join(reports.presence(snapshot, peer)), "" if style == "bold" else DIM
        )
        lines.append(row(_sign(peer, glyphs), peer.nick, peer.peer, words, style))
    hints = [Content.styled(line, DIM) for line in reports.whoever_lacks(snapshot)]
    return Content("\n").join([*lines, Content(""), *hints])


def _here_first(snapshot: Snapshot) -> list[PeerInfo]:
    return sorted(snapshot.peers, key=lambda peer: peer.state is not PeerState.UP)


def _sign(peer: PeerInfo, glyphs: Glyphs) -> Content:
    if peer.state is PeerState.DOWN:
        return Content.styled(glyphs.away, DIM)
    if peer.syncing:
        return Content.styled(glyphs.busy, BUSY)
    return Content.styled(glyphs.here, GOOD)


def _presence(peer: PeerInfo) -> str:
    if peer.state is PeerState.DOWN:
        return "away"
    if peer.syncing:
        return "comparing"
    return "here" if peer.rtt_ns is None else milliseconds(peer.rtt_ns)


def _row(left: Content, right: Content, width: int) -> Content:
    """Return a line with a part at either edge; the left one gives way."""
    room = width - right.cell_length
    left = left.truncate(room - 1, ellipsis=True)
    return left.pad_right(room - left.cell_length) + right
