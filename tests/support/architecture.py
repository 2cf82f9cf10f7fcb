"""Parts of the pages that are generated: `python -m tests.support.architecture` writes them anew.

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; a test fails when it is stale.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from sync.calimero.log import phases
from sync.check import phases as check_phases
from sync.p2panda import set_reconciliation, states
from sync.sessions import receiving
from sync.waku import reconcile

ROOT = Path(__file__).parents[2]
ARCHITECTURE = "ARCHITECTURE.md"
DECISIONS = "DECISIONS.md"
STATES = "STATES.md"
PACKAGES = ("chat_tui", "storage", "sync", "proto")


def folders(root: Path = ROOT) -> Iterator[Path]:
    """Yield the folders that hold Python files, packages in their order, parents first."""
    for package in PACKAGES:
        yield from sorted({path.parent for path in (root / package).rglob("*.py")})


def folder_map(root: Path = ROOT) -> str:
    """Return one line a folder: its path and the first line of its docstring."""
    lines = []
    for folder in folders(root):
        about = folder / "__init__.py"
        docstring = ast.get_docstring(ast.parse(about.read_text(encoding="utf-8")))
        assert docstring, f"{about} has no docstring"
        lines.append(f"- `{folder.relative_to(root)}`: {docstring.splitlines()[0]}")
    return "\n".join(lines)


def table(transitions: Mapping[Any, Mapping[Any, Enum]]) -> str:
    """Return a transition table: one row for all steps from a state to another."""
    lines = ["| state | next state | what happens |", "|---|---|---|"]
    for state, steps in transitions.items():
        whys: dict[str, list[str]] = {}
        for step, to in steps.items():
            whys.setdefault(to.value, []).append(step.value)
        lines += [f"| {state.value} | {to} | {'; '.join(why)} |" for to, why in whys.items()]
    return "\n".join(lines)


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def index(page: str) -> str:
    """Return one line a subject of DECISIONS.md, with links to its decisions."""
    lines = []
    for subject in page.split("\n## ")[1:]:
        title, _, rest = subject.partition("\n")
        links = [
            f"[{heading.replace('.', '', 1)}](#{anchor(heading)})"
            for heading in re.findall(r"^### (\d+\. .+)$", rest, re.MULTILINE)
        ]
        lines.append(f"- **{title}**: {'; '.join(links)}")
    return "\n".join(lines)


def generated(name: str, page: str) -> dict[str, str]:
    """Return the generated parts of a page, by their names."""
    if name == DECISIONS:
        return {"index": index(page)}
    if name == ARCHITECTURE:
        return {"map": folder_map()}
    return {
        "reconciliation": table(reconcile.TRANSITIONS),
        "transfer": table(receiving.TRANSITIONS),
        "check": table(check_phases.TRANSITIONS),
        "author logs": table(states.TRANSITIONS),
        "delta": table(phases.DELTA),
        "snapshot receiver": table(phases.RECEIVING),
        "snapshot source": table(phases.SENDING),
        "sets": table(set_reconciliation.TRANSITIONS),
    }


def regenerated(name: str, page: str) -> str:
    """Return `page` with every generated part as the code says it."""
    for part, text in generated(name, page).items():
        begin, end = f"<!-- begin {part} -->\n", f"<!-- end {part} -->"
        assert page.count(begin) == page.count(end) == 1, f"no place for the {part} in {name}"
        head, _, rest = page.partition(begin)
        page = f"{head}{begin}{text}\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    for one in (ARCHITECTURE, DECISIONS, STATES):
        path = ROOT / one
        path.write_text(regenerated(one, path.read_text(encoding="utf-8")), encoding="utf-8")
