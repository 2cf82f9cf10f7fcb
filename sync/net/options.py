"""Network options from the command line and the settings; reading them needs no network yet."""

from dataclasses import dataclass
from typing import Final

from sync.group.clock_values import Policy
from sync.machine import Nanos

NOT_YET: Final = "Not on the network yet."
"""What the network is doing until it is there."""


@dataclass(frozen=True, slots=True)
class Options:
    """Network options. `interface` None means every ordinary one."""

    interface: str | None = None
    port: int | None = None
    discovery: bool = True
    connect: tuple[tuple[str, int], ...] = ()
    retention: Nanos | None = None
    """What is older is neither compared with others nor taken from them; None: everything is."""
    clock: Policy = Policy.NOBODY
    """Who answers when it is asked whose clock is right."""
