"""Data sets with planted faults, and what was found of them as the truth has it."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from storage.archive.layout import Layout
from storage.pipeline.results.publishing import Results
from storage.pipeline.results.small_tables import first_rows
from storage.pipeline.synthetic.dataset import TRUTH, synthesize
from storage.pipeline.synthetic.plan import Faults, Plan

AUDITED = {
    "equivocations": ("author", "log", "seq"),
    "unknown_dependencies": ("message_id", "parent"),
    "causal_violations": ("message_id", "parent"),
    "early_deliveries": ("node", "message_id", "parent"),
    "order_divergence": ("node", "message_id", "lamport"),
    "missing": ("node", "message_id"),
    "missing_tail": ("node", "message_id"),
    "trace_holes": ("node", "boot", "first", "last"),
}
"""The tables of audit, and what the truth says of each finding."""

QUARANTINE = "quarantine"
REASONS = {
    "the id is not the SHA-256 of the header": "false id",
    "the signature is not its author's": "bad signature",
    "not as signed: lamport": "false column",
}
"""Why consolidate sets a row apart, and what was planted."""

KINDS = [*AUDITED, QUARANTINE]

ROWS_MAX = 1_000_000
"""Findings of a kind: more than any plan here has."""

NO_FAULTS = Faults(**{fault.name: 0 for fault in fields(Faults)})


def plan(seed: int = 0, faults: Faults = NO_FAULTS, **options: Any) -> Plan:  # noqa: ANN401
    """A few hundred messages of eight nodes in two channels; a clean one, unless said otherwise."""
    sizes = {
        "nodes": 8,
        "messages": 240,
        "channels": 2,
        "members": 6,
        "loss": 0.2,
        "never": 0.0,
        "duplicates": 0.25,
        "hours": 30.0,
    }
    return Plan(**(sizes | options), seed=seed, faults=faults)


def made(directory: Path, wanted: Plan, layout: Layout = Layout.ONE) -> dict[str, list[Any]]:
    """Make it, and return what was planted."""
    synthesize(directory, wanted, lambda said: None, layout)
    truth: dict[str, list[Any]] = json.loads((directory / TRUTH).read_text())["truth"]
    return truth


def findings(results: Results, name: str) -> list[list[Any]]:
    """All findings of one of `KINDS` as the truth has them, sorted."""
    job, columns = "audit", AUDITED.get(name)
    if columns is None:
        job, columns = "consolidate", ("node", "message_id", "reason")
    published = results.published(job)
    assert published is not None
    rows = first_rows(published.directory, name, ROWS_MAX)
    cells = [[plain(row[column]) for column in columns] for row in rows]
    return sorted([*row[:2], REASONS[row[2]]] if name == QUARANTINE else row for row in cells)


def plain(value: Any) -> Any:  # noqa: ANN401  # any cell of a row
    """A cell as the truth has it: bytes in hex."""
    return bytes(value).hex() if isinstance(value, bytearray | bytes) else value
