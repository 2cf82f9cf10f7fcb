"""Sweep: how parameters and group sizes move convergence, latency and bytes, by simulation.

One task is one run. Each finished run is kept at once, so whatever stops a sweep, the next one
goes on from there.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it
from pyspark.sql.types import (
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from storage.pipeline.errors import PipelineError
from storage.pipeline.job_context import Work
from storage.pipeline.places.place import is_local
from storage.pipeline.sweep.grid import VARIED, Grid
from storage.pipeline.sweep.simulation import Simulation, code_digest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEPT: Final = "sweep"
"""Where finished runs are kept, beside the results."""

_INTEGERS: Final = ("peers", "filter_size", "messages", "seed")
_SETTINGS: Final = (*VARIED[:2], *VARIED[3:], "loss")
_LONGS: Final = (
    "bytes",
    "content_bytes",
    "sync_bytes",
    "resend_bytes",
    "answer_bytes",
    "lost_messages",
    "losses",
    "hints",
    "false_hints",
    "gaps",
    "failed",
)
_DOUBLES: Final = (
    "convergence_s",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "loss_p95_s",
    "requests_p50",
    "requests_p95",
    "responses_p50",
    "responses_p95",
    "simulated_s",
)

RUNS: Final = StructType(
    [
        *(StructField(name, IntegerType(), nullable=False) for name in _INTEGERS),
        *(StructField(name, DoubleType(), nullable=False) for name in _SETTINGS),
        StructField("converged", BooleanType()),
        *(StructField(name, DoubleType()) for name in _DOUBLES),
        *(StructField(name, LongType()) for name in _LONGS),
        StructField("digest", StringType()),
        StructField("broken", StringType()),
    ]
)
"""One row a run; what was measured is null where an invariant did not hold (`broken` says which).

Bytes count each frame once, however many receive it; requests and responses are per lost message.
"""


def run(work: Work) -> None:
    """Simulate what is not kept yet; write `runs` (`RUNS`) and `effects` (see `effects`)."""
    grid: Grid = work.options.get("grid", Grid())
    points = grid.points()
    directory = work.results.out / KEPT
    if not is_local(directory):
        raise PipelineError(
            f"sweep keeps each finished run as a file, which {work.results.out} is not for: name a "
            "directory that all computers see by --out."
        )
    directory.mkdir(exist_ok=True)
    simulation = Simulation(str(directory.absolute()), code_digest())
    due = [point for point in points if simulation.kept(point) is None]
    if due:
        # as many slices as runs: one task each
        work.spark.sparkContext.parallelize(due, len(due)).map(simulation).sum()
    records = [simulation.kept(point) for point in points]
    rows = [_row(record) for record in records if record is not None]
    runs = work.spark.createDataFrame(rows, RUNS).coalesce(1).cache()
    work.write("runs", runs)
    moved = effects(runs, grid.varied, grid.base).coalesce(1).cache()
    work.write("effects", moved)
    work.run.figures = {
        "findings": runs.where(F.col("broken").isNotNull()).count(),
        "runs": len(rows),
        "kept_from_before": len(points) - len(due),
        "not_converged": runs.where(~F.col("converged")).count(),
        "base": grid.base,
        "effects": [row.asDict() for row in moved.orderBy(moved.columns[:4]).collect()],
    }


def effects(
    runs: "DataFrame", varied: Sequence[str], base: Mapping[str, float] | None
) -> "DataFrame":
    """Return what each value of each parameter led to, as medians over seeds.

    Args:
        runs: `RUNS`
        varied: the parameters to look at, of `VARIED`
        base: what the others must be for a run to count; None: whatever they are

    Returns:
        peers int, loss double, varied string (a name of `varied`), value double, runs long,
        converged long, convergence_s double, p50_ms double, p99_ms double (latency),
        bytes_a_line double, requests double, responses double (both for each lost message)
    """
    alone = {
        name: " and ".join(f"{other} = {base[other]}" for other in VARIED if other != name)
        if base
        else "true"
        for name in varied
    }
    rows = ", ".join(f"'{name}', cast({name} as double), {alone[name]}" for name in varied)
    each = runs.where(F.col("broken").isNull()).select(
        "*", F.expr(f"stack({len(varied)}, {rows}) as (varied, value, counts)")
    )
    medians = {
        "convergence_s": F.col("convergence_s"),
        "p50_ms": F.col("latency_p50_ms"),
        "p99_ms": F.col("latency_p99_ms"),
        "bytes_a_line": F.col("bytes") / F.col("messages"),
        "requests": F.col("requests_p50"),
        "responses": F.col("responses_p50"),
    }
    return (
        each.where("counts")
        .groupBy("peers", "loss", "varied", "value")
        .agg(
            F.count("*").alias("runs"),
            F.count_if("converged").alias("converged"),
            *(F.median(column).alias(name) for name, column in medians.items()),
        )
    )


def _row(record: dict[str, Any]) -> tuple[Any, ...]:
    """Return a kept run as a row of `RUNS`; JSON makes no difference between 1 and 1.0."""
    values = ((record.get(field.name), field.dataType) for field in RUNS.fields)
    return tuple(
        float(value) if isinstance(kind, DoubleType) and value is not None else value
        for value, kind in values
    )
