"""Everybody we have met as a table, and the hints around it: pure functions of a snapshot."""

from typing import Final

from rich.cells import cell_len
from textual.content import Content

from chat_tui.keys.table import USUAL, Chosen, with_keys
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells, wrap
from chat_tui.text.times import count, milliseconds, span
from chat_tui.wording import clocks, presence, sentences
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.panels import DIM, TITLE, TRUST_STYLES, here_first, sign
from chat_tui.wording.person import has_and_needs
from sync.machine import SECOND, Nanos, PeerId
from sync.view.view import PeerInfo, PeerState, Snapshot

WIDE_FROM: Final = 100
"""Cells from which the address has a column; else it is in the details."""

NAME_CELLS: Final = 14
NOWHERE: Final = "-"
NOW_WITHIN: Final[Nanos] = 20 * SECOND
"""Whoever was heard of within this is seen `now`: pings come every 5 s."""

KEYS: Final = (
    ("{over_enter}", "details"),
    ("{peers_message}", "message"),
    ("{peers_verify}", "compare words"),
    ("{peers_connect}", "connect by address"),
    ("{peers_block}", "block"),
    ("{peers_reconcile}", "reconcile now"),
    ("{peers_doctor}", "doctor"),
    ("{close}", "close"),
)


def title(snapshot: Snapshot) -> Content:
    """Return how many we know, and what the network does."""
    known = Content.styled(f"PEERS  {count(len(snapshot.peers), 'person', 'people')} known", TITLE)
    return known + Content.styled(f"   {clean_text(snapshot.network)}", DIM)


def table(snapshot: Snapshot, width: int, cursor: int, glyphs: Glyphs) -> list[Content]:
    """Return a heading and a line a peer, that at `cursor` marked; who is here comes first."""
    forked = {one.author for one in snapshot.contradictions}
    hidden = _hidden(width - len(FORKED) if forked else width)
    lines = [Content.styled(_columns(("name", *HEADS), hidden, lead=" " * LEAD), DIM)]
    for number, peer in enumerate(here_first(snapshot)):
        at = number == cursor
        lead = Content(f"{glyphs.cursor if at else ' '} ") + sign(peer, glyphs) + Content(" ")
        cells = (sentences.called_within(snapshot, peer, NAME_CELLS), *_cells(snapshot, peer))
        thought = Content.styled(
            f"{glyphs.trust[peer.trust]} {peer.trust.value}", TRUST_STYLES[peer.trust]
        )
        if peer.peer in forked:
            thought += Content.styled(FORKED, "$warning")
        columns = _columns(cells, hidden)
        room = width - LEAD - cell_len(columns) - thought.cell_length
        status = sentences.status_of(snapshot, peer.peer)
        if status and room >= STATUS_CELLS:
            thought += Content.styled(clip_cells(f'  "{status}"', room), DIM)
        style = "bold" if peer.state is PeerState.UP else DIM
        line = lead + Content.styled(columns, style) + thought
        # One ground from end to end: the sign and the trust have colours of their own otherwise.
        marked = line.pad_right(width - line.cell_length).plain
        lines.append(Content.styled(marked, "bold reverse") if at else line)
    for said in heard_through(snapshot):
        hung = wrap(said, max(2, width - LEAD))
        lines += [Content.styled(f"{' ' * LEAD}{part}" if part else "", DIM) for part in hung]
    if not snapshot.peers:
        lacks = [part for said in sentences.whoever_lacks(snapshot) for part in wrap(said, width)]
        lines += [Content(""), *(Content(part) for part in lacks)]
    return lines


def heard_through(snapshot: Snapshot) -> list[str]:
    """Return who is heard through whom, having no connection to us: a sentence a peer between."""
    by_peer: dict[PeerId, list[str]] = {}
    for one in snapshot.heard:
        name = clean_nick(one.nick) if one.nick else sentences.name_of(snapshot, one.author)
        by_peer.setdefault(one.via, []).append(name)
    lines = []
    for via, names in by_peer.items():
        more = len(names) - HEARD_NAMES
        some = ", ".join(names[:HEARD_NAMES]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"{some}: heard through {sentences.name_of(snapshot, via)}")
    return ["", *lines] if lines else []


def keys(width: int, chosen: Chosen = USUAL) -> Content:
    """Return the keys and what they do; a key and its word stay on one line."""
    lines = [Content("")]
    for key, word in KEYS:
        part = Content.assemble((with_keys(key, chosen), "bold $accent"), f" {word}  ")
        if lines[-1].cell_length + part.cell_length - len("  ") > width:
            lines.append(Content(""))
        lines[-1] += part
    return Content("\n").join(lines)


HEADS: Final = ("state", "address", "rtt", "clock", "last seen", "has/needs", "trust")
WIDTHS: Final = (NAME_CELLS, 10, 22, 8, 8, 10, 10)
ADDRESS: Final = 2
"""The column that only wide screens have."""
GIVING_WAY: Final = (4, 3, 5)
"""Those that are left out where there is no room, this one first; they stay in the details."""
STATUS_CELLS: Final = 8
"""The least room for a status at the end of a line; else it is in the details."""
FORKED: Final = " fork"
"""Of who contradicted themselves; the details say in what."""
LEAD: Final = 4
TRUST_CELLS: Final = 13
"""Of what stands before the columns, and of the longest word after them."""


HEARD_NAMES: Final = 6
"""People named in a line of those heard through one peer."""


def _hidden(width: int) -> frozenset[int]:
    """Return the columns that so many cells have no room for."""
    if width >= WIDE_FROM:
        return frozenset()
    hidden = {ADDRESS}
    for column in GIVING_WAY:
        shown = sum(cells for number, cells in enumerate(WIDTHS) if number not in hidden)
        if LEAD + shown + TRUST_CELLS <= width:
            break
        hidden.add(column)
    return frozenset(hidden)


def _cells(snapshot: Snapshot, peer: PeerInfo) -> tuple[str, ...]:
    """Return the columns after the name, but trust."""
    rtt = NOWHERE if peer.rtt_ns is None else milliseconds(peer.rtt_ns)
    offset = NOWHERE
    if peer.clock_offset_ns is not None:
        offset = clocks.short_offset(peer.clock_offset_ns)
    return (
        _state(peer),
        clean_text(peer.address) or NOWHERE,
        rtt,
        offset,
        _seen(snapshot, peer),
        has_and_needs(snapshot, peer),
    )


def _state(peer: PeerInfo) -> str:
    if peer.state is PeerState.DOWN:
        return "gone"
    if peer.away:
        return "away"
    return "comparing" if peer.syncing else "online"


def _seen(snapshot: Snapshot, peer: PeerInfo) -> str:
    if peer.last_seen_ns is None:
        return NOWHERE
    if peer.state is PeerState.DOWN:
        return presence.seen(snapshot, peer)
    since = snapshot.now - peer.last_seen_ns
    return "now" if since < NOW_WITHIN else span(since)


def _columns(cells: tuple[str, ...], hidden: frozenset[int], *, lead: str = "") -> str:
    """Return cells side by side; what has no width of its own ends the line."""
    parts = [lead]
    for number, cell in enumerate(cells):
        if number in hidden:
            continue
        if number >= len(WIDTHS):
            parts.append(cell)
            continue
        fitting = clip_cells(cell, WIDTHS[number] - 1)
        parts.append(fitting + " " * (WIDTHS[number] - cell_len(fitting)))
    return "".join(parts)
