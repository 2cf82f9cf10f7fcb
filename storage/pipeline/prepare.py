"""`chat-tui pipeline prepare`: keep the classes of Spark ready, so that jobs start quicker."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from storage.pipeline.errors import PipelineError
from storage.pipeline.interrupts import Stopped
from storage.pipeline.job_runner import finished
from storage.pipeline.spark import class_archive, launcher
from storage.pipeline.spark.session import Cluster
from storage.pipeline.synthetic.dataset import synthesize
from storage.pipeline.synthetic.plan import Faults, Plan

MEMORY: Final = "1g"

SAMPLE: Final = Plan(
    nodes=16,
    messages=2000,
    channels=4,
    members=8,
    loss=0.03,
    never=0.02,
    duplicates=0.25,
    hours=24.0,
    seed=0,
    faults=Faults(),
)
"""With each kind of fault, so that every query has something to find."""


def prepare(jobs: Sequence[str]) -> Path:
    """Run jobs on a made-up export, and keep the classes that this took; returns where.

    Raises:
        PipelineError: Java is started in another way here, or does not write them.
    """
    if launcher.is_set_up():
        raise PipelineError(
            "Spark is set up here by its own variables or files, and jobs start in its way, which "
            "uses nothing that could be prepared."
        )
    directory = class_archive.directory()
    try:
        # beside the kept ones, so that one step puts them in place
        with tempfile.TemporaryDirectory(prefix="spark-", dir=directory) as name:
            export, recorded = Path(name) / "export", Path(name) / "classes"
            synthesize(export, SAMPLE, lambda _: None)
            cluster = Cluster(memory=MEMORY, recorded=recorded)
            try:
                finished(jobs, [export], Path(name) / "results", cluster)
            except Stopped:
                raise Stopped("Stopped; what was prepared before stays.") from None
            if not recorded.is_file():
                raise PipelineError("This Java does not keep classes: jobs start without.")
            return class_archive.keep(recorded)
    except Stopped as stopped:
        raise Stopped("Stopped; jobs start as before.") from stopped
    except OSError as error:
        raise PipelineError(
            f"Cannot write to {directory} ({error.strerror}): it needs some 300 MB there."
        ) from error
