"""Names of everything that the demo tells of, and the record of what was told until now."""

from enum import IntEnum

from msgspec import Struct

from chat_tui.demo.phrases import ID_SHOWN, quoted
from sync.machine import MessageId, Nanos
from sync.sim.node import Node
from sync.sim.world import World
from sync.view.projection import text_of


class Weight(IntEnum):
    """Weight of a sentence: a turning point is slowed down for, and stands until it is read."""

    ROUTINE = 0
    EVENT = 1
    TURN = 2


class Said(Struct, frozen=True):
    """One thing that happened at `at`; `who` is the participant it is about, -1 for nobody."""

    at: Nanos
    who: int
    plain: str
    formula: str
    weight: Weight = Weight.EVENT


class Voice:
    """Names the participants of `world`, the first of whom are called `names`, and says things."""

    def __init__(self, world: World, names: tuple[str, ...]) -> None:
        self.said: list[Said] = []
        self.world, self.names = world, names
        self.numbers = {node.identity.peer_id: node.number for node in world.nodes}

    def is_author(self, node: Node, message_id: MessageId) -> bool:
        """Return whether a participant has written a message."""
        row = node.disk.rows.get(message_id)
        return row is not None and row.message.entry.header.author == node.disk.me

    def title(self, message_id: MessageId) -> str:
        """Return the text of a message, whoever holds it: the narrator sees everything."""
        for node in self.world.nodes:
            row = node.disk.rows.get(message_id)
            if row is not None:
                return quoted(text_of(row.message.entry).text)
        return message_id[:ID_SHOWN]

    def name(self, node: Node) -> str:
        """Return what a participant is called."""
        return self.name_of(node.number)

    def name_of(self, number: int) -> str:
        """Return what the participant of that number is called, also one whom nobody looks at."""
        if number < len(self.names):
            return self.names[number]
        return f"participant {number + 1}"

    def say(self, who: int, plain: str, formula: str, weight: Weight = Weight.EVENT) -> None:
        """Tell one thing about `who`, in both registers."""
        self.said.append(Said(self.world.now, who, plain, formula, weight))
