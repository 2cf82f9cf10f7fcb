"""Names of ours for Spark's jobs and stages: on its pages, in its event log."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DESCRIPTION: Final = "spark.job.description"
STAGE: Final = "callSite.short"
"""Properties of a thread; without the second, a stage has the name of a place in Spark's code."""


@contextmanager
def naming(spark: "SparkSession", name: str) -> Iterator[None]:
    """Name what Spark does in the block, as far as this thread asks for it."""
    context = spark.sparkContext
    before = {key: context.getLocalProperty(key) for key in (DESCRIPTION, STAGE)}
    for key in before:
        context.setLocalProperty(key, name)
    try:
        yield
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)  # type: ignore[arg-type]  # null takes it away
