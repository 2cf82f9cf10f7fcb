"""What the panels around the conversation say, as styled text: pure functions of a snapshot.

Names in it are peers' text, so nothing here is ever parsed as markup.
"""

from collections.abc import Callable
from typing import Final

from textual.content import Content

from chat_tui import reports
from chat_tui.marks import Glyphs
from chat_tui.text import clean_nick, clip_cells, count, milliseconds, wrap
from sync.identity import short_fingerprint
from sync.machine import ChannelId
from sync.view import ChannelInfo, PeerInfo, PeerState, Snapshot

SIDEBAR_CELLS: Final = 24
"""Wide enough for most names with their state; the same in `app.tcss`."""

ROW_CELLS: Final = 132
"""Of a row in the debug pane: three lines of it; a trace of more says no more."""

ROW_WRAP_MIN: Final = 20
"""Cells to wrap rows at before the pane has its size."""

DIM: Final = "$foreground 50%"
TITLE: Final = "bold $foreground 70%"

KEYS: Final = (
    ("F1", "Help"),
    ("F2", "Protocol"),
    ("F3", "Peers"),
    ("Alt+A", "Next channel"),
    ("Ctrl+Q", "Quit"),
)


def header(snapshot: Snapshot, info: ChannelInfo | None) -> Content:
    """Return the left part of the first line: the channel, who is here, whether all agree."""
    if info is None:
        return Content.styled("no channel", "bold")
    words = (reports.others_here(snapshot, info), reports.agreement(snapshot, info))
    return Content.assemble(
        (reports.channel_title(info), "bold"), "  ", " · ".join(word for word in words if word)
    )


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


def status(sentence: str, trouble: str) -> Content:
    """Return what happens and what comes next; what went wrong comes before it."""
    return Content.styled(trouble, "bold $error") if trouble else Content.styled(sentence, DIM)


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
    parts: list[Content | str | tuple[str, str]] = []
    for key, word in KEYS:
        parts += [(key, "bold $accent"), f" {word}  "]
    for info in snapshot.channels:
        if info.channel != shown and (new := unread(info.channel)):
            parts.append((f" {reports.channel_title(info)} {new:,}", "bold $warning"))
    return Content.assemble(*parts)


def sidebar(
    snapshot: Snapshot, shown: ChannelId | None, unread: Callable[[ChannelId], int], glyphs: Glyphs
) -> Content:
    """Return channels and peers, one line each."""
    width = SIDEBAR_CELLS - 2
    lines = [Content.styled("CHANNELS", TITLE)]
    for info in snapshot.channels:
        new = unread(info.channel)
        here = info.channel == shown
        lines.append(
            _row(
                f"{'>' if here else ' '} {reports.channel_title(info)}",
                f"{new:,}" if new else "",
                "bold" if here or new else "",
                width,
            )
        )
    lines += [Content(""), Content.styled("PEERS", TITLE)]
    lines.append(_row(f"{glyphs.here} {clean_nick(snapshot.nick)}", "you", "", width))
    for peer in sorted(snapshot.peers, key=lambda peer: peer.state is not PeerState.UP):
        up = peer.state is PeerState.UP
        name = f"{glyphs.here if up else glyphs.away} {clean_nick(peer.nick)}"
        lines.append(_row(name, _presence(peer), "" if up else DIM, width))
    return Content("\n").join(lines)


def _presence(peer: PeerInfo) -> str:
    if peer.state is PeerState.DOWN:
        return "away"
    if peer.syncing:
        return "comparing"
    return "here" if peer.rtt_ns is None else milliseconds(peer.rtt_ns)


def _row(left: str, right: str, style: str, width: int) -> Content:
    """Return a line with a part at either edge; the left one gives way."""
    left = clip_cells(left, width - len(right) - 1)
    name = Content.styled(left, style)
    return name.pad_right(width - len(right) - name.cell_length) + Content.styled(right, DIM)


def debug_text(sections: list[reports.Section], width: int) -> Content:
    """Return the debug pane in lines of `width` cells: each section's title, then its rows.

    A section without rows is one line.
    """
    lines: list[Content] = []
    for section in sections:
        title = Content.styled(section.title, TITLE)
        if not section.rows:
            lines.append(title + Content.styled(f"  {section.none}", DIM))
            continue
        total = f"  {section.total:,}" if section.total else ""
        lines += [Content(""), title + Content.styled(total, "bold")]
        for row in section.rows:
            first, *more = wrap(clip_cells(row, ROW_CELLS), max(ROW_WRAP_MIN, width - 3))
            lines += [Content(f" {first}"), *(Content(f"   {line}") for line in more)]
    return Content("\n").join(lines)
