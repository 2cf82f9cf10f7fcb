"""Docstrings, of constants and attributes too: they name the thing, or say what it does."""

import ast
import re
from functools import cache
from typing import Final

import pytest

from tests.support.trees import trees

ROOMS: Final = ("chat_tui", "proto", "storage", "sync", "tests")
QUESTION: Final = re.compile(r"(What|Who|Whom|Whose|Where|How|Whether|Which|When|Why)\b")

OF_A_VALUE: Final = re.compile(r"(What|Who|Whom|Whose|How)\b")
"""Words that open no docstring of a constant or an attribute either; those may say Whether."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


Line = tuple[str, str]


@cache
def lines(room: str) -> tuple[list[Line], list[Line]]:
    """Return place and first line of each docstring of a room, and of each below a value.

    To parse all files takes seconds, so both tests share it.
    """
    documented: list[Line] = []
    of_values: list[Line] = []
    for place, tree in trees(room):
        for node in ast.walk(tree):
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                documented.append((f"{place} {getattr(node, 'name', '')}", text.partition("\n")[0]))
            body = getattr(node, "body", None)
            for one in body[1:] if isinstance(body, list) else ():
                match one:
                    case ast.Expr(ast.Constant(str(text))):
                        of_values.append((f"{place}:{one.lineno}", text.partition("\n")[0]))
                    case _:
                        pass
    return documented, of_values


@pytest.mark.parametrize("room", ROOMS)
def test_a_question_word_opens_no_docstring_of_a_value(room: str) -> None:
    _, of_values = lines(room)
    riddles = [f"{place}: {line}" for place, line in of_values if OF_A_VALUE.match(line)]

    assert not riddles, "name the thing"


@pytest.mark.parametrize("room", ROOMS)
def test_a_question_word_opens_only_questions(room: str) -> None:
    documented, _ = lines(room)
    riddles = [
        f"{place}: {line}"
        for place, line in documented
        if QUESTION.match(line) and not line.endswith("?")
    ]

    assert not riddles, "name the thing, or say what it does"
