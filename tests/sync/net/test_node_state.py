"""State of whole nodes on 127.0.0.1: what one sets, the other has, and keeps."""

from pathlib import Path

import pytest

from sync.calimero.state.contents import StateKind, Topic
from sync.calimero.state.folds import topic
from sync.errors import LocalError
from tests.support.sync.nodes import TEA as CHANNEL
from tests.support.sync.nodes import Host, host, meet, until

pytestmark = pytest.mark.net


def topic_at(one: Host) -> str | None:
    found = topic(one.node.groups[CHANNEL].stating.registers, lambda _: True)
    return None if found is None else found[0]


async def test_a_topic_reaches_the_other_and_is_there_after_a_restart(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        await alice.node.set_state(CHANNEL, StateKind.TOPIC, Topic("tea at four"))
        await until(lambda: topic_at(bob) == "tea at four", "bob has the topic")
        await bob.node.set_state(CHANNEL, StateKind.TOPIC, None)
        await until(lambda: topic_at(alice) is None, "it is gone")
        await bob.node.set_state(CHANNEL, StateKind.TOPIC, Topic("at five"))
    async with host(tmp_path, "bob", "tea") as bob:
        await until(lambda: topic_at(bob) == "at five", "bob has kept it")


async def test_what_cannot_be_kept_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice:
        with pytest.raises(LocalError, match="cannot be kept"):
            await alice.node.set_state(CHANNEL, StateKind.TOPIC, Topic("x" * 500))
        assert topic_at(alice) is None
