"""Errors of Spark become one sentence with the fix."""

import errno
from pathlib import Path

import pytest

from storage.pipeline.errors import PipelineError
from storage.pipeline.spark.failures import said_plainly, sentence


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("Terminating due to java.lang.OutOfMemoryError: Java heap space", "2g of memory is too"),
        ("java.io.IOException: No space left on device", "No space left"),
        ("Error: Could not reserve enough space for 2097152KB object heap", "has not 2g"),
        (
            (
                "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
                "file:///a/b%20c/x.parquet. SQLSTATE: KD001"
            ),
            "/a/b%20c/x.parquet cannot be read",
        ),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", "another Python"),
        ('java.io.IOException: Cannot run program "python9": error=2', "have no python9"),
        ("ModuleNotFoundError: No module named 'mmh3'", "lacks mmh3"),
        ("Reason: All masters are unresponsive! Giving up.", "gave us up"),
        ("java.net.BindException: Cannot assign requested address", "SPARK_LOCAL_IP"),
    ],
)
def test_what_spark_says_has_a_sentence_of_ours(said: str, ours: str) -> None:
    found = sentence(f"first line\n{said}\nlast line", "2g")

    assert found is not None
    assert ours in found


def test_what_is_unknown_says_its_first_line_and_where_the_rest_is(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"

    with pytest.raises(PipelineError) as raised, said_plainly("2g", log):
        raise ConnectionError("something new\nwith many\nlines")

    assert raised.value.message == f"Spark failed (something new); {log} has the rest."
    assert "with many" in log.read_text()


def test_what_python_raised_on_an_executor_is_said(tmp_path: Path) -> None:
    said = """[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback:
  File "verify.py", line 67, in verified
    raise ValueError(1)
ValueError: nothing like it
 SQLSTATE: 38000
"""
    with (
        pytest.raises(PipelineError, match="nothing like it"),
        said_plainly("1g", tmp_path / "log"),
    ):
        raise ConnectionError(said)


def test_why_a_jvm_died_is_read_from_its_log(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    log.write_text("Terminating due to java.lang.OutOfMemoryError: Java heap space\n")

    with pytest.raises(PipelineError, match="by --memory"), said_plainly("1g", log):
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


def test_a_full_disk_is_said_and_another_error_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"

    with pytest.raises(PipelineError, match="No space left"), said_plainly("1g", log):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(PermissionError), said_plainly("1g", log):
        raise PermissionError(errno.EACCES, "Permission denied")
