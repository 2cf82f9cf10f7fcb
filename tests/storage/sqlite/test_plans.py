"""Indexes by which SQLite reads pages, and what a start needs, without reading every row."""

from pathlib import Path

import pytest

from storage.sqlite.author_logs import LOGS, PARKED
from storage.sqlite.authors import COUNT, COUNTED_AT_ONCE
from storage.sqlite.columns import to_u64
from storage.sqlite.history import AFTER, BEFORE
from storage.sqlite.queries import (
    GAPS,
    LOAD_BY_SYNC_ID,
    LOADING_IDS,
    NEWEST_OWN,
    NEWEST_TIPS,
    UNSENT,
)
from tests.support.storage.stores import delivered, opened
from tests.support.sync.entries import CHANNEL, Author, identity

KEY, AUTHOR = bytes(16), bytes(32)


async def plan_of(place: Path, query: str, values: tuple[object, ...]) -> list[str]:
    """Return the steps of SQLite's plan for a query."""
    async with opened(place / "chat.db") as store:
        plan = await store.database.read(
            lambda db: db.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
        )
    return [step for *_, step in plan]


@pytest.mark.parametrize("page", [BEFORE, AFTER])
async def test_pages_are_read_by_the_index_of_what_is_delivered(tmp_path: Path, page: str) -> None:
    steps = " ".join(await plan_of(tmp_path, page, (KEY, 0, bytes(32), 100)))
    assert "USING INDEX messages_in_order" in steps
    assert "USE TEMP B-TREE" not in steps


@pytest.mark.parametrize(
    ("query", "values", "steps"),
    [
        (GAPS, (KEY, 9), ["messages_after_gap (channel=?)"]),
        (NEWEST_TIPS, (KEY, 2), ["messages_in_order (channel=?)"]),
        (
            NEWEST_OWN,
            (KEY, AUTHOR),
            ["messages_by_time (channel=?)", "messages_by_log (channel=? AND author=?)"],
        ),
        (PARKED, (KEY,), ["messages_held_back (channel=? AND status=?)"]),
        (UNSENT, (KEY,), ["messages_held_back (channel=? AND status=?)"]),
        (LOADING_IDS, (KEY, 3), ["messages_loading (channel=? AND status=?)"]),
        (LOGS, (KEY,), ["COVERING INDEX messages_by_log (channel=?)"]),
    ],
)
async def test_a_start_reads_by_the_index_made_for_it(
    tmp_path: Path, query: str, values: tuple[object, ...], steps: list[str]
) -> None:
    plan = await plan_of(tmp_path, query, values)
    searches = [step for step in plan if step.startswith(("SEARCH", "SCAN"))]
    assert len(searches) == len(steps)
    for search, step in zip(searches, steps, strict=True):
        assert search.endswith(step)


async def test_a_sync_id_is_looked_up_by_its_time_and_hash(tmp_path: Path) -> None:
    [step] = await plan_of(tmp_path, LOAD_BY_SYNC_ID, (0, bytes(32), KEY))
    assert "messages_by_time (channel=? AND created_ns=? AND waku_hash=?)" in step


async def test_sizes_are_counted_without_sorting_what_was_sent(tmp_path: Path) -> None:
    """Sizes come from a query of their own, which the sorting by author does not go into."""
    plan = await plan_of(tmp_path, COUNT, (COUNTED_AT_ONCE,))
    assert any(step.startswith("CO-ROUTINE") for step in plan)


@pytest.mark.parametrize("wrote", [True, False])
async def test_whoever_never_wrote_has_no_newest_message(tmp_path: Path, wrote: bool) -> None:
    ann, me = Author("ann"), Author("me")
    lines = [ann.write(created_ns=5), *[me.write(created_ns=7)] * wrote, ann.write(created_ns=9)]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines))
        values = (bytes.fromhex(CHANNEL), bytes.fromhex(identity("me").peer_id))
        [(newest,)] = await store.database.read(
            lambda db: db.execute(NEWEST_OWN, values).fetchall()
        )
    assert (newest is not None, newest is not None and to_u64(newest)) == (wrote, wrote and 7)
