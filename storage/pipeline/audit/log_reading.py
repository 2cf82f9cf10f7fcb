"""One reading of the logs for all rules: of each row, what it says to each of them.

A log has a row for nearly each bit of a history, and reading, sorting or joining that many costs
more than all the rest. So each row is met once with what is known of its message, and what it says
to all rules is grouped together, down to the little that can break one: see `log_findings`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.tables import BIGINT_MAX
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WORD_BITS: Final = 6
"""A long has 2**6 bits: one for each `seq` of a stretch."""

LAST_BIT: Final = 2**WORD_BITS - 1

SEQ_BITS: Final = 40
"""Where one long stands for a start and a `seq` in it: for how many rows there is room."""

BOOTS_MAX: Final = 2 ** (LAST_BIT - SEQ_BITS) - 1

ROW: Final = (
    "struct<run: string, boot: bigint, node: string, at: bigint, "
    "channel: string, message_id: binary, lamport: bigint>"
)

SAID: Final = {
    "about": "bigint",
    "own": "bigint",
    "child": "bigint",
    "lost": "bigint",
    "row": ROW,
    "bits": "bigint",
}
"""Words of a row to one rule; the columns of the other rules are null."""


def relations(history: "DataFrame") -> "DataFrame":
    """Return of which messages a delivery tells something: of its parents, and of its own.

    Of its own only where that has children. Messages are numbers here that nearly never coincide.

    Args:
        history: message_id binary, parents array<binary>, and more

    Returns:
        number long: what is delivered, about long, own boolean: both are one message, and then
        alone long: another number of it, null where the first is that of another parent too
    """
    parent = F.explode("parents").alias("parent")
    edges = history.select(F.xxhash64("message_id").alias("number"), parent).select(
        "number", F.xxhash64("parent").alias("about"), _other_number("parent").alias("alone")
    )
    # the least and the greatest of numbers: of ids, Spark would sort the rows
    least, most = F.min("alone"), F.max("alone")
    own = edges.groupBy("about").agg(F.when(least == most, least).alias("alone"))
    nothing = F.lit(None).cast("long").alias("alone")
    return edges.select("number", "about", F.expr("false as own"), nothing).union(
        own.select(F.col("about").alias("number"), "about", F.expr("true as own"), "alone")
    )


def known(history: "DataFrame", related: "DataFrame") -> "DataFrame":
    """Return all that rows of logs are compared with, by the number of a message.

    Args:
        history: channel string, message_id binary, lamport long, and more
        related: as of `relations`

    Returns:
        number long; signed struct (channel string, message_id binary, lamport long; null: nobody
        holds it); tells array of structs (about long, own boolean, alone long; null: nothing).
        Where the numbers of two messages coincide, there is a row of each
    """
    signed = history.select(
        F.xxhash64("message_id").alias("number"),
        F.struct("channel", "message_id", "lamport").alias("signed"),
    )
    tells = related.groupBy("number").agg(
        F.collect_list(F.struct("about", "own", "alone")).alias("tells")
    )
    return signed.join(tells, "number", "full")


def noticed(log: "DataFrame", known: "DataFrame", in_part: Sequence[str] = ()) -> "DataFrame":
    """Return what may break a rule: the one reading of all logs.

    It goes by 64-bit hashes: where those of two messages coincide, rows are noticed that break no
    rule, and are cleared later; nothing is overlooked.

    Args:
        log: the columns of `LOG`
        known: as of `known`
        in_part: nodes of which rows are left out, so that holes mean nothing

    Returns:
        holder long: a hash of run and node, owner long: one of the node, about long (a message of
        which a child was delivered before, and that was not given up by then; else null); row `ROW`
        (one that tells another Lamport time than the signed one, or of no message; without a
        message: which 64 numbers of a start the bits are of; else null); own long, child long, lost
        long, bits long
    """
    about_message = F.col("message_id").isNotNull()
    # rows about no message are spread over all tasks, where this join divides them
    number = F.when(about_message, F.xxhash64("message_id")).otherwise(F.xxhash64("seq"))
    met = log.withColumn("number", number).join(known, "number", "left")
    rows = met.select(
        F.xxhash64("run", "node").alias("holder"),
        F.xxhash64("node").alias("owner"),
        F.inline(F.concat(_done(), _otherwise(), _bits(in_part))),
    )
    suspect = F.col("about").isNotNull()
    names = [F.when(suspect, F.col(name)).alias(name) for name in ("holder", "owner")]
    return (
        rows.select(*names, *SAID)
        .groupBy("holder", "owner", "about", "row")
        .agg(
            F.max("own").alias("own"),
            F.min("child").alias("child"),
            F.min("lost").alias("lost"),
            F.bit_or("bits").alias("bits"),
        )
        .where(~suspect | (F.col("child") < F.col("own")))
        # whoever gave it up does not wait for it any more
        .where(~suspect | F.col("lost").isNull() | (F.col("child") <= F.col("lost")))
    )


def suspects(rows: "DataFrame", related: "DataFrame") -> "DataFrame":
    """Find messages, and where, of which a child was delivered before; and their children.

    Args:
        rows: as of `noticed`
        related: as of `relations`

    Returns:
        holder long, owner long, number long: of a message
    """
    suspected = rows.where("about is not null").select("holder", "owner", "about")
    return suspected.join(related, "about").select("holder", "owner", "number").distinct()


def told_otherwise(rows: "DataFrame") -> "DataFrame":
    """Return the rows of logs that tell another Lamport time than the signed one, or of no message.

    Args:
        rows: as of `noticed`

    Returns:
        run string, boot long, node string, seq long, channel string, message_id binary,
        lamport long
    """
    return rows.where("row.message_id is not null").select("row.*").withColumnRenamed("at", "seq")


def words(rows: "DataFrame") -> "DataFrame":
    """Return which rows each log has, as bits.

    Args:
        rows: as of `noticed`

    Returns:
        run string, boot long, node string, word long, bits long: which of 64 numbers are there
    """
    found = rows.where("row is not null and row.message_id is null")
    return found.select("row.run", "row.boot", "row.node", F.col("row.at").alias("word"), "bits")


def _done() -> "Column":
    """Return what the delivery or the loss of a message says of its parents, and of itself."""
    # one long is compared several times as fast as the two it is made of
    at = F.shiftleft("boot", SEQ_BITS).bitwiseOR(F.col("seq"))
    fits = F.col("seq").between(0, 2**SEQ_BITS - 1) & F.col("boot").between(0, BOOTS_MAX)
    # what has no room in one is suspected, as a parent and as a child, and looked at closely
    latest, earliest = F.when(fits, at).otherwise(BIGINT_MAX), F.when(fits, at).otherwise(-1)
    came = F.col("kind") == str(LogKind.DELIVERED)

    def each(one: "Column") -> "Column":
        given_up = ~came & (_other_number("message_id") == one["alone"])
        return _said(
            about=one["about"],
            own=F.when(came & one["own"], latest),
            child=F.when(came & ~one["own"], earliest),
            lost=F.when(given_up, latest),
        )

    done = (came | (F.col("kind") == str(LogKind.LOST))) & F.col("message_id").isNotNull()
    return _if(done & F.col("tells").isNotNull(), F.transform("tells", each))


def _otherwise() -> "Column":
    names = ("channel", "message_id", "lamport")
    same = [F.col(name) == F.col(f"signed.{name}") for name in names]
    as_signed = F.coalesce(same[2] & same[1] & same[0], F.expr("false"))
    told = F.col("message_id").isNotNull() & F.col("lamport").isNotNull()
    row = F.struct("run", "boot", "node", F.col("seq").alias("at"), *names)
    return _if(told & ~as_signed, F.array(_said(row=row)))


def _bits(in_part: Sequence[str]) -> "Column":
    nothing = [F.lit(None).cast(kind) for kind in ("string", "binary", "long")]
    word = F.shiftright("seq", WORD_BITS)
    row = F.struct("run", "boot", "node", word, *nothing)
    bit = F.expr(f"shiftleft(1L, cast(seq & {LAST_BIT} as int))")
    whole = F.col("seq") > 0
    if in_part:
        whole &= ~F.col("node").isin(list(in_part))
    return _if(whole, F.array(_said(row=row, bits=bit)))


def _said(**columns: "Column") -> "Column":
    return F.struct(
        *[columns.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in SAID.items()]
    )


def _if(condition: "Column", said: "Column") -> "Column":
    kind = ", ".join(f"{name}: {kind}" for name, kind in SAID.items())
    return F.when(condition, said).otherwise(F.array().cast(f"array<struct<{kind}>>"))


def _other_number(message_id: str) -> "Column":
    """Return a number of an id that begins with another seed: both at once do not coincide."""
    return F.xxhash64(F.lit(1), message_id)
