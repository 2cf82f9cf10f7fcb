"""The map of the specification: whatever it names as a home is there."""

import importlib
import re

import pytest

import sync.calimero

ROWS = [
    (named, home)
    for named, homes in re.findall(r"^\| (.+) \| (`.+`) \|$", sync.calimero.__doc__ or "", re.M)
    for home in re.findall(r"`([^`]+)`", homes)
]


@pytest.mark.parametrize(("named", "home"), ROWS)
def test_each_named_thing_has_the_home_that_the_map_says(named: str, home: str) -> None:
    path = home if home.startswith(("sync.", "storage.")) else f"sync.calimero.{home}"
    parts, found = path.split("."), None
    for size in range(len(parts), 1, -1):
        try:
            found = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            found = getattr(found, part)
        break
    assert found is not None, f"{named}: {home}"


def test_the_map_has_rows() -> None:
    assert len(ROWS) > 70
