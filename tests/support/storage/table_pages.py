"""TABLES.md: `python -m tests.support.storage.table_pages OUT ...` writes it, of published results.

Between them the results have to be of all jobs; tests hold the page against what jobs write.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from storage.pipeline.results.table_meanings import MEANINGS

EXPORTS = {"for_a", "for_b"}
"""Directories of `diff` that are exports, with tables of their own."""

PAGE = Path(__file__).parents[3] / "TABLES.md"

HEAD = """\
# Tables of the pipeline

A job writes its tables as Parquet below `OUT/runs/JOB-NUMBER`; `OUT/manifest.json` says which run counts. `chat-tui pipeline show OUT TABLE` prints rows, and any tool that reads Parquet can.

- Ids of messages are 32 bytes, keys of nodes, authors and peers 64 hexadecimal digits, channels 32.
- `_ns` are nanoseconds: since 1970 where a moment is meant, else a time it took. `_us` are microseconds, of times rounded down to tens of them.
- `member`, and an `author` that is a number, are those of the table `members` of `delivery`; `clock`, `source` and `target` are its clocks. `stretch` and `column` are one of 48 stretches of the messages of a channel. In `facts`, `present` says whether somebody else wrote the message and it lies between the member's first and last ones by Lamport time, `there` whether the member's log had begun by its own clock; in `offsets`, `there` and `back` count messages each way.
- `at_us` are percentiles: 0 to 99, then 99.5, 99.9 and 100. `sync_N` and `xor_N` are quarters of 32 bytes, as signed big-endian numbers.
- Columns in *italics* are directories: `channel=...`, `day=...` (UTC). A time or Lamport time above 2^63 - 1 is cut to it; `log` is a 64-bit number, as a signed one.
"""  # noqa: E501  # a page has no lines


def section(job: str, table: str, directory: Path) -> str:
    """Return the part of the page for a table that was written, empty or not."""
    lines = [f"### {table}", "", MEANINGS[job][table], "", ", ".join(columns(directory))]
    return "\n".join(lines)


def columns(directory: Path) -> Iterator[str]:
    """Yield the columns of a table as the page names them."""
    file = min(directory.rglob("*.parquet"))
    for part in file.parent.relative_to(directory).parts:
        yield f"*`{part.partition('=')[0]}`* string"
    for field in pq.read_schema(file):
        kind = str(field.type).replace("element: ", "").replace(" not null", "")
        yield f"`{field.name}` {kind}"


def sections(out: Path) -> dict[tuple[str, str], str]:
    """Return the parts of the page for all tables that are published in `out`."""
    jobs = json.loads((out / "manifest.json").read_text())["jobs"]
    return {
        (job, table): section(job, table, directory)
        for job, tables in MEANINGS.items()
        if job in jobs
        for table in tables
        if any((directory := out / jobs[job]["directory"] / table).rglob("*.parquet"))
    }


def stale(job: str, directory: Path) -> list[str]:
    """Return the tables of a run that the page describes otherwise, or not."""
    page = PAGE.read_text(encoding="utf-8")
    described = [
        table for table in MEANINGS[job] if f"\n{section(job, table, directory / table)}\n" in page
    ]
    there = {path.name for path in directory.iterdir() if path.is_dir()} - EXPORTS
    return sorted(there.symmetric_difference(described))


def written(outs: Sequence[Path]) -> str:
    """Return the page, of results that are of all jobs between them."""
    found = {place: text for out in outs for place, text in sections(out).items()}
    parts = [HEAD.rstrip()]
    for job, tables in MEANINGS.items():
        parts += [f"## {job}", *(found[job, table] for table in tables)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(written([Path(one) for one in sys.argv[1:]]), encoding="utf-8")
