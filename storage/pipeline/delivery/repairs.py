"""Cost of repair: requests and answers for each loss."""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from sync.sds.repair import GROUP_SIZE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DIGEST_DIGITS: Final = 16
"""Hex digits of H(x), the first 8 bytes of SHA-256 (SDS-R guide, "Hash Function")."""

UNSIGNED: Final = "decimal(20,0)"
"""Spark has signed longs only, and H(x) takes all 64 bits."""


def remainder(participant: "Column", message: "Column", groups: "Column") -> "Column":
    """Return H(participant + message id) mod groups, as `sync.sds.repair` does."""
    text = F.concat(participant, message).cast("binary")
    digits = F.substring(F.sha2(text, 256), 1, DIGEST_DIGITS)
    return F.conv(digits, 16, 10).cast(UNSIGNED) % groups


def losses(messages: "DataFrame") -> "DataFrame":
    """Return the messages that somebody missed, or asked for, with their response groups.

    Participants are the author and who else was there when it was sent: the engine counts those of
    the last hour, which no log says.

    Args:
        messages: the columns of `storage.pipeline.delivery.facts.messages`

    Returns:
        message_id binary, author int, missing_at long, repaired_at long, lost_at long,
        requests long, answers long, participants long, groups long
    """
    participants = F.col("expected") + 1
    groups = F.greatest(F.lit(1), F.floor(participants / GROUP_SIZE)).cast("long")
    return messages.where("missing_at > 0 or requests > 0 or answers > 0").select(
        "message_id",
        "author",
        "missing_at",
        "repaired_at",
        "lost_at",
        "requests",
        "answers",
        participants.alias("participants"),
        groups.alias("groups"),
    )


def answers_by_group(facts: "DataFrame", lost: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return how many answers came from the response group of each message.

    (SDS-R guide, "Determine Response Group Membership"; the author always may answer.)

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        lost: those of `losses`
        members: member int, node string

    Returns:
        message_id binary, answers_in_group long, answerers long
    """
    nodes = members.select("member", "node")
    authors = members.select(F.col("member").alias("author"), F.col("node").alias("sender"))
    message = F.lower(F.hex("message_id"))
    same = remainder(F.col("node"), message, F.col("groups")) == remainder(
        F.col("sender"), message, F.col("groups")
    )
    member_of = (F.col("groups") <= 1) | (F.col("node") == F.col("sender")) | same
    return (
        facts.where("answers > 0 and author is not null")
        .select("message_id", "member", "answers")
        .join(lost.select("message_id", "author", "groups"), "message_id")
        .join(nodes, "member")
        .join(authors, "author")
        .groupBy("message_id")
        .agg(
            F.sum(F.when(member_of, F.col("answers")).otherwise(0)).alias("answers_in_group"),
            F.count("*").alias("answerers"),
        )
    )


def repair_load(lost: "DataFrame", grouped: "DataFrame") -> "DataFrame":
    """Return what repair cost for each number of response groups.

    Args:
        lost: the columns of `losses`
        grouped: those of `answers_by_group`

    Returns:
        groups long, messages long, participants double (mean), missing_at long, repaired_at long,
        lost_at long, requests long, answers long, answers_in_group long,
        answers_per_group double (of a message, mean),
        answers_per_member double (of a message, by each who may answer, mean)
    """
    each = lost.join(grouped, "message_id", "left").fillna(0, ["answers_in_group"])
    in_group = F.col("participants") / F.col("groups")
    sums = [
        F.sum(name).cast("long").alias(name)
        for name in (
            "missing_at",
            "repaired_at",
            "lost_at",
            "requests",
            "answers",
            "answers_in_group",
        )
    ]
    return (
        each.groupBy("groups")
        .agg(
            F.count("*").alias("messages"),
            F.avg("participants").alias("participants"),
            *sums,
            F.avg(F.col("answers") / F.col("groups")).alias("answers_per_group"),
            F.avg(F.col("answers") / F.col("groups") / in_group).alias("answers_per_member"),
        )
        .orderBy("groups")
    )
