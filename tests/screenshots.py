"""`make screenshots`: pictures of the real program, as SVG and PNG, into `screenshots/`.

The scenes are simulated, so every run on every computer gives the same bytes.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import resvg_py
from textual.app import App
from textual.widgets import Input

from tests import scenes

DIRECTORY: Final = Path(__file__).parent.parent / "screenshots"
FONTS: Final = Path("/usr/share/fonts/truetype/dejavu")
FONT_FILES: Final = ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf", "DejaVuSans.ttf")
PNG_WIDTH: Final = 1400


@dataclass(frozen=True, slots=True)
class Picture:
    """A screen of `size` (columns, lines) after `keys` were pressed."""

    app: Callable[[], App[Any]]
    size: tuple[int, int]
    keys: tuple[str, ...] = ()


def morning() -> App[Any]:
    return scenes.screen_of(scenes.morning())


def repairing() -> App[Any]:
    return scenes.screen_of(scenes.repairing())


def syncing() -> App[Any]:
    return scenes.screen_of(scenes.coming_back(), play=scenes.history)


def waiting() -> App[Any]:
    return scenes.screen_of(scenes.alone())


NARROW, WIDE = (80, 24), (140, 40)
PICTURES: Final = {
    "main_narrow": Picture(morning, NARROW),
    "main_wide": Picture(morning, WIDE),
    "debug_narrow": Picture(morning, NARROW, ("f2",)),
    "debug_wide": Picture(morning, WIDE, ("f2",)),
    "repair_narrow": Picture(repairing, NARROW, ("f2",)),
    "repair_wide": Picture(repairing, WIDE, ("f2",)),
    "sync_narrow": Picture(syncing, NARROW),
    "sync_wide": Picture(syncing, WIDE, ("f2",)),
    "peers": Picture(morning, NARROW, ("f3",)),
    "help": Picture(morning, WIDE, ("f1",)),
    "first_run": Picture(scenes.first_run, NARROW),
    "waiting": Picture(waiting, NARROW),
}


async def svg_of(picture: Picture) -> str:
    """Take the picture."""
    app = picture.app()
    async with app.run_test(size=picture.size) as pilot:
        for field in app.query(Input):
            field.cursor_blink = False
        await pilot.pause()
        await pilot.press(*picture.keys)
        await pilot.pause()
        return app.export_screenshot(title="chat-tui")


def png_of(svg: str) -> bytes:
    """Draw an SVG with the font that has all of the chat's signs."""
    fonts = [str(FONTS / name) for name in FONT_FILES]
    drawn = svg.replace("Fira Code", "DejaVu Sans Mono")
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn, width=PNG_WIDTH, font_files=fonts))


def main() -> None:
    """Write all pictures."""
    if not FONTS.exists():
        sys.exit("The pictures need DejaVu Sans Mono: apt install fonts-dejavu-core.")
    DIRECTORY.mkdir(exist_ok=True)
    with scenes.utc():
        for name, picture in PICTURES.items():
            svg = asyncio.run(svg_of(picture))
            (DIRECTORY / f"{name}.svg").write_text(svg, encoding="utf-8")
            (DIRECTORY / f"{name}.png").write_bytes(png_of(svg))


if __name__ == "__main__":
    main()
