"""The names of the pane's tabs: whole at every width, on one line where they fit."""

import pytest

from chat_tui.debug.tab_bar import rows_of
from chat_tui.debug.tab_table import TABS

ALL = [f"{number}{tab.value}" for number, tab in enumerate(TABS)]


@pytest.mark.parametrize(("width", "lines"), [(45, 2), (56, 1), (58, 1), (78, 1), (138, 1)])
def test_no_name_is_cut_and_the_one_that_is_shown_stands_in_brackets(
    width: int, lines: int
) -> None:
    for number, shown in enumerate(TABS):
        rows = rows_of(shown, width)
        said = ["".join(label for _, label in row).rstrip() for row in rows]

        assert len(said) == lines
        assert max(map(len, said)) <= width
        expected = [f"[{name}]" if at == number else name for at, name in enumerate(ALL)]
        assert " ".join(said).replace("][", "] [").split() == expected


def test_no_name_moves_when_another_tab_is_shown() -> None:
    places = set()
    for shown in TABS:
        line = "".join(label for _, label in rows_of(shown, 80)[0])
        places.add(tuple(line.index(name) for name in ALL))

    assert len(places) == 1
