"""State of whole nodes on 127.0.0.1: what one sets, the other has, and keeps."""

from pathlib import Path

import pytest

from sync.calimero.state.contents import Pin, StateKind, Topic
from sync.calimero.state.folds import topic
from sync.calimero.state.session import COMMON
from sync.errors import LocalError
from sync.machine import DAY
from sync.net.options import Options
from sync.view.view import SyncShown
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


def sessions_of(one: Host) -> list[SyncShown]:
    return [event for event in one.events if isinstance(event, SyncShown) and event.of_state]


async def test_who_was_not_there_gets_it_by_hash_comparison_as_soon_as_they_meet(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await alice.node.set_state(CHANNEL, StateKind.TOPIC, Topic("tea at four"))
        await meet(alice, bob)
        await until(lambda: topic_at(bob) == "tea at four", "bob has the topic")
        await until(lambda: sessions_of(bob), "the session is over")
        [session] = sessions_of(bob)
        assert (session.protocol, session.result) == ("hash", "converged")
        assert session.need == 1
        [begun] = [
            one.why for one in (*sessions_of(bob), *sessions_of(alice)) if "began" not in one.why
        ]
        assert begun == "another state was told"


async def test_many_differences_are_found_level_by_level(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        for one, first in ((alice, 0), (bob, 60)):
            for line in range(first, first + 60):
                await one.node.set_state(
                    CHANNEL, StateKind.PIN, Pin(), name=line.to_bytes(32, "big")
                )
        await meet(alice, bob)
        registers = [one.node.groups[CHANNEL].stating.registers for one in (alice, bob)]
        await until(lambda: len({one.tree.root for one in registers}) == 1, "they agree")
        await until(lambda: sessions_of(alice), "the session is over")
        assert sessions_of(alice)[0].protocol == "level"
        assert len(registers[0]) == 120


async def test_an_asked_kind_is_taken(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await alice.node.set_state(CHANNEL, StateKind.TOPIC, Topic("tea"))
        await meet(alice, bob)
        await until(lambda: topic_at(bob) == "tea", "bob has the topic")
        await until(lambda: sessions_of(alice), "the session is over")
        alice.events.clear()
        alice.node.ask_sync(CHANNEL, bob.me, "level")
        await until(lambda: sessions_of(alice), "it was asked for")
        assert sessions_of(alice)[0].result == "both have the same"


async def test_with_a_floor_on_one_side_the_authors_known_to_both_are_compared_once(
    tmp_path: Path,
) -> None:
    days = Options(interface="127.0.0.1", discovery=False, retention=7 * DAY)
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea", options=days) as bob,
    ):
        await alice.node.set_state(CHANNEL, StateKind.TOPIC, Topic("tea at four"))
        await meet(alice, bob)
        await until(lambda: topic_at(bob) == "tea at four", "bob has the topic")
        await until(lambda: sessions_of(bob) and sessions_of(alice), "the session is over")
        for one in (alice, bob):
            assert [session.result for session in sessions_of(one)] == [COMMON]
