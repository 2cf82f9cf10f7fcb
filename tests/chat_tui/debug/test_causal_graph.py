"""The causal graph as a drawing: every edge can be followed, and it is as narrow as it must be."""

from hypothesis import given
from hypothesis import strategies as st

from chat_tui.debug.causal_graph import LANE_CELLS, Drawing, draw, edges
from sync.machine import MessageId
from sync.view.view import CausalNode, Place

ARMS = {sign: arms for arms, sign in enumerate(" ╷╵│╶┌└├╴┐┘┤─┬┴┼")}
DOWN, UP, RIGHT, LEFT = 1, 2, 4, 8


def ident(number: int) -> MessageId:
    return MessageId(f"{number:064x}")


def node(number: int, *parents: int, lamport: int | None = None) -> CausalNode:
    at = number if lamport is None else lamport
    return CausalNode(
        ident(number), Place.HERE, lamport=at, parents=tuple(ident(one) for one in parents)
    )


def drawn(nodes: list[CausalNode], lanes: int = 99) -> Drawing:
    return draw(nodes, lanes, {one.message_id: "●" for one in nodes})


def followed(drawing: Drawing) -> set[tuple[MessageId, MessageId]]:
    """The edges an eye finds that begins at each message and goes up along the lines."""
    lines = drawing.lines
    found: set[tuple[MessageId, MessageId]] = set()

    def cell(y: int, x: int) -> str:
        lanes = lines[y].lanes
        return lanes[x] if 0 <= x < len(lanes) else " "

    def climb(y: int, x: int, child: MessageId) -> None:
        while True:
            if cell(y, x) == "●":
                parent = lines[y].message_id
                assert parent is not None
                found.add((parent, child))
                return
            assert ARMS[cell(y, x)] & UP, "a line that leads nowhere"
            y -= 1

    for y, line in enumerate(lines):
        child = line.message_id
        if child is None or y == 0 or lines[y - 1].message_id is not None:
            continue
        x = line.lanes.index("●")
        joint = ARMS[cell(y - 1, x)]
        assert joint & DOWN
        if joint & UP:
            climb(y - 2, x, child)
        for arm, step, back in ((LEFT, -1, RIGHT), (RIGHT, 1, LEFT)):
            at = x
            while ARMS[cell(y - 1, at)] & arm or (cell(y - 1, at) == "│" and at != x):
                at += step
                arms = ARMS[cell(y - 1, at)]
                if arms & back and arms & UP:
                    climb(y - 2, at, child)
    return found


def graphs() -> st.SearchStrategy[list[CausalNode]]:
    """Any graph whose messages name up to four earlier ones."""

    def build(choices: list[list[int]]) -> list[CausalNode]:
        return [
            node(number, *sorted({choice % number for choice in chosen} if number else set()))
            for number, chosen in enumerate(choices)
        ]

    return st.lists(st.lists(st.integers(0, 40), max_size=4), min_size=1, max_size=14).map(build)


@given(graphs())
def test_every_edge_can_be_followed_and_no_other(nodes: list[CausalNode]) -> None:
    drawing = drawn(nodes)

    assert followed(drawing) == edges(nodes)
    assert drawing.left_out == 0
    assert set(drawing.shown) == {one.message_id for one in nodes}


@given(graphs(), st.integers(1, 4))
def test_it_keeps_to_its_width_and_draws_all_edges_of_what_it_shows(
    nodes: list[CausalNode], lanes: int
) -> None:
    drawing = drawn(nodes, lanes)
    kept = nodes[: len(nodes) - drawing.left_out]

    assert all(len(line.lanes) <= lanes * LANE_CELLS for line in drawing.lines)
    assert set(drawing.shown) == {one.message_id for one in kept}
    assert followed(drawing) == edges(kept)


def test_a_message_in_the_middle_of_two_branches() -> None:
    nodes = [node(1), node(2), node(3), node(4, 1, 3), node(5, 4, 2)]

    assert [line.lanes for line in drawn(nodes).lines] == [
        "●",
        "│ ●",
        "│ │ ●",
        "├─│─┘",
        "● │",
        "├─┘",
        "●",
    ]


def test_whoever_claims_a_time_before_its_parents_stands_below_them() -> None:
    nodes = [node(1, 2, lamport=1), node(2, lamport=9)]

    assert drawn(nodes).shown == (ident(2), ident(1))
    assert followed(drawn(nodes)) == {(ident(2), ident(1))}


def test_a_ring_which_no_hash_allows_is_drawn_without_an_end() -> None:
    drawing = drawn([node(1, 2), node(2, 1), node(3, 3)])

    assert set(drawing.shown) == {ident(1), ident(2), ident(3)}


def test_ascii_has_no_other_signs() -> None:
    nodes = [node(1), node(2), node(3, 1, 2)]
    drawing = draw(nodes, 9, {one.message_id: "*" for one in nodes}, ascii_only=True)

    assert "\n".join(line.lanes for line in drawing.lines).isascii()
