"""What a job is given: a session, its inputs, and the run to write into."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from storage.pipeline.inputs import Inputs
from storage.pipeline.runs import Results, Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Work:
    """See the module docstring; `results` are those of the jobs before."""

    spark: "SparkSession"
    inputs: Inputs
    results: Results
    run: Run
    scratch: Path
