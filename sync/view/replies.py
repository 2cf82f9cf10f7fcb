"""The order in which replies to a message are told: each behind the one that it answers."""

from collections.abc import Iterable
from typing import NamedTuple

from sync.machine import MessageId


class Node(NamedTuple):
    """A reply among those to one message: its time, what it answers, and how deep it is."""

    message_id: MessageId
    lamport: int
    answers: MessageId
    depth: int


def in_order(target: MessageId, nodes: Iterable[Node]) -> list[tuple[MessageId, int]]:
    """Return replies to `target` with their depths, in the order of the channel on each level."""
    below: dict[MessageId, list[Node]] = {}
    for node in sorted(nodes, key=lambda one: (one.lamport, one.message_id), reverse=True):
        below.setdefault(node.answers, []).append(node)
    told: list[tuple[MessageId, int]] = []
    left = below.pop(target, [])
    while left:
        node = left.pop()
        told.append((node.message_id, node.depth))
        left += below.pop(node.message_id, ())
    return told
