"""A crowd at one moment: what each of hundreds lacks, waits for or asks for, and figures of all."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sync.machine import Nanos
from sync.sim.node import Node
from sync.sim.world import World

OFF, LACKS, WAITS, ASKS, HAS = ".lwah"
"""States of one in a crowd, a letter each; see `WORDS`."""

WORDS: Final = {
    LACKS: "lacks a line, unaware",
    WAITS: "waits to ask",
    ASKS: "has asked",
    HAS: "has all",
    OFF: "off",
}

ANSWERS_KEPT: Final = 64
"""Newest answers of which a moment knows: more than are given within a second."""


class Field(NamedTuple):
    """A crowd at one moment. `states` has one letter for each person, by number."""

    states: str
    answers: tuple[tuple[int, Nanos], ...]
    """The newest answers: by whom, and when."""
    missing: int
    """Lines that somebody lacks, each counted as often as it is lacking."""
    noticed: int
    """Number of times that anybody noticed a missing line, until now."""
    asked: int
    """Messages that anybody asked for."""
    answered: int
    """Answers that were given."""
    size: int
    """Bytes of all frames, each counted once."""


def field_of(world: World, answers: Sequence[tuple[int, Nanos]]) -> Field:
    """Return a crowd as it is now."""
    up = [node for node in world.nodes if node.runner is not None]
    held = [len(node.disk.rows) for node in up]
    total = max((len(node.disk.rows) for node in world.nodes), default=0)
    meter = world.meter
    return Field(
        "".join([_state(node, world, total) for node in world.nodes]),
        tuple(answers)[-ANSWERS_KEPT:],
        total * len(up) - sum(held),
        len(meter.losses) + len(meter.open),
        len(meter.requests),
        sum(meter.responses.values()),
        sum(sent.size for sent in meter.sent.values()),
    )


def _state(node: Node, world: World, total: int) -> str:
    if node.runner is None:
        return OFF
    requests = node.runner.groups[world.channel].sds.repairs.asking.requests
    if requests:
        return ASKS if any(one.asked for one in requests.values()) else WAITS
    return HAS if len(node.disk.rows) == total else LACKS
