"""Network options from the command line and the settings; reading them needs no network yet."""

from typing import Final

from msgspec import Struct

from sync.group.clock_policy import Policy
from sync.machine import Nanos

NOT_YET: Final = "Not on the network yet."
"""State of the network until it is there."""


class Options(Struct, frozen=True):
    """Network options. `interface` None means every ordinary one."""

    interface: str | None = None
    port: int | None = None
    discovery: bool = True
    connect: tuple[tuple[str, int], ...] = ()
    retention: Nanos | None = None
    """Age beyond which nothing is compared with others or taken from them; None: everything is."""
    clock: Policy = Policy.NOBODY
    """Answerer of the question whose clock is right."""
