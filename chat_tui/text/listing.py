"""Words in a row, as people list them."""

from collections.abc import Sequence


def listed(words: Sequence[str], more: str = "") -> str:
    """Return words as `a, b and c`, empty if there are none; `more` counts those left out."""
    row = [*words, *([more] if more else [])]
    return " and ".join([part for part in (", ".join(row[:-1]), *row[-1:]) if part])
