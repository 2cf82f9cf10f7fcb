"""Stretches of a channel are those that counting all of its messages in one task would give."""

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SIZES = (1, 2, 47, 48, 49, 95, 96, 97, 500)
"""Messages of a channel: fewer than it has stretches, as many, and some more than a multiple."""

RANGES = 7


def test_stretches_are_as_long_as_counting_gives(spark: "SparkSession", tmp_path: Path) -> None:
    from pyspark.sql import Window  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    from storage.pipeline.delivery.stretches import STRETCHES, in_order, placed  # noqa: PLC0415

    dice = random.Random(4)
    rows = [
        (dice.randbytes(8), number, dice.choice([dice.randrange(1, 40), 2**62]))
        for number, size in enumerate(SIZES)
        for _ in range(size)
    ]
    own = spark.createDataFrame(rows, "message_id binary, author int, lamport long")
    named = [(number, f"channel of {size}") for number, size in enumerate(SIZES)]
    members = spark.createDataFrame(named, "member int, channel string")
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", RANGES)
    try:
        order = in_order(own, members)
        order.write.parquet(str(tmp_path / "order"))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))
    written = spark.read.schema(order.schema).parquet(str(tmp_path / "order"))

    found = placed(written)

    ranges = written.select(F.shiftright("place", 33).alias("range")).distinct().count()
    assert ranges > 1, "else one task has all of them"
    by = Window.partitionBy("channel").orderBy("lamport", "message_id")
    told = [*own.columns, "channel"]
    expected = written.select(*told, (F.ntile(STRETCHES).over(by) - 1).alias("stretch"))
    assert sorted(found.collect()) == sorted(expected.collect())
    assert found.columns == [*told, "stretch"]
