"""Query plans of what a Spark session ran, as it keeps them for its pages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCANS: Final = re.compile(r"^\(\d+\) Scan parquet.*?(?=^\(\d+\)|\Z)", re.MULTILINE | re.DOTALL)
LOCATION: Final = re.compile(r"^Location: .*$", re.MULTILINE)
STEP: Final = r"^\(\d+\) {}\b.*?^Input \[\d+\]: \[(.*?)\]"
WINDOW: Final = re.compile(STEP.format("Window"), re.MULTILINE | re.DOTALL)
HANDED: Final = re.compile(STEP.format("BroadcastExchange"), re.MULTILINE | re.DOTALL)
INITIAL: Final = "== Initial Plan =="
"""Begins the plan as it was before it was carried out."""


@dataclass(slots=True)
class Plans:
    """The plans of queries over the exports in `exports`, in the order in which they ran."""

    exports: Path
    texts: list[str] = field(default_factory=list)

    def reads(self, text: str, table: str) -> int:
        """Return how often a plan reads a table of the exports."""
        found = 0
        for scan in SCANS.findall(text):
            location = LOCATION.search(scan)
            found += location is not None and f"{self.exports}/{table}" in location[0]
        return found

    def scans(self, table: str) -> int:
        """Return how often all of them read a table of the exports."""
        return sum(self.reads(text, table) for text in self.texts)

    def steps(self, *names: str) -> list[str]:
        """Return the steps that have one of these words in their headings, with what they do."""
        found = []
        for text in self.texts:
            parts = re.split(r"^(?=\(\d+\) )", text, flags=re.MULTILINE)
            found += [part for part in parts if any(name in part.split("\n")[0] for name in names)]
        return found

    def handed(self) -> set[str]:
        """Return the rows that every task was given, by their columns."""
        found = set()
        for text in self.texts:
            found |= {_names(columns) for columns in HANDED.findall(text)}
        return found

    def windows(self) -> set[str]:
        """Return the rows of each window by their columns, but those that Spark named itself."""
        found = set()
        for text in self.texts:
            found |= {_names(columns) for columns in WINDOW.findall(text)}
        return found


def _names(columns: str) -> str:
    """Return the names of columns, but those that Spark gave itself."""
    names = [re.sub(r"#\d+L?$", "", name) for name in columns.split(", ")]
    return " ".join(name for name in names if not name.startswith("_w"))


@contextmanager
def recorded(spark: "SparkSession", exports: Path) -> Iterator[Plans]:
    """Collect the plans of all queries that end in the block."""
    java: Any = spark._jsparkSession
    bus: Any = spark.sparkContext._jsc.sc().listenerBus()
    bus.waitUntilEmpty()
    store = java.sharedState().statusStore()
    before = {
        store.executionsList().apply(at).executionId()
        for at in range(store.executionsList().size())
    }
    plans = Plans(exports)
    yield plans
    bus.waitUntilEmpty()
    ran = store.executionsList()
    for at in range(ran.size()):
        one = ran.apply(at)
        if one.executionId() not in before:
            plans.texts.append(one.physicalPlanDescription().partition(INITIAL)[0])
