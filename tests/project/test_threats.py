"""`tests/project/threats.md`: every attack has a row, and every test that a row names exists."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
ATTACKS: Final = range(1, 25)

ROW: Final = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
TEST: Final = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows() -> dict[int, list[tuple[str, str]]]:
    """By number: (file, test) of each test of an attack."""
    text = (ROOT / "tests" / "project" / "threats.md").read_text()
    return {int(number): TEST.findall(tests) for number, _, tests in ROW.findall(text)}


@cache
def defined_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text())
    found = [
        one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return frozenset(one.name for one in found if one.name.startswith("test_"))


def test_every_attack_has_a_row_and_a_test() -> None:
    named = rows()

    assert list(named) == list(ATTACKS)
    assert not [number for number, tests in named.items() if not tests]


@pytest.mark.parametrize("number", ATTACKS)
def test_every_test_that_is_named_exists(number: int) -> None:
    missing = [f"{file}::{name}" for file, name in rows()[number] if name not in defined_in(file)]

    assert not missing
