"""QR codes in half blocks, two dots of a line in one cell; or in ASCII, two cells a dot.

Light is drawn, dark is left: so a code reads right on the dark ground most terminals have.
"""

from typing import Final

QUIET: Final = 2
"""Light dots around the code. Four are the norm; phones read two, and a screen is small."""

HALVES: Final = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}
"""From whether upper and lower dot are light to the sign."""


def half_blocks(text: str) -> list[str]:
    """Return a code as lines of cells, light dots drawn."""
    rows = _light(text)
    if len(rows) % 2:
        rows.append([True] * len(rows[0]))
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return ["".join(HALVES[pair] for pair in zip(*both, strict=True)) for both in pairs]


def ascii_blocks(text: str) -> list[str]:
    """Return a code as lines of `#` for light dots, for terminals without block signs."""
    return ["".join("##" if light else "  " for light in row) for row in _light(text)]


def _light(text: str) -> list[list[bool]]:
    """Return the dots of a code, True where they are light; capitals make it smaller."""
    import segno  # noqa: PLC0415  # only who scans needs it: a start shows its screen first

    code = segno.make(text.upper(), error="l", micro=False, boost_error=False)
    return [[not dot for dot in row] for row in code.matrix_iter(border=QUIET)]
