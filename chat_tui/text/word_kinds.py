"""Kinds of words in code, for what finds them and for what colours them."""

from enum import IntEnum


class Word(IntEnum):
    """Kind of a word in code."""

    PLAIN = 0
    KEYWORD = 1
    STRING = 2
    NUMBER = 3
    COMMENT = 4
    ADDED = 5
    REMOVED = 6
