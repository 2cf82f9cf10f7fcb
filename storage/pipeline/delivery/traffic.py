"""Traffic by purpose, repairs by who gave them, the slowest ways, and partitions that healed.

Columns and kinds that only newer logs have are read where they are: an older log has no protocol,
no route and no link, and says nothing of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.delivery.latency import in_us
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LINK_UP: Final = LogKind.LINK_UP.value
LINK_DOWN: Final = LogKind.LINK_DOWN.value

KINDS: Final = (
    LogKind.SENT.value,
    LogKind.RECEIVED.value,
    LogKind.DUPLICATE.value,
    LogKind.REPAIR_ANSWERED.value,
    LogKind.SESSION_ROUND.value,
    LINK_UP,
    LINK_DOWN,
)

LATER: Final = ("protocol", "route")
"""Columns that only newer logs have."""

KEPT_ROWS: Final = 1_000
"""Rows of the tables of links, nodes and repairs: those with the most."""

LINK_ROWS_MAX: Final = 200_000
"""Rows about links that are looked at for partitions."""

PARTITIONS_MAX: Final = 100
"""Partitions that are told of: the first ones."""

PARTITIONS: Final = "number int, begins_ns long, ends_ns long, links int"


def parts(log: "DataFrame") -> "Sequence[Column]":
    """Return what divides the rows of logs into traffic: one of `KINDS`, and to whom, and how.

    Args:
        log: the columns of `storage.archive.tables.LOG`

    Returns:
        kind string (null: another one), peer string (who asked, or the link's other end; null of
        other kinds), protocol string, route string (null: not recorded), link_ns long (of a row
        about a link; null of others)
    """
    of_link = F.col("kind").isin(LINK_UP, LINK_DOWN)
    of_two = of_link | (F.col("kind") == LogKind.REPAIR_ANSWERED.value)
    counts = F.col("kind").isin(list(KINDS))
    return [
        F.when(counts, F.col("kind")).alias("kind"),
        F.when(of_two, F.col("peer")).alias("peer"),
        *[F.when(counts, _or_null(log, name)).alias(name) for name in LATER],
        F.when(of_link, F.col("ts_ns")).alias("link_ns"),
    ]


def traffic(rows: "DataFrame") -> "DataFrame":
    """Return how often and how much of each kind every node noted.

    Args:
        rows: the columns of `storage.pipeline.delivery.rare_events.rare`

    Returns:
        node string, the columns of `parts` (kind is not null), rows long, bytes long
    """
    return (
        rows.where("kind is not null")
        .groupBy("kind", "node", "peer", *LATER, "link_ns")
        .agg(F.sum("rows").alias("rows"), F.sum("all_bytes").alias("bytes"))
    )


def _or_null(log: "DataFrame", name: str) -> "Column":
    return F.col(name) if name in log.columns else F.lit(None).cast("string")


def purposes(rows: "DataFrame") -> "DataFrame":
    """Return the bytes of each purpose.

    Args:
        rows: as of `traffic`

    Returns:
        kind string, protocol string, route string, rows long, bytes long; the most bytes first
    """
    return (
        rows.where("link_ns is null")
        .groupBy("kind", *LATER)
        .agg(F.sum("rows").alias("rows"), F.sum("bytes").alias("bytes"))
        .orderBy(F.desc("bytes"), "kind", *LATER)
        .limit(KEPT_ROWS)
    )


def repairers(rows: "DataFrame") -> "DataFrame":
    """Return who answered whom, when a message was asked for.

    Args:
        rows: as of `traffic`

    Returns:
        node string (who answered), peer string (who had asked), answers long, bytes long; the most
        answers first
    """
    return (
        rows.where((F.col("kind") == LogKind.REPAIR_ANSWERED.value) & F.col("peer").isNotNull())
        .groupBy("node", "peer")
        .agg(F.sum("rows").alias("answers"), F.sum("bytes").alias("bytes"))
        .orderBy(F.desc("answers"), "node", "peer")
        .limit(KEPT_ROWS)
    )


def reached(facts: "DataFrame", steps: Sequence[float]) -> "DataFrame":
    """Return how slow each link is: of some times, rising, how many its `SLOW` share reaches.

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        steps: times in microseconds

    Returns:
        author int, member int, step int: 0 if it reaches none
    """
    rank = F.ceil(F.count("*") * SLOW)
    sooner = [F.count(F.when(_took() < step, F.lit(1))) for step in steps]
    step = [F.when(count < rank, F.lit(1)).otherwise(0) for count in sooner]
    return (
        facts.where("sent_ns is not null and delivered_ns is not null and member != author")
        .groupBy("author", "member")
        .agg(reduce(add, step, F.lit(0)).cast("int").alias("step"))
    )


def slowest_links(
    facts: "DataFrame", members: "DataFrame", among: "DataFrame | None" = None
) -> "DataFrame":
    """Return how long messages took from each author to each node.

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        members: member int, channel string, node string
        among: author int, member int: links that the slowest ones are among; None: any

    Returns:
        author string, node string, channel string, deliveries long, p50_us long, p95_us long,
        most_us long, missing long (times that it was missing); the slowest first
    """
    nodes = members.select("member", "channel", "node")
    authors = members.select(F.col("member").alias("author"), F.col("node").alias("sender"))
    if among is not None:
        facts = facts.join(among.select("author", "member"), ["author", "member"])
    return (
        _timed(facts, "author", "member")
        .join(nodes, "member")
        .join(authors, "author")
        .select(F.col("sender").alias("author"), "node", "channel", *TIMED)
        .orderBy(F.desc("p95_us"), "author", "node")
        .limit(KEPT_ROWS)
    )


def slowest_nodes(facts: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return how long messages of all others took to each node.

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        members: member int, channel string, node string

    Returns:
        node string, channel string, and the other columns of `slowest_links`; the slowest first
    """
    return (
        _timed(facts, "member")
        .join(members.select("member", "channel", "node"), "member")
        .select("node", "channel", *TIMED)
        .orderBy(F.desc("p95_us"), "node", "channel")
        .limit(KEPT_ROWS)
    )


TIMED: Final = ("deliveries", "p50_us", "p95_us", "most_us", "missing")

ACCURACY: Final = 1_000
"""Of a percentile of one link: to a thousandth of its rank."""


SLOW: Final = 0.95
"""Share of a link's messages that took no longer than what links are sorted by."""

STEP_PERCENTS: Final = (75.0, 90.0, 95.0, 97.0, 98.0, 99.0, 99.5)
"""Of all latencies: times by which slow links are told from others, before they are sorted."""


def _took() -> "Column":
    return in_us(F.col("delivered_ns") - F.col("sent_ns"))


def _timed(facts: "DataFrame", *by: str) -> "DataFrame":
    took = _took()
    return (
        facts.where("sent_ns is not null and member != author")
        .groupBy(*by)
        .agg(
            F.count("delivered_ns").alias("deliveries"),
            F.percentile_approx(took, 0.5, ACCURACY).alias("p50_us"),
            F.percentile_approx(took, SLOW, ACCURACY).alias("p95_us"),
            F.max(took).alias("most_us"),
            F.count("missing_ns").alias("missing"),
        )
        .where("deliveries > 0")
    )


# --- Partitions --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Partition:
    """A time in which links were down: all that overlap are one."""

    begins_ns: int
    ends_ns: int
    links: int
    """Ends of links that were down meanwhile."""


def partitions_of(rows: Iterable[tuple[str, str | None, str, int]]) -> Sequence[Partition]:
    """Return the partitions that rows about links tell of: (node, peer, kind, link_ns).

    A link that never came up again is none: whoever left is not waited for.
    """
    went_down: dict[tuple[str, str | None], int] = {}
    outages: list[tuple[int, int]] = []
    for node, peer, kind, at in sorted(rows, key=lambda row: (row[3], row[0], row[1] or "")):
        if kind == LINK_DOWN:
            went_down.setdefault((node, peer), at)
        elif (began := went_down.pop((node, peer), None)) is not None:
            outages.append((began, at))
    found: list[Partition] = []
    for begins, ends in sorted(outages):
        if found and begins <= found[-1].ends_ns:
            last = found[-1]
            found[-1] = Partition(last.begins_ns, max(ends, last.ends_ns), last.links + 1)
        else:
            found.append(Partition(begins, ends, 1))
    return found[:PARTITIONS_MAX]


def link_rows(rows: "DataFrame") -> list[tuple[str, str | None, str, int]]:
    """Return the rows about links, of `traffic`; a few, and never more than a limit."""
    chosen = rows.where("link_ns is not null").select("node", "peer", "kind", "link_ns")
    return [tuple(row) for row in chosen.orderBy("link_ns").limit(LINK_ROWS_MAX).collect()]


def healed(messages: "DataFrame", partitions: Sequence[Partition]) -> "DataFrame":
    """Return how long each partition took to heal.

    Args:
        messages: sent_ns long, converged_ns long, expected long
        partitions: as of `partitions_of`

    Returns:
        number int, begins_ns long, ends_ns long, links int, messages long (sent meanwhile),
        late long (those that somebody got after it), healing_ns long (from its end until the last
        of these was everywhere; null: none was late), never long (those that are not everywhere)
    """
    few: list[Any] = [
        (number, one.begins_ns, one.ends_ns, one.links) for number, one in enumerate(partitions, 1)
    ]
    frame = messages.sparkSession.createDataFrame(few, PARTITIONS)
    meanwhile = F.col("sent_ns").between(F.col("begins_ns"), F.col("ends_ns"))
    after = F.col("sent_ns") + F.col("converged_ns") - F.col("ends_ns")
    return (
        F.broadcast(frame)
        .join(messages.select("sent_ns", "converged_ns", "expected"), meanwhile, "left")
        .groupBy("number", "begins_ns", "ends_ns", "links")
        .agg(
            F.count("sent_ns").alias("messages"),
            F.count(F.when(after > 0, F.lit(1))).alias("late"),
            F.max(F.when(after > 0, after)).alias("healing_ns"),
            F.count(
                F.when(F.col("converged_ns").isNull() & (F.col("expected") > 0), F.lit(1))
            ).alias("never"),
        )
        .orderBy("number")
    )
