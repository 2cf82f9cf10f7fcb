"""The height index against a plain list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.transcript.height_index import CHUNK, Heights

HEIGHT = st.integers(1, 9)


def row_at(heights: list[int], line: int) -> tuple[int, int]:
    """(row, line within it) of every line, the slow way."""
    return [(row, k) for row, height in enumerate(heights) for k in range(height)][line]


@given(st.data())
def test_any_history_of_changes_leaves_what_a_list_would_hold(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, 3 * CHUNK))
    plain = [1 + row % 7 for row in range(start)]
    heights = Heights(plain)
    for _ in range(data.draw(st.integers(1, 6))):
        index = data.draw(st.integers(0, len(plain)))
        if data.draw(st.booleans()):
            rows = data.draw(st.lists(HEIGHT, max_size=4)) * data.draw(st.integers(1, CHUNK))
            heights.insert(index, rows)
            plain[index:index] = rows
        else:
            count = data.draw(st.integers(0, len(plain) - index))
            heights.remove(index, count)
            del plain[index : index + count]
        if plain:
            changed = data.draw(st.integers(0, len(plain) - 1))
            heights[changed] = plain[changed] = data.draw(HEIGHT)

    assert list(heights) == plain
    assert (len(heights), heights.total) == (len(plain), sum(plain))
    index = data.draw(st.integers(0, len(plain)))
    assert heights.top(index) == sum(plain[:index])
    if plain:
        line = data.draw(st.integers(0, sum(plain) - 1))
        assert heights.at(line) == row_at(plain, line)


def test_each_row_is_found_at_its_own_lines() -> None:
    heights = Heights([2, 1, 3])

    assert [heights.at(line) for line in range(6)] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (2, 0),
        (2, 1),
        (2, 2),
    ]
    assert [heights.top(row) for row in range(4)] == [0, 2, 3, 6]
    assert heights[2] == 3


def test_what_lies_beyond_the_end_is_an_error() -> None:
    heights = Heights([2])

    with pytest.raises(IndexError):
        heights.at(2)
    with pytest.raises(IndexError):
        heights.top(2)
