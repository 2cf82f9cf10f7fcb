"""`chat-tui export` and `sim --export`: what the command line does around them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from storage.extras import how_to_install
from sync.errors import ChatError

if TYPE_CHECKING:
    from storage.archive.exporter import Summary
    from sync.sim.scenario import Recorded


class ExportError(click.ClickException):
    """The export cannot be made as asked; exit status 2."""

    exit_code = 2


def export(
    directory: Path,
    out: Path,
    echo: Callable[[str], object],
    *,
    channel: str | None,
    since: datetime | None,
    log: bool,
) -> None:
    """Export the profile in `directory` to `out`, and say what came of it.

    Raises:
        ExportError: it cannot be done; says what to do.
    """
    began = time.perf_counter()
    console = Console(stderr=True)
    with (
        explained(),
        Progress(
            *Progress.get_default_columns()[:-1],
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            disable=not console.is_terminal,  # it would leave an empty line in a file
        ) as progress,
    ):
        from storage.archive.exporter import Exporter, Wanted, day_begins  # noqa: PLC0415  # needs pyarrow

        wanted = Wanted(channel, None if since is None else day_begins(since), log)
        exporter = Exporter(directory, out, wanted)
        task = progress.add_task("Exporting rows", total=None)
        summary = exporter.run(
            lambda done, total: progress.update(task, completed=done, total=total)
        )
    echo(_told(summary, out, time.perf_counter() - began))


@contextmanager
def simulated_export(directory: Path, seed: int, layout: str) -> "Iterator[Recorded]":
    """Yield what writes the export of a simulated group; if the block raises, nothing stays of it.

    Raises:
        ExportError: pyarrow is missing, or the directory will not do or cannot be written.
    """
    with explained():
        from storage.archive.layout import Layout  # noqa: PLC0415  # most runs export nothing
        from storage.archive.simulated import SimulatedExport  # noqa: PLC0415

        with SimulatedExport(directory, seed, Layout(layout)) as export:
            yield export.recorded


@contextmanager
def explained() -> Iterator[None]:
    """Turn what is wrong into the one sentence and exit status of an export."""
    try:
        yield
    except ChatError as error:
        raise ExportError(str(error)) from error
    except ImportError as error:
        if not (error.name or "").startswith("pyarrow"):
            raise
        raise ExportError(
            f"Exports need pyarrow, which is not installed: {how_to_install('export')}"
        ) from error


def _told(summary: "Summary", out: Path, seconds: float) -> str:
    """Return the one line at the end; each channel's day of each table is a file."""
    same = f"{_counted(summary.unchanged, 'file')} unchanged"
    if not summary.days:
        return f"{out} has everything already: {same}."
    messages = _counted(summary.messages, "message")
    if summary.acts:
        messages += f", {_counted(summary.acts, 'act')} of governance"
    rows = _counted(summary.log_rows, "row")
    written = _counted(summary.days, "file")
    left_out = ""
    if summary.damaged:
        damaged = _counted(summary.damaged, "message")
        left_out = f" Left out: {damaged} that the disk has damaged; see chat-tui doctor --deep."
    return (
        f"Exported {messages} and {rows} of the protocol log to {out} in {seconds:.1f} s: "
        f"{written} written, {same}.{left_out}"
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
