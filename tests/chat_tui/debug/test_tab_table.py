"""The table of the debug pane's tabs: each has what the pane shows of it."""

import pytest

from chat_tui.debug.tab_table import HINTS, TABS, TERMS, Tab


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_hints_and_terms(tab: Tab) -> None:
    assert HINTS[tab]
    assert TERMS[tab]
