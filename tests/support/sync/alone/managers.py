"""A manager that has met peers, and when it begins which sessions."""

import random
from collections.abc import Sequence

from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.registry import WAKU_ONLY
from sync.manager.schedule import Manager
from sync.manager.values import (
    Ended,
    Joined,
    Start,
)
from sync.sessions.values import Outcome

NOW: Nanos = 1_763_700_000 * SECOND


LOBBY = ChannelId("c0" * 16)


ME = PeerId("50" * 32)


BELOW = PeerId("10" * 32)


PEERS = [PeerId(f"{number:02x}" * 32) for number in range(0x60, 0x70)]


def manager(*joined: PeerId) -> Manager:
    """A manager whose sessions with `joined` are over."""
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    for peer in joined:
        made.handle(Joined(LOBBY, peer), NOW)
        made.handle(Ended(LOBBY, peer, Outcome.CONVERGED), NOW)
    return made


def due(made: Manager) -> Nanos:
    deadline = made.deadline()
    assert deadline is not None
    return deadline


def starts(made: Manager, until: Nanos) -> list[tuple[Nanos, Start]]:
    """Tick at every deadline up to `until`."""
    started: list[tuple[Nanos, Start]] = []
    while (at := made.deadline()) is not None and at <= until:
        started += [(at, start) for start in made.handle(Tick(), at)]
    return started


def soon(made: Manager) -> Nanos | None:
    """Return when the next session is due; None if only the regular one is."""
    due = made.deadline()
    return None if due is None or due >= NOW + 4 * MINUTE else due


def whom(started: Sequence[Start]) -> list[PeerId]:
    return [start.peer for start in started]
