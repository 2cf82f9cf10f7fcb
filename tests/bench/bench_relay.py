"""Relays and backlogs in the simulator, over links of 1 to 50 ms: virtual time, exact counts.

`relay`: lines where not everybody reaches everybody, once each was heard. A copy of a line is one
that came to a node by whatever way: broadcast, answer, transfer or entry of a session. In a full
mesh nothing is relayed, and bytes are compared with a program that knows no author logs.

`backlog`: lines written alone, just now or three hours ago, until the second peer has them and
their author knows it. Bytes are those of sessions and transfers, to one peer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sync.group.values import Deliver
from sync.machine import HOUR, MILLISECOND, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.manager.registry import WAKU_ONLY, WITH_P2PANDA
from sync.runner.batch import Release
from sync.sds.message import Kind
from sync.sds.wire import decode
from sync.sessions.protocol import Protocols
from sync.sim.measure import Sent, Sort
from sync.sim.shapes import line, unlinked
from sync.sim.world import Terms, World
from sync.view.view import FrameKind
from tests.bench.report import Params, Result, at_most, progress, quantile

SEEDS: Final = range(1, 9)
HEARD: Final[Nanos] = 60 * SECOND
"""By then a line of each has come everywhere, and relays are live."""
LINES: Final = 24
LINE_EVERY: Final[Nanos] = 1_100 * MILLISECOND

ROOMS: Final = {"line of three": line(3), "two rooms of 4": (4, 4), "line of five": line(5)}
LATENCY: Final = {"line of three": (0.2, 0.5), "two rooms of 4": (0.3, 1.0)}
"""Seconds, p50 and p95, to the node that is farthest from the author."""
COPIES: Final = 1.5
MESH: Final = 5
MESH_BYTES: Final = 1.02
"""Bytes in a full mesh; announcements and longer presences are the difference."""

BACKLOG: Final = 1_500
BODY: Final = "nineteen bytes long"
STEP: Final[Nanos] = 20 * MILLISECOND
TICKED_S: Final = 1.0
SYNC_MESSAGES: Final = 16.0
LOG_BYTES: Final = 800_000.0


@dataclass
class Tap:
    """Counts the messages that come to a node, known ones too."""

    copies: int = 0

    def note_frame(
        self,
        at: Nanos,
        channel: ChannelId,
        peer: PeerId | None,
        kind: FrameKind,
        data: bytes,
        *,
        sent: bool,
    ) -> None:
        """Count a frame that holds a message."""
        del at, channel, peer
        if sent:
            return
        if kind is FrameKind.SDS:
            self.copies += decode(data).kind is Kind.CONTENT
        elif kind is FrameKind.SESSION:
            self.copies += data[:2] == b"\x84\x02"
        else:
            self.copies += kind is FrameKind.TRANSFER


@dataclass
class Spread:
    """Times of lines: of writing, and until the farthest node shows them."""

    world: World
    far: Callable[[int], int]
    """The farthest node from an author."""
    written: dict[MessageId, tuple[int, Nanos]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def note(self, number: int, release: Release) -> None:
        """Note a line that is shown."""
        if not isinstance(release.effect, Deliver):
            return
        message_id = release.effect.message_id
        author, at = self.written.setdefault(message_id, (number, self.world.now))
        if number == self.far(author):
            self.seconds.append((self.world.now - at) / SECOND)


def relay(place: Path) -> Iterator[Result]:
    """Yield latencies and copies of lines that go through others, and bytes where none do."""
    del place
    for name, rooms in ROOMS.items():
        progress(f"relay: {name} ...")
        seconds: list[float] = []
        copies = 0.0
        for seed in SEEDS:
            came, copied = _relayed(rooms, seed)
            seconds += came
            copies += copied / len(SEEDS)
        params: Params = {"shape": name, "seeds": len(SEEDS), "lines": len(seconds)}
        for share, at in ((0.5, 0), (0.95, 1)):
            label, value = f"relay_p{100 * share:.0f}", quantile(seconds, share)
            if name in LATENCY:
                yield at_most(label, value, "s", LATENCY[name][at], params)
            else:
                yield Result(label, value, "s", params=params)
        yield at_most("relay_copies", copies, "of a line a node", COPIES, params)
    progress("relay: full mesh ...")
    ours, before = (
        sum(_mesh_bytes(protocols, seed) for seed in SEEDS)
        for protocols in (WITH_P2PANDA, WAKU_ONLY)
    )
    mesh: Params = {"peers": MESH, "seeds": len(SEEDS), "bytes": ours, "without": before}
    yield at_most("relay_mesh_bytes", ours / before, "of those without", MESH_BYTES, mesh)


def _relayed(rooms: tuple[int, ...], seed: int) -> tuple[list[float], float]:
    """Return the seconds to the farthest node, and the copies of a line a node."""
    world = World(sum(rooms), seed, terms=Terms(protocols=WITH_P2PANDA))
    world.network.cuts |= unlinked(rooms)
    _all_heard(world)
    last = sum(rooms) - 1
    spread = Spread(world, lambda author: last if author < rooms[0] or author < last / 2 else 0)
    taps = [Tap() for _ in world.nodes]
    for node, tap in zip(world.nodes, taps, strict=True):
        node.tap = tap  # type: ignore[assignment]  # it is asked for no more than this
    world.listeners.append(spread.note)
    for number in range(LINES):
        world.write_text(number % len(world.nodes), f"line {number}")
        world.run(LINE_EVERY)
    world.run(5 * SECOND)
    assert world.converged()
    assert len(spread.seconds) >= LINES, "each line came to the farthest node"
    copies = sum(tap.copies for tap in taps)
    return spread.seconds, copies / (LINES * (len(world.nodes) - 1))


def _all_heard(world: World) -> None:
    world.run(10 * SECOND)
    for node in world.nodes:
        world.write_text(node.number, f"first of {node.number}")
    world.run(HEARD)
    assert world.converged()


def _mesh_bytes(protocols: Protocols, seed: int) -> int:
    """Return the bytes of all frames and streams of a chat in which each reaches each."""
    world = World(MESH, seed, terms=Terms(protocols=protocols))
    _all_heard(world)
    before = world.network.frame_bytes + world.streams.sent_bytes
    for number in range(LINES):
        world.write_text(number % MESH, f"line {number}")
        world.run(LINE_EVERY)
    return world.network.frame_bytes + world.streams.sent_bytes - before


def backlog(place: Path) -> Iterator[Result]:
    """Yield what it takes until lines written alone are known to be at a second peer."""
    del place
    for name, age, goal in (("just now", 0, None), ("hours ago", 3 * HOUR, LOG_BYTES)):
        progress(f"backlog: {BACKLOG} lines written {name} ...")
        runs = [_backlog(age, seed) for seed in SEEDS]
        params: Params = {"lines": BACKLOG, "written": name, "seeds": len(runs)}
        ticked, syncs, size = (max(column) for column in zip(*runs, strict=True))
        yield at_most("backlog_ticked", ticked, "s", TICKED_S, params)
        yield at_most("backlog_sync_messages", syncs, "messages", SYNC_MESSAGES, params)
        if goal is None:
            yield Result("backlog_bytes", size, "bytes", params=params)
        else:
            yield at_most("backlog_bytes", size, "bytes", goal, params)


def _backlog(age: Nanos, seed: int) -> tuple[float, int, int]:
    """Return seconds from the last line's coming to its tick, sync messages, and bytes."""
    world = World(2, seed, terms=Terms(protocols=WITH_P2PANDA))
    world.crash(1)
    world.run(SECOND)
    for _ in range(BACKLOG):
        world.write_text(0, BODY)
    world.run(SECOND + age)
    sent, streamed = world.meter.sent.get(Sort.SYNC, Sent()).frames, world.streams.sent_bytes
    world.restart(1)
    until = world.now + 5 * 60 * SECOND
    while not world.converged():
        assert world.now < until, "the backlog does not come"
        world.run(STEP)
    there = world.now
    while _pending(world):
        assert world.now < until, "the backlog is not acknowledged"
        world.run(STEP)
    syncs = world.meter.sent.get(Sort.SYNC, Sent()).frames - sent
    return (world.now - there) / SECOND, syncs, world.streams.sent_bytes - streamed


def _pending(world: World) -> int:
    runner = world.nodes[0].runner
    assert runner is not None
    return len(runner.groups[world.channel].sds.outgoing.pending)


BENCHMARKS: Final = (relay, backlog)
