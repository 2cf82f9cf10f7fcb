"""The causal graph as a drawing, and as a list, for the debug pane."""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from textual.content import Content

from chat_tui.debug.causal_graph import LANE_CELLS, draw
from chat_tui.debug.causal_text import Graph, label, mark, node_detail, ordered, relations
from chat_tui.debug.styled_lines import BAD, BUSY, DIM, PaneLine
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.text.times import count
from chat_tui.wording.glyphs import ASCII, Glyphs
from sync.machine import PeerId
from sync.view.view import CausalNode, ChannelInfo, Place, Snapshot

Colour: TypeAlias = Callable[[PeerId], str]
"""Returns the colour of an author by its name in styles; empty for none."""

ColourIn: TypeAlias = Callable[[str, ChannelInfo | None, PeerId], str]
"""The same in a theme and a channel."""

LABEL_CELLS: Final = 22
"""Least room for what is said of a message: its id, a name, and where it is."""


def uncoloured(_author: PeerId) -> str:
    """Return no colour: nobody sees any."""
    return ""


def graph_lines(
    snapshot: Snapshot,
    info: ChannelInfo,
    graph: Graph,
    width: int,
    glyphs: Glyphs,
    colour: Colour,
) -> list[PaneLine]:
    """Return the graph as lines of `width` cells, the oldest at the top."""
    lanes_max = max(1, (width - LABEL_CELLS) // LANE_CELLS)
    marks = {node.message_id: mark(info, graph, node, glyphs) for node in graph.nodes}
    drawing = draw(graph.nodes, lanes_max, marks, ascii_only=glyphs is ASCII)
    widest = max((len(line.lanes) for line in drawing.lines), default=0)
    lines: list[PaneLine] = []
    for line in drawing.lines:
        lanes = f" {line.lanes:<{widest}}"
        if line.message_id is None:
            lines.append(PaneLine(Content.styled(lanes, DIM)))
            continue
        node = graph.by_id[line.message_id]
        room = max(1, width - len(lanes) - 2)
        said = clip_cells(label(snapshot, info, graph, node, room), room)
        style = "bold" if node.message_id == graph.centre else _tone(info, node)
        head, rest = _parts(said, node, colour)
        content = Content.assemble((lanes, DIM), " ", head, (rest, style))
        opens = partial(node_detail, snapshot, info, graph, node)
        lines.append(PaneLine(content, node.message_id, opens))
    if drawing.left_out:
        words = f" {count(drawing.left_out, 'message')} farther away not drawn; t lists all"
        lines.append(PaneLine(Content.styled(words, DIM)))
    return lines


def list_lines(
    snapshot: Snapshot, info: ChannelInfo, graph: Graph, width: int, colour: Colour
) -> list[PaneLine]:
    """Return the graph as a list: the same in words, a message and what it builds on."""
    lines: list[PaneLine] = []
    for node in ordered(graph):
        opens = partial(node_detail, snapshot, info, graph, node)
        style = "bold" if node.message_id == graph.centre else ""
        first, *more = wrap(label(snapshot, info, graph, node), max(LABEL_CELLS, width - 5))
        head, rest = _parts(first, node, colour)
        content = Content.assemble(" ", head, (rest, style))
        lines.append(PaneLine(content, node.message_id, opens))
        lines += [PaneLine(Content.styled(f"   {words}", style), node.message_id) for words in more]
        lines += [
            PaneLine(Content.styled(f"   {line}", DIM), node.message_id)
            for words in relations(info, graph, node)
            for line in wrap(words, max(LABEL_CELLS, width - 5))
        ]
    return lines


def _parts(said: str, node: CausalNode, colour: Colour) -> tuple[Content, str]:
    """Return what is said of a message: its id and author in their colour, and the rest."""
    head, dot, rest = said.partition(" · ")
    style = "" if node.author is None else colour(node.author)
    if not style:
        return Content(""), said
    return Content.styled(head, f"bold {style}"), f"{dot}{rest}"


def _tone(info: ChannelInfo, node: CausalNode) -> str:
    if node.message_id in info.lost_ids:
        return BAD
    return "" if node.place is Place.HERE else BUSY
