"""Code for executors on other computers: our packages as one zip, and what these import."""

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zipfile import ZIP_DEFLATED, ZipFile

from storage.extras import how_to_install_elsewhere
from storage.pipeline.errors import PipelineError
from storage.pipeline.spark.executor_probe import lacks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES: Final = ("sync", "storage", "proto")
"""Ours, without the terminal; executors import a few files of each."""

JOB: Final = '''\
"""Runs the pipeline of chat-tui under spark-submit, which gets our packages by --py-files."""

from storage.pipeline.command import cli

cli(prog_name="job.py")
'''

EXECUTORS_WITHIN_S: Final = 60
"""For the first executor to be there; a cluster that is busy lets us wait."""

PROBES: Final = 64
"""Tasks that look; with several executors each gets some, as they come."""


def for_executors() -> str:
    """Return the command that installs what their Python needs."""
    return how_to_install_elsewhere(
        "cryptography", "protobuf", "mmh3", "msgspec", "pandas", "pyarrow", "pynacl", "xxhash"
    )


def packed(path: Path) -> Path:
    """Write our packages to `path` as a zip that Python imports from; returns it."""
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            spec = find_spec(package)
            assert spec is not None
            assert spec.origin is not None
            root = Path(spec.origin).parent
            for file in sorted(root.rglob("*.py")):
                archive.write(file, Path(package) / file.relative_to(root))
    return path


def write_job(directory: Path) -> tuple[Path, Path]:
    """Write what `spark-submit` takes for our jobs: our packages, and the program; returns both.

    Raises:
        OSError: they cannot be written.
    """
    archive, program = directory / "chat-tui.zip", directory / "job.py"
    packed(archive)
    program.write_text(JOB, encoding="utf-8")
    return archive, program


def check_executors(spark: "SparkSession") -> None:
    """Make sure that there are executors, and that each has what our code imports.

    Raises:
        PipelineError: there are none, or one lacks something.
    """
    context = spark.sparkContext
    status = context._jsc.sc()  # noqa: SLF001  # Python has no way to ask for executors
    wait = threading.Event()
    for _ in range(EXECUTORS_WITHIN_S * 10):
        if status.getExecutorMemoryStatus().size() > 1:  # the driver counts as one
            break
        wait.wait(0.1)
    else:
        memory = context.getConf().get("spark.executor.memory")
        why = (
            "can it fetch the image, and may this account start pods? `kubectl get pods` and "
            "`kubectl describe` say which"
            if str(context.master).startswith("k8s://")
            else f"has a worker a core and {memory} free? Name less by --memory, or start one"
        )
        raise PipelineError(
            f"{context.master} gave us no executor within {EXECUTORS_WITHIN_S} s: {why}."
        )
    lacking = set(context.parallelize(range(PROBES), PROBES).mapPartitions(lacks).collect())
    if lacking:
        raise PipelineError(
            "The executors cannot work: " + "; ".join(sorted(lacking)) + ". Install it for their "
            f"Python (`{for_executors()}`), or point PYSPARK_PYTHON to one that has it."
        )
