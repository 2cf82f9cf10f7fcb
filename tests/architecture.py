"""The parts of ARCHITECTURE.md that are drawn from the code: `python -m tests.architecture`.

Between `<!-- begin NAME -->` and `<!-- end NAME -->` stands what this file draws; a test fails when
it is stale.
"""

import ast
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from sync.check import check
from sync.sessions import receiving as transfer
from sync.waku import reconcile

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
PACKAGES = ("sync", "storage", "chat_tui", "proto")


def code_map() -> str:
    """One line a file: its path and the first line of its docstring."""
    lines = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name.endswith("_pb2.py"):
                continue
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            assert docstring, f"{path} has no docstring"
            lines.append(f"- `{path.relative_to(ROOT)}`: {docstring.splitlines()[0]}")
    return "\n".join(lines)


def table(transitions: Mapping[Any, Mapping[Any, Enum]]) -> str:
    """A transition table: one row a state, with what leads where."""
    lines = ["| state | what happens | next state |", "|---|---|---|"]
    for state, steps in transitions.items():
        if not steps:
            lines.append(f"| {state.value} | (nothing more) | |")
        lines += [f"| {state.value} | {step.value} | {to.value} |" for step, to in steps.items()]
    return "\n".join(lines)


def drawn() -> dict[str, str]:
    """All drawn parts by name."""
    return {
        "code map": code_map(),
        "reconciliation": table(reconcile.TRANSITIONS),
        "transfer": table(transfer.TRANSITIONS),
        "check": table(check.TRANSITIONS),
    }


def redrawn(page: str) -> str:
    """`page` with every drawn part as the code says it."""
    for name, text in drawn().items():
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
        assert page.count(begin) == page.count(end) == 1, f"no place for the {name}"
        head, _, rest = page.partition(begin)
        page = f"{head}{begin}{text}\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(redrawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
