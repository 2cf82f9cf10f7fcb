"""The map of `sync.calimero` names what exists."""

import pkgutil
import re
from typing import Final

import pytest

import sync.calimero

ROW: Final = re.compile(r"^\| (.+) \| (.+) \|$", re.MULTILINE)
ROWS: Final = [
    (section, re.findall(r"`([\w.]+)`", where))
    for section, where in ROW.findall(sync.calimero.__doc__ or "")
    if section not in {"section", "---"}
]


def test_the_map_has_rows() -> None:
    assert len(ROWS) >= 70
    assert all(names for _, names in ROWS)


@pytest.mark.parametrize("name", [name for _, names in ROWS for name in names])
def test_what_the_map_names_exists(name: str) -> None:
    whole = name if name.startswith(("sync.", "storage.")) else f"sync.calimero.{name}"
    assert pkgutil.resolve_name(whole) is not None
