"""Shapes of meshes: which pairs have a link."""

from itertools import combinations

from sync.machine import MILLISECOND, SECOND
from sync.sim.network import Link
from sync.sim.scenario import Scenario, run
from sync.sim.shapes import line, unlinked


def linked(rooms: tuple[int, ...]) -> set[tuple[int, int]]:
    return set(combinations(range(sum(rooms)), 2)) - unlinked(rooms)


def test_a_line_links_neighbours_and_rooms_link_their_ends() -> None:
    assert linked(line(4)) == {(0, 1), (1, 2), (2, 3)}
    assert linked((2, 3)) == {(0, 1), (1, 2), (2, 3), (2, 4), (3, 4)}
    assert unlinked(()) == set()


def test_what_is_written_at_one_end_of_a_line_reaches_the_other() -> None:
    link = Link(delay=(MILLISECOND, 50 * MILLISECOND))
    outcome = run(
        Scenario(3, 12, link, rooms=line(3), reconcile=True, every=3 * SECOND, settle=True)
    )

    assert outcome.converged
    assert outcome.deliveries == 3 * 12
