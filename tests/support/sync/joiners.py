"""A late joiner in the simulator: what it is shown, and what it asks for."""

from collections.abc import Callable, Sequence

from sync.group.values import Broadcast, Deliver, Missing, Previewed, SessionEnded, StoredMessage
from sync.machine import MILLISECOND, MINUTE, SECOND, MessageId
from sync.manager.registry import WAKU_ONLY
from sync.runner.batch import Release
from sync.sds.wire import decode
from sync.sessions.protocol import Protocols
from sync.sim.network import PERFECT, Link
from sync.sim.rooms import CHANNEL
from sync.sim.world import Terms, World
from tests.support.storage.archives import archive

HISTORY = 3_000
LATE = 3


class Seat:
    """Records what the late joiner was shown, and what it asked for."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.previewed: list[MessageId] = []
        self.delivered: list[MessageId] = []
        self.after_gap: list[MessageId] = []
        self.missing: list[MessageId] = []
        self.asked: list[MessageId] = []
        self.ended: list[SessionEnded] = []
        self.first_preview_among: int | None = None
        """Number delivered by the first preview."""
        world.listeners.append(self.note)

    def note(self, number: int, release: Release) -> None:
        if number != LATE:
            return
        match release.effect:
            case Previewed(message_id):
                if self.first_preview_among is None:
                    self.first_preview_among = len(self.delivered)
                self.previewed.append(message_id)
            case Deliver(message_id):
                self.delivered.append(message_id)
                if self.world.nodes[LATE].disk.rows[message_id].after_gap:
                    self.after_gap.append(message_id)
            case Missing(message_id):
                self.missing.append(message_id)
            case Broadcast(payload):
                self.asked += [entry.message_id for entry in decode(payload).repair_request]
            case SessionEnded():
                self.ended.append(release.effect)
            case _:
                pass


def before_joining(
    seed: int, link: Link = PERFECT, protocols: Protocols = WAKU_ONLY
) -> tuple[World, Seat, Sequence[StoredMessage]]:
    """Three who share a long history and see each other; the fourth is not there yet."""
    history = archive("carol", HISTORY)
    world = World(LATE + 1, seed, link, Terms(protocols=protocols))
    world.crash(LATE)
    for number in range(LATE):
        world.preload(number, history)
    world.run(10 * SECOND)
    return world, Seat(world), history


def join_while_writing(world: World, lines: int = 40) -> None:
    """Start the late one, and let the others write meanwhile."""
    world.restart(LATE)
    for number in range(lines):
        world.write_text(number % LATE, f"live {number}")
        world.run(250 * MILLISECOND)


def check_calm(seat: Seat, history: Sequence[StoredMessage]) -> None:
    """Check that nothing on its way was shown as missing or asked for, and nothing has a gap."""
    past = {message.entry.message_id for message in history}
    told = f"seed={seat.world.seed}"
    assert not past.intersection(seat.missing), told
    assert not past.intersection(seat.asked), told
    assert not seat.after_gap, told
    assert seat.world.witness.gaps == 0, told


def sender(world: World) -> int | None:
    """The node with which the late one reconciles what it lacks."""
    runner = world.nodes[LATE].runner
    assert runner is not None
    for session in runner.groups[CHANNEL].sessions.by_peer.values():
        if session.exchange is not None:
            return next(n.number for n in world.nodes if n.identity.peer_id == session.peer)
    return None


def stored(world: World) -> int:
    return len(world.nodes[LATE].disk.rows)


def run_until(world: World, holds: Callable[[], object]) -> None:
    until = world.now + MINUTE
    while not holds():
        assert world.now < until, "it never came so far"
        world.run(MILLISECOND)
