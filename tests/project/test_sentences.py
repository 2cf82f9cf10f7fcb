"""Sentences that people read: one that has a name is written once."""

import ast
from collections.abc import Iterator
from functools import cache
from typing import Final

from tests.support.trees import trees

WORDS_MIN: Final = 4
"""Words of a sentence; shorter texts are answers and labels, which may be alike by chance."""

Where = tuple[str, int]
"""A file, and a line in it."""


@cache
def sentences() -> tuple[dict[str, Where], tuple[tuple[str, Where], ...]]:
    """Return the sentences that constants of modules name, and all sentences of the programs."""
    named: dict[str, Where] = {}
    written: list[tuple[str, Where]] = []
    for place, tree in trees("chat_tui", "storage", "sync"):
        named |= {text: (place, line) for text, line in constants(tree)}
        all_constants = (one for one in ast.walk(tree) if isinstance(one, ast.Constant))
        written += [
            (one.value, (place, one.lineno))
            for one in all_constants
            if isinstance(one.value, str) and is_sentence(one.value)
        ]
    return named, tuple(written)


def constants(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        match statement.value:
            case ast.Constant(str(text)) as constant if is_sentence(text):
                yield text, constant.lineno
            case _:
                pass


def is_sentence(text: str) -> bool:
    return len(text.split()) >= WORDS_MIN and text[0].isupper() and text[-1] in ".!?"


def test_a_sentence_that_has_a_name_is_written_once() -> None:
    named, written = sentences()
    again = [
        f"{file}:{line} repeats {named[text][0]}: {text}"
        for text, (file, line) in written
        if text in named and named[text] != (file, line)
    ]

    assert named, "they are looked for where they are"
    assert not again, "import the constant"
