"""The Java that Spark runs on: is there one, and is it new enough?"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from storage.pipeline.errors import PipelineError

JAVA_MIN: Final = 17
"""Version of Java that pyspark 4 needs."""

ANSWER_WITHIN_S: Final = 30.0


def check_java() -> None:
    """Make sure that there is a Java that Spark runs on, where Spark looks for it.

    Raises:
        PipelineError: there is none, or too old a one.
    """
    java = find_java()
    try:
        said = subprocess.run(  # noqa: S603  # the Java that Spark will start
            [java, "-version"], capture_output=True, text=True, check=False, timeout=ANSWER_WITHIN_S
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PipelineError(
            f"{java} does not start ({error}): install Java {JAVA_MIN} again."
        ) from error
    version = said.partition('"')[2].partition('"')[0].partition(".")[0]
    if not version.isdecimal() or int(version) < JAVA_MIN:
        raise PipelineError(
            f"The pipeline needs Java {JAVA_MIN} or newer, and {java} is {version or 'unknown'}: "
            "install a newer one, or point JAVA_HOME to it."
        )
    if shutil.which("bash") is None:
        raise PipelineError("Spark is started by bash, and there is none: install it.")


def find_java() -> str:
    """Return the Java that Spark will start: of JAVA_HOME if that is set, else of PATH.

    Raises:
        PipelineError: there is none.
    """
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise PipelineError(
                f"JAVA_HOME is {home}, and there is no {java}: unset it, or point it to "
                f"Java {JAVA_MIN} or newer."
            )
        return str(java)
    found = shutil.which("java")
    if found is None:
        raise PipelineError(
            f"The pipeline needs Java {JAVA_MIN} or newer, and there is none: install it "
            "(Debian: apt install default-jre-headless)."
        )
    return found
