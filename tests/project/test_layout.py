"""Layout of the house: no circles of imports, no crowded folders, no test that others import."""

import ast
import subprocess
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
FILES_MAX: Final = 30
"""Python files of a folder that one still reads at a glance."""


@cache
def modules() -> dict[str, Path]:
    """By dotted name: every Python file that is kept, and those that were made since."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    files = [ROOT / name for name in listed if (ROOT / name).exists()]
    return {name_of(file): file for file in files}


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports_of(file: Path) -> frozenset[str]:
    """Return all modules of ours that a file imports, also where it imports them late."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    only_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in only_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & modules().keys()
            found |= inner or {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset((found & modules().keys()) - {name_of(file)})


@pytest.mark.parametrize("package", ["chat_tui", "storage", "sync", "tests"])
def test_no_modules_import_each_other_in_a_circle(package: str) -> None:
    graph = {
        name: imports_of(file)
        for name, file in modules().items()
        if name.partition(".")[0] == package
    }

    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_folder_is_crowded() -> None:
    counts = Counter(file.parent.relative_to(ROOT) for file in modules().values())

    assert {str(folder): n for folder, n in counts.items() if n > FILES_MAX} == {}


def test_no_test_module_imports_another() -> None:
    found = {
        f"{name} imports {other}"
        for name, file in modules().items()
        if name.startswith("tests.")
        for other in imports_of(file)
        if other.rpartition(".")[2].startswith("test_")
    }

    assert found == set()
