"""The page of a report: one file that needs nothing else, for light and dark screens.

Rule: whatever a peer may have written is escaped, and nothing is loaded from anywhere.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Final

from storage.pipeline.report.evidence import Cell, Evidence
from storage.report import Section, printable

STYLE: Final = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --wrong: #c62828; }
@media (prefers-color-scheme: dark) { :root { --wrong: #ff8a80; } }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-size: 0.9rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 1rem 0.15rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
.scroll { overflow-x: auto; }
.evidence th, .evidence td { font-size: 0.8rem; white-space: pre-line; min-width: 4rem; }
.evidence td:first-child { min-width: 9rem; }
.evidence td.long { min-width: 16rem; }
.evidence td { font-variant-numeric: tabular-nums; }
code { font: 0.8rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
.id { display: inline-block; max-width: 14ch; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; vertical-align: bottom; user-select: all; -webkit-user-select: all; }
.copy { user-select: all; -webkit-user-select: all; background: var(--soft); padding: 0 0.3em; }
.wrong { color: var(--wrong); font-weight: 600; }
.note { font-style: italic; }
.made, nav, details { font-size: 0.9rem; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1.5rem; }
dd { margin: 0 0 0.3rem 1rem; }
figure { margin: 1.5rem 0; }
figure svg { width: 100%; height: auto; }
@media print { .id { max-width: none; white-space: normal; } }
"""

TABLES_MAX: Final = 100
"""Tables of a job that are named with their paths."""

SOURCES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table that a job wrote: where it is and how many rows it has."""

    name: str
    rows: int
    path: Path


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page: what is told, the plots (title, SVG), evidence, tables, its making."""

    section: Section
    plots: Sequence[tuple[str, str]] = ()
    evidence: Sequence[Evidence] = ()
    tables: Sequence[TableFile] = ()
    made: Mapping[str, Any] = field(default_factory=dict)


def page(verdict: str, parts: Sequence[Part], out: Path) -> str:
    """Return the page as HTML, which is well-formed as XML too; `out` are the results."""
    body = "".join(_part(part, out) for part in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>chat-tui: report of the pipeline</title><style>{STYLE}</style></head><body>"
        f"<h1>Report of the pipeline</h1><p>{_safe(verdict)}</p>"
        f'<p class="made">Results in <code>{_safe(out)}</code>. Times are in UTC. A click on an id '
        f"or a command selects all of it.</p>{_contents(parts)}{body}</body></html>\n"
    )


def _contents(parts: Sequence[Part]) -> str:
    items = []
    for part in parts:
        section = part.section
        if section.findings:
            state = f' <span class="wrong">{section.findings:,}</span>'
        else:
            state = " (missing)" if section.note else ""
        items.append(f'<li><a href="#{_safe(section.job)}">{_safe(section.title)}</a>{state}</li>')
    return f'<nav aria-label="Contents"><ul>{"".join(items)}</ul></nav>'


def _verdict(findings: int) -> str:
    things = "1 thing" if findings == 1 else f"{findings:,} things"
    return f'<p class="wrong">{things} found wrong.</p>'


def _part(part: Part, out: Path) -> str:
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
            _made(part.made),
            f'<div class="scroll"><table>{rows}</table></div>' if rows else "",
            *(
                f"\n<figure><figcaption>{_safe(title)}</figcaption>\n{svg}</figure>"
                for title, svg in part.plots
            ),
            *(_evidence(one, section.job, out) for one in part.evidence),
            _tables(part, out),
            "</section>",
        )
    )


def _made(made: Mapping[str, Any]) -> str:
    """Say when, from what and by which command the results were made; older ones do not say."""
    if not made:
        return ""
    at = str(made.get("at") or "").replace("T", " ").removesuffix("+00:00")
    sources = [str(one) for one in made.get("from") or ()]
    count = int(made.get("sources") or len(sources))
    said = f"Made {_safe(at)} UTC"
    if sources:
        more = f" and {count - SOURCES_SHOWN:,} more" if count > SOURCES_SHOWN else ""
        named = ", ".join(f"<code>{_safe(one)}</code>" for one in sources[:SOURCES_SHOWN])
        said += f" from {named}{more}"
    if command := str(made.get("command") or ""):
        said += f" by {_command(command)}"
    if unknown := made.get("unknown_columns"):
        names = ", ".join(
            f"<code>{_safe(name)}</code> ({files:,} file{'s' * (files != 1)})"
            for name, files in unknown.items()
        )
        said += f". Columns of later versions, which stay where they are: {names}"
    return f'<p class="made">{said}.</p>'


def _evidence(evidence: Evidence, job: str, out: Path) -> str:
    head = "".join(f"<th>{_safe(_label(column))}</th>" for column in evidence.columns)
    body = "".join(
        "<tr>" + "".join(f"<td{_width(cell)}>{_cell(cell)}</td>" for cell in row) + "</tr>"
        for row in evidence.rows
    )
    more = evidence.count - len(evidence.rows)
    rest = f" ({more:,} more in the table)" if more > 0 else ""
    meaning = f"<p>{_safe(evidence.meaning)}</p>" if evidence.meaning else ""
    return (
        f"\n<h3>{_safe(evidence.name.replace('_', ' '))}: {evidence.count:,}{rest}</h3>{meaning}"
        f'<div class="scroll"><table class="evidence"><tr>{head}</tr>{body}</table></div>'
        f"<p>All of them: {_command(_show(out, job, evidence.name))}</p>"
    )


def _label(column: str) -> str:
    """Return the name of a column without its unit, which its values say."""
    return column.removesuffix("_ns").removesuffix("_us").replace("_", " ")


def _tables(part: Part, out: Path) -> str:
    if not part.tables:
        return ""
    items = "".join(
        f"<dt>{_safe(table.name)}, {table.rows:,} row{'s' * (table.rows != 1)}</dt>"
        f"<dd>{_command(_show(out, part.section.job, table.name))}</dd>"
        f"<dd>{_command(_query(table.path))}</dd>"
        for table in part.tables[:TABLES_MAX]
    )
    return (
        f"<details><summary>Tables ({len(part.tables)}), and the queries that read them</summary>"
        f"<dl>{items}</dl></details>"
    )


def _show(out: Path, job: str, table: str) -> str:
    return f"chat-tui pipeline show {shlex.quote(str(out))} {job}/{table}"


def _query(path: Path) -> str:
    """Return what DuckDB and others understand."""
    quoted = str(path / "**" / "*.parquet").replace("'", "''")
    return f"SELECT * FROM read_parquet('{quoted}')"  # noqa: S608  # a person may run it


def _command(text: str) -> str:
    return f'<code class="copy">{escape(printable(text, COMMAND_MAX))}</code>'


COMMAND_MAX: Final = 4_000

TEXT_MAX: Final = 2_000


LONG_TEXT: Final = 60
"""Characters of a line in evidence from which on its cell is wide, also on narrow screens."""


def _width(cell: Cell) -> str:
    """Return the class of a cell with a long line: else it were a column of single words."""
    return ' class="long"' * (max(map(len, cell.text.split("\n"))) > LONG_TEXT)


def _cell(cell: Cell) -> str:
    text = "\n".join(escape(printable(line, TEXT_MAX)) for line in cell.text.split("\n"))
    if not cell.whole:
        return text
    whole = escape(printable(cell.whole))
    return f'{text}{" " * bool(text)}<code class="id" title="{whole}">{whole}</code>'


def _safe(text: object) -> str:
    return escape(printable(text))
