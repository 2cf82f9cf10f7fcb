"""Spark's Java started by ourselves: when, with which classes, and what is said if it does not."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.errors import PipelineError
from storage.pipeline.spark import launcher
from storage.pipeline.spark.session import Cluster, session
from tests.conftest import need_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def nobody_set_spark_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the computer has that runs the tests."""
    for name in os.environ:
        if name.startswith(launcher.SET_UP):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("nobody_set_spark_up")
@pytest.mark.parametrize("name", ["SPARK_HOME", "SPARK_LOCAL_DIRS", "HADOOP_CONF_DIR"])
def test_whoever_set_spark_up_has_it_started_its_own_way(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not launcher.is_set_up(tmp_path)

    monkeypatch.setenv(name, "something")

    assert launcher.is_set_up(tmp_path)


@pytest.mark.usefixtures("nobody_set_spark_up")
def test_settings_beside_pyspark_are_kept(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()

    assert launcher.is_set_up(tmp_path)


@pytest.mark.usefixtures("nobody_set_spark_up")
def test_a_pyspark_we_do_not_know_starts_its_own_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark.__version__", "4.9.0")

    assert launcher.is_set_up(tmp_path)


def test_java_looks_where_most_classes_are_and_never_in_files_for_clusters(tmp_path: Path) -> None:
    for name in ("avro-1", "hive-exec-2", "kubernetes-client-7", "scala-library-2", "spark-core_2"):
        (tmp_path / f"{name}.jar").touch()

    places = [Path(place).name for place in launcher.class_path(tmp_path).split(":")]

    assert places == ["scala-library-2.jar", "spark-core_2.jar", "avro-1.jar"]


def test_all_that_is_left_out_is_there() -> None:
    jars = [path.name for path in (launcher.HOME / "jars").glob("*.jar")]
    words = " ".join(launcher.LEFT_OUT.values()).split()

    assert [word for word in words if not any(jar.startswith(word) for jar in jars)] == []


@pytest.mark.usefixtures("nobody_set_spark_up")
def test_a_java_that_dies_before_it_answers_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(
        "#!/bin/sh\n"
        "test $1 = -version && echo 'openjdk version \"17\"' >&2 && exit\n"
        "echo 'Could not reserve enough space for object heap' >&2\n"
        "exit 1\n"
    )
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with (
        pytest.raises(PipelineError, match="has not 600m of memory free"),
        session(Cluster("local", "600m"), tmp_path),
    ):
        pytest.fail("it did not start")


@pytest.mark.spark
def test_the_java_of_this_computer_is_started_without_a_launcher(spark: "SparkSession") -> None:
    if launcher.is_set_up():
        pytest.skip("Spark is set up here, or another one")
    java = spark.sparkContext._jvm.System  # type: ignore[union-attr]

    assert java.getProperty("sun.java.command") == launcher.MAIN
    assert java.getProperty("java.class.path") == launcher.class_path()


HERE = """
import sys
from pathlib import Path
from storage.pipeline.spark.session import Cluster, session

scratch = Path(sys.argv[1])
with session(Cluster("local[1]", "512m"), scratch, here=sys.argv[2] == "here") as spark:
    spark.range(9).write.parquet(str(scratch / "rows"))
    assert spark.read.parquet(str(scratch / "rows")).count() == 9
    hadoop = spark._jsparkSession.sessionState().newHadoopConf()
    print(hadoop.size(), hadoop.get("fs.file.impl"), *scratch.glob("rows/.*.crc"))
"""


@pytest.mark.spark
@pytest.mark.usefixtures("nobody_set_spark_up")
def test_settings_for_stores_are_forgotten_where_all_lies_here(tmp_path: Path) -> None:
    need_java()

    def told(where: str) -> list[str]:
        scratch = tmp_path / where
        scratch.mkdir()
        command = [sys.executable, "-c", HERE, str(scratch), where]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.split()

    size, *same = told("here")
    there, *as_before = told("there")

    assert int(size) < 100 < int(there)
    assert same == as_before == ["org.apache.hadoop.fs.RawLocalFileSystem"]


LOSING_JAVA = """
import sys
from pathlib import Path
from storage.pipeline.spark.session import Cluster, session

with session(Cluster("local[1]", "512m"), Path(sys.argv[1])) as spark:
    context = spark.sparkContext
    print(context.parallelize([1, 2], 1).map(lambda number: 2 * number).sum())
    context._gateway.proc.kill()
    context._gateway.proc.wait()
    context._accumulatorServer.shutdown()  # returns when it has seen the end, and said what it says
"""


@pytest.mark.spark
def test_nothing_is_printed_when_java_dies_after_work_in_python(tmp_path: Path) -> None:
    need_java()
    done = subprocess.run(
        [sys.executable, "-c", LOSING_JAVA, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "6\n", "")
