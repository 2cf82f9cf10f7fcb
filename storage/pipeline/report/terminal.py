"""A report on the terminal: one table a job, and where the page with the pictures is."""

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from storage.report import Report


def show(report: Report, page: Path) -> None:
    """Print a report."""
    console = Console(file=sys.stdout, highlight=False)
    for section in report.sections:
        table = Table(title=Text(section.title, "bold"), title_justify="left", show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for label, value in section.rows:
            table.add_row(Text(label), Text(value))
        if section.note:
            table.add_row("", Text(section.note, "italic"))
        console.print(table)
    console.print(Text(report.verdict, "bold red" if report.findings else "bold"))
    console.print(Text(f"With pictures: {page}"), soft_wrap=True)
