"""The JVM of a session: started with its noise in a file, and ended before we go on."""

import logging
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger

from storage.pipeline.spark import class_archive, launcher
from storage.pipeline.spark.cluster import is_local
from storage.pipeline.spark.environment import environment

END_WITHIN_S: Final = 20.0
"""For its shutdown hooks; it has nothing of ours any more."""

LOG_SETTINGS: Final = """\
rootLogger.level = warn
rootLogger.appenderRef.only.ref = only
appender.only.type = Console
appender.only.name = only
appender.only.target = SYSTEM_ERR
appender.only.layout.type = PatternLayout
appender.only.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex{40}
appender.only.filter.burst.type = BurstFilter
appender.only.filter.burst.level = ERROR
appender.only.filter.burst.rate = 10
appender.only.filter.burst.maxBurst = 1000
"""
"""Warnings and errors, to stderr, which is the log file; no more than 10 a second in the long run:
a cluster that fails says the same thing again and again."""


def log_option(scratch: Path) -> str:
    """Return the Java option that makes Spark log as we say; the settings lie in `scratch`."""
    path = scratch / "log4j2.properties"
    path.write_text(LOG_SETTINGS)
    return f"-Dlog4j2.configurationFile={path.as_uri()}"


@contextmanager
def spark_context(
    settings: Mapping[str, str],
    variables: Mapping[str, str],
    log: Path,
    recorded: Path | None = None,
) -> Iterator[SparkContext]:
    """Start a JVM and Spark in it, and end both; whatever they say is added to `log`.

    A JVM that we start ourselves writes its classes to `recorded` when all went well.

    Raises:
        PySparkRuntimeError: the JVM does not start.
        Py4JError: Spark does not start in it.
    """
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    ours = is_local(settings["spark.master"]) and not launcher.is_set_up()
    gateway: Any = None
    # stopped by the person or an error, it has nothing to write that would be of use
    end_within_s = END_WITHIN_S if recorded is None else 0.0
    try:
        with environment(variables):
            with log.open("ab") as noise:
                gateway = (
                    launcher.start(settings, noise, recorded) if ours else _launched(conf, noise)
                )
            context = _begun(conf, gateway)
        try:
            yield context
        except Exception:
            _stop(context)
            raise
        _stop(context)
        if recorded is not None:
            end_within_s = class_archive.RECORDED_WITHIN_S
    finally:
        _forget(gateway, end_within_s)


def _launched(conf: SparkConf, noise: IO[bytes]) -> Any:  # noqa: ANN401  # py4j tells no types
    """Start Java in Spark's own way, which knows clusters, and whatever somebody set for it."""
    return launch_gateway(conf, {"stdout": noise, "stderr": noise})  # type: ignore[no-untyped-call]


def _stop(context: SparkContext) -> None:
    """End Spark in good order; not after Ctrl+C, when its answer to another call is yet to come."""
    with suppress(Py4JError, OSError):  # it may have died
        context.stop()


def _begun(conf: SparkConf, gateway: Any) -> SparkContext:  # noqa: ANN401
    """Start Spark in the JVM, in a thread: so Ctrl+C stays ours.

    In the main thread, Spark would handle it by calls into the JVM in the midst of another call.
    """
    with ThreadPoolExecutor(1) as thread:
        beginning = thread.submit(partial(SparkContext, conf=conf, gateway=gateway))
        try:
            context: Any = beginning.result()
        except KeyboardInterrupt:
            gateway.proc.terminate()  # which ends it
            raise
    # it would print a traceback when the JVM ends before its time, which its user says
    context._accumulatorServer.handle_error = lambda *_: None  # noqa: SLF001
    return context  # type: ignore[no-any-return]


def _forget(gateway: Any, end_within_s: float) -> None:  # noqa: ANN401  # py4j tells no types
    """End the JVM; the next session of this process starts its own, with its own memory."""
    if gateway is None:
        return
    context: Any = SparkContext
    context._gateway = context._jvm = context._active_spark_context = None  # noqa: SLF001
    gateway.proc.terminate()  # Spark's shutdown hooks run, and free what it keeps
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(end_within_s)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    with suppress(Py4JError, OSError):
        gateway.close()


@contextmanager
def logged(log: Path) -> Iterator[None]:
    """Add to `log` what py4j and Spark's Python side log, instead of showing it."""
    handler = logging.FileHandler(log)
    root = logging.getLogger()
    root.addHandler(handler)
    # a whole page for each error, which we say in one sentence
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
