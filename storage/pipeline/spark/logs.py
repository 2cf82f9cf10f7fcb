"""Log of a session: what Spark, Java and Python say goes to one file, as text or as JSON lines."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import gmtime, struct_time
from typing import Final

from pyspark.logger import PySparkLogger

LOG_SETTINGS: Final = """\
rootLogger.level = warn
rootLogger.appenderRef.only.ref = only
appender.only.type = Console
appender.only.name = only
appender.only.target = SYSTEM_ERR
{layout}
appender.only.filter.burst.type = BurstFilter
appender.only.filter.burst.level = ERROR
appender.only.filter.burst.rate = 10
appender.only.filter.burst.maxBurst = 1000
"""
"""Warnings and errors, to stderr, which is the log file; no more than 10 a second in the long run:
a cluster that fails says the same thing again and again."""

TEXT: Final = """\
appender.only.layout.type = PatternLayout
appender.only.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex{40}"""

JSON: Final = """\
appender.only.layout.type = JsonTemplateLayout
appender.only.layout.eventTemplateUri = classpath:EcsLayout.json"""
"""One object a line, with the names of fields that Spark's own structured logs have."""


def log_option(scratch: Path, *, as_json: bool = False) -> str:
    """Return the Java option that makes Spark log as we say; the settings lie in `scratch`."""
    path = scratch / "log4j2.properties"
    path.write_text(LOG_SETTINGS.replace("{layout}", JSON if as_json else TEXT))
    return f"-Dlog4j2.configurationFile={path.as_uri()}"


class JsonLines(logging.Formatter):
    """Lines of Python's log as Java's are when they are JSON."""

    @staticmethod
    def converter(seconds: float | None) -> struct_time:
        """Return a time in UTC."""
        return gmtime(seconds)

    def format(self, record: logging.LogRecord) -> str:
        """Return one object."""
        said = {
            "@timestamp": f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{record.msecs:03.0f}Z",
            "ecs.version": "1.2.0",
            "log.level": record.levelname,
            "message": record.getMessage(),
            "log.logger": record.name,
        }
        if record.exc_info:
            said["error.stack_trace"] = self.formatException(record.exc_info)
        return json.dumps(said)


@contextmanager
def logged(log: Path, *, as_json: bool = False) -> Iterator[None]:
    """Add to `log` what py4j and Spark's Python side log, instead of showing it."""
    handler = logging.FileHandler(log)
    if as_json:
        handler.setFormatter(JsonLines())
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


def add_error(error: Exception, log: Path, *, as_json: bool) -> None:
    """Add the whole of an error to the log; to the error a note, where that cannot be written."""
    name, cause = __name__, (type(error), error, error.__traceback__)
    record = logging.LogRecord(name, logging.ERROR, __file__, 0, str(error), None, cause)
    form = JsonLines() if as_json else logging.Formatter()
    try:
        with log.open("a") as file:
            file.write(form.format(record) + "\n")
    except OSError as unwritten:  # the disk may be what is full
        error.add_note(f"Not in {log}: {unwritten}")
