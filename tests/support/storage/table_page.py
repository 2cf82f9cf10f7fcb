"""TABLES.md: the columns of every table that jobs wrote, as their files have them.

    .venv/bin/python -m tests.support.storage.table_page RESULTS...

writes the page anew from directories with the results of all jobs.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from storage.pipeline.results.columns import MEANINGS
from storage.pipeline.results.publishing import Results

PAGE: Final = Path(__file__).parents[3] / "TABLES.md"

JOBS: Final = ("consolidate", "audit", "fingerprints", "delivery")

HEAD: Final = """\
# The tables of the pipeline

Each job writes Parquet files under `runs/JOB-NUMBER/TABLE` of its results; `manifest.json` \
says which number counts. A name means the same in every table. Times end in `_ns`: \
nanoseconds since 1970, by the clock of the node that noted them; null means that it never \
happened. This page is made from the files that the jobs write and from \
`storage/pipeline/results/columns.py`; a test holds it true.
"""


def page(places: Sequence[Path]) -> str:
    """Return the whole page, of the results in some directories."""
    found: dict[str, str] = {}
    for place in places:
        found |= sections(place)
    return "\n".join([HEAD, *(found[job] for job in JOBS if job in found)])


def sections(out: Path) -> dict[str, str]:
    """Return the part of the page about each job whose results are there."""
    found = {}
    for job in JOBS:
        if published := Results(out).published(job):
            tables = sorted(path for path in published.directory.iterdir() if path.is_dir())
            parts = [part for path in tables for part in table(path)]
            found[job] = "\n".join([f"## {job}", "", *parts])
    return found


def table(path: Path) -> Iterator[str]:
    """Yield the lines about one table; an export inside results has a page of its own."""
    file = next(path.rglob("*.parquet"), None)
    if file is None or (path / "export.json").is_file():
        return
    columns = [(field.name, str(field.type)) for field in pq.read_schema(file)]
    inside = [part.partition("=")[0] for part in file.parent.relative_to(path).parts]
    yield from (f"### {path.parent.name.rpartition('-')[0]}/{path.name}", "")
    yield from ("| column | type | meaning |", "|---|---|---|")
    for name, kind in [*columns, *((name, "in the path") for name in inside)]:
        words = kind.replace("list<element: ", "list of ").replace(">", "").replace(" not null", "")
        yield f"| `{name}` | {words} | {MEANINGS[name]} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page([Path(one) for one in sys.argv[1:]]), encoding="utf-8")
