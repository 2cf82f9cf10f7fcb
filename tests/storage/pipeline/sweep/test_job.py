"""A sweep simulates what is asked for, shows what moves, and goes on where it was stopped."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_context import Work
from storage.pipeline.results.publishing import Results
from storage.pipeline.sweep import job
from storage.pipeline.sweep.grid import Grid
from storage.pipeline.sweep.simulation import Point, Simulation, simulated
from storage.results import Figures
from tests.support.chat_tui.appearing import appearing
from tests.support.interrupting import begun
from tests.support.storage.table_pages import stale

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

ONE = Point(
    peers=3, loss=20.0, t_min=1.0, t_max=6.0, filter_size=100, resend=5.0, messages=8, seed=1
)
SMALL = Grid(
    peers=(3,),
    loss=(20.0,),
    t_min=(0.5, 2.0),
    t_max=(4.0,),
    filter_size=(100,),
    resend=(5.0,),
    messages=8,
    seeds=2,
)
STARTED_WITHIN_S = 90.0
"""A JVM and a Python on a busy machine, and the first run."""


def test_each_value_is_varied_alone_around_the_first_ones() -> None:
    grid = Grid(
        peers=(5, 9),
        t_min=(1.0, 2.0),
        t_max=(6.0, 9.0),
        filter_size=(1,),
        resend=(3.0,),
        seeds=1,
    )

    points = [(point.peers, point.t_min, point.t_max) for point in grid.points()]

    assert points == [(9, 1, 6), (9, 2, 6), (9, 1, 9), (5, 1, 6), (5, 2, 6), (5, 1, 9)]
    assert grid.varied == ["t_min", "t_max"]


def test_every_combination_is_run_if_wanted() -> None:
    grid = Grid(
        peers=(5,),
        t_min=(1.0, 2.0),
        t_max=(6.0, 9.0),
        filter_size=(1,),
        resend=(3.0,),
        seeds=2,
        cross=True,
    )

    assert {(point.t_min, point.t_max, point.seed) for point in grid.points()} == {
        (t_min, t_max, seed) for t_min in (1, 2) for t_max in (6, 9) for seed in (0, 1)
    }


def test_a_point_says_what_the_engine_runs_with() -> None:
    parameters = ONE.scenario.parameters

    assert parameters.t_min == 1_000_000_000
    assert parameters.t_max == 6_000_000_000
    assert parameters.t_max_per_responder == 300_000_000
    assert parameters.bloom.capacity == 100
    assert ONE.scenario.link.loss == 0.2


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(PipelineError, match="T_min 8 s is above T_max 6 s"):
        Grid(t_min=(8.0,), t_max=(6.0,)).points()
    with pytest.raises(PipelineError, match="at most 100,000 runs"):
        Grid(seeds=100_000).points()


@pytest.mark.parametrize("listed", ["", "x", "1,,2", "0", "3,1e9", "nan"])
def test_a_list_that_is_none_is_refused(listed: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["sweep", "--t-min", listed, "--out", str(tmp_path)])

    assert result.exit_code == 2
    assert "not a list of numbers from 0.001 to 3600" in result.output


def test_a_run_is_the_same_every_time_and_says_what_it_cost() -> None:
    record = simulated(ONE)

    assert record == simulated(ONE)
    assert record["converged"]
    assert record["broken"] is None
    parts = ("content_bytes", "sync_bytes", "resend_bytes", "answer_bytes")
    assert record["bytes"] == sum(record[part] for part in parts)
    assert set(record) == set(job.RUNS.fieldNames())


def test_a_kept_run_counts_for_its_point_and_its_engine_only(tmp_path: Path) -> None:
    simulation = Simulation(str(tmp_path), "this engine")

    simulation(ONE)

    assert simulation.kept(ONE) == simulated(ONE)
    assert Simulation(str(tmp_path), "another engine").kept(ONE) is None
    simulation.path(ONE).write_text('{"peers": 3')
    assert simulation.kept(ONE) is None, "half a file is no run"


@pytest.mark.spark
def test_effects_compare_runs_that_differ_in_one_thing(spark: "SparkSession") -> None:
    def row(t_min: float, t_max: float, seed: int, seconds: float) -> tuple[Any, ...]:
        record = simulated_as(t_min=t_min, t_max=t_max, seed=seed, convergence_s=seconds)
        return job._row(record)

    rows = [row(1, 6, 0, 10), row(1, 6, 1, 20), row(1, 6, 2, 60), row(2, 6, 0, 5), row(1, 9, 0, 7)]
    runs = spark.createDataFrame(rows, job.RUNS)
    base = {"t_min": 1.0, "t_max": 6.0, "filter_size": 100, "resend": 5.0}

    found = job.effects(runs, ["t_min", "t_max"], base).orderBy("varied", "value").collect()

    shown = [(one.varied, one.value, one.converged, one.convergence_s) for one in found]
    assert shown == [
        ("t_max", 6, 3, 20),
        ("t_max", 9, 1, 7),
        ("t_min", 1, 3, 20),
        ("t_min", 2, 1, 5),
    ]
    assert found[0].bytes_a_line == 100


def simulated_as(**changes: float) -> dict[str, Any]:
    """Return a record as a run might have given it, with `changes`."""
    record = {field.name: 1 for field in job.RUNS.fields}
    measured = {"converged": True, "bytes": 800, "broken": None, "digest": ""}
    point = {"peers": 3, "filter_size": 100, "resend": 5.0, "loss": 20.0, "messages": 8}
    return record | measured | point | changes


def swept(spark: "SparkSession", out: Path, grid: Grid) -> tuple[Figures, list["Row"]]:
    """Run a sweep in this process; returns its figures and its runs."""
    results = Results(out)
    scratch = out.with_name(f"{out.name}-scratch")
    with results.locked(), results.run("sweep") as run:
        job.run(Work(spark, Inputs((), ()), results, run, scratch, {"grid": grid}))
    return run.figures, runs_of(spark, out)


def runs_of(spark: "SparkSession", out: Path) -> list["Row"]:
    """The published runs, in an order; their tables are as TABLES.md says."""
    published = Results(out).published("sweep")
    assert published is not None
    assert stale("sweep", published.directory) == []
    return sorted(spark.read.parquet(str(published.directory / "runs")).collect(), key=str)


@pytest.mark.spark
def test_a_stopped_sweep_leaves_the_last_result_and_the_next_goes_on(
    spark: "SparkSession", tmp_path: Path
) -> None:
    out = tmp_path / "out"
    figures, before = swept(spark, out, SMALL)
    assert figures["runs"] == len(before) == 4
    manifest = (out / "manifest.json").read_bytes()

    interrupted = stopped(out, signal.SIGINT)
    assert interrupted.returncode == 130, interrupted.stderr
    assert interrupted.stderr == f"chat-tui pipeline: Stopped; {out} keeps what was finished.\n"
    assert [path.name for path in (out / "runs").iterdir() if path.is_dir()] == ["sweep-1"]
    stopped(out, signal.SIGKILL)

    assert (out / "manifest.json").read_bytes() == manifest
    assert runs_of(spark, out) == before
    few = replace(SMALL, seeds=4)
    again, after = swept(spark, out, few)
    fresh, anew = swept(spark, tmp_path / "fresh", few)
    assert again["kept_from_before"] >= len(before) + 2, "both stopped ones had finished some"
    assert fresh["kept_from_before"] == 0
    assert after == anew, "no run differs for having been kept"
    assert again["effects"] == fresh["effects"]


def stopped(out: Path, sign: signal.Signals) -> "subprocess.CompletedProcess[str]":
    """Run `SMALL` with far more seeds as a command, and stop it when it has finished a run."""
    options = (
        "--peers 3 --loss 20 --t-min 0.5,2 --t-max 4 --filter 100 --resend 5 --messages 8 "
        "--seeds 2000 --master local[1] --memory 512m"
    )
    command = [sys.executable, "-m", "chat_tui", "pipeline", "sweep", *options.split()]
    with appearing(out / "sweep") as files, begun(*command, "--out", str(out)) as process:
        files.next(".json", STARTED_WITHIN_S, process.pid)
        process.send_signal(sign)
        said, complained = process.communicate(timeout=STARTED_WITHIN_S)
    return subprocess.CompletedProcess(command, process.returncode, said, complained)
