"""Python that `spark-submit` has started: Java is there already, and waits for us.

Whoever submits says the master, the memory and all other settings to `spark-submit` itself; ours
stand below these. The Java is not ours to end: it ends when we do.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

GATEWAY: Final = "PYSPARK_GATEWAY_PORT"
"""The variable that tells Python where the Java is that started it."""

DECIDED: Final = ("spark.master", "spark.driver.", "spark.executor.", "spark.python.")
"""Beginnings of settings that were decided when that Java started."""


class Theirs:
    """The process of the Java that started us, as far as it is ours to end: our way into it."""

    def __init__(self, gateway: Any) -> None:  # noqa: ANN401  # py4j tells no types
        self._gateway = gateway

    def terminate(self) -> None:
        """Cut our way into it, which ends what we wait for there."""
        with suppress(Py4JError, OSError):
            self._gateway.shutdown()

    kill = terminate


def is_submitted() -> bool:
    """Return whether `spark-submit` has started this process."""
    return GATEWAY in os.environ


@contextmanager
def submitted_context(settings: Mapping[str, str]) -> Iterator[SparkContext]:
    """Begin Spark in the Java that started us, and end it.

    Raises:
        Py4JError: it does not begin.
    """
    gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]  # which is there
    gateway.proc = Theirs(gateway)
    conf = SparkConf(_jvm=gateway.jvm)
    for key, value in settings.items():
        if not key.startswith(DECIDED):
            conf.setIfMissing(key, value)
    context = SparkContext(conf=conf, gateway=gateway)
    try:
        yield context
    finally:
        with suppress(Py4JError, OSError):
            context.stop()


def came_in_a_zip() -> bool:
    """Return whether our code is in a zip: `--py-files` brought it, and executors have it too."""
    return any(parent.suffix == ".zip" for parent in Path(__file__).parents)
