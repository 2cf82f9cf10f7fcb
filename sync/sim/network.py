"""A simulated network: what happens to a frame or a stream between two nodes.

Frames (SDS broadcasts) may be lost, delayed, doubled and overtaken. Streams (sessions, transfers)
are reliable and ordered while their ends can reach each other, and cut when they cannot.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import Struct

from sync.machine import MILLISECOND, SECOND, Nanos
from sync.sim.wire.wire import Wire


class Link(Struct, frozen=True):
    """Impairments of the network; probabilities are per frame and receiver."""

    loss: float = 0.0
    delay: tuple[Nanos, Nanos] = (1 * MILLISECOND, 50 * MILLISECOND)
    """One way, uniform in here."""
    duplicate: float = 0.0
    reorder: float = 0.0
    """Share of frames that take `reorder_by` longer, and so are overtaken."""
    reorder_by: Nanos = 2 * SECOND
    streams: bool = True
    """Whether streams can be opened, which lose nothing."""
    uplink: int | None = None
    """Bytes a second that a node sends on all its streams together; None without a limit."""
    wire: int | None = None
    """Bytes a second of one wire for everything all nodes send (`sync.sim.wire.wire`)."""
    wire_queue: Nanos = 3 * SECOND
    """Time that what this wire has taken in may have to wait."""


PERFECT = Link()


@dataclass(slots=True)
class Network:
    """Reachability between nodes, and delivery times of frames. Nodes are numbers from 0."""

    size: int
    link: Link
    rng: random.Random
    side_of: list[int] | None = None
    """Per node, the side of the cut it is on; None while nothing is cut."""
    frames: int = 0
    """Frames sent, counted once for each receiver."""
    frame_bytes: int = 0
    lose_at: int | None = None
    """Which frame, counted once for each receiver, is lost whatever the link; None for none."""
    frames_received: int = 0
    """Of these, how many reached a node that was up and could be reached."""
    cuts: set[tuple[int, int]] = field(default_factory=set)
    """Pairs, the smaller number first, that cannot reach each other whatever the sides."""
    deaf: set[tuple[int, int]] = field(default_factory=set)
    """One-way links: what the first sends does not reach the second; the other way all is well."""
    stalled: set[tuple[int, int]] = field(default_factory=set)
    """Pairs, the smaller number first, whose streams stay open and carry nothing."""

    walls: set[tuple[int, int]] = field(default_factory=set)
    """One-way firewalls: the first cannot dial the second, and all else is well."""

    wire: Wire | None = None
    """The wire that everything goes over; None where nothing waits for anything else."""

    def reachable(self, one: int, other: int) -> bool:
        """Return whether the two reach each other both ways, so that they can keep a link."""
        if self.deaf and ((one, other) in self.deaf or (other, one) in self.deaf):
            return False
        return self._connected(one, other)

    def hears(self, sender: int, receiver: int) -> bool:
        """Return whether frames get through on a link, also one not yet noticed to be dead."""
        if self.side_of is None and not self.cuts and not self.deaf:
            return True  # mostly
        if (sender, receiver) in self.deaf:
            return False
        return self._connected(sender, receiver)

    def stalls(self, sender: int, receiver: int) -> bool:
        """Return whether a stream between the two stays open without carrying anything."""
        if self.deaf and (sender, receiver) in self.deaf:
            return True
        return bool(self.stalled) and (min(sender, receiver), max(sender, receiver)) in self.stalled

    def _connected(self, one: int, other: int) -> bool:
        if self.cuts and (min(one, other), max(one, other)) in self.cuts:
            return False
        return self.side_of is None or self.side_of[one] == self.side_of[other]

    def partition(self, *sides: set[int]) -> None:
        """Let only the nodes of one side reach each other; who is named nowhere is alone."""
        self.side_of = [-1 - node for node in range(self.size)]
        for number, side in enumerate(sides):
            for node in side:
                self.side_of[node] = number

    def heal(self) -> None:
        """Let everybody reach everybody, both ways, and streams go on."""
        self.side_of = None
        self.deaf.clear()
        self.walls.clear()
        self.stalled.clear()

    def arrivals(
        self, sent_at: Nanos, size: int, receivers: Iterable[int]
    ) -> list[tuple[Nanos, int]]:
        """Return when copies of one frame of `size` bytes arrive, and at whom: none, one or two."""
        draw, link = self.rng.random, self.link
        loss, duplicate, reorder = link.loss, link.duplicate, link.reorder
        earliest, span = sent_at + link.delay[0], link.delay[1] - link.delay[0] + 1
        copies: list[tuple[Nanos, int]] = []
        sent = 0
        if self.lose_at is not None:
            receivers = self._without_lost(list(receivers))
        for receiver in receivers:
            sent += 1
            if loss and draw() < loss:
                continue
            at = earliest + int(draw() * span)
            if reorder and draw() < reorder:
                at += link.reorder_by
            copies.append((at, receiver))
            if duplicate and draw() < duplicate:
                copies.append((earliest + int(draw() * span), receiver))
        self.frames += sent
        self.frame_bytes += sent * size
        return copies

    def _without_lost(self, receivers: list[int]) -> list[int]:
        """Leave out the receiver that does not get frame `lose_at`, if it is among these."""
        at = -1 if self.lose_at is None else self.lose_at - self.frames
        if 0 <= at < len(receivers):
            self.lose_at = None
            return receivers[:at] + receivers[at + 1 :]
        return receivers

    def latency(self) -> Nanos:
        """Draw the time one trip takes."""
        earliest, latest = self.link.delay
        return earliest + int(self.rng.random() * (latest - earliest + 1))
