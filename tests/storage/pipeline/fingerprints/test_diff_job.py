"""Fingerprints are the engine's; the diff of two archives is exact, and can be imported."""

import random
import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.archive.importer import Imported, Importer
from storage.archive.reader import Archive as Exports
from storage.archive.tables import BIGINT_MAX, Note
from storage.pipeline.errors import PipelineError
from storage.pipeline.fingerprints import diff_job
from storage.pipeline.fingerprints.archive import Archive
from storage.pipeline.fingerprints.fingerprints import SPANS
from storage.pipeline.inputs import batches
from storage.pipeline.inputs.batches import EVERYTHING, RANGES_MAX, minutes_in, ranges_of, rows_in
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_context import Work
from storage.pipeline.results.publishing import Results
from sync.entries.identity import verify
from sync.group import writer
from sync.machine import DAY, HOUR, MILLISECOND, MINUTE, SECOND, ChannelId
from sync.structures.ordered_set import ZERO_HASH, OrderedSet, SyncId
from tests.support.storage.archived import export, export_rows, row_of
from tests.support.storage.archives import archive, divided, scattered
from tests.support.storage.diffs import found, ids, levels, ran
from tests.support.storage.stores import Store, delivered, membership, opened
from tests.support.storage.table_pages import stale
from tests.support.sync.entries import CHANNEL, identity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHER = ChannelId("0d" * 16)
NOW = 1_800_000_000_000 * MILLISECOND


def engine_of(sync_ids: bytes) -> OrderedSet:
    """The set that a node reconciles, as it is after a start."""
    engine = OrderedSet()
    engine.restore(sync_ids)
    return engine


async def imported(store: Store, directory: Path) -> Imported:
    """Import everything into the profile of `me`."""
    me = identity("me")
    author = writer.Author(me.peer_id, me.sign, verify, lambda: 77)
    importer = Importer(author, store.journal, random.Random(0), NOW)
    return await importer.import_rows(Exports.find(directory), [membership()], lambda _: None)


# --- Fingerprints --------------------------------------------------------------------------------


@pytest.mark.spark
async def test_fingerprints_are_those_of_the_engine_over_the_same_disk(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    history = scattered(300, 3 * DAY, channel=CHANNEL)
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*history))
        engine = engine_of((await store.journal.restore(CHANNEL)).sync_ids)

    published = ran(spark, tmp_path, "fingerprints", export(tmp_path / "export", history))

    rows = levels(published, spark)
    assert len(engine) == 300
    for (level, _, start), value in rows.items():
        end = min(start + SPANS[level], BIGINT_MAX)
        lower, upper = SyncId(start, ZERO_HASH), SyncId(end, ZERO_HASH)
        assert value == (engine.count(lower, upper), engine.fingerprint(lower, upper)), level
    for level, span in SPANS.items():
        starts = {one.entry.header.created_ns // span * span for one in history}
        assert {start for at, _, start in rows if at == level} == starts


@pytest.mark.spark
def test_a_message_counts_once_however_many_nodes_hold_it(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    history = scattered(40, HOUR, channel=CHANNEL)
    alone = export(tmp_path / "alone", history)
    together = export(tmp_path / "together" / "one", history, ["a", "b"])
    export(tmp_path / "together" / "two", history[:7], ["c"])

    first = ran(spark, tmp_path, "fingerprints", alone, out="first")
    second = ran(spark, tmp_path, "fingerprints", together.parent, out="second")

    assert first.figures["messages"] == second.figures["messages"] == 40
    assert levels(first, spark) == levels(second, spark)


@pytest.mark.spark
def test_channels_have_fingerprints_of_their_own(tmp_path: Path, spark: "SparkSession") -> None:
    tea, plans = [scattered(20, DAY, channel=channel) for channel in (CHANNEL, OTHER)]

    both = ran(spark, tmp_path, "fingerprints", export(tmp_path / "both", [*tea, *plans]))
    only = ran(spark, tmp_path, "fingerprints", export(tmp_path / "tea", tea), out="only")

    of_both, of_tea = levels(both, spark), levels(only, spark)
    assert {key: value for key, value in of_both.items() if key[1] == CHANNEL} == of_tea
    assert both.figures["channels"] == 2
    assert {root["messages"] for root in both.figures["roots"]} == {20}


# --- Differences ---------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("published", ["", "b", "ab"])
def test_what_each_side_lacks_is_found_exactly(
    tmp_path: Path, spark: "SparkSession", published: str
) -> None:
    dice = random.Random(5)
    tea, plans = scattered(200, DAY, channel=CHANNEL), scattered(90, HOUR, channel=OTHER)
    left, right = divided(tea, 12, "uniform", dice)
    a = export(tmp_path / "a", [*left, *plans])
    b = export(tmp_path / "b", [*right, *plans[:40], *plans[43:]])
    named = {"a": a, "b": b}
    for name in published:
        ran(spark, tmp_path, "fingerprints", named[name], out=f"prints_{name}")
        named[name] = tmp_path / f"prints_{name}"

    result = ran(spark, tmp_path, "diff", named["a"], named["b"])

    held_a, held_b = ids([*left, *plans]), ids([*right, *plans[:40], *plans[43:]])
    assert found(result, "only_a") == held_a - held_b
    assert found(result, "only_b") == held_b - held_a
    assert found(result, "for_a/history") == held_b - held_a
    assert found(result, "for_b/history") == held_a - held_b
    assert result.figures["findings"] == len(held_a ^ held_b)
    assert result.figures["messages_a"] == len(held_a)
    assert result.figures["messages_b"] == len(held_b)
    assert not (result.directory / "missing").exists()


@pytest.mark.spark
@pytest.mark.parametrize("consolidated", ["a", "ab"])
async def test_what_consolidate_made_is_an_archive_too(
    tmp_path: Path, spark: "SparkSession", consolidated: str
) -> None:
    """Also when that is all that is left: the exports are gone."""
    history = archive("ann", 200, step=20 * MINUTE, channel=CHANNEL)
    left, right = divided(history, 25, "uniform", random.Random(4))
    named = {
        "a": export(tmp_path / "a", left, ["c", "d"]),
        "b": export(tmp_path / "b", right, ["e"]),
    }
    Note(["c", "d"], {CHANNEL: "tea"}, {}, {}).write_files(named["a"])
    for name in consolidated:
        exports, named[name] = named[name], tmp_path / f"history_{name}"
        ran(spark, tmp_path, "consolidate", exports, out=f"history_{name}")
        ran(spark, tmp_path, "fingerprints", exports, out=f"history_{name}")
        shutil.rmtree(exports)

    result = ran(spark, tmp_path, "diff", named["a"], named["b"])

    assert found(result, "only_a") == ids(left) - ids(right)
    assert found(result, "only_b") == ids(right) - ids(left)
    assert (result.figures["messages_a"], result.figures["messages_b"]) == (len(left), len(right))
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*right))
        taken = await imported(store, result.directory / "for_b")
        assert (taken.new, taken.refused) == (len(history) - len(right), {})
    assert Exports.find(result.directory / "for_b").names == {CHANNEL: "tea"}


@pytest.mark.spark
def test_the_same_archive_differs_in_nothing(tmp_path: Path, spark: "SparkSession") -> None:
    history = scattered(60, DAY, channel=CHANNEL)
    a = export(tmp_path / "a", history)
    b = export(tmp_path / "b" / "one", history[::2], ["c"])
    export(tmp_path / "b" / "two", history[1:], ["d"])

    result = ran(spark, tmp_path, "diff", a, b.parent)

    assert result.figures["findings"] == result.figures["minutes"] == 0
    assert found(result, "only_a") == found(result, "only_b") == set()
    assert (
        Inputs.find([result.directory / "for_a", result.directory / "for_b"])
        .history(spark)
        .isEmpty()
    )


@pytest.mark.spark
def test_what_several_nodes_hold_is_missing_once(tmp_path: Path, spark: "SparkSession") -> None:
    history = scattered(30, HOUR, channel=CHANNEL)
    a = export(tmp_path / "a" / "one", history, ["c", "d"])
    export(tmp_path / "a" / "two", history[:9], ["e"])
    b = export(tmp_path / "b", history[5:])

    result = ran(spark, tmp_path, "diff", a.parent, b)

    assert found(result, "for_b/history") == ids(history[:5])
    assert rows_in(result.directory / "for_b" / "history") == 5
    assert result.figures["only_a"] == rows_in(result.directory / "only_a") == 5
    assert (result.figures["messages_a"], result.figures["messages_b"]) == (30, 25)


@pytest.mark.spark
def test_an_empty_archive_lacks_everything(tmp_path: Path, spark: "SparkSession") -> None:
    history = scattered(30, DAY, channel=CHANNEL)
    a, b = export(tmp_path / "a", history), export(tmp_path / "b", [])

    result = ran(spark, tmp_path, "diff", a, b)
    assert stale("diff", result.directory) == [], "TABLES.md says otherwise"

    assert found(result, "for_b/history") == ids(history)
    assert (result.figures["only_a"], result.figures["only_b"]) == (30, 0)


@pytest.mark.spark
def test_what_no_message_can_be_makes_no_difference(tmp_path: Path, spark: "SparkSession") -> None:
    """Counted and then not found, it would be a difference of which nobody can say what it is."""
    rows = [row_of(one) for one in scattered(3, HOUR, channel=CHANNEL)]
    early = [rows[0] | {"created_ns": when, "sync_0": when} for when in (-1, -5 * MINUTE)]
    ours = export_rows(tmp_path / "ours", rows)
    theirs = export_rows(tmp_path / "theirs", [*rows, *early])

    figures = ran(spark, tmp_path, "diff", ours, theirs).figures

    counted = [figures[name] for name in ("messages_a", "messages_b", "minutes", "findings")]
    assert counted == [3, 3, 0, 0]


@pytest.mark.spark
def test_minutes_whose_fingerprints_agree_but_not_their_counts_differ(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    """Four hashes chosen so that they add up to nothing: a count gives them away.

    That nobody signed such messages is seen as soon as they are looked at.
    """
    rows = [row_of(one) for one in scattered(4, SECOND, channel=CHANNEL)]
    for row, words in zip(rows, ((1, 0), (2, 0), (3, 0), (0, 0)), strict=True):
        row |= {"sync_0": words[0], "sync_1": words[1], "sync_2": 0, "sync_3": 0}
    a, b = export_rows(tmp_path / "a", rows), export_rows(tmp_path / "b", [])

    result = ran(spark, tmp_path, "diff", a, b)
    assert stale("diff", result.directory) == [], "TABLES.md says otherwise"

    assert (result.figures["only_a"], result.figures["false"]) == (0, 4)


@pytest.mark.spark
async def test_two_profiles_are_the_same_after_each_imports_what_it_lacks(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    history = archive("ann", 400, step=20 * MINUTE, channel=CHANNEL)
    left, right = divided(history, 60, "uniform", random.Random(2))
    a, b = export(tmp_path / "a", left, ["a"]), export(tmp_path / "b", right, ["b"])
    result = ran(spark, tmp_path, "diff", a, b)
    assert stale("diff", result.directory) == [], "TABLES.md says otherwise"

    states = []
    for held, lacked in ((left, "for_a"), (right, "for_b")):
        async with opened(tmp_path / f"{lacked}.db") as store:
            await store.journal.commit(delivered(*held))
            taken = await imported(store, result.directory / lacked)
            assert (taken.new, taken.known, taken.refused) == (400 - len(held), 0, {})
            states.append(await store.journal.restore(CHANNEL))

    first, second = states
    everything = SyncId(0, ZERO_HASH), SyncId(BIGINT_MAX, ZERO_HASH)
    assert first.log == second.log
    assert engine_of(first.sync_ids).count(*everything) == 400
    assert engine_of(first.sync_ids).fingerprint(*everything) == engine_of(
        second.sync_ids
    ).fingerprint(*everything)


@pytest.mark.spark
async def test_the_results_of_a_diff_are_imported_as_a_whole_too(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    history = archive("ann", 60, step=HOUR, channel=CHANNEL)
    a, b = export(tmp_path / "a", history[:50]), export(tmp_path / "b", history[10:])
    ran(spark, tmp_path, "diff", a, b)

    async with opened(tmp_path / "chat.db") as store:
        taken = await imported(store, tmp_path / "out")

    assert taken.new == 20


@pytest.mark.spark
def test_fingerprints_of_what_has_changed_are_refused(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    history = scattered(10, HOUR, channel=CHANNEL)
    a = export(tmp_path / "a", history[:8])
    ran(spark, tmp_path, "fingerprints", a)
    export(tmp_path / "a", history[8:])

    with pytest.raises(PipelineError, match="changed since"):
        Archive.find(tmp_path / "out")


def test_a_diff_takes_two_archives(tmp_path: Path) -> None:
    a = export(tmp_path / "a", [])
    results = Results(tmp_path / "out")

    with pytest.raises(PipelineError, match="name both"), results.run("diff") as run:
        diff_job.run(Work(None, Inputs.find([a]), results, run, tmp_path))  # type: ignore[arg-type]


# --- Ranges --------------------------------------------------------------------------------------


@given(st.sets(st.integers(0, 5_000), min_size=1, max_size=400))
def test_ranges_hold_all_minutes_and_are_few(numbers: set[int]) -> None:
    minutes = [number * MINUTE for number in sorted(numbers)]

    ranges = ranges_of(minutes)

    held = {
        minute
        for one in ranges
        for minute in range(one.first, one.last, MINUTE)
        if minute in minutes
    }
    assert held == set(minutes)
    assert len(ranges) <= RANGES_MAX
    assert all(one.last < other.first for one, other in pairwise(ranges))
    if len(ranges) < RANGES_MAX:  # then nothing had to be joined
        assert sum(one.last + 1 - one.first for one in ranges) == len(minutes) * MINUTE


def test_no_minutes_make_no_range_and_too_many_one_of_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MINUTES_MAX", 3)
    table = pa.table({"start_ns": [BIGINT_MAX, 0, 5, MINUTE, 2 * MINUTE]})
    pq.write_table(table.slice(0, 3), tmp_path / "0.parquet")
    few = minutes_in(tmp_path, "start_ns")
    pq.write_table(table.slice(3), tmp_path / "1.parquet")

    assert ranges_of([]) == []
    assert few == [0, BIGINT_MAX // MINUTE * MINUTE]
    assert ranges_of(few)[-1].last == BIGINT_MAX
    assert minutes_in(tmp_path, "start_ns") is None
    assert ranges_of(None) == [EVERYTHING]
