"""Entries on the streams of sessions are checked on threads, between real nodes."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from sync.entries.entry import Entry
from sync.group import ingest
from sync.group.records import StoredMessage
from sync.machine import HOUR
from sync.manager.registry import WHOLE_BY
from sync.sds.message import Message
from tests.support.storage.archives import histories, in_causal_order
from tests.support.sync.meetings.stocks import NAME, TEA, stock
from tests.support.sync.nodes import host, meet, until

pytestmark = pytest.mark.net

LOGS, ENTRIES = 4, 100


async def test_what_author_logs_bring_is_checked_on_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_thread: Counter[str] = Counter()
    real = ingest.Gate.check_opened

    def counted(gate: ingest.Gate, entry: Entry) -> tuple[Message, StoredMessage]:
        by_thread[threading.current_thread().name.split("_")[0]] += 1
        return real(gate, entry)

    monkeypatch.setattr(ingest.Gate, "check_opened", counted)
    protocols = WHOLE_BY["logheight"]
    async with host(tmp_path, "clock") as member:
        ended = member.node.clock.now() - 2 * HOUR
    await stock(tmp_path, "alice", in_causal_order(histories(LOGS, ENTRIES, ended, TEA)))
    async with (
        host(tmp_path, "alice", NAME, protocols=protocols) as alice,
        host(tmp_path, "bob", NAME, protocols=protocols) as bob,
    ):
        await meet(alice, bob)
        log = bob.node._runner.groups[TEA].sds.log
        await until(lambda: len(log.order) == LOGS * ENTRIES, "all is there")

    assert by_thread.total() == LOGS * ENTRIES, "each is checked once"
    assert by_thread["early check"] > LOGS * ENTRIES / 2
