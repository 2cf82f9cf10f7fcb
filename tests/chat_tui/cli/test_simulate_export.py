"""`chat-tui sim --export`: what the nodes of a simulated group hold and noted, as Parquet."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from chat_tui.cli import main
from storage.archive.layout import Layout
from storage.archive.simulated import SimulatedExport
from storage.archive.tables import HISTORY_DIR, LOG_DIR, NOTE, sync_hash, sync_words
from storage.pipeline.inputs.inputs import Inputs
from sync.errors import LocalError
from sync.group.status import Status
from sync.machine import SECOND
from sync.runner.log_rows import LogKind
from sync.sim.network import Link
from sync.sim.node import Node
from sync.sim.scenario import Crash, Partition, Recorded, Scenario, run
from tests.support.storage.exports import note_of, read

BAD = Scenario(
    peers=5,
    messages=80,
    link=Link(loss=0.2, duplicate=0.1, reorder=0.1),
    seed=7,
    troubles=(
        Partition(5 * SECOND, 5 * SECOND, 2),
        Crash(6 * SECOND, 3 * SECOND, 1),
        Crash(9 * SECOND, 3 * SECOND, 3, in_commit=True),
    ),
    reconcile=True,
)


if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Node]]:
    """The export of a group in trouble, and its nodes as they were at the end."""
    out = tmp_path_factory.mktemp("simulated") / "out"
    nodes: list[Node] = []

    with SimulatedExport(out, BAD.seed) as export:

        def ended(ours: Sequence[Node]) -> None:
            nodes.extend(ours)
            export.recorded.ended(ours)

        outcome = run(BAD, recorded=Recorded(export.recorded.recording, ended))
    assert outcome.converged
    return out, nodes


def test_the_history_is_what_every_disk_holds(exported: tuple[Path, list[Node]]) -> None:
    out, nodes = exported
    rows = {(row["node"], row["message_id"].hex()): row for row in read(out, HISTORY_DIR)}

    held = {
        (node.identity.peer_id, message_id): row
        for node in nodes
        for message_id, row in node.disk.rows.items()
        if row.status is not Status.PARKED
    }

    assert rows.keys() == held.keys()
    for place, kept in held.items():
        row, entry = rows[place], kept.message.entry
        words = tuple(row[f"sync_{number}"] for number in range(4))
        assert words == sync_words(kept.message.waku_hash)
        assert hashlib.sha256(row["header"]).hexdigest() == entry.message_id
        assert (row["header"], row["body"]) == (entry.header_bytes, entry.body)
        assert row["delivered"] == (kept.status is Status.DELIVERED)


def test_the_history_is_sorted_by_time_and_hash(exported: tuple[Path, list[Node]]) -> None:
    out, _ = exported

    places = [
        (row["created_ns"], sync_hash(row[f"sync_{number}"] for number in range(4)))
        for row in read(out, HISTORY_DIR)
    ]

    assert places == sorted(places)


def test_every_boot_has_all_the_rows_that_the_note_says(
    exported: tuple[Path, list[Node]],
) -> None:
    out, nodes = exported
    counted: dict[tuple[str, int], list[int]] = defaultdict(list)
    rows = read(out, LOG_DIR)
    for row in rows:
        counted[row["node"], row["boot"]].append(row["seq"])

    note = note_of(out)
    boots = {(one["node"], one["boot"]): one for one in note["more"]["boots"]}

    assert note["nodes"] == [node.identity.peer_id for node in nodes]
    assert set(note["hosts"].values()) == {"sim-7"}, "one clock for all"
    assert {row["run"] for row in rows} == {"sim-7"}
    assert counted.keys() <= boots.keys()
    for place, one in boots.items():
        assert sorted(counted[place]) == list(range(1, one["last"] + 1))
    assert [one["boot"] for one in boots.values()].count(2) == 2


def test_the_log_is_sorted_and_its_messages_are_in_the_history(
    exported: tuple[Path, list[Node]],
) -> None:
    out, _ = exported
    held = {row["message_id"] for row in read(out, HISTORY_DIR)}

    rows = read(out, LOG_DIR)

    places = [(row["ts_ns"], row["node"], row["seq"]) for row in rows]
    assert places == sorted(places)
    assert {row["message_id"] for row in rows} - {None} <= held
    rare = {LogKind.LOST, LogKind.FAILED, LogKind.REFUSED}  # nobody is hostile here
    assert {row["kind"] for row in rows} >= set(LogKind) - rare


def sim(*options: str) -> Result:
    few = ["--peers", "3", "--messages", "5", "--partition", "0", "--crash", "0"]
    return CliRunner().invoke(main.cli, ["sim", *few, *options])


def test_several_seeds_are_an_export_each(tmp_path: Path) -> None:
    result = sim("--seeds", "2", "--seed", "3", "--export", str(tmp_path / "out"))

    assert result.exit_code == 0
    runs = {row["run"] for seed in (3, 4) for row in read(tmp_path / "out" / f"seed-{seed}", "log")}
    assert runs == {"sim-3", "sim-4"}


def test_a_run_that_fails_is_exported_too(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = sim(
        "--seeds", "1", "--loss", "90", "--duration", "1", "--every", "1", "--export", str(out)
    )

    assert result.exit_code == 1
    assert len(read(out, HISTORY_DIR)) >= 5
    assert (out / NOTE).exists()


def test_only_a_new_or_empty_directory_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")

    result = sim("--seeds", "1", "--export", str(tmp_path))

    assert result.exit_code == 2
    assert "remove what is in it, or name a new one" in result.output
    assert (tmp_path / "letter.txt").read_text() == "dear"
    with (
        pytest.raises(LocalError, match="cannot be written"),
        SimulatedExport(tmp_path / "letter.txt" / "out", 1),
    ):
        pass


@pytest.mark.spark
def test_the_pipeline_reads_it(exported: tuple[Path, list[Node]], spark: "SparkSession") -> None:
    out, nodes = exported

    inputs = Inputs.find([out])

    assert inputs.history(spark).count() == len(read(out, HISTORY_DIR))
    counts = {
        row["kind"]: row["count"] for row in inputs.log(spark).groupBy("kind").count().collect()
    }
    assert sum(counts.values()) == len(read(out, LOG_DIR))
    assert counts.keys() <= set(LogKind)
    assert len(inputs.notes[0].nodes) == len(nodes)


def test_each_node_may_have_an_export_of_its_own(tmp_path: Path) -> None:
    """With the rows of one export of all, and known as one world."""
    scenario = Scenario(peers=3, messages=6, seed=5, troubles=(Crash(2 * SECOND, SECOND, 1),))
    for layout in Layout:
        with SimulatedExport(tmp_path / layout, scenario.seed, layout) as export:
            run(scenario, recorded=export.recorded)

    found = Inputs.find([tmp_path / Layout.NODES])

    assert [note.nodes for note in found.notes] == [[one.name] for one in found.directories]
    assert len(found.directories) == scenario.peers
    assert sum(len(note_of(one)["more"]["boots"]) for one in found.directories) == 4
    for table in (HISTORY_DIR, LOG_DIR):
        together = read(tmp_path / Layout.ONE, table)
        each = [row for one in found.directories for row in read(one, table)]
        assert sorted(map(repr, each)) == sorted(map(repr, together))


def test_too_many_nodes_for_an_export_each_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.archive.simulated.OPEN_MAX", 2)

    with (
        pytest.raises(LocalError, match="name fewer of them, or --layout one"),
        SimulatedExport(tmp_path / "out", 5, Layout.NODES) as export,
    ):
        run(Scenario(peers=3, messages=2, seed=5), recorded=export.recorded)

    assert not (tmp_path / "out").exists()
