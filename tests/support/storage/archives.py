"""Histories of thousands of messages, signed once, and the simulated disks they are put on."""

import random
from collections.abc import Iterable, Sequence
from functools import cache

from sync.group.values import StoredMessage
from sync.machine import MILLISECOND, SECOND, ChannelId, Nanos
from sync.sim.rooms import CHANNEL
from sync.sim.timeline import EPOCH
from sync.sim.world import World
from sync.structures.ordered_set import SyncId
from sync.waku.message import EVERYTHING
from tests.support.sync.entries import Author

BEFORE: Nanos = EPOCH - 40_000 * SECOND
"""When the first message of a history was written, one a second from there on."""


@cache
def archive(
    name: str,
    count: int,
    begin: Nanos = BEFORE,
    step: Nanos = SECOND,
    channel: ChannelId = CHANNEL,
) -> tuple[StoredMessage, ...]:
    """All that `name` ever wrote, each message on top of the two before it."""
    author = Author(name, channel)
    for number in range(count):
        at = begin + number * step
        author.write(
            f"{name}'s line {number}",
            after=author.entries[-2:],
            created_ns=at,
            lamport=max(at // MILLISECOND, 1) + (number if step < MILLISECOND else 0),
        )
    return tuple(author.entries)


def preloaded(
    histories: Sequence[Iterable[StoredMessage]], seed: int = 0, world: World | None = None
) -> World:
    """A world of which each node holds a history, its parents first, before anybody meets."""
    world = World(len(histories), seed) if world is None else world
    for number, history in enumerate(histories):
        world.preload(number, history)
    return world


@cache
def scattered(
    count: int,
    span: Nanos = 30_000 * SECOND,
    channel: ChannelId = CHANNEL,
) -> tuple[StoredMessage, ...]:
    """Messages that name no others, so that whoever holds any part of them lacks no parent.

    By time, which is drawn from `span`; each is in a log of its own.
    """
    dice = random.Random(count)
    times = sorted(BEFORE + (dice.randrange(span) if span else 0) for _ in range(count))
    return tuple(
        [
            Author(f"author {number % 5}", channel, log=number + 1).write(
                f"line {number}", created_ns=at, lamport=at // MILLISECOND + number
            )
            for number, at in enumerate(times)
        ]
    )


def divided(
    pool: Sequence[StoredMessage], differences: int, spread: str, dice: random.Random
) -> tuple[list[StoredMessage], list[StoredMessage]]:
    """Two histories that differ in so many messages: the newest ones, or all over ("uniform")."""
    recent = range(len(pool) - differences, len(pool))
    chosen = recent if spread == "recent" else dice.sample(range(len(pool)), differences)
    holders = {at: dice.randrange(2) for at in chosen}
    left, right = (
        [message for at, message in enumerate(pool) if holders.get(at, side) == side]
        for side in (0, 1)
    )
    return left, right


def ids(world: World, number: int) -> list[SyncId]:
    """Return the ids that a node would reconcile."""
    runner = world.nodes[number].runner
    assert runner is not None
    return runner.groups[CHANNEL].holdings.items.items(*EVERYTHING)


def assert_equal(world: World) -> None:
    """Everybody holds and shows the same, in the same order, and every invariant holds."""
    first, *others = [ids(world, node.number) for node in world.nodes]
    assert all(other == first for other in others), f"seed={world.seed}"
    assert world.converged(), f"seed={world.seed}"
    world.check()


def histories(
    logs: int, entries: int, ended: Nanos, channel: ChannelId
) -> list[list[StoredMessage]]:
    """Return logs of so many entries each, one a second, the last of them written at `ended`."""
    made = []
    for number in range(logs):
        author = Author(f"author {number}", channel)
        for entry in range(entries):
            at = ended - (entries - entry) * SECOND
            author.write(f"line {entry}", created_ns=at, lamport=at // MILLISECOND)
        made.append(list(author.entries))
    return made


def in_causal_order(logs: Sequence[Sequence[StoredMessage]]) -> list[StoredMessage]:
    """Return the entries of all logs as everybody shows them."""
    everything = [one for log in logs for one in log]
    return sorted(everything, key=lambda one: (one.entry.header.lamport, one.entry.message_id))
