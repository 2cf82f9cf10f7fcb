"""Results on this computer, as those commands read them that start no Java."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import pyarrow as pa
import pyarrow.dataset as ds

from storage.archive.tables import NOTE
from storage.pipeline.errors import PipelineError, as_problems
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.places.far_table import FarTable
from storage.pipeline.places.place import checked_name, is_local
from storage.results import Published, has_results, manifest_of, published_in
from storage.uris import NO_NAME, is_uri

PARTITIONS: Final = (pa.field("channel", pa.string()), pa.field("day", pa.string()))
"""Columns that the paths of a table's files may say."""

NAMES_SHOWN: Final = 60
"""Tables that a sentence names."""


class LocalDirectory(click.ParamType):  # type: ignore[type-arg]  # older ones are not generic
    """A directory of this computer; an address of a store is refused with what to do."""

    name = "directory"

    def convert(
        self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """See click.

        Raises:
            PipelineError: it is an address, or its name is no text.
        """
        if not str(value):
            self.fail(NO_NAME, param, ctx)
        if is_uri(str(value)):
            raise PipelineError(
                f"{value} is an address, and this command reads directories of this computer "
                "alone: copy the results here first, as `hadoop fs -get` does."
            )
        return checked_name(Path(value))


@dataclass(frozen=True, slots=True)
class Table:
    """A published table: its job, its name, and its directory."""

    job: str
    name: str
    directory: Path

    @property
    def full_name(self) -> str:
        """The name that no other table has."""
        return f"{self.job}/{self.name}"

    def dataset(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """Open it.

        Raises:
            PipelineError: it cannot be read.
        """
        try:
            return open_dataset(self.directory)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self.directory, error) from error


def open_dataset(directory: Path) -> Any:  # noqa: ANN401  # pyarrow has no types
    """Open a directory of Parquet files; what their paths say are texts, digits or not."""
    if not is_local(directory):  # the report of a session that writes there
        return FarTable(directory)
    names = [field for field in PARTITIONS if any(directory.rglob(f"{field.name}=*"))]
    partitions = ds.partitioning(pa.schema(names), flavor="hive") if names else None
    return ds.dataset(directory.absolute(), format="parquet", partitioning=partitions)


def unreadable(path: Path, error: Exception) -> PipelineError:
    """Return the sentence about a table that cannot be read."""
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return PipelineError(f"{path} cannot be read ({first}); run the job again.")


def published_results(out: Path) -> Mapping[str, Published]:
    """Return what is published in a directory, by job.

    Raises:
        PipelineError: nothing is, or it cannot be read.
    """
    with as_problems():
        jobs = manifest_of(out) if has_results(out) else {}
        found = {job: published_in(out, job) for job in jobs}
    results = {job: one for job, one in found.items() if one is not None}
    if not results:
        raise PipelineError(
            f"There are no results in {out}; `chat-tui pipeline all ... --out DIR` makes some."
        )
    return results


def tables_of(results: Mapping[str, Published]) -> Iterator[Table]:
    """Yield the tables of all jobs."""
    for job, published in results.items():
        if published.directory.is_dir():
            for path in sorted(published.directory.iterdir()):
                if path.is_dir() and any(path.rglob("*.parquet")):
                    yield Table(job, path.name, path)


def find_table(results: Mapping[str, Published], named: str) -> Table:
    """Return the table of a name, or of JOB/NAME where two jobs have one of that name.

    Raises:
        PipelineError: there is none, or there are several.
    """
    tables = list(tables_of(results))
    found = [table for table in tables if named in (table.name, table.full_name)]
    if not found:
        names = ", ".join(sorted(table.full_name for table in tables)[:NAMES_SHOWN])
        raise PipelineError(f"There is no table {named} in these results; there are: {names}.")
    if len(found) > 1:
        names = " or ".join(table.full_name for table in found)
        raise PipelineError(f"Several jobs have a table {named}: name {names}.")
    return found[0]


def exports_behind(out: Path) -> Inputs:
    """Return the exports that results were made of; `out` may be exports itself.

    Raises:
        PipelineError: they are gone, or the results do not say which they were.
    """
    if not has_results(out):
        return Inputs.find([out])
    results = published_results(out)
    named = {
        str(source)
        for one in results.values()
        for source in [*one.made.get("from", ()), *one.figures.get("exports", ())]
    }
    sources = [path for one in sorted(named) if ((path := Path(one)) / NOTE).is_file()]
    if not sources:
        raise PipelineError(
            f"The exports that the results in {out} were made of are gone, and only they have the "
            "logs: name a directory with exports instead."
        )
    return Inputs.find(sources)
