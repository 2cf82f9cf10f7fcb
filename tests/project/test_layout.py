"""Layout of the house: no circles of imports, no crowded folders, no test that others import."""

from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import grimp
import pytest

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("chat_tui", "proto", "storage", "sync", "tests")
FILES_MAX: Final = 30
"""Python files of a folder that one still reads at a glance."""


@cache
def imports() -> dict[str, set[str]]:
    """Return for each module of ours what it imports of ours, late imports too, types left out."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    return {name: graph.find_modules_directly_imported_by(name) for name in sorted(graph.modules)}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_import_each_other_in_a_circle(package: str) -> None:
    graph = {name: found for name, found in imports().items() if name.partition(".")[0] == package}

    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_folder_is_crowded() -> None:
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    counts = Counter(file.parent.relative_to(ROOT) for file in files)

    assert {str(folder): n for folder, n in counts.items() if n > FILES_MAX} == {}


def test_no_test_module_imports_another() -> None:
    found = {
        f"{name} imports {other}"
        for name, others in imports().items()
        if name.startswith("tests.")
        for other in others
        if other.rpartition(".")[2].startswith("test_")
    }

    assert found == set()
