"""Query plans of what a Spark session ran, as it keeps them for its pages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCANS: Final = re.compile(r"^\(\d+\) Scan parquet.*?(?=^\(\d+\)|\Z)", re.MULTILINE | re.DOTALL)
LOCATION: Final = re.compile(r"^Location: .*$", re.MULTILINE)
FINAL: Final = "== Initial Plan =="
"""Ends the plan that was carried out at last."""


@dataclass(slots=True)
class Plans:
    """The plans of queries, by the order in which they ran."""

    texts: list[str] = field(default_factory=list)

    def scans(self, table: str) -> int:
        """Return how often files of a table were read, by the name of its directory."""
        found = 0
        for text in self.texts:
            for scan in SCANS.findall(text):
                location = LOCATION.search(scan)
                found += location is not None and f"/{table}" in location[0]
        return found

    def steps(self, *names: str) -> list[str]:
        """Return the headings of steps that have one of these words in them."""
        lines = [line for text in self.texts for line in text.splitlines()]
        return [line for line in lines if any(name in line for name in names)]


@contextmanager
def recorded(spark: "SparkSession") -> Iterator[Plans]:
    """Collect the plans of all queries that end in the block."""
    java: Any = spark._jsparkSession
    store = java.sharedState().statusStore()
    before = store.executionsCount()
    plans = Plans()
    yield plans
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    ran = store.executionsList()
    for at in range(before, ran.size()):
        text = ran.apply(at).physicalPlanDescription()
        plans.texts.append(text.partition(FINAL)[0])
