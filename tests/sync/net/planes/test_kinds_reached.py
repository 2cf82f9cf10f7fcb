"""Kinds of sessions that the manager picks by itself, each from stores that call for it.

On 127.0.0.1, between nodes that are given nothing but what their disks hold.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from storage.profile.members import Members
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.calimero.state.contents import Pin, StateKind, Topic
from sync.entries.membership import Membership
from sync.group.values import Status, StoredMessage, StoreMessage
from sync.machine import DAY, MILLISECOND, MINUTE, SECOND, Nanos
from sync.net.clock import draw_log
from sync.net.options import Options
from sync.sessions.selection import SET_LOGS, SKETCH_IDS_MIN
from sync.view.view import SyncShown
from tests.support.storage.archives import histories, in_causal_order
from tests.support.sync.entries import Author, identity
from tests.support.sync.nodes import HOST, TEA, TEA_SECRET, Host, host, meet, until

pytestmark = pytest.mark.net

LINES = 40


async def now_of(tmp_path: Path) -> Nanos:
    async with host(tmp_path, "clock") as member:
        return member.node.clock.now()


async def stock(
    tmp_path: Path,
    name: str,
    messages: Sequence[StoredMessage],
    waiting: Sequence[StoredMessage] = (),
) -> None:
    """Give a profile a channel and what it holds, before its first start."""
    database = await Database.open(tmp_path / f"{name}.sqlite")
    membership = Membership(TEA, "tea", TEA_SECRET, open=False, profile="lan", joined_ns=SECOND)
    await Members(database).add_channel(membership, draw_log())
    journal = SqliteJournal(database, identity(name).peer_id)
    records = [StoreMessage(one, Status.DELIVERED) for one in messages]
    records += [StoreMessage(one, Status.WAITING) for one in waiting]
    await journal.commit(records)
    await database.close()


def picked(*members: Host, of_state: bool = False) -> set[tuple[str, str]]:
    """Return kinds and reasons of the sessions that whoever began them was told of."""
    return {
        (one.protocol, one.chosen)
        for member in members
        for one in member.shown(SyncShown)
        if one.of_state is of_state and one.chosen and one.why != "the peer began it"
    }


def agreed(member: Host) -> bool:
    return any(one.outcome == "converged" for one in member.shown(SyncShown) if not one.of_state)


def count(member: Host) -> int:
    return len(member.node.groups[TEA].holdings)


async def ready(*members: Host) -> None:
    """Wait until all keep symbols of what they hold."""
    prefixes = [one.node.groups[TEA].prefix for one in members]
    await until(lambda: all(one.memory for one in prefixes), "symbols are ready")


async def brought(
    tmp_path: Path, whole: int, options: Options | None = None
) -> set[tuple[str, str]]:
    """Let alice and bob meet until both hold so much, and agree; returns what was picked."""
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea", options=options) as bob,
    ):
        await meet(alice, bob)
        await until(lambda: count(alice) == count(bob) == whole, "both hold all")
        await until(lambda: agreed(alice) and agreed(bob), "both agree")
        return picked(alice, bob)


async def test_nothing_where_both_hold_the_same(tmp_path: Path) -> None:
    lines = in_causal_order(histories(3, LINES, await now_of(tmp_path) - MINUTE, TEA))
    await stock(tmp_path, "alice", lines)
    await stock(tmp_path, "bob", lines)

    assert await brought(tmp_path, len(lines)) == {("log", "the handshake decides how")}


async def test_log_heights_where_no_log_has_a_hole(tmp_path: Path) -> None:
    lines = in_causal_order(histories(3, LINES, await now_of(tmp_path) - MINUTE, TEA))
    await stock(tmp_path, "alice", lines)
    await stock(tmp_path, "bob", lines[: 2 * LINES])

    assert ("logheight", "no log has a hole") in await brought(tmp_path, len(lines))


async def test_sets_where_there_are_many_logs(tmp_path: Path) -> None:
    logs = histories(SET_LOGS + 2, 1, await now_of(tmp_path) - MINUTE, TEA)
    lines = in_causal_order(logs)
    await stock(tmp_path, "alice", lines)
    await stock(tmp_path, "bob", lines[:-1])

    assert ("sets", f"no log has a hole, of {SET_LOGS + 2}") in await brought(tmp_path, len(lines))


async def test_delta_where_a_missing_line_is_known_by_its_id(tmp_path: Path) -> None:
    at = await now_of(tmp_path) - MINUTE
    lines = in_causal_order(histories(3, LINES, at, TEA))
    carol, lamport = Author("carol", TEA), at // MILLISECOND
    lost = carol.write("lost", created_ns=at, lamport=lamport, after=lines[-1:])
    child = carol.write("its child", created_ns=at, lamport=lamport + 1, after=[lost])
    await stock(tmp_path, "alice", [*lines, lost, child])
    await stock(tmp_path, "bob", lines, waiting=[child])

    kinds = await brought(tmp_path, len(lines) + 2)

    assert ("delta", "1 missing messages are known by their ids") in kinds


async def test_a_snapshot_for_who_has_nothing_yet(tmp_path: Path) -> None:
    lines = in_causal_order(histories(3, LINES, await now_of(tmp_path) - MINUTE, TEA))
    await stock(tmp_path, "alice", lines)

    assert ("snapshot", "we have nothing here yet") in await brought(tmp_path, len(lines))


async def test_waku_sync_where_one_side_lets_go_of_what_is_old(tmp_path: Path) -> None:
    lines = in_causal_order(histories(3, LINES, await now_of(tmp_path) - MINUTE, TEA))
    await stock(tmp_path, "alice", lines)
    await stock(tmp_path, "bob", lines[:LINES])
    keeps = Options(interface=HOST, discovery=False, retention=DAY)

    kinds = await brought(tmp_path, len(lines), keeps)

    assert ("waku", "one side has let go of what is old") in kinds


async def test_waku_sync_where_no_head_is_known_to_both(tmp_path: Path) -> None:
    at = await now_of(tmp_path) - MINUTE
    lines = in_causal_order(histories(3, LINES, at, TEA))
    carol, lamport = Author("carol", TEA), at // MILLISECOND
    lost = carol.write("lost", created_ns=at, lamport=lamport)
    child = carol.write("its child", created_ns=at, lamport=lamport + 1, after=[lost])
    await stock(tmp_path, "alice", [*lines, lost])
    await stock(tmp_path, "bob", [], waiting=[child])

    kinds = await brought(tmp_path, len(lines) + 2)

    assert ("waku", "no head is known to both") in kinds


@pytest.mark.parametrize(("pins", "kind"), [(0, "hash"), (60, "level")])
async def test_state_by_hashes_or_level_by_level(tmp_path: Path, pins: int, kind: str) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await alice.node.set_state(TEA, StateKind.TOPIC, Topic("tea at four"))
        for pin in range(pins):
            name = pin.to_bytes(32, "big")
            await alice.node.set_state(TEA, StateKind.PIN, Pin(), name=name)
        await meet(alice, bob)

        def trees() -> list[bytes]:
            return [one.node.groups[TEA].stating.registers.tree.root for one in (alice, bob)]

        await until(lambda: len(set(trees())) == 1, "both have the same state")
        await until(lambda: picked(alice, bob, of_state=True), "the session is over")

        [(protocol, why)] = picked(alice, bob, of_state=True)
        assert protocol == kind
        assert " of 16 parts of the state differ" in why


async def test_a_sketch_where_both_keep_symbols_and_one_lets_go_of_what_is_old(
    tmp_path: Path,
) -> None:
    of_each = SKETCH_IDS_MIN // 3 + 10
    lines = in_causal_order(histories(3, of_each, await now_of(tmp_path) - MINUTE, TEA))
    await stock(tmp_path, "alice", lines)
    await stock(tmp_path, "bob", lines[:-20])
    keeps = Options(interface=HOST, discovery=False, retention=DAY)

    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea", options=keeps) as bob,
    ):
        await ready(alice, bob)
        await meet(alice, bob)
        await until(lambda: count(alice) == count(bob) == len(lines), "both hold all")
        await until(lambda: agreed(alice) and agreed(bob), "both agree")
        kinds = picked(alice, bob)

    assert ("sketch", "one side has let go of what is old") in kinds
    assert "waku" not in {protocol for protocol, _ in kinds}


async def test_a_person_asks_for_a_sketch(tmp_path: Path) -> None:
    of_each = SKETCH_IDS_MIN // 3 + 10
    lines = in_causal_order(histories(3, of_each, await now_of(tmp_path) - MINUTE, TEA))
    await stock(tmp_path, "alice", lines)
    await stock(tmp_path, "bob", lines)

    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await ready(alice, bob)
        await meet(alice, bob)
        await until(lambda: agreed(alice) and agreed(bob), "both agree")

        def asked() -> list[SyncShown]:
            shown = alice.shown(SyncShown)
            return [one for one in shown if one.protocol == "sketch" and one.outcome]

        alice.node.ask_sync(TEA, identity("bob").peer_id, "sketch")
        await until(asked, "the session is over")

    assert [one.outcome for one in asked()] == ["converged"]
