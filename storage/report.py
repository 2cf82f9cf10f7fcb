"""The last report of the pipeline, as those without Spark read it: plain JSON, and where it lies.

`report.json` has sections, each with what is told of one job: {"format", "findings", "sections":
[{"job", "title", "note", "findings", "rows": [[label, value], ...]}], "figures": {job: {...}}}.
All texts are ready to be shown. Whatever reads it trusts nothing in it but its bounds.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import platformdirs

from storage.results import published_in, small_text
from sync.errors import LocalError

FORMAT: Final = 1

REPORT: Final = "report.json"
PAGE: Final = "report.html"
JOB: Final = "report"

BYTES_MAX: Final = 4 * 1024 * 1024
"""Of `report.json`: a hundred times what a report takes."""

SECTIONS_MAX: Final = 20
ROWS_MAX: Final = 60
"""Rows of a section; more are not read on a terminal."""

TEXT_MAX: Final = 300
"""Characters of a text in a report."""

HOW: Final = (
    "There is no report yet: `chat-tui pipeline report --out DIR` makes one, and remembers where."
)


@dataclass(frozen=True, slots=True)
class Section:
    """Section of the report on one job; `note` is a sentence, as when the job has not run."""

    job: str
    title: str
    rows: Sequence[tuple[str, str]] = ()
    note: str = ""
    findings: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """All sections; `figures` are those of the jobs, as they are in the manifest."""

    sections: Sequence[Section]
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def findings(self) -> int:
        """The number of things found wrong."""
        return sum(section.findings for section in self.sections)

    @property
    def verdict(self) -> str:
        """The verdict, as a sentence: wrong, nothing wrong, or, without an audit, not known."""
        if self.findings:
            return f"{self.findings:,} thing{'s' * (self.findings > 1)} found wrong."
        if any(section.job == "audit" and not section.note for section in self.sections):
            return "Nothing was found wrong."
        return "No audit was made: whether something is wrong is not known."

    def to_json(self) -> str:
        """Return `report.json`."""
        written = {
            "format": FORMAT,
            "findings": self.findings,
            "sections": [asdict(section) for section in self.sections],
            "figures": self.figures,
        }
        return json.dumps(written, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read `report.json`.

        Raises:
            ValueError: it is none, or of another version.
        """
        try:
            read = json.loads(text)
            if read["format"] != FORMAT:
                raise ValueError(f"it has format {read['format']}, and not {FORMAT}")
            sections = [_section(one) for one in read["sections"][:SECTIONS_MAX]]
            return cls(sections, dict(read["figures"]))
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"it is no report ({error!r})") from error


def printable(text: object, limit: int = TEXT_MAX) -> str:
    """Return a text in one line, without what a terminal or a page would obey, cut to a limit."""
    shown = "".join(char if char.isprintable() else " " for char in str(text)[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def last_file() -> Path:
    """Return the file that remembers where the last report is."""
    return Path(platformdirs.user_data_dir("chat-tui")) / ".last-report"


def remember(out: Path) -> None:
    """Remember that the last report is among the results in `out`.

    Raises:
        OSError: it cannot be.
    """
    path = last_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(f"{out.absolute()}\n")
    fresh.replace(path)


def report_file(named: Path | None = None) -> Path:
    """Return where the last report is: in the results that are named, or else remembered.

    Raises:
        LocalError: there is none; the sentence says how to make one.
    """
    out = named
    if out is None:
        try:
            out = Path(last_file().read_text().strip())
        except (OSError, ValueError):
            raise LocalError(HOW) from None
    try:
        published = published_in(out, JOB)
    except LocalError as error:
        raise _no_report(out) from error
    if published is None:
        raise _no_report(out)
    return published.directory / REPORT


def read_report(named: Path | None = None) -> tuple[Path, Report]:
    """Return the last report and where its file is.

    Raises:
        LocalError: there is none, or it cannot be read; the sentence says what to do.
    """
    path = report_file(named)
    try:
        return path, Report.from_json(small_text(path, BYTES_MAX))
    except (OSError, ValueError) as error:
        raise LocalError(
            f"{printable(path)} cannot be read ({printable(error)}); `chat-tui pipeline report "
            "--out DIR` makes it anew."
        ) from error


def _no_report(out: Path) -> LocalError:
    return LocalError(
        f"There is no report in {printable(out)}: `chat-tui pipeline report --out DIR` makes one "
        "of the results in DIR."
    )


def _section(read: Mapping[str, Any]) -> Section:
    return Section(
        job=printable(read["job"]),
        title=printable(read["title"]),
        rows=[(printable(label), printable(value)) for label, value in read["rows"][:ROWS_MAX]],
        note=printable(read["note"]),
        findings=int(read["findings"]),
    )
