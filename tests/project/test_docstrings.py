"""Docstrings, of constants and attributes too: they name the thing, or say what it does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).parents[2]
ROOMS: Final = ("chat_tui", "proto", "storage", "sync", "tests")
QUESTION: Final = re.compile(r"(What|Who|Whom|Whose|Where|How|Whether|Which|When|Why)\b")

OF_A_VALUE: Final = re.compile(r"(What|Who|Whom|Whose|How)\b")
"""Words that open no docstring of a constant or an attribute either; those may say Whether."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def first_lines(room: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the first line of each docstring of a room."""
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                name = getattr(node, "name", "")
                yield f"{path.relative_to(ROOT)} {name}", text.partition("\n")[0]


def lines_of_values(room: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the first line of each docstring that stands below a value."""
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            body = getattr(node, "body", None)
            for one in body[1:] if isinstance(body, list) else ():
                match one:
                    case ast.Expr(ast.Constant(str(text))):
                        yield f"{path.relative_to(ROOT)}:{one.lineno}", text.partition("\n")[0]
                    case _:
                        pass


@pytest.mark.parametrize("room", ROOMS)
def test_a_question_word_opens_no_docstring_of_a_value(room: str) -> None:
    riddles = [
        f"{place}: {line}" for place, line in lines_of_values(room) if OF_A_VALUE.match(line)
    ]

    assert not riddles, "name the thing"


@pytest.mark.parametrize("room", ROOMS)
def test_a_question_word_opens_only_questions(room: str) -> None:
    riddles = [
        f"{place}: {line}"
        for place, line in first_lines(room)
        if QUESTION.match(line) and not line.endswith("?")
    ]

    assert not riddles, "name the thing, or say what it does"
