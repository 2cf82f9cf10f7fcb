"""Days of a table of an earlier run, carried over to a new one without being read.

They become further names of the same files, where the disk can do that: nobody changes a file of a
run once it is written, and the earlier run is removed.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from storage.pipeline.places.place import same_file

DAY: Final = "day="


def days_in(table: Path) -> Iterator[tuple[Path, str]]:
    """Yield the directories of single days of a table, at any level, and which day each is."""
    for path in sorted(table.rglob(f"{DAY}*")):
        if path.is_dir():
            yield path, path.name.removeprefix(DAY)


def carry(table: Path, to: Path, wanted: Callable[[str], bool]) -> None:
    """Take days of a table over into another one.

    Raises:
        OSError: they cannot be read or written.
    """
    for path, day in days_in(table):
        if wanted(day):
            there = to / path.relative_to(table)
            there.mkdir(parents=True, exist_ok=True)
            for file in path.glob("*.parquet"):
                same_file(file, there / file.name)
