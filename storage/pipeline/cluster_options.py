"""Options of every job that say where and how it runs, and what they come to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from storage.pipeline.errors import PipelineError
from storage.pipeline.spark.cluster import LOOPBACK
from storage.pipeline.spark.options import MASTER, check_image, executors_of, settings_of
from storage.pipeline.spark.session import LOCAL, Cluster
from storage.pipeline.spark.submitted import is_submitted

F = TypeVar("F", bound=Callable[..., Any])

MEMORY: Final = "2g"

SPARKS: Final = {
    "master": "--master",
    "memory": "--driver-memory",
    "conf": "--conf",
    "properties_file": "--properties-file",
    "packages": "--packages",
    "num_executors": "--num-executors",
    "executor_cores": "--executor-cores",
    "executor_memory": "--executor-memory",
    "ui": "--conf spark.ui.enabled=true",
    "ui_address": "the variable SPARK_LOCAL_IP",
    "event_log": "--conf spark.eventLog.enabled=true",
    "log_format": "--conf spark.log.structuredLogging.enabled=true",
}
"""Options that `spark-submit` takes itself when it starts us, and how it calls them."""


def spark_options(command: F) -> F:
    """Add the options that say where a job runs, with the names that Spark's users know."""
    for option in (
        click.option(
            "--log-format",
            type=click.Choice(["text", "json"]),
            help="Form of spark.log; json is one object a line.  [default: text]",
        ),
        click.option(
            "--event-log", metavar="DIR", help="Keep Spark's events here, for its history server."
        ),
        click.option(
            "--ui-address", metavar="ADDRESS", help=f"Where the pages are.  [default: {LOOPBACK}]"
        ),
        click.option("--ui", is_flag=True, default=None, help="Show Spark's own pages meanwhile."),
        click.option("--executor-memory", metavar="MEMORY", help="Of each, instead of --memory."),
        click.option("--executor-cores", type=click.IntRange(1, 1000), help="Of each."),
        click.option(
            "--num-executors", type=click.IntRange(1, 10_000), help="Executors of a cluster."
        ),
        click.option(
            "--packages", metavar="G:N:V,...", help="Java packages to fetch, as for a store."
        ),
        click.option(
            "--properties-file",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Settings of Spark, one a line.",
        ),
        click.option(
            "--conf", metavar="KEY=VALUE", multiple=True, help="A setting of Spark; repeatable."
        ),
        click.option("--memory", help=f"Of driver and of each executor.  [default: {MEMORY}]"),
        click.option(
            "--master", help=f"local[N], spark://HOST:PORT, yarn or k8s://...  [default: {LOCAL}]"
        ),
    ):
        command = option(command)
    return command


def cluster_of(options: dict[str, Any]) -> Cluster:
    """Take the options of `spark_options` out of all, and return what they come to.

    Raises:
        PipelineError: one cannot be.
    """
    chosen = {name: options.pop(name, None) for name in SPARKS}
    if is_submitted():
        for name, words in SPARKS.items():
            if chosen[name]:
                option = "--" + name.replace("_", "-")
                raise PipelineError(
                    f"spark-submit has started Spark already, and {option} comes too late: say it "
                    f"to spark-submit, before the job ({words})."
                )
        return Cluster()
    settings = settings_of(chosen["conf"] or (), chosen["properties_file"], chosen["packages"])
    # as with Spark's own commands, an option stands above a setting
    master = chosen["master"] or settings.pop(MASTER, LOCAL)
    memory = chosen["memory"] or settings.pop("spark.driver.memory", MEMORY)
    for key in (MASTER, "spark.driver.memory"):
        settings.pop(key, None)
    check_image(master, settings)
    settings |= executors_of(
        master, chosen["num_executors"], chosen["executor_cores"], chosen["executor_memory"]
    )
    if chosen["event_log"]:
        settings |= {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": _event_log(chosen["event_log"]),
        }
    shown = chosen["ui"] or chosen["ui_address"] or settings.get("spark.ui.enabled") == "true"
    return Cluster(
        master,
        memory,
        settings=settings,
        ui=(chosen["ui_address"] or LOOPBACK) if shown else None,
        json_log=chosen["log_format"] == "json",
    )


def _event_log(named: str) -> str:
    """Return where events go, as Spark wants to be told; it makes no directory itself."""
    if ":/" in named:
        return named
    directory = Path(named).absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PipelineError(f"--event-log {named} cannot be written ({error.strerror}).") from error
    return directory.as_uri()
