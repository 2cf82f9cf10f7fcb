"""The JVM of a session: started with its noise in a file, and ended before we go on."""

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

from storage.pipeline.spark import class_archive, launcher
from storage.pipeline.spark.cluster import is_local
from storage.pipeline.spark.environment import environment
from storage.pipeline.spark.submitted import is_submitted, submitted_context

END_WITHIN_S: Final = 20.0
"""For its shutdown hooks; it has nothing of ours any more."""


@contextmanager
def spark_context(
    settings: Mapping[str, str],
    variables: Mapping[str, str],
    log: Path,
    recorded: Path | None = None,
    *,
    plain: bool = True,
) -> Iterator[SparkContext]:
    """Start a JVM and Spark in it, and end both; whatever they say is added to `log`.

    A JVM that we start ourselves writes its classes to `recorded` when all went well; we do so
    where the settings are `plain`, that is all our own. Where `spark-submit` started us, its JVM is
    taken.

    Raises:
        PySparkRuntimeError: the JVM does not start.
        Py4JError: Spark does not start in it.
    """
    if is_submitted():
        with submitted_context(settings) as context:
            yield context
        return
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    ours = is_ours(settings, plain=plain)
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


def is_ours(settings: Mapping[str, str], *, plain: bool) -> bool:
    """Return whether Java is started by ourselves: on this computer, and nobody set Spark up."""
    return plain and is_local(settings["spark.master"]) and not launcher.is_set_up()


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
