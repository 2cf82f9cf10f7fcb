"""ASCII look-alikes for every sign of ours, each in as many cells."""

from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

LOOKALIKES: Final = str.maketrans(
    {
        **dict.fromkeys("\u00b7\u2502\u2503\u2551\u2595\u2590\u258c\u258d\u258e\u258f", "|"),
        **dict.fromkeys("\u2500\u2501\u2550\u2212\u2013\u2014", "-"),
        **dict.fromkeys("\u256d\u256e\u256f\u2570\u250c\u2510\u2514\u2518", "+"),
        **dict.fromkeys("\u251c\u2524\u252c\u2534\u253c", "+"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u2192\u25b6\u25b8", ">"),
        **dict.fromkeys("\u2588\u2580\u2584\u2585\u2586\u2587\u2589\u258a\u258b", "#"),
        **dict.fromkeys("\u2581\u2582\u2583", "_"),
        "\u2594": "-",
        "\u2026": ".",
        "\u2190": "<",
        "\u2191": "^",
        "\u2193": "v",
        "\u2506": ":",
        "\u00d7": "x",
        "\u00b1": "~",
        "\u00a0": " ",
    }
)
"""By what they look like: bars and separators, lines, corners, quotes, arrows, blocks, others."""


class AsciiSigns(LineFilter):
    """Puts look-alikes in place of our signs, wherever they come from; letters stay as they are.

    Texts of peers change in these signs alone, which their terminals would not show either.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in ASCII, as far as there are look-alikes."""
        del background
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(LOOKALIKES), segment.style, segment.control)
            for segment in segments
        ]
