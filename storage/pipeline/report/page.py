"""The page of a report: one file that needs nothing else, for light and dark screens.

Rule: whatever a peer may have written is escaped, and nothing is loaded from anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from storage.pipeline.results.small_tables import Row
from storage.report import Section, printable

STYLE: Final = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 1rem 0.15rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
.scroll { overflow-x: auto; }
.evidence td { font: 0.8rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
.wrong { color: #c62828; font-weight: 600; }
@media (prefers-color-scheme: dark) { .wrong { color: #ff8a80; } }
.note { font-style: italic; }
figure { margin: 1.5rem 0; }
figure svg { width: 100%; height: auto; }
"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The first rows of a table that a job wrote, and how many it has."""

    name: str
    count: int
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page: what is told, the plots (title, SVG), and the evidence."""

    section: Section
    plots: Sequence[tuple[str, str]] = ()
    evidence: Sequence[Evidence] = ()


def page(verdict: str, parts: Sequence[Part]) -> str:
    """Return the page as HTML, which is well-formed as XML too."""
    body = "".join(_part(part) for part in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>chat-tui: report of the pipeline</title><style>{STYLE}</style></head><body>"
        f"<h1>Report of the pipeline</h1><p>{_safe(verdict)}</p>{body}</body></html>\n"
    )


def _verdict(findings: int) -> str:
    things = "1 thing" if findings == 1 else f"{findings:,} things"
    return f'<p class="wrong">{things} found wrong.</p>'


def _part(part: Part) -> str:
    section = part.section
    rows = "".join(
        f'<tr><th scope="row">{_safe(label)}</th><td>{_safe(value)}</td></tr>'
        for label, value in section.rows
    )
    return "".join(
        (
            f'\n<section id="{_safe(section.job)}"><h2>{_safe(section.title)}</h2>',
            _verdict(section.findings) if section.findings else "",
            f'<p class="note">{_safe(section.note)}</p>' if section.note else "",
            f'<div class="scroll"><table>{rows}</table></div>' if rows else "",
            *(
                f"\n<figure><figcaption>{_safe(title)}</figcaption>\n{svg}</figure>"
                for title, svg in part.plots
            ),
            *(_evidence(one) for one in part.evidence),
            "</section>",
        )
    )


def _evidence(evidence: Evidence) -> str:
    columns = list(evidence.rows[0])
    head = "".join(f"<th>{_safe(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_safe(cell(row[column]))}</td>" for column in columns) + "</tr>"
        for row in evidence.rows
    )
    more = evidence.count - len(evidence.rows)
    rest = f" ({more:,} more in the table)" if more > 0 else ""
    return (
        f"\n<h3>{_safe(evidence.name.replace('_', ' '))}: {evidence.count:,}{rest}</h3>"
        f'<div class="scroll"><table class="evidence"><tr>{head}</tr>{body}</table></div>'
    )


CELL_MAX: Final = 40


def cell(value: object) -> str:
    """Return a value of a table in a few characters; bytes as hex."""
    if isinstance(value, bytes):
        return printable(value[:CELL_MAX].hex(), 16)
    if isinstance(value, list):
        return printable(", ".join(cell(one) for one in value[:8]), CELL_MAX)
    return "" if value is None else printable(value, CELL_MAX)


def _safe(text: str) -> str:
    return escape(printable(text))
