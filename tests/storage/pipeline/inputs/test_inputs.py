"""Exports are found and looked at before anything runs."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.archive import tables
from storage.archive.exporter import Exporter, Wanted
from storage.archive.simulated import SimulatedExport
from storage.archive.tables import Note
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from sync.errors import LocalError
from sync.sim.network import Link
from sync.sim.scenario import Scenario, run
from tests.support.storage.archived import export_log
from tests.support.storage.exports import Owner, history, log_of
from tests.support.storage.stores import delivered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def export(directory: Path) -> Path:
    """Write an export with one row in its log; returns `directory`."""
    export_log(directory)
    return directory


def test_exports_are_found_where_they_are_and_below(tmp_path: Path) -> None:
    one, two = export(tmp_path / "host" / "one"), export(tmp_path / "host" / "two")

    assert list(Inputs.find([tmp_path]).directories) == [one, two]
    assert list(Inputs.find([one, tmp_path / "host"]).directories) == [one, two]


def test_an_export_that_is_named_in_two_ways_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = export(tmp_path / "host" / "one"), export(tmp_path / "host" / "two")
    link, beside = tmp_path / "link", tmp_path / "host" / "beside"
    link.symlink_to(one)
    beside.symlink_to(two)
    monkeypatch.chdir(tmp_path)

    again = [Path("host/one"), one, link, Path("host/../link")]
    assert list(Inputs.find(again).directories) == [Path("host/one")]
    assert len(Inputs.find([tmp_path]).directories) == 2


def test_no_export_is_said_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="chat-tui export DIR"):
        Inputs.find([tmp_path])
    with pytest.raises(PipelineError, match="There is no directory"):
        Inputs.find([tmp_path / "nowhere"])


def test_another_format_is_refused(tmp_path: Path) -> None:
    directory = export(tmp_path / "one")
    note = json.loads((directory / tables.NOTE).read_text())
    (directory / tables.NOTE).write_text(json.dumps(note | {"format": 99}))

    with pytest.raises(PipelineError, match="format 99"):
        Inputs.find([tmp_path])


@pytest.mark.parametrize("wrong", [{"nodes": 5}, {"channels": 5}, {"hosts": "ab"}, {"more": 1}])
def test_a_note_that_is_none_is_refused(wrong: dict[str, object], tmp_path: Path) -> None:
    directory = export(tmp_path / "one")
    note = json.loads((directory / tables.NOTE).read_text())
    (directory / tables.NOTE).write_text(json.dumps(note | wrong))

    with pytest.raises(PipelineError, match="cannot be read"):
        Inputs.find([tmp_path])


def test_groups_that_never_met_are_not_taken_for_one(tmp_path: Path) -> None:
    for seed in (1, 2):
        directory = export(tmp_path / f"seed-{seed}")
        Note(["ab"], {}, {}, {tables.WORLD: f"sim-{seed}"}).write_files(directory)

    with pytest.raises(PipelineError, match=r"2 groups that never met.*seed-1"):
        Inputs.find([tmp_path])
    assert Inputs.find([tmp_path / "seed-2"]).directories


@pytest.mark.parametrize("again", [True, False])
def test_an_export_that_was_interrupted_is_refused_until_it_is_finished(
    again: bool,
    tmp_path: Path,
) -> None:
    """Its days are of two times: what was noted between them would be taken for lost."""
    owner, out = Owner(tmp_path), tmp_path / "out"
    owner.note(*log_of(0))
    asyncio.run(owner.hold(delivered(*history(8))))
    if again:
        owner.export(out)
    owner.note(*log_of(0, 1))

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Exporter(owner.directory, out, Wanted()).run(interrupt)
    with pytest.raises(PipelineError, match=f"not whole.*`chat-tui export {out}` finishes it"):
        Inputs.find([tmp_path])

    owner.export(out)

    assert Inputs.find([tmp_path]).directories == [out]


def test_simulations_of_one_seed_are_groups_of_their_own(tmp_path: Path) -> None:
    """The same people with the same logs write other things: each would seem to equivocate."""
    for name, loss in (("calm", 0.0), ("again", 0.0), ("lossy", 0.3)):
        with SimulatedExport(tmp_path / name, 7) as export:
            link = Link(loss=loss)
            run(Scenario(peers=3, messages=4, seed=7, link=link), recorded=export.recorded)

    with pytest.raises(PipelineError, match="2 groups that never met, each simulation one"):
        Inputs.find([tmp_path])
    both = [tmp_path / "again", tmp_path / "calm"]
    assert Inputs.find(both).directories == both, "one group, exported twice"


def test_an_export_that_did_not_begin_is_as_whole_as_before(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    asyncio.run(owner.hold(delivered(*history(8))))
    owner.export(out)

    with pytest.raises(LocalError, match="There is no channel coffee"):
        owner.export(out, Wanted("coffee"))

    assert Inputs.find([tmp_path]).directories == [out]


@pytest.mark.spark
def test_tables_of_several_exports_are_one(tmp_path: Path, spark: "SparkSession") -> None:
    export(tmp_path / "one")
    export(tmp_path / "two")

    inputs = Inputs.find([tmp_path])

    rows = inputs.log(spark).select("channel", "message_id", "peer").collect()
    assert [tuple(row) for row in rows] == [("0010", bytearray(b"\x01" * 32), None)] * 2
    assert inputs.history(spark).count() == 0
