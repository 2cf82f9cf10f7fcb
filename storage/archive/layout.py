"""Layouts of exports of many nodes that were simulated or made.

    together    DIR/export.json, DIR/history/, DIR/log/       copies of a message lie side by side
    nodes       DIR/<node>/export.json, and so on             files as `chat-tui export` writes them

Rows are the same. What is side by side takes a tenth of the space, and no exporter writes it so.
"""

from enum import StrEnum
from typing import Final

NAME_CHARS: Final = 16
"""Of a node's key, in the name of its export."""


class Layout(StrEnum):
    """Name of a layout."""

    TOGETHER = "together"
    NODES = "nodes"
