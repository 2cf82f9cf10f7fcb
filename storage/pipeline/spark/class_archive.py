"""The classes of Spark, kept ready for Java: to load 26,000 takes a fifth of a small job.

Java writes the file when it ends. When it starts, it looks itself whether the file is of this Java
and of these class files, and does without if not. Of one cut short it dies: so its name has its
size, and Java is told to compare sums.

The file is of the class files of one environment, and lies in it: it goes when that goes. If it
cannot be written, the person's cache is used.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import platformdirs

RECORDED_WITHIN_S: Final = 600.0
"""For Java to write them, when it ends; it takes 10 to 20 s of work."""


def directories() -> list[Path]:
    """Return where they may be: that of the virtual environment first, if we run in one."""
    cache = Path(platformdirs.user_cache_dir("chat-tui"))
    in_environment = sys.prefix != sys.base_prefix
    return [Path(sys.prefix) / "share" / "chat-tui", cache] if in_environment else [cache]


def directory() -> Path:
    """Return where to keep them: where one may write, the cache if nowhere."""
    for path in directories():
        with suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)
            if os.access(path, os.W_OK):
                return path
    return path


def kept() -> Path | None:
    """Return the file if it is there, and whole."""
    for place in directories():
        with suppress(OSError):  # what cannot be read does not help
            for path in _all(place):
                if _name(path) == path.name:
                    return path
    return None


def keep(recorded: Path) -> Path:
    """Put what Java wrote in the place of what was kept before; returns where.

    Args:
        recorded: on the same file system as `directory`.

    Raises:
        OSError: it cannot be done.
    """
    with recorded.open("rb") as file:
        os.fsync(file)
    place = directory()
    path = recorded.replace(place / _name(recorded))
    for other in _all(place):
        if other != path:  # each has some 200 MB
            other.unlink()
    return path


def options(recorded: Path | None) -> list[str]:
    """Return what to tell Java: to write its classes to `recorded`, or to use what is kept."""
    if recorded is not None:
        return [f"-XX:ArchiveClassesAtExit={recorded}"]
    path = kept()
    return [] if path is None else ["-XX:+VerifySharedSpaces", f"-XX:SharedArchiveFile={path}"]


def _all(place: Path) -> Iterator[Path]:
    return place.glob("spark-classes-*.jsa")


def _name(file: Path) -> str:
    return f"spark-classes-{file.stat().st_size}.jsa"
