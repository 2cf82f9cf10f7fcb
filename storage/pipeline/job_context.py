"""Arguments of a job: a session, its inputs, and the run to write into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.results.publishing import Results, Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Work:
    """See the module docstring; `results` are those of the jobs before, `options` a job's own."""

    spark: "SparkSession"
    inputs: Inputs
    results: Results
    run: Run
    scratch: Path
    options: Mapping[str, Any] = field(default_factory=dict)
