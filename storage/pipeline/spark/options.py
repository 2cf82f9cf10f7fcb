"""Spark settings that the person names: `--conf`, `--properties-file`, `--packages`, executors.

Each stands above ours, as with Spark's own commands: an option of its own first, then `--conf`,
then the file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from storage.pipeline.errors import PipelineError
from storage.pipeline.spark.cluster import STANDALONE_FORM, is_local, megabytes

MASTER: Final = "spark.master"
PACKAGES: Final = "spark.jars.packages"
IMAGES: Final = (
    "spark.kubernetes.container.image",
    "spark.kubernetes.executor.container.image",
)
"""Settings that name the image which Kubernetes starts executors from."""

FILE_MAX: Final = 1024 * 1024
"""Characters of a file of settings."""

KEY: Final = re.compile(r"spark\.[\w.$-]+")

FORM: Final = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+(,[\w.-]+:[\w.-]+:[\w.-]+)*")
"""Of packages: coordinates of Maven with commas between."""


def settings_of(
    pairs: Iterable[str] = (), properties_file: Path | None = None, packages: str | None = None
) -> dict[str, str]:
    """Return the settings that are named.

    Raises:
        PipelineError: one is none, or the file cannot be read.
    """
    found = {} if properties_file is None else dict(_lines(properties_file))
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not KEY.fullmatch(key):
            raise PipelineError(
                f"--conf {pair} is no setting of Spark: write --conf spark.KEY=VALUE."
            )
        found[key] = value
    if packages is not None:
        if not FORM.fullmatch(packages):
            raise PipelineError(
                f"--packages {packages} are no packages: write GROUP:NAME:VERSION, with commas "
                "between."
            )
        found[PACKAGES] = packages
    return found


def executors_of(
    master: str, count: int | None, cores: int | None, memory: str | None
) -> dict[str, str]:
    """Return the settings for so many executors, of so many cores and so much memory.

    Raises:
        PipelineError: a job on this computer has none, or it is no amount of memory.
    """
    if (count, cores, memory) == (None, None, None):
        return {}
    if is_local(master):
        raise PipelineError(
            f"Executors are a cluster's, and --master is {master}: write local[2] for two cores, "
            "and --memory."
        )
    found: dict[str, str] = {}
    if memory is not None:
        megabytes(memory, "--executor-memory")
        found["spark.executor.memory"] = memory
    if count is not None:
        found["spark.executor.instances"] = str(count)
        if STANDALONE_FORM.fullmatch(master):
            # a standalone master counts cores: it gives as many executors as these make
            cores = cores or 1
            found["spark.cores.max"] = str(count * cores)
    if cores is not None:
        found["spark.executor.cores"] = str(cores)
    return found


def check_image(master: str, settings: Mapping[str, str]) -> None:
    """Make sure that Kubernetes is told which image to start executors from.

    Raises:
        PipelineError: it is not, and would be asked for a minute to no end.
    """
    if master.startswith("k8s://") and not any(settings.get(image) for image in IMAGES):
        raise PipelineError(
            "Kubernetes starts executors from an image, and none is named: add --conf "
            f"{IMAGES[0]}=NAME, of one that has Spark and the Python that jobs need."
        )


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the settings of a file as Spark reads it: a key, spaces, `=` or `:`, and a value."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(FILE_MAX + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise PipelineError(f"--properties-file {path} cannot be read ({error}).") from error
    if len(text) > FILE_MAX:
        raise PipelineError(f"--properties-file {path} is larger than {FILE_MAX:,} characters.")
    joined = re.sub(r"\\\n[ \t]*", "", text)  # a backslash at the end goes on in the next line
    for line in map(str.strip, joined.splitlines()):
        if not line or line[0] in "#!":
            continue
        key, *rest = re.split(r"\s*[=:]\s*|\s+", line, maxsplit=1)
        if KEY.fullmatch(key):  # Spark passes over all others too
            yield key, rest[0] if rest else ""
