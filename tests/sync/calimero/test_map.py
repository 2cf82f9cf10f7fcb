"""The map of `sync.calimero` names what exists."""

import importlib
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
    assert len(ROWS) >= 12
    assert all(names for _, names in ROWS)


@pytest.mark.parametrize("name", [name for _, names in ROWS for name in names])
def test_what_the_map_names_exists(name: str) -> None:
    room, module, *inside = name.split(".")
    holder: object = importlib.import_module(f"sync.calimero.{room}.{module}")
    for attribute in inside:
        holder = getattr(holder, attribute)
    assert holder is not None
