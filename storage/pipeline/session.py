"""The Spark session of a job: which settings, and why."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from storage.pipeline.problems import PipelineError

JAVA_MIN: Final = 17
"""What pyspark 4 needs."""

LOCAL: Final = "local[*]"
LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where a job runs: a Spark master, and the memory of driver and of each executor."""

    master: str = LOCAL
    memory: str = "2g"


@contextmanager
def session(cluster: Cluster, scratch: Path) -> Iterator[SparkSession]:
    """Start Spark, and stop it; what it keeps for itself lies in `scratch`.

    Raises:
        PipelineError: there is no Java, or too old a one, or no such master.
    """
    check_java()
    # what checks signatures needs our packages: not whichever Python is first in the path
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        # times are nanoseconds in UTC; nothing depends on where the job runs
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": cluster.memory,
        "spark.executor.memory": cluster.memory,
        # one person looks at the terminal; a port open to the network is not wanted
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        # an export is many small files: opening one does not cost what reading 4 MB does
        "spark.sql.files.openCostInBytes": str(64 * 1024),
        # one collector thread: with few cores, the parallel ones only take turns
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master(cluster.master).appName("chat-tui")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def check_java() -> None:
    """Make sure that there is a Java that Spark runs on.

    Raises:
        PipelineError: there is none, or too old a one.
    """
    java = shutil.which("java")
    if java is None:
        raise PipelineError(
            f"The pipeline needs Java {JAVA_MIN} or newer, and there is none: install it "
            "(Debian: apt install default-jre-headless)."
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    version = said.partition('"')[2].partition('"')[0].partition(".")[0]
    if not version.isdecimal() or int(version) < JAVA_MIN:
        raise PipelineError(
            f"The pipeline needs Java {JAVA_MIN} or newer, and {java} is {version or 'unknown'}: "
            "install a newer one, or point JAVA_HOME to it."
        )
