"""A causal graph drawn in lanes: what a message builds on stands above it, each edge is a line.

A message that others build on keeps a lane until the last of those; a line of joints above a
message leads from the lanes of its parents to its own. Only joints have arms to the side, so a lane
that a line merely crosses cannot be taken for one of its ends.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from sync.machine import MessageId
from sync.view.view import CausalNode

LANE_CELLS: Final = 2
"""Cells a lane takes: its own, and one to its right."""

UNICODE_JOINTS: Final = " ╷╵│╶┌└├╴┐┘┤─┬┴┼"
"""Signs by arms: 1 down, 2 up, 4 right, 8 left."""

DOWN, UP, RIGHT, LEFT = 1, 2, 4, 8


def joints(*, ascii_only: bool) -> str:
    """Return the sixteen signs of joints, by the sum of their arms."""
    if not ascii_only:
        return UNICODE_JOINTS
    return "".join(_ascii(arms) for arms in range(16))


def _ascii(arms: int) -> str:
    if not arms:
        return " "
    if not arms & (LEFT | RIGHT):
        return "|"
    return "+" if arms & (UP | DOWN) else "-"


class GraphLine(Struct, frozen=True):
    """One line of the drawing: its lanes, and the message if it is one and not joints."""

    lanes: str
    message_id: MessageId | None = None


class Drawing(Struct, frozen=True):
    """Lines from the oldest to the newest; `shown` are the messages in it, `left_out` the rest."""

    lines: tuple[GraphLine, ...]
    shown: tuple[MessageId, ...]
    left_out: int


def draw(
    nodes: Sequence[CausalNode],
    lanes_max: int,
    marks: Mapping[MessageId, str],
    *,
    ascii_only: bool = False,
) -> Drawing:
    """Draw `nodes`, the nearest first, in at most `lanes_max` lanes, one at least.

    Where they do not suffice, the farthest messages are left out until all edges between those that
    are shown can be drawn. `marks` has the sign of each message, one cell.
    """
    kept = list(nodes)
    while True:
        lines = _lines(_in_order(kept), max(lanes_max, 1), marks, joints(ascii_only=ascii_only))
        if lines is not None:
            shown = tuple([line.message_id for line in lines if line.message_id is not None])
            return Drawing(tuple(lines), shown, len(nodes) - len(kept))
        kept.pop()


def _in_order(nodes: Sequence[CausalNode]) -> list[CausalNode]:
    """Return nodes so that parents come before what builds on them: by Lamport time where known.

    A missing message has none: it stands just before the first that builds on it. One that claims a
    time below that of its parent, which no honest author does, comes after it all the same.
    """
    by_id = {node.message_id: node for node in nodes}
    lowest: dict[MessageId, int] = {}
    for node in nodes:
        for parent in node.parents:
            if node.lamport is not None:
                lowest[parent] = min(lowest.get(parent, node.lamport), node.lamport)

    def place(node: CausalNode) -> tuple[int, int, MessageId]:
        if node.lamport is not None:
            return (node.lamport, 1, node.message_id)
        return (lowest.get(node.message_id, 0), 0, node.message_id)

    ordered: dict[MessageId, CausalNode] = {}
    on_the_way: set[MessageId] = set()

    def put(first: CausalNode) -> None:
        stack = [first]
        while stack:
            node = stack[-1]
            lacking = [
                by_id[parent]
                for parent in node.parents
                if parent in by_id and parent not in ordered and parent not in on_the_way
            ]
            on_the_way.add(node.message_id)
            if lacking:
                stack.append(min(lacking, key=place))
            else:
                ordered.setdefault(stack.pop().message_id, node)

    for node in sorted(nodes, key=place):
        if node.message_id not in ordered:
            put(node)
    return list(ordered.values())


def edges(nodes: Sequence[CausalNode]) -> set[tuple[MessageId, MessageId]]:
    """Return (parent, child) of the edges between `nodes`."""
    ids = {node.message_id for node in nodes}
    return {
        (parent, node.message_id)
        for node in nodes
        for parent in node.parents
        if parent in ids and parent != node.message_id
    }


def _lines(
    nodes: Sequence[CausalNode], lanes_max: int, marks: Mapping[MessageId, str], signs: str
) -> list[GraphLine] | None:
    """Return the drawing of ordered nodes; None if it needs more lanes."""
    children: dict[MessageId, int] = {}
    before: dict[MessageId, list[MessageId]] = {node.message_id: [] for node in nodes}
    place = {node.message_id: at for at, node in enumerate(nodes)}
    for parent, child in sorted(edges(nodes)):
        if place[parent] < place[child]:
            before[child].append(parent)
            children[parent] = children.get(parent, 0) + 1
    lanes: list[MessageId | None] = []
    lines: list[GraphLine] = []
    for node in nodes:
        above = list(lanes)
        parents = before[node.message_id]
        for parent in parents:
            children[parent] -= 1
            if not children[parent]:
                lanes[lanes.index(parent)] = None
        own = _free_lane(lanes, [above.index(parent) for parent in parents])
        if own == len(lanes):
            lanes.append(None)
            above.append(None)
        if len(lanes) > lanes_max:
            return None
        if parents:
            ends = {above.index(parent) for parent in parents}
            lines.append(GraphLine(_joint_line(above, lanes, ends, own, signs)))
        here = [" " if lane is None else signs[UP | DOWN] for lane in lanes]
        here[own] = marks.get(node.message_id, "?")
        lines.append(GraphLine(_spaced(here, " "), node.message_id))
        lanes[own] = node.message_id if children.get(node.message_id) else None
        while lanes and lanes[-1] is None:
            lanes.pop()
    return lines


def _free_lane(lanes: Sequence[MessageId | None], wanted: Sequence[int]) -> int:
    """Return the lane a message takes: that of a parent which ends here, else the first free."""
    for lane in sorted(wanted):
        if lanes[lane] is None:
            return lane
    return next((at for at, lane in enumerate(lanes) if lane is None), len(lanes))


def _joint_line(
    above: Sequence[MessageId | None],
    below: Sequence[MessageId | None],
    ends: set[int],
    own: int,
    signs: str,
) -> str:
    """Return the line that leads from the lanes `ends` to lane `own`."""
    first, last = min({own, *ends}), max({own, *ends})
    cells: list[str] = []
    between: list[str] = []
    for lane in range(len(above)):
        up, down = above[lane] is not None, below[lane] is not None or lane == own
        arms = UP * up | DOWN * down
        if lane in ends or lane == own:
            arms |= LEFT * (lane > first) | RIGHT * (lane < last)
        elif not up and first < lane < last:
            arms = LEFT | RIGHT
        cells.append(signs[arms])
        between.append(signs[LEFT | RIGHT] if first <= lane < last else " ")
    return "".join(f"{cell}{gap}" for cell, gap in zip(cells, between, strict=True)).rstrip()


def _spaced(cells: Sequence[str], gap: str) -> str:
    return gap.join(cells).rstrip()
