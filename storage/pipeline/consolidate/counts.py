"""Counts of what was consolidated, of some days and of all together."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.consolidate.spans import Span
from storage.pipeline.consolidate.transforms import DAY_NAME
from storage.pipeline.consolidate.verify import REASON
from storage.pipeline.inputs.batches import files_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REASONS_MAX: Final = 100
"""Different reasons that are told with the figures."""


def counted(
    spans: Sequence[Span], held: "DataFrame", false: "DataFrame", quarantine: Path
) -> list[Span]:
    """Return spans with the counts of their rows.

    Args:
        spans: those whose rows these are.
        held: as of `storage.pipeline.consolidate.transforms.held`.
        false: as of `storage.pipeline.consolidate.transforms.quarantine`.
        quarantine: where that one is written; nothing is asked of an empty one.
    """
    of_right = held.groupBy(DAY_NAME).agg(
        F.count_distinct("message_id").alias("entries"), F.sum(F.bit_count("held")).alias("holders")
    )
    days: dict[str, Counter[str]] = {}
    reasons: dict[str, Counter[str]] = {}
    for row in of_right.collect():
        days[row[DAY_NAME]] = Counter(entries=row["entries"], holders=row["holders"])
    if files_of(quarantine):
        for row in false.groupBy(DAY_NAME).count().collect():
            days.setdefault(row[DAY_NAME], Counter())["false"] = row["count"]
        told = false.groupBy(DAY_NAME, REASON).count().orderBy(F.desc("count"), REASON)
        for row in told.limit(REASONS_MAX * len(spans)).collect():
            reasons.setdefault(row[DAY_NAME], Counter())[row[REASON]] = row["count"]
    return [
        span.with_figures(
            {
                **_sum(of_day for day, of_day in days.items() if span.holds(day)),
                "reasons": _sum(of_day for day, of_day in reasons.items() if span.holds(day)),
            }
        )
        for span in spans
    ]


def figures_of(spans: Sequence[Span]) -> dict[str, Any]:
    """Return the figures of all together."""
    sums = {
        name: sum(int(span.figures.get(name, 0)) for span in spans)
        for name in ("entries", "holders", "false")
    }
    reasons = Counter(_sum(span.figures.get("reasons", {}) for span in spans))
    most = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))[:REASONS_MAX]
    return {
        "rows": sums["holders"] + sums["false"],
        "entries": sums["entries"],
        "holders": sums["holders"],
        "quarantined": dict(most),
        "findings": sums["false"],
    }


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)
