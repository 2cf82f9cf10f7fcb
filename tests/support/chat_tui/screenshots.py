"""`make screenshots`: pictures of the real program, as SVG and PNG, into `screenshots/`.

Rule: the same bytes on every run and every computer. The scenes are simulated, times are in UTC,
cursors do not blink, the fonts are DejaVu, and what the terminal around says is not listened to.
Casts of the demo are the exception: they show the same run, painted when there was time to.
"""

import asyncio
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import resvg_py
from textual.widgets import Input

from tests.support.chat_tui import casts, scenes
from tests.support.chat_tui.pictures import NARROW, PICTURES, SMALL, WIDE, Picture

__all__ = ["DIRECTORY", "FONTS", "NARROW", "PICTURES", "SMALL", "WIDE", "main", "png_of", "svg_of"]

DIRECTORY: Final = Path(__file__).parents[3] / "screenshots"
FONTS: Final = Path("/usr/share/fonts/truetype/dejavu")
FONT_FILES: Final = ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf", "DejaVuSans.ttf")
"""They have all of the chat's signs."""

FAMILY: Final = "DejaVu Sans Mono, Menlo, Consolas, monospace"
TITLE: Final = "DejaVu Sans, arial, sans-serif;"
PNG_WIDTH: Final = 1400

FONT_FACE: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""Textual's SVG fetches its font from a server; ours needs nobody."""

LISTENED_TO: Final = ("NO_COLOR", "COLORTERM", "TERM", "COLUMNS", "LINES", "LC_ALL", "LANG")
"""Variables by which a terminal names itself, of which a picture must know nothing."""


async def svg_of(picture: Picture) -> str:
    """Take the picture."""
    with away_from_any_terminal():
        app = picture.app()
        async with app.run_test(size=picture.size) as pilot:
            await picture.act(pilot)
            for screen in app.screen_stack:
                for field in screen.query(Input):
                    field.cursor_blink = False
            await pilot.pause()
            svg = app.export_screenshot(title="chat-tui")
    return (
        FONT_FACE.sub("", svg)
        .replace("Fira Code, monospace", FAMILY)
        .replace("Fira Code", FAMILY)
        .replace("arial;", TITLE)
    )


def png_of(svg: str) -> bytes:
    """Draw an SVG with fonts from files, whatever others are installed."""
    fonts = [str(FONTS / name) for name in FONT_FILES]
    drawn = svg.replace(FAMILY, "DejaVu Sans Mono").replace(TITLE, "DejaVu Sans;")
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=drawn,
            width=PNG_WIDTH,
            font_files=fonts,
            skip_system_fonts=True,
        )
    )


@contextmanager
def away_from_any_terminal() -> Iterator[None]:
    """Times in UTC, and no word about the terminal around."""
    before = {name: os.environ.pop(name) for name in LISTENED_TO if name in os.environ}
    try:
        with scenes.utc():
            yield
    finally:
        os.environ.update(before)


def main(arguments: Sequence[str]) -> None:
    """Write all pictures, or into another DIRECTORY those that are named."""
    if not FONTS.exists():
        sys.exit("The pictures need DejaVu Sans Mono: apt install fonts-dejavu-core.")
    directory = Path(arguments[0]) if arguments else DIRECTORY
    directory.mkdir(exist_ok=True)
    names = arguments[1:] or [*PICTURES]
    for name in names:
        svg = asyncio.run(svg_of(PICTURES[name]))
        (directory / f"{name}.svg").write_text(svg, encoding="utf-8")
        (directory / f"{name}.png").write_bytes(png_of(svg))
    if directory == DIRECTORY:
        casts.take_all(directory)
        for path in directory.iterdir():
            if path.is_file() and path.stem not in {*PICTURES, *casts.CASTS}:
                path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
