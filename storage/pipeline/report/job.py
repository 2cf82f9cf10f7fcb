"""Everything that is published, as `report.json` and as one page with pictures; no Spark in it."""

from collections.abc import Iterator
from pathlib import Path

from storage.extras import how_to_install
from storage.pipeline.errors import PipelineError
from storage.pipeline.job_context import Work
from storage.pipeline.places.place import is_local
from storage.pipeline.report.evidence import Gatherer
from storage.pipeline.report.page import Part, TableFile, page
from storage.pipeline.report.sections import TITLES, sections
from storage.pipeline.results.publishing import Results, Run
from storage.pipeline.results.small_tables import row_count, table_names
from storage.report import PAGE, REPORT, Report, remember
from storage.results import Published


def run(work: Work) -> None:
    """Make the report of the results of the jobs before."""
    make(work.results, work.run)


def make(results: Results, run: Run) -> Report:
    """Write the report of everything published into a run.

    Raises:
        PipelineError: nothing is published, or a table cannot be read, or matplotlib is missing.
    """
    found = published_in(results)
    figures = {job: one.figures for job, one in found.items()}
    report = Report(sections(figures), figures)
    evidence = Gatherer(found)
    parts = [
        Part(
            section,
            _plots(section.job, found),
            list(evidence.of(section.job)),
            list(_tables(section.job, found)),
            found[section.job].made if section.job in found else {},
        )
        for section in report.sections
    ]
    (run.directory / REPORT).write_text(report.to_json(), encoding="utf-8")
    (run.directory / PAGE).write_text(
        page(report.verdict, parts, results.out.absolute()), encoding="utf-8"
    )
    run.figures = {
        "jobs": sorted(found),
        "wrong": report.findings,
        "page": str((run.directory / PAGE).absolute()),
    }
    if is_local(results.out):
        _remember(results.out)
    return report


def published_in(results: Results) -> dict[str, Published]:
    """Return what there is to report, by job.

    Raises:
        PipelineError: nothing is.
    """
    found = {job: published for job in TITLES if (published := results.published(job))}
    if not found:
        raise PipelineError(
            f"There are no results in {results.out} to report; `chat-tui pipeline all ... --out "
            "DIR` makes some."
        )
    return found


def _remember(out: Path) -> None:
    try:
        remember(out)
    except OSError as error:
        raise PipelineError(
            f"Where this report is cannot be remembered ({error}); make that directory writable."
        ) from error


def _plots(job: str, found: dict[str, Published]) -> list[tuple[str, str]]:
    if job not in ("delivery", "sweep") or job not in found:
        return []
    try:
        from storage.pipeline.report.plots import delivery_plots  # noqa: PLC0415  # only here
        from storage.pipeline.report.sweep_plots import sweep_plots  # noqa: PLC0415
    except ImportError as error:
        raise PipelineError(
            f"The report needs matplotlib ({error}): {how_to_install('pipeline')}"
        ) from error
    if job == "sweep":
        return list(sweep_plots(found[job].figures))
    return list(delivery_plots(found[job].directory, found[job].figures))


def _tables(job: str, found: dict[str, Published]) -> Iterator[TableFile]:
    if job not in found:
        return
    directory = found[job].directory
    for name in table_names(directory):
        yield TableFile(name, row_count(directory, name), (directory / name).absolute())
