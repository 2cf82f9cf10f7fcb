"""Words on the demo's screen: sentences put together, and lines of the chart that end whole."""

import re
from typing import Final

KIND_ENDS: Final = re.compile(
    r"(\d+ x )?(message|sync|request|answer|again|ranges|transfer|entry|operation|typing|page"
    r"|handshake|logs|hashes|filter|check|root|heads)"
    r"(, lost)?$|waited$|to ask$|to answer$"
)
CHART_LINE: Final = re.compile(r" ?\d+\.\d  ")
FRAMES: Final = str.maketrans(dict.fromkeys("\u2502\u258c|", " "))


def words_of(text: str) -> str:
    """The words of some lines in one, without frames."""
    return " ".join(text.translate(FRAMES).split())


def assert_whole(text: str) -> None:
    """Assert that no sentence was cut; what a sentence quotes may be."""
    assert "\u2026" not in re.sub(r'"[^"]*"', "", text)


def assert_kinds_whole(lines: list[str]) -> None:
    """Assert that each line of the chart ends with its kind."""
    for line in lines:
        if CHART_LINE.match(line):
            assert KIND_ENDS.search(line.rstrip()), line
