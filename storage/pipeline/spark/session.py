"""The Spark session of a job: which settings, and why."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

from storage.pipeline.results.publishing import LOG
from storage.pipeline.spark.cluster import (
    check_master,
    check_memory,
    check_reachable,
    driver_address,
    is_local,
    megabytes,
)
from storage.pipeline.spark.failures import said_plainly
from storage.pipeline.spark.java import check_java
from storage.pipeline.spark.jvm import is_ours, spark_context
from storage.pipeline.spark.logs import log_option, logged
from storage.pipeline.spark.options import check_image
from storage.pipeline.spark.shipping import check_executors, packed
from storage.pipeline.spark.submitted import came_in_a_zip, is_submitted

LOCAL: Final = "local[*]"

ZIP: Final = "chat-tui.zip"
"""Our packages for executors."""

SHUFFLED: Final = "spark.sql.shuffle.partitions"
PY_FILES: Final = "spark.submit.pyFiles"

MB: Final = 1024 * 1024
PARTITION_BYTES: Final = 8 * MB
"""Of an export's files, for each partition of a shuffle: they are compressed, and a task's rows
should fit its share of the memory."""

SHORT_BYTES: Final = 128 * MB
"""Input below which a job takes seconds, most of them for starting."""

BESIDE_BYTES: Final = 64 * MB
"""The same for jobs that run side by side: each core has a job, so that to divide the rows of one
only costs tasks."""

GENERATED: Final = "org.apache.spark.sql.catalyst.expressions.GeneratedClass*::*"
"""Code that Spark writes in Java for each query."""

HOT_ONLY: Final = " ".join(
    [
        *(
            f"-XX:Tier4{name}Threshold={count}"
            for name, count in (
                ("Invocation", 500_000),
                ("MinInvocation", 60_000),
                ("Compile", 1_500_000),
                ("BackEdge", 4_000_000),
            )
        ),
        "-XX:CompileCommand=quiet",
        f"-XX:CompileCommand=CompileThresholdScaling,{GENERATED},0.1",
    ]
)
"""Calls and rounds of a loop before Java's second compiler takes a method: a hundred times its own.
It costs more than it saves where a query is over after some millions of rows, as most are, and took
a third of the time of all; what runs over each row and byte still gets there. Only ten times where
Spark wrote the method for one query: its loops are over rows, and end with it."""

OUT_OF_MEMORY: Final = "-XX:+ExitOnOutOfMemoryError"
"""An end, not minutes of collecting garbage and pages of traces."""

LISTED_MAX: Final = 10_000
"""Directories that the driver lists by itself."""

PARTITIONS_MAX: Final = 2000
"""Each costs files and a task."""


HADOOPS: Final = "spark.hadoop."
"""Beginning of the names of settings that are Hadoop's."""

BUFFER: Final = "io.file.buffer.size"
"""Spark's own: 64 kB."""

LATE_DEFAULTS: Final = "org.apache.hadoop.mapred.JobConf"
"""The class that brings more defaults once it is loaded, and has all of them read again."""

STARTING: Final = {
    # else a Python is started to look for it
    "SPARK_HOME": str(Path(pyspark.__file__).parent),
    # of the Java that only works out how Spark's is to be started
    "SPARK_LAUNCHER_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}
"""Options that start Spark quicker, if nobody set them to something else."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Cluster that a job runs on: a Spark master, and the memory of driver and of each executor.

    Raises:
        PipelineError: there is no such master, or not so much memory.
    """

    master: str = LOCAL
    memory: str = "2g"
    recorded: Path | None = None
    """The file to which its Java writes the classes it has loaded (see `class_archive`)."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark that the person named; they stand above ours."""
    ui: str | None = None
    """The address at which Spark shows its pages; None: it shows none."""
    json_log: bool = False

    def __post_init__(self) -> None:
        check_master(self.master)
        check_memory(self.memory)


@contextmanager
def session(
    cluster: Cluster,
    scratch: Path,
    log: Path | None = None,
    input_bytes: int = 0,
    *,
    beside: bool = False,
    here: bool = False,
) -> Iterator[SparkSession]:
    """Start Spark, and stop it; what it keeps for itself lies in `scratch`, what it says in `log`.

    Errors of Spark meanwhile become a sentence too. `beside` says that jobs run side by side,
    `here` that all they read and write lies on this computer.

    Raises:
        PipelineError: there is no Java, or too old a one, or no such master, or Spark failed.
    """
    noise = log or scratch / LOG
    submitted = is_submitted()
    settings = _settings(cluster, scratch, input_bytes)
    forgets = here and not submitted and is_ours(settings, plain=not cluster.settings)
    if not submitted:
        check_java()
        if not is_local(cluster.master):
            check_image(cluster.master, cluster.settings)
            check_reachable(cluster.master)
            theirs = cluster.settings.get(PY_FILES)
            settings[PY_FILES] = ",".join(filter(None, [str(packed(scratch / ZIP)), theirs]))
    plainly = partial(said_plainly, cluster.memory, noise, as_json=cluster.json_log)
    with (
        logged(noise, as_json=cluster.json_log),
        plainly(),
        spark_context(
            settings,
            _environment(cluster, scratch),
            noise,
            cluster.recorded,
            plain=not cluster.settings,
        ) as context,
        plainly(),
    ):
        spark = SparkSession(context)
        divide(spark, cluster, input_bytes, beside=beside)
        if forgets:
            forget_defaults(context, settings)
        if not is_local(str(context.master)):
            if submitted and not came_in_a_zip():
                context.addPyFile(str(packed(scratch / ZIP)))
            check_executors(spark)
        yield spark


def forget_defaults(context: SparkContext, settings: Mapping[str, str]) -> None:
    """Make Hadoop forget a thousand settings for stores and clusters; files here need none.

    Spark copies all of them, twice, for each file that it opens.
    """
    java: Any = context._jvm  # noqa: SLF001  # there is no other way
    java.java.lang.Class.forName(LATE_DEFAULTS)
    hadoop: Any = context._jsc.hadoopConfiguration()  # noqa: SLF001
    buffer = hadoop.get(BUFFER)
    hadoop.clear()
    hadoop.set(BUFFER, buffer)
    for name, value in settings.items():
        if name.startswith(HADOOPS):
            hadoop.set(name.removeprefix(HADOOPS), value)


def divide(
    spark: SparkSession, cluster: Cluster, input_bytes: int, *, beside: bool = False
) -> None:
    """Say into how many parts rows are shuffled, where the person has not."""
    if SHUFFLED not in cluster.settings:
        # not more than there is work for: each costs a task, and in a small job that is the time
        cores = 1 if beside else spark.sparkContext.defaultParallelism
        wanted = partitions(cores, input_bytes, BESIDE_BYTES if beside else PARTITION_BYTES)
        spark.conf.set(SHUFFLED, str(wanted))


def _environment(cluster: Cluster, scratch: Path) -> dict[str, str]:
    """Return the variables that Java starts with."""
    variables = {name: os.environ.get(name, value) for name, value in STARTING.items()}
    variables["SPARK_LOCAL_DIRS"] = str(scratch)
    # Spark's pages are at this address too; all else is at the one of the settings
    if (address := cluster.ui or driver_address(cluster.master)) is not None:
        variables["SPARK_LOCAL_IP"] = address
    if is_local(cluster.master):
        # the Python that runs us has what we need; on a cluster, its administrator says which has
        variables["PYSPARK_PYTHON"] = sys.executable
    return variables


def is_short(input_bytes: int) -> bool:
    """Return whether an input is so small that starting, planning and compiling take most time."""
    return input_bytes < SHORT_BYTES


def partitions(cores: int, input_bytes: int, each_bytes: int) -> int:
    """Return into how many parts rows are shuffled: by the data, and no fewer than cores."""
    return min(max(cores, -(-input_bytes // each_bytes)), PARTITIONS_MAX)


def _settings(cluster: Cluster, scratch: Path, input_bytes: int) -> dict[str, str]:
    # one collector thread: with few cores, the parallel ones only take turns; and no collection
    # only because many classes were loaded, as always
    java = "-XX:+UseSerialGC -XX:MetaspaceSize=256m"
    heap = ""
    if is_short(input_bytes):
        # a short job ends before the second compiler has paid for itself; the first one alone is
        # given 48 MB for its code, and stops for good when all jobs together have filled them
        java += " -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
        # what it is allowed to take, it gets in two steps: each costs a collection of everything
        heap = f" -Xms{megabytes(cluster.memory) // 2}m"
    else:
        java += f" {HOT_ONLY}"
    settings = {
        "spark.master": cluster.master,
        "spark.app.name": "chat-tui",
        # times are nanoseconds in UTC; nothing depends on where the job runs
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": cluster.memory,
        "spark.executor.memory": cluster.memory,
        # one person looks at the terminal, which has our own progress; a port that is open is not
        # wanted unless it is asked for
        "spark.ui.enabled": str(cluster.ui is not None).lower(),
        "spark.ui.showConsoleProgress": "false",
        # with it, four calls into Java go along with each operation on a column, to say in which
        # line of ours it stands: nearly half of the calls of a job
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        # an export is many small files: opening one does not cost what reading 4 MB does
        "spark.sql.files.openCostInBytes": str(64 * 1024),
        # to look through all distinct times of 64k rows for one that fits leaves out none of them
        "spark.hadoop.parquet.filter.dictionary.enabled": "false",
        # rows that lie together already are put together once, not twice
        "spark.sql.execution.combineAdjacentAggregation": "true",
        # hex digits need no tables of all languages, which take half a second to load
        "spark.sql.icu.caseMappings.enabled": "false",
        # what is whole is published by the manifest
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        # how far a long task is, for the progress; the default is 10 s
        "spark.executor.heartbeatInterval": "2s",
        "spark.driver.extraJavaOptions": f"{java}{heap} {OUT_OF_MEMORY} "
        + log_option(scratch, as_json=cluster.json_log),
        "spark.executor.extraJavaOptions": java,
    }
    if is_short(input_bytes):
        # to plan each step anew by what the one before gave takes longer than the step
        settings["spark.sql.adaptive.enabled"] = "false"
        # memory is taken and zeroed by pages: a few rows in each step of a task need no 32 MB
        settings["spark.buffer.pageSize"] = "1m"
        # of what all tasks of a stage get, there are hundreds, and small: no 4 MB for each
        settings["spark.broadcast.blockSize"] = "64k"
    if is_local(cluster.master):
        # an export a node: directories of this computer are listed quicker than tasks are started
        settings["spark.sql.sources.parallelPartitionDiscovery.threshold"] = str(LISTED_MAX)
        settings["spark.python.daemon.module"] = "storage.pipeline.spark.daemon"
        # no file of sums beside each file: Hadoop starts a `chmod` for each that it makes, and
        # Parquet has sums of its own
        settings["spark.hadoop.fs.file.impl"] = "org.apache.hadoop.fs.RawLocalFileSystem"
    if (address := driver_address(cluster.master)) is not None:
        # executors call back; nothing else of this computer is open to them
        settings |= {"spark.driver.bindAddress": address, "spark.driver.host": address}
    return settings | {
        # Java's own options add up; of two that say the same, the last one counts
        key: f"{settings[key]} {value}" if key.endswith(".extraJavaOptions") else value
        for key, value in cluster.settings.items()
    }
