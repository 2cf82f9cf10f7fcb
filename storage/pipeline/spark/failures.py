"""Failures of Spark, each as one sentence with the fix."""

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from storage.pipeline.errors import FULL, PipelineError
from storage.pipeline.spark.logs import add_error
from storage.pipeline.spark.shipping import for_executors

TAIL_BYTES: Final = 64 * 1024
"""Of the log, in which a JVM that died says why."""

SAID_MAX: Final = 300
"""Characters of an error we have no sentence for."""

PYTHON_ERROR: Final = re.compile(
    r"from the Python worker: Traceback.*?^(\w[\w.]*(?:Error|Exception)\b[^\n]*)",
    re.DOTALL | re.MULTILINE,
)
"""The error raised on an executor: the line after the frames of its traceback."""

PYTHON: Final = "{}.{}".format(*sys.version_info)

SENTENCES: Final = (
    (
        r"No space left on device|Disk quota exceeded",
        (
            "No space left for what Spark keeps aside in {scratch}, or for the results: free some, "
            "name another --out, or point TMPDIR to a larger disk."
        ),
    ),
    (
        r"Could not reserve enough space|Cannot allocate memory|insufficient memory",
        "This computer has not {memory} of memory free: close something, or name less by --memory.",
    ),
    (
        r"OutOfMemory|UNABLE_TO_ACQUIRE_MEMORY|GC overhead limit",
        "{memory} of memory is too little for this: give it more by --memory.",
    ),
    (
        r"(?:READ_FILE|reading file)[^\n]*?file:/*(?P<file>/[^\s?]+?)\.?(?=[\s?]|$)",
        "{file} cannot be read: it is damaged or gone; export it again.",
    ),
    (
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        (
            "The executors have another Python than this one: point PYSPARK_PYTHON to a Python "
            f"{PYTHON} that is on each of them."
        ),
    ),
    (
        r'Cannot run program "(?P<program>[^"]+)"',
        (
            "The executors have no {program}: point PYSPARK_PYTHON to a Python "
            f"{PYTHON} that is on each of them."
        ),
    ),
    (
        r"No module named '(?P<module>[^']+)'",
        (
            "The Python of the executors lacks {module}; on each of their computers, `{install}` "
            "installs all they need."
        ),
    ),
    (
        r"masters are unresponsive|Master removed our application|Disconnected from Spark cluster",
        "The Spark master gave us up or went away; its log says why.",
    ),
    (
        r"BindException|Cannot assign requested address",
        (
            "Spark cannot listen on the address of this computer that leads to the master: name "
            "another one by SPARK_LOCAL_IP."
        ),
    ),
)
"""A pattern of what Spark says, and what we say; the first that fits."""


@contextmanager
def said_plainly(memory: str, log: Path, *, as_json: bool = False) -> Iterator[None]:
    """Turn what Spark raises in the block into a `PipelineError`; the whole of it goes to `log`.

    As one line of JSON if the others are. While Spark still runs: to say what it is, an error asks
    the JVM.
    """
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
        raise _said(error, memory, log, as_json=as_json) from None
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise _said(error, memory, log, as_json=as_json) from None


def _said(error: Exception, memory: str, log: Path, *, as_json: bool) -> PipelineError:
    text = str(error)
    known = sentence(f"{text}\n{_tail(log)}", memory)
    add_error(error, log, as_json=as_json)
    if known is not None:
        return PipelineError(known)
    lines = [line.strip(" :") for line in text.splitlines() if line.strip(" :")]
    if len(lines) > 1 and lines[0].startswith("An error occurred while calling"):
        del lines[0]
    if raised := PYTHON_ERROR.search(text):
        lines = [raised[1]]
    said = lines[0][:SAID_MAX] if lines else type(error).__name__
    return PipelineError(f"Spark failed ({said}); {log} has the rest.")


def sentence(said: str, memory: str) -> str | None:
    """Return our sentence for what Spark said, None if we have none."""
    for pattern, ours in SENTENCES:
        if found := re.search(pattern, said):
            names = {
                "memory": memory,
                "scratch": tempfile.gettempdir(),
                "install": for_executors(),
                **found.groupdict(),
            }
            return ours.format(**names)
    return None


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
