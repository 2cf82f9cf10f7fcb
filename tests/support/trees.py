"""Syntax trees of our own files, for the tests that read them."""

import ast
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def trees(*rooms: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield each Python file of some folders, as a path from the root, with its tree.

    No garbage is looked for meanwhile: trees have no circles, and to look for some among so many
    nodes takes longer than to parse them.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        for room in rooms:
            for path in sorted((ROOT / room).rglob("*.py")):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                yield path.relative_to(ROOT).as_posix(), tree
    finally:
        if collecting:
            gc.enable()
