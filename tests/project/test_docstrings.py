"""First lines of docstrings: they name the thing, or say what it does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).parents[2]
ROOMS: Final = ("chat_tui", "proto", "storage", "sync", "tests")
QUESTION: Final = re.compile(r"(What|Who|Whom|Whose|Where|How|Whether|Which|When|Why)\b")

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def first_lines(room: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the first line of each docstring of a room."""
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                name = getattr(node, "name", "")
                yield f"{path.relative_to(ROOT)} {name}", text.partition("\n")[0]


@pytest.mark.parametrize("room", ROOMS)
def test_a_question_word_opens_only_questions(room: str) -> None:
    riddles = [
        f"{place}: {line}"
        for place, line in first_lines(room)
        if QUESTION.match(line) and not line.endswith("?")
    ]

    assert not riddles, "name the thing, or say what it does"
