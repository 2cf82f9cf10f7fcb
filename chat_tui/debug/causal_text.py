"""The causal graph around a message, in words."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field
from rich.cells import cell_len

from chat_tui.debug.causal_graph import draw
from chat_tui.debug.explanations import at as time_at
from chat_tui.debug.section import Detail
from chat_tui.text.namesakes import called, shared_among
from chat_tui.text.plain_lines import plain_name
from chat_tui.text.safe_text import clean_text, clip_cells
from chat_tui.text.times import count, span, time_of_day
from chat_tui.wording.glyphs import ASCII, Glyphs
from chat_tui.wording.sentences import name_of, short_id
from sync.machine import ChannelId, MessageId
from sync.view.view import CausalNode, ChannelInfo, History, Place, Snapshot

NEWEST: Final = 50
"""Lines among which the newest message is looked for: acts have no place in the graph."""

DEPTH: Final = 3
DEPTH_MAX: Final = 12
"""Steps around the middle; beyond a dozen everything in a chat leads to everything."""

NODES_MAX: Final = 60
"""Messages in a graph: more than a tall screen has lines for."""

TEXT_CELLS_MIN: Final = 6
"""Of what a message says; with less room it is left out of its line."""


class Graph(Struct, frozen=True):
    """Causal graph around `centre`, as read from the history; the nearest messages first."""

    centre: MessageId | None = None
    nodes: Sequence[CausalNode] = ()
    by_id: dict[MessageId, CausalNode] = field(default_factory=dict)
    children: dict[MessageId, list[MessageId]] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    """Names that several of its authors go by; see `namesakes`."""


async def read(history: History, channel: ChannelId, centre: MessageId | None, depth: int) -> Graph:
    """Return the graph around `centre`; without one, around the newest message."""
    if centre is None:
        page = await history.page(channel, before=None, limit=NEWEST)
        newest = [line for line in page if line.act is None]
        if not newest:
            return Graph()
        centre = newest[-1].message_id
    nodes = await history.causal(channel, centre, depth=depth, limit=NODES_MAX)
    children: dict[MessageId, list[MessageId]] = {}
    for node in nodes:
        for parent in node.parents:
            children.setdefault(parent, []).append(node.message_id)
    by_id = {node.message_id: node for node in nodes}
    return Graph(centre, nodes, by_id, children, shared_among(nodes))


def as_text(snapshot: Snapshot, info: ChannelInfo, graph: Graph) -> str:
    """Return the graph for line mode."""
    lines: list[str] = []
    for node in ordered(graph):
        lines.append(label(snapshot, info, graph, node))
        lines += [f"  {words}" for words in relations(info, graph, node)]
    return "\n".join(lines)


def label(
    snapshot: Snapshot, info: ChannelInfo, graph: Graph, node: CausalNode, width: int | None = None
) -> str:
    """Return a message in one line: its id, who wrote it, where it is, what it says.

    In `width` cells what it says is shortened, or left out where little of it would be seen.
    """
    who = _who(snapshot, graph, node)
    text = " ".join(clean_text(node.text).split())
    state = state_of(snapshot, info, graph, node)
    words = [word for word in (f"{short_id(node.message_id)} {who}", state) if word]
    if width is not None:
        room = width - cell_len(" · ".join(words)) - len(" · “”")
        text = clip_cells(text, room) if room >= TEXT_CELLS_MIN else ""
    if text:
        words.append(f"“{text}”")
    return " · ".join(words)


def state_of(snapshot: Snapshot, info: ChannelInfo, graph: Graph, node: CausalNode) -> str:
    """Return where a message is, in words; empty where nothing is amiss."""
    if node.place is Place.MISSING:
        if node.message_id in info.lost_ids:
            return "LOST"
        requests = info.repair.requests if info.repair is not None else ()
        request = next((one for one in requests if one.message_id == node.message_id), None)
        if request is None or not info.peers:
            return "MISSING"
        return f"MISSING, asked for in {span(request.t_req - snapshot.now)}"
    if node.place is Place.WAITING:
        held = next((one for one in info.waiting if one.message_id == node.message_id), None)
        if held is None:
            return "waiting"
        here = len(node.parents) - len(held.unmet)
        return f"waiting ({here} of {count(len(node.parents), 'parent')})"
    own = next((one for one in info.outgoing if one.message_id == node.message_id), None)
    return "" if own is None else own.delivery.value


def mark(info: ChannelInfo, graph: Graph, node: CausalNode, glyphs: Glyphs) -> str:
    """Return the one sign of a message in the drawing."""
    if node.place is Place.MISSING:
        return "!" if node.message_id in info.lost_ids else "?"
    if node.message_id == graph.centre:
        return "@" if glyphs is ASCII else "◎"
    return glyphs.gone if node.place is Place.WAITING else glyphs.here


def node_detail(snapshot: Snapshot, info: ChannelInfo, graph: Graph, node: CausalNode) -> Detail:
    """Return what a message of the graph opens to."""
    facts: list[str] = []
    if node.lamport is not None:
        facts.append(f"Lamport {node.lamport} = max(time in ms, highest seen + 1)")
    known = [graph.by_id[one].lamport for one in node.parents if one in graph.by_id]
    highest = max((one for one in known if one is not None), default=None)
    if highest is not None and node.lamport is not None:
        facts.append(f"highest of its parents: {highest}, {node.lamport - highest:,} below it")
    if node.created_ns is not None:
        facts.append(f"written {time_of_day(node.created_ns)} by its author's clock")
    requests = info.repair.requests if info.repair is not None else ()
    facts += [
        f"T_req: {time_at(snapshot, one.t_req)}"
        for one in requests
        if one.message_id == node.message_id
    ]
    facts += relations(info, graph, node)
    if node.author is not None:
        facts.append(f"author {node.author}")
    facts.append(f"id {node.message_id}")
    if node.place is Place.MISSING:
        plain = "Somebody built on this message, and it is not here: it is asked for."
        if node.message_id in info.lost_ids:
            plain = "Somebody built on this message, and nobody here had it: it is given up."
    elif node.place is Place.WAITING:
        plain = "It is here and held back, until what it builds on is here too."
    else:
        plain = "It stands in the chat after everything it builds on, the same for everybody."
    return Detail(
        f"{short_id(node.message_id)} of {_who(snapshot, graph, node)}", plain, tuple(facts)
    )


def relations(info: ChannelInfo, graph: Graph, node: CausalNode) -> list[str]:
    """Return what a message builds on, and what names it."""
    parents = [f"{short_id(one)}{_where(info, graph, one)}" for one in node.parents]
    children = [short_id(one) for one in graph.children.get(node.message_id, ())]
    words: list[str] = []
    if parents:
        words.append(f"builds on {', '.join(parents)}")
    elif node.place is not Place.MISSING:
        words.append("builds on nothing: the first of its branch")
    if children:
        words.append(f"named by {', '.join(children)}")
    return words


def _where(info: ChannelInfo, graph: Graph, message_id: MessageId) -> str:
    """Return where a message is; nothing of one that is beyond the graph and may be anywhere."""
    if message_id in info.lost_ids:
        return " (lost)"
    if message_id in info.missing:
        return " (missing)"
    node = graph.by_id.get(message_id)
    return "" if node is None else f" ({node.place.value})"


def ordered(graph: Graph) -> list[CausalNode]:
    """Return the messages as they are drawn, the oldest first."""
    drawing = draw(graph.nodes, NODES_MAX, {})
    return [graph.by_id[message_id] for message_id in drawing.shown]


def _who(snapshot: Snapshot, graph: Graph, node: CausalNode) -> str:
    if node.author is None:
        return "somebody"
    if not node.nick:
        return name_of(snapshot, node.author)
    shown = called(node.author, node.nick, graph.shared | snapshot.shared_names)
    return plain_name(node.nick, shown)
