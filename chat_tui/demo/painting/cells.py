"""A line made cell by cell, as a content with one part for each run of a style."""

from collections.abc import Sequence
from itertools import groupby

from textual.content import Content


def content_of(signs: Sequence[str], styles: Sequence[str]) -> Content:
    """Return a line of these signs: each part costs the terminal its colours anew."""
    cells = zip(signs, styles, strict=True)
    runs = groupby(cells, key=lambda cell: cell[1])
    return Content.assemble(*[("".join(sign for sign, _ in run), style) for style, run in runs])
