"""`chat-tui import` of what `consolidate` made: as of the exports that it was made of."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from msgspec.structs import astuple

from storage.archive.consolidated import IN_FILES, NAMES, NAMES_MAX, Consolidated
from storage.archive.importer import NO_ROW, OTHER_ID, Imported, Importer
from storage.archive.reader import Archive
from storage.archive.tables import NOTE, Note
from storage.results import MANIFEST, RUNS
from sync.entries.identity import verify
from sync.errors import LocalError
from sync.group import writer
from sync.group.values import StoredMessage
from sync.machine import HOUR, MILLISECOND, MINUTE, ChannelId
from sync.runner.batch import BATCH_MAX
from tests.support.storage.archived import (
    consolidated,
    consolidated_rows,
    export,
    export_rows,
    row_of,
)
from tests.support.storage.archives import archive
from tests.support.storage.import_commands import count, imported, lines, profile
from tests.support.storage.rows import log_of, stamped
from tests.support.storage.stores import Store, membership, opened
from tests.support.sync.entries import CHANNEL, Author, identity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = 1_800_000_000_000 * MILLISECOND
OTHER = ChannelId("0d" * 16)


async def taken(store: Store, directory: Path) -> Imported:
    """Import everything into the profile of `me`."""
    me = identity("me")
    author = writer.Author(me.peer_id, me.sign, verify, lambda: 77)
    importer = Importer(author, store.journal, random.Random(0), NOW)
    return await importer.import_rows(Archive.find(directory), [membership()], lambda _: None)


async def held(path: Path, source: Path, *messages: StoredMessage) -> tuple[Imported, object]:
    """Import into a new profile; return the result and all it then holds of `messages`."""
    async with opened(path) as store:
        came = await taken(store, source)
        state = await store.journal.restore(CHANNEL)
        loaded = await store.journal.load(CHANNEL, [one.entry.message_id for one in messages])
        return came, (
            log_of(state.log),
            stamped(state.sync_ids),
            [astuple(one) for one in loaded.values()],
            (state.waiting, state.gaps, state.parked),
        )


# --- What is taken in ----------------------------------------------------------------------------


async def test_it_is_taken_in_whole_and_once_and_is_what_the_exports_were(tmp_path: Path) -> None:
    history = archive("ann", 700, step=20 * MINUTE, channel=CHANNEL)
    exports = export(tmp_path / "exports", history)
    source = consolidated(tmp_path / "one", history)

    of_exports = await held(tmp_path / "exports.db", exports, *history)
    first, state = await held(tmp_path / "chat.db", source, *history)
    again, unchanged = await held(tmp_path / "chat.db", source, *history)

    assert (first.new, first.known, first.refused.total()) == (700, 0, 0)
    assert (again.new, again.known, again.refused.total()) == (0, 700, 0)
    assert of_exports == (first, state)
    assert state == unchanged


async def test_its_files_are_read_in_the_order_of_the_chat(tmp_path: Path) -> None:
    """So nothing has to wait for what it names, however many files there are."""
    history = archive("ann", 300, step=HOUR, channel=CHANNEL)
    found = Archive.find(consolidated(tmp_path, history, size=7))

    rows = list(found.rows(CHANNEL))

    assert found.count(CHANNEL) == 300
    assert [row.message_id for row in rows] == [
        bytes.fromhex(one.entry.message_id) for one in history
    ]


async def test_it_is_found_below_and_taken_in_beside_exports(tmp_path: Path) -> None:
    history = archive("ann", 30, channel=CHANNEL)
    consolidated(tmp_path / "all" / "site" / "one", history[:20])
    export(tmp_path / "all" / "node", history[10:])

    async with opened(tmp_path / "chat.db") as store:
        result = await taken(store, tmp_path / "all")
        state = await store.journal.restore(CHANNEL)

    assert (result.new, result.known) == (30, 10)
    assert len(log_of(state.log)) == 30


async def test_what_a_diff_wrote_among_the_same_results_is_taken_in_too(tmp_path: Path) -> None:
    history = archive("ann", 30, channel=CHANNEL)
    source = consolidated(tmp_path / "one", history[:20])
    export(source / RUNS / "diff-1" / "for_a", history[20:])

    async with opened(tmp_path / "chat.db") as store:
        result = await taken(store, source)

    assert result.new == 30


async def test_nothing_false_is_stored_and_each_reason_is_counted(tmp_path: Path) -> None:
    """Its rows were checked when it was made; who sends it to us may have changed them since."""
    ann, mallory = Author("ann"), Author("mallory")
    good = ann.write("one")
    forged = row_of(ann.write("two"))
    forged["signature"] = mallory.identity.sign(forged["header"])
    swapped = row_of(ann.write("six")) | {"body": good.entry.body}
    renamed = row_of(ann.write("four")) | {"message_id": bytes(32)}
    misplaced = row_of(Author("ann", OTHER).write()) | {"in_channel": CHANNEL}
    empty = row_of(ann.write("five")) | {"header": None}
    loose = pa.schema([field.with_nullable(nullable=True) for field in IN_FILES])
    rows = [row_of(good), forged, swapped, renamed, misplaced, empty]
    consolidated_rows(tmp_path / "one", rows, schema=loose)

    async with opened(tmp_path / "chat.db") as store:
        result = await taken(store, tmp_path / "one")
        state = await store.journal.restore(CHANNEL)

    assert (result.new, result.known) == (1, 0)
    assert result.refused == {
        "the signature is not its author's": 1,
        "the body is not the one that was signed": 1,
        "a message of another channel came in this one": 1,
        OTHER_ID: 1,
        NO_ROW: 1,
    }
    assert [message_id for _, message_id in log_of(state.log)] == [good.entry.message_id]


# --- What is said --------------------------------------------------------------------------------


def test_channels_that_we_are_not_in_are_named_as_it_names_them(tmp_path: Path) -> None:
    profile(tmp_path / "data", membership())
    both = [one for channel in (CHANNEL, OTHER) for one in archive("ann", 3, channel=channel)]
    source = consolidated_rows(tmp_path / "one", map(row_of, both), {OTHER: "plans\x1b[2J"})

    result = imported(tmp_path / "data", source)

    assert result.exit_code == 0
    assert lines(result)[0] == "3 new, 0 already here, 0 refused."
    assert lines(result)[1].startswith("Left out: 3 of #plans")
    assert "\x1b" not in result.output


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, "\udcff", " " * (NAMES_MAX + 1)])
def test_names_that_cannot_be_read_keep_nothing_from_its_messages(
    tmp_path: Path, text: str
) -> None:
    history = Consolidated.find(consolidated(tmp_path, archive("ann", 3, channel=CHANNEL)))
    assert history is not None
    (history.directory / NAMES).write_text(text, errors="surrogateescape")

    found = Archive.find(tmp_path)

    assert (found.count(CHANNEL), found.names) == (3, {})


def test_a_name_that_an_export_does_not_know_is_kept(tmp_path: Path) -> None:
    rows = [row_of(one) for one in archive("ann", 3, channel=OTHER)]
    consolidated_rows(tmp_path / "one", rows, {OTHER: "plans"})
    export_rows(tmp_path / "two", rows, names={OTHER: ""})

    assert Archive.find(tmp_path).names == {OTHER: "plans"}


def manifest(directory: object) -> str:
    jobs = {"consolidate": {"directory": directory, "figures": {}}}
    return json.dumps({"format": 1, "jobs": jobs})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"format": 1}', "cannot be read"),
        ('{"format": 1, "jobs": {"consolidate": 3}}', "does not say where consolidate is"),
        ("[" * 100_000, "cannot be read"),
        ('{"format": 99, "jobs": {}}', "another version"),
        ('{"format": 1, "jobs": {}}', "no results of consolidate"),
        (manifest("runs/consolidate-2"), "consolidate-2/history is not there"),
        (manifest("../other"), "no place in runs"),
        (manifest("runs/consolidate-1/../../../other"), "no place in runs"),
        (manifest("runs/consolidate-" + "1" * 300), "no place in runs"),
        (manifest(None), "no place in runs"),
    ],
)
def test_a_damaged_manifest_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    profile(tmp_path / "data", membership())
    source = consolidated(tmp_path / "one", archive("ann", 3, channel=CHANNEL))
    shutil.copytree(source / RUNS / "consolidate-1", tmp_path / "other")
    (source / MANIFEST).write_text(text)

    result = imported(tmp_path / "data", source)

    assert result.exit_code == 2
    [line] = lines(result)
    assert said in line
    assert count(tmp_path / "data") == 0


async def test_a_damaged_file_stops_it_with_a_sentence(tmp_path: Path) -> None:
    """Everything before the damaged file is imported."""
    history = archive("ann", 2 * BATCH_MAX, channel=CHANNEL)
    consolidated(tmp_path / "one", history, size=BATCH_MAX)
    [_, file] = sorted((tmp_path / "one").rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:200])

    async with opened(tmp_path / "chat.db") as store:
        with pytest.raises(LocalError, match=r"part-00001\.parquet cannot be read .* again"):
            await taken(store, tmp_path / "one")
        state = await store.journal.restore(CHANNEL)

    assert len(log_of(state.log)) == BATCH_MAX


def test_a_file_without_a_column_is_no_history(tmp_path: Path) -> None:
    schema = IN_FILES.remove(IN_FILES.get_field_index("body"))
    consolidated_rows(tmp_path, [row_of(Author("ann").write())], schema=schema)

    with pytest.raises(LocalError, match="no column body"):
        list(Archive.find(tmp_path).rows(CHANNEL))


def test_a_manifest_of_something_else_is_passed_over(tmp_path: Path) -> None:
    export(tmp_path / "node", archive("ann", 3, channel=CHANNEL))
    (tmp_path / MANIFEST).write_text('{"name": "a page"}')

    assert Archive.find(tmp_path).count(CHANNEL) == 3


def test_what_lies_below_and_cannot_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a path that is too long for the system; rights would not keep root from it."""
    source = tmp_path.joinpath(*["d" * 255] * 13)
    source.mkdir(parents=True)
    monkeypatch.chdir(source)
    Path(*["e" * 255] * 3).mkdir(parents=True)

    with pytest.raises(LocalError, match=r"cannot be read \(File name too long\)"):
        Archive.find(source)


@pytest.mark.slow
def test_it_needs_neither_java_nor_spark(tmp_path: Path) -> None:
    profile(tmp_path / "data", membership())
    source = consolidated(tmp_path / "one", archive("ann", 3, channel=CHANNEL))
    script = """
import sys
sys.modules["pyspark"] = None  # importing it is an ImportError
from chat_tui.cli.main import main
main()
"""
    words = ["import", str(source), "--data-dir", str(tmp_path / "data")]
    without_java = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}

    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        env=without_java | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "3 new, 0 already here, 0 refused.\n"


# --- As Spark makes it ---------------------------------------------------------------------------


@pytest.mark.spark
async def test_what_spark_made_of_exports_is_what_they_are(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    from storage.pipeline.consolidate import job  # noqa: PLC0415
    from storage.pipeline.inputs.inputs import Inputs  # noqa: PLC0415  # the others need no pyspark
    from storage.pipeline.job_context import Work  # noqa: PLC0415
    from storage.pipeline.results.publishing import Results  # noqa: PLC0415

    history = archive("ann", 400, step=20 * MINUTE, channel=CHANNEL)
    plans = archive("bob", 20, channel=OTHER)
    exports, out = tmp_path / "exports", tmp_path / "one"
    false = row_of(Author("mallory").write()) | {"signature": bytes(64)}
    rows = [row_of(one) for one in [*history[:300], *plans]]
    export_rows(exports / "one", [*rows, false], names={CHANNEL: "tea", OTHER: "plans"})
    export(exports / "two", history[100:], ["b", "c"])
    Note(["b", "c"], {CHANNEL: "", OTHER: ""}, {}, {}).write_files(exports / "two")
    results = Results(out)

    with results.run("consolidate") as run:
        job.run(Work(spark, Inputs.find([exports]), results, run, tmp_path))
    assert not list(out.rglob(NOTE))
    of_exports, state = await held(tmp_path / "exports.db", exports, *history)
    of_history, same = await held(tmp_path / "history.db", out, *history)
    again, _ = await held(tmp_path / "history.db", out)

    assert (of_exports.new, of_exports.refused.total()) == (400, 1)
    assert (of_history.new, of_history.known, of_history.refused.total()) == (400, 0, 0)
    assert of_history.elsewhere == {OTHER: 20}
    assert (again.new, again.known) == (0, 400)
    assert state == same
    found = Archive.find(out)
    assert found.names == {CHANNEL: "tea", OTHER: "plans"}
    assert [row.message_id for row in found.rows(CHANNEL)] == [
        bytes.fromhex(one.entry.message_id) for one in history
    ]
