"""Java and Spark options of a new session."""

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import need_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_java_takes_what_it_is_told_for_large_input_and_does_not_speak_of_it() -> None:
    need_java()
    from storage.pipeline.spark.session import HOT_ONLY  # noqa: PLC0415  # pyspark, for these tests alone

    command = ["java", *HOT_ONLY.split(), "-version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)

    assert told.stdout == ""
    assert "CompileCommand" not in told.stderr
    assert "warning" not in told.stderr.lower()


def test_spark_names_what_it_writes_as_java_is_told(spark: "SparkSession") -> None:
    from storage.pipeline.spark.session import GENERATED  # noqa: PLC0415

    mode = "spark.sql.codegen.factoryMode"  # in which the session of the tests writes nothing
    spark.conf.set(mode, "CODEGEN_ONLY")
    query: Any = spark.range(9).where("id % 2 = 0")
    java: Any = spark.sparkContext._jvm
    code = query._jdf.queryExecution().executedPlan().doCodeGen()._2()
    spark.conf.set(mode, "NO_CODEGEN")
    compiler = java.org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator

    written = compiler.compile(code)._1().getClass().getName()

    assert written.startswith(GENERATED.partition("*")[0])


def test_queries_are_put_together_without_saying_in_which_line_each_column_stands(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.errors import utils  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    sites: list[int] = []

    def site(depth: int) -> str:
        sites.append(depth)
        return ""

    monkeypatch.setattr(utils, "_enable_debugging_cache", None)  # it is asked for once a process
    monkeypatch.setattr(utils, "_capture_call_site", site)

    spark.range(9).select(F.col("id") + 1)

    assert sites == []


def test_rows_are_divided_by_how_many_there_are_and_for_each_core() -> None:
    from storage.pipeline.spark.session import MB, PARTITIONS_MAX, partitions  # noqa: PLC0415

    assert partitions(4, 0, 8 * MB) == 4
    assert partitions(1, 16 * MB, 16 * MB) == 1
    assert partitions(1, 16 * MB + 1, 16 * MB) == 2
    assert partitions(4, 10**15, 8 * MB) == PARTITIONS_MAX
