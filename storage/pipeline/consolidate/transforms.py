"""Many nodes' rows to one history: who is in a channel, which rows differ, who holds which.

Most rows of a history are copies: 64 nodes, 64 times the same bytes. So rows are first put together
where all their bytes are equal; one bit for each node remembers whose they were. From there on
there is one row an entry: it is hashed, checked, sorted and moved once, not 64 times.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says
from pyspark.sql.types import BooleanType, StructField, StructType

from storage.archive.tables import HISTORY
from storage.pipeline.consolidate.spans import name_of
from storage.pipeline.consolidate.verify import CHOSEN, COLUMNS, REASON, verified
from storage.pipeline.inputs.file_ends import FileEnd
from sync.machine import DAY

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WORD: Final = 64
"""Members that a long has bits for."""

NOBODY: Final = -1
"""Word of rows whose node is no member: their file says that it has rows of others alone."""

NAMELESS: Final = 2**31 - 1
"""Word of rows that name no node: they have no bit among those of others."""

DAY_NAME: Final = "day"
"""Column, and part of the path, of each table that is kept by days."""

FALSE_ID: Final = "the id is not the SHA-256 of the header"
NO_NODE: Final = "no node"


def with_day(rows: "DataFrame") -> "DataFrame":
    """Say of which day each row is: day string, as YYYY-MM-DD in UTC; 1970 where there is no time.

    Args:
        rows: created_ns long, and more
    """
    return rows.withColumn(DAY_NAME, _as_text(_day_number()))


def _day_number() -> "Column":
    """Return the number of the day of `created_ns`, as an int; that of 1970-01-01 is 0."""
    earlier = F.expr(f"CASE WHEN created_ns % {DAY}L < 0 THEN 1 ELSE 0 END")
    return F.coalesce(F.expr(f"created_ns div {DAY}L") - earlier, F.lit(0)).cast("int")


def _as_text(number: "Column") -> "Column":
    day = F.date_add(F.lit("1970-01-01").cast("date"), number)
    return F.date_format(day, "yyyy-MM-dd")


def present(rows: "DataFrame") -> "DataFrame":
    """Return who has rows of which channel and day, each once.

    Args:
        rows: channel string, node string, created_ns long, and more

    Returns:
        channel string, node string, day string
    """
    # a day is written out once each, not once a row
    found = rows.select("channel", "node", _day_number().alias("number")).distinct()
    return found.select("channel", "node", _as_text(F.col("number")).alias(DAY_NAME))


def present_by(ends: Iterable[FileEnd]) -> tuple[set[tuple[str, str, str]], list[Path]]:
    """Return who has rows of which channel and day, by what files say of themselves.

    Nearly all files are of one node, one channel and one day; to read their rows would tell no
    more.

    Returns:
        channels, nodes and days, as of `present`; the files that do not say it
    """
    found, others = set[tuple[str, str, str]](), list[Path]()
    for end in ends:
        if not end.rows:
            continue
        try:
            said = [end.ends("channel"), end.ends("node"), end.days("created_ns")]
        except UnicodeDecodeError:
            said = [None]
        if any(one is None or one.least != one.most for one in said):
            others.append(end.path)
        else:
            channel, node, day = (one.least for one in said if one is not None)
            found.add((channel, node, name_of(day)))
    return found, others


def members_of(there: "DataFrame", before: "DataFrame | None" = None) -> "DataFrame":
    """Number the nodes of each channel; those that had a number keep it.

    What was consolidated before has their bits.

    Args:
        there: channel string, node string, and more
        before: as this returns it

    Returns:
        channel string, node string, word int, bit int: from 0 on, `WORD` bits a word; what names
        no node has `NAMELESS` and 0
    """
    is_named = F.col("node") != ""
    nodes = there.select("channel", "node").distinct()
    if before is None:
        known = nodes.withColumn("had", F.lit(None).cast("long"))
    else:
        had = (F.col("word") * WORD + F.col("bit")).cast("long").alias("had")
        numbered = before.where(is_named).select("channel", "node", had)
        known = nodes.join(numbered, ["channel", "node"], "left")
    last = F.max("had").over(Window.partitionBy("channel"))
    fresh = F.row_number().over(
        Window.partitionBy("channel", F.col("had").isNull()).orderBy(~is_named, "node")
    )
    number = F.coalesce(F.col("had"), F.coalesce(last, F.lit(-1)) + fresh)
    word, bit = F.floor(F.col("number") / WORD), F.col("number") % WORD
    return known.withColumn("number", number).select(
        "channel",
        "node",
        F.when(is_named, word).otherwise(NAMELESS).cast("int").alias("word"),
        F.when(is_named, bit).otherwise(0).cast("int").alias("bit"),
    )


def variants(rows: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Put rows together that differ in nothing but their node.

    Args:
        rows: the columns of `HISTORY`
        members: as of `members_of`

    Returns:
        `COLUMNS`, word int (`NOBODY`: of nodes that are no member), held long, delivered long: a
        bit for each member of that word
    """
    mine = F.expr("shiftleft(1L, bit)")
    nothing = F.lit(0).cast("long")
    return (
        rows.join(members, ["channel", "node"], "left")
        .fillna({"word": NOBODY, "bit": 0})
        .groupBy(*COLUMNS, "word")
        .agg(
            F.bit_or(mine).alias("held"),
            F.bit_or(F.when(F.col("delivered"), mine).otherwise(nothing)).alias("delivered"),
        )
    )


def false_by_word() -> "Column":
    """Return what is wrong with a variant that names no node, null if it names one."""
    return F.when(F.col("word") == NAMELESS, F.lit(NO_NODE))


def checked(found: "DataFrame", false: "Column | None" = None) -> "DataFrame":
    """Check each variant: that its id is the hash of the header, and all else by `verify`.

    Args:
        found: as of `variants`
        false: what is wrong with it besides, null if nothing is

    Returns:
        the same and reason string, null if it is right, chosen boolean: it is the one right row of
        its id that the history has
    """
    is_hash = F.col("message_id").eqNullSafe(F.unhex(F.sha2("header", 256)))
    # a column, not two ways from here on: a condition on what was grouped by would be moved before
    # the grouping, and each copy of a header be hashed
    false_id = F.when(~is_hash, F.lit(FALSE_ID))
    hashed = found.withColumn(REASON, false_id if false is None else F.coalesce(false, false_id))
    # the smallest of several signatures: the same one wherever this runs
    by_id = hashed.repartition("message_id").sortWithinPartitions(
        "message_id",
        "signature",
        *(F.col(name).desc() for name in ("backlink", "skiplink", "reply_to")),
    )
    schema = StructType([*hashed.schema, StructField(CHOSEN, BooleanType())])
    return by_id.mapInArrow(verified, schema)


def history(found: "DataFrame", bits: "DataFrame") -> "DataFrame":
    """Return the one history: one right row for each id, by channel, day and place in the chat.

    Args:
        found: as of `checked`
        bits: as of `held`

    Returns:
        the columns of `HISTORY` without node, and day string, sorted by (channel, day, lamport,
        message_id); delivered says whether any node did
    """
    order = ["channel", DAY_NAME, "lamport", "message_id"]
    anywhere = bits.groupBy("message_id").agg(F.bool_or(F.col("delivered") != 0).alias("delivered"))
    chosen = found.where(F.col(CHOSEN)).drop("delivered").join(anywhere, "message_id")
    return (
        with_day(chosen)
        .select(*(name for name in HISTORY.names if name != "node"), DAY_NAME)
        .repartitionByRange(*order)
        .sortWithinPartitions(*order)
    )


def held(found: "DataFrame", parts: int) -> "DataFrame":
    """Return who holds which entry, in bits, rows of one day in at most `parts` tasks.

    Args:
        found: as of `checked`
        parts: tasks for the rows of one day, at most

    Returns:
        channel string, message_id binary, word int, held long, delivered long, day string
    """
    # a task writes a file for each of its days: if each had some of all days, these would be many
    part = F.pmod(F.hash("message_id"), F.lit(parts))
    right = with_day(found.where(F.col(REASON).isNull())).withColumn("part", part)
    return (
        right.repartition(DAY_NAME, "part")
        .groupBy(DAY_NAME, "part", "channel", "message_id", "word")
        .agg(F.bit_or("held").alias("held"), F.bit_or("delivered").alias("delivered"))
        .select("channel", "message_id", "word", "held", "delivered", DAY_NAME)
    )


def spread(bits: "DataFrame", members: "DataFrame", column: str) -> "DataFrame":
    """Give each bit of a long a row of its own, with the node that it stands for.

    Args:
        bits: channel string, word int, `column` long, and more
        members: as of `members_of`
        column: whose bits these are

    Returns:
        the same and node string, bit int
    """
    return bits.join(members, ["channel", "word"]).where(is_set(column))


def is_set(column: str) -> "Column":
    """Return the condition that the bit numbered `bit` is 1 in a column of longs."""
    return F.expr(f"(shiftright({column}, bit) & 1L) = 1L")


def holders(bits: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return who holds which entry, a row for each.

    Args:
        bits: as of `held`
        members: as of `members_of`

    Returns:
        message_id binary, node string, channel string, delivered boolean, day string
    """
    return spread(bits, members, "held").select(
        "message_id", "node", "channel", is_set("delivered").alias("delivered"), DAY_NAME
    )


def quarantine(found: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return the false rows of each node, with what is wrong.

    Args:
        found: as of `checked`
        members: as of `members_of`

    Returns:
        the columns of `HISTORY`, reason string and day string, that of the row's own claim
    """
    false = with_day(found.where(F.col(REASON).isNotNull()))
    rows = spread(false, members, "held").withColumn("delivered", is_set("delivered"))
    return rows.select(*HISTORY.names, REASON, DAY_NAME)
