"""A report that a pipeline run wrote, small and complete."""

import json
from pathlib import Path

from storage import report as reports
from storage.report import Report, Section
from storage.results import MANIFEST


def written_report(directory: Path) -> Path:
    """Results as the pipeline publishes them, with nothing but a report."""
    out = directory / "results"
    where = out / "runs" / "report-1"
    where.mkdir(parents=True)
    rows = [("latency", "p50 27 ms, p95 87 ms"), ("wr\x1b[31mong", "<b>")]
    report = Report(
        [
            Section("delivery", "Delivery", rows),
            Section("audit", "Audit", [("equivocations", "2")], findings=2),
            Section("sweep", "Sweep of parameters", note="Missing: this job has not run."),
        ]
    )
    (where / reports.REPORT).write_text(report.to_json())
    jobs = {"report": {"directory": "runs/report-1", "figures": {}}}
    (out / MANIFEST).write_text(json.dumps({"format": 1, "jobs": jobs}))
    return out
