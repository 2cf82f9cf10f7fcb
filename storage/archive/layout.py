"""Layouts of exports of many nodes, simulated or made: one of all, or one a node.

    one      DIR/export.json, DIR/history/, DIR/log/    copies of a message lie side by side
    nodes    the same in DIR/<id of the node>/          files as `chat-tui export` writes them

Both have the same rows.
"""

from enum import StrEnum


class Layout(StrEnum):
    """Choices of `--layout`."""

    ONE = "one"
    NODES = "nodes"
