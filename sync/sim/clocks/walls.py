"""A simulated participant's wall clock, except for its offset, and the person it belongs to."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from sync.machine import SECOND, Nanos

RELEASED: Final[Nanos] = 1_760_000_000 * SECOND
"""When the program that the nodes run was released: six weeks before a world begins."""


class Person(Enum):
    """Behaviour of a participant when asked about the clock."""

    FOLLOWS = "follows"
    STAYS = "stays"
    NEVER_ANSWERS = "never answers"
    IS_NOT_THERE = "is not there"
    """So two with standing are followed."""


ANSWERING: Final = {Person.FOLLOWS: True, Person.STAYS: False}
"""Answers of those who do: whether to follow."""


@dataclass(slots=True)
class Wall:
    """A wall clock, beside how far it is ahead (`Node.clock_offset`) and what it tells others."""

    person: Person = Person.IS_NOT_THERE
    synchronised: bool = False
    """Whether its system says that it is kept right."""
    host: str = ""
    """The address it speaks from; empty for one of its own."""
    stranger: bool = False
    """Whether the others have never met it before."""
    gains: Nanos = 0
    """Gain in a second."""
