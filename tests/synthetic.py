"""Small data sets with planted faults, for the tests of the jobs."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from storage.pipeline.synthesize import TRUTH, synthesize
from storage.pipeline.synthetic.plan import Faults, Plan

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


def made(directory: Path, wanted: Plan) -> dict[str, list[Any]]:
    """Make it, and return what was planted."""
    synthesize(directory, wanted, lambda said: None)
    truth: dict[str, list[Any]] = json.loads((directory / TRUTH).read_text())["truth"]
    return truth
