"""Sentences about missing messages in fewer cells: a line that has no room keeps what comes next.

Rule: cutting the end off would take away exactly what the reader can do.
"""

import re
from typing import Final

from rich.cells import cell_len

SHORTER: Final = (
    (r"(\d[\d,]*) earlier messages? (?:is|are) missing", r"\1 missing"),
    (r"\ban earlier message could not be found", "a message is lost"),
    (r"\ban earlier message is missing", "a message is missing"),
    (r"(\d[\d,]*) messages? could not be found", r"\1 lost"),
    (r"\basking peers\b", "asking"),
    (r"(\(asked [^,)]+), [^)]+\)", r"\1)"),
)
"""Phrases that may be shortened, one after the other until it fits."""


def fitting(sentence: str, cells: int) -> str:
    """Return the sentence in as many of its words as fit; too long still if nothing helps."""
    for pattern, words in SHORTER:
        if cell_len(sentence) <= cells:
            break
        sentence = re.sub(pattern, words, sentence)
    return sentence
