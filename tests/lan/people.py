"""Persons on hosts of the lab."""

from pathlib import Path

from tests.lan.lab import Lab
from tests.support.processes import Person


def person_on(lab: Lab, tmp_path: Path, host: int) -> Person:
    return Person(f"host{host}", tmp_path / f"host{host}", prefix=lab.prefix(host))
