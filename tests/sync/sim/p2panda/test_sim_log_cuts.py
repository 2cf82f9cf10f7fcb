"""Sessions over author logs, cut anywhere: each ends, another begins, and little is sent again.

Nodes here lose every broadcast, so that nothing but sessions brings anything.
"""

import random
from collections.abc import Sequence

import pytest

from sync.group.values import PAGE, SendPayload, SessionEnded, StoredMessage
from sync.machine import MINUTE, MessageId
from sync.manager.registry import WITH_P2PANDA
from sync.p2panda import session
from sync.p2panda.entries import open_entry
from sync.p2panda.messages import Entry, ReplicationError, decode
from sync.runner.batch import Release
from sync.sim.network import Link
from sync.sim.world import Terms, World
from tests.support.storage.archives import archive, assert_equal, divided, preloaded, scattered

MUTE = Link(loss=1.0)
BOTH_MODES = pytest.mark.parametrize("protocol", ["logheight", "sets"])
SAMPLE = pytest.mark.parametrize("cuts", [6, pytest.param(24, marks=pytest.mark.grid)])


class Sent:
    """Counts the entries that are sent though the other node has committed them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.entries = 0
        self.again = 0
        self.ended: list[tuple[int, SessionEnded]] = []
        world.listeners.append(self.note)

    def note(self, number: int, release: Release) -> None:
        effect = release.effect
        if isinstance(effect, SessionEnded):
            self.ended.append((number, effect))
        elif isinstance(effect, SendPayload) and (sent := entry_in(effect.payload)) is not None:
            self.entries += 1
            self.again += sent in self.world.nodes[1 - number].disk.rows


def entry_in(payload: bytes) -> MessageId | None:
    """Return the id of the entry that a payload carries, None if it is something else."""
    try:
        message = decode(payload)
    except ReplicationError:
        return None
    return open_entry(message).message_id if isinstance(message, Entry) else None


def run(histories: Sequence[Sequence[StoredMessage]], cut_at: int | None) -> tuple[World, Sent]:
    """Let two nodes with these histories meet, whose streams carry all but item `cut_at`."""
    world = preloaded(histories, 0, World(2, 0, MUTE, Terms(protocols=WITH_P2PANDA)))
    world.streams.cut_at = cut_at
    sent = Sent(world)
    world.run(3 * MINUTE)
    return world, sent


def assert_over(world: World, sent: Sent, protocol: str, told: str) -> None:
    """Check that both hold the same, and that every session ended, the last one equal."""
    assert world.converged(), told
    assert_equal(world)
    assert sent.again <= PAGE, f"{sent.again} again, {told}"
    for node in world.nodes:
        assert node.runner is not None
        assert not node.runner.groups[world.channel].sessions.running, told
        results = [one for number, one in sent.ended if number == node.number]
        assert results[-1].converged, told
        assert protocol in {one.protocol for one in results}, told


def uncut(histories: Sequence[Sequence[StoredMessage]], protocol: str) -> tuple[int, Sent]:
    """Return how many items streams carry where nothing is cut, and the entries among them."""
    world, sent = run(histories, None)
    assert_over(world, sent, protocol, "uncut")
    return world.streams.carried, sent


def choose(protocol: str, logs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have histories of more than so many logs compared by the protocol named."""
    if protocol == "sets":
        monkeypatch.setattr(session, "SET_LOGS", logs)


@pytest.mark.slow
@BOTH_MODES
def test_a_session_cut_at_any_item_ends_and_another_brings_the_rest(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(protocol, 10, monkeypatch)
    histories = divided(scattered(60), 8, "uniform", random.Random(0))
    items, watched = uncut(histories, protocol)
    assert watched.entries == 8

    unequal = 0
    for cut_at in range(items):
        world, sent = run(histories, cut_at)
        assert_over(world, sent, protocol, f"cut at {cut_at}: {sent.ended}")
        unequal += any(not one.converged for _, one in sent.ended)
    assert unequal > items // 2, "a cut ends in an event"


@pytest.mark.slow
@BOTH_MODES
@SAMPLE
def test_what_was_committed_before_a_cut_is_not_sent_again(
    protocol: str, cuts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(protocol, 1, monkeypatch)
    everything = [*archive("carol", 3 * PAGE), *archive("dave", PAGE)]
    histories = [everything, everything[: PAGE // 2]]
    items, _ = uncut(histories, protocol)

    for cut_at in random.Random(0).sample(range(items), cuts):
        world, sent = run(histories, cut_at)
        assert_over(world, sent, protocol, f"cut at {cut_at} of {items}: {sent.ended}")
