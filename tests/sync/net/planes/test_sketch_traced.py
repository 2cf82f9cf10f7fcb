"""A session by sketch between two nodes, played again from the traces of both."""

from pathlib import Path

import pytest

from sync.group import values
from sync.machine import HOUR
from sync.manager.payload_kinds import read as told_by
from sync.manager.registry import BY_RULE
from sync.net.replay import Replay, read
from sync.net.trace import Trace
from sync.sketch.messages import Done, Entries, MoreSymbols, Opening, Wanted
from sync.view.view import SyncShown
from tests.support.storage.archives import histories, in_causal_order
from tests.support.sync.meetings.stocks import TEA, stock
from tests.support.sync.nodes import Host, host, meet, until
from tests.support.sync.sketch.pairs import from_few

pytestmark = pytest.mark.net

PROTOCOLS = BY_RULE["sketch"]
LINES = 60
EACH = 40


async def test_a_session_by_sketch_has_the_recorded_effects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both lack so much that the opening does not tell all: symbols go both ways."""
    from_few(monkeypatch)
    async with host(tmp_path, "clock") as one:
        began = one.node.clock.now() - HOUR
    lines = in_causal_order(histories(3, LINES, began, TEA))
    files = {name: tmp_path / f"{name}.trace" for name in ("alice", "bob")}
    await stock(tmp_path, "alice", lines[EACH:])
    await stock(tmp_path, "bob", lines[:-EACH])

    async with (
        host(tmp_path, "alice", trace=Trace(files["alice"]), protocols=PROTOCOLS) as alice,
        host(tmp_path, "bob", trace=Trace(files["bob"]), protocols=PROTOCOLS) as bob,
    ):
        for one in (alice, bob):
            await one.join("tea")
        await meet(alice, bob)
        await until(lambda: ended(alice) and ended(bob), "a sketch brought them together")

    said: set[type] = set()
    for file in files.values():
        replay = Replay(PROTOCOLS)
        recorded = read(file, file.read_text())
        payloads = [one.event for one in recorded if isinstance(one.event, values.SessionPayload)]
        said |= {type(told_by(one.payload)) for one in payloads}

        assert not [one for one in map(replay.play, recorded) if one.difference]
    assert said >= {Opening, MoreSymbols, Wanted, Entries, Done}


def ended(one: Host) -> list[SyncShown]:
    """Return the sessions by sketch after which both proved that they hold the same."""
    return [
        shown
        for shown in one.shown(SyncShown)
        if shown.protocol == "sketch" and shown.outcome == "converged"
    ]
