"""The pictures in the repository are what the program shows today, to the byte."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.chat_tui.casts import CASTS, SIZE_MAX, checked
from tests.support.chat_tui.pictures import PICTURES
from tests.support.chat_tui.screenshots import DIRECTORY, FONTS, png_of, svg_of
from tests.support.grids import with_grid

STALE = "make screenshots draws them anew; look at them before you commit"

ELSEWHERE = {
    "PYTHONHASHSEED": "7",
    "TZ": "Asia/Tokyo",
    "LC_ALL": "C",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "COLUMNS": "50",
    "HOME": "/nonexistent",
}
"""Another computer, as far as a process can tell."""

NAMES = sorted(PICTURES)
"""One command draws both kinds, so each fourth tells whether somebody forgot it."""

needs_fonts = pytest.mark.skipif(not FONTS.exists(), reason="apt install fonts-dejavu-core")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    with_grid([one for one in PICTURES if one != "demo_crowd"], ["demo_crowd"]),
)
async def test_a_picture_is_current(name: str) -> None:
    committed = (DIRECTORY / f"{name}.svg").read_text(encoding="utf-8")

    assert await svg_of(PICTURES[name]) == committed, STALE


@needs_fonts
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", with_grid(NAMES[::4], [one for one in NAMES if one not in NAMES[::4]])
)
def test_a_png_is_its_svg_drawn(name: str) -> None:
    svg = (DIRECTORY / f"{name}.svg").read_text(encoding="utf-8")

    assert png_of(svg) == (DIRECTORY / f"{name}.png").read_bytes(), STALE


@needs_fonts
@pytest.mark.slow
@pytest.mark.net
def test_another_computer_takes_the_same_pictures(tmp_path: Path) -> None:
    names = ["main_small", "debug_wire", "demo_narrow"]
    command = [sys.executable, "-m", "tests.support.chat_tui.screenshots", str(tmp_path), *names]

    subprocess.run(command, cwd=DIRECTORY.parent, env={**os.environ, **ELSEWHERE}, check=True)

    drawn = [*tmp_path.iterdir()]  # compared by themselves: to tell how bytes differ takes minutes
    other = [one.name for one in drawn if one.read_bytes() != (DIRECTORY / one.name).read_bytes()]
    assert other == []
    assert len(drawn) == 2 * len(names)


def test_each_picture_is_there_as_svg_and_png_and_nothing_else_is() -> None:
    wanted = {f"{name}.{kind}" for name in PICTURES for kind in ("svg", "png")}
    wanted |= {f"{name}.cast" for name in CASTS}

    assert {path.name for path in DIRECTORY.iterdir() if path.is_file()} == wanted
    assert len(PICTURES) >= 12


def test_three_casts_show_scenarios_of_the_demo_to_their_promises() -> None:
    assert len(CASTS) == 3
    for name in CASTS:
        text = (DIRECTORY / f"{name}.cast").read_text(encoding="utf-8")
        header, events = checked(text)
        shown = "".join(data for _, code, data in events if code == "o")

        assert len(text.encode()) < SIZE_MAX, name
        assert (header["width"], header["height"]) == (80, 24)
        assert "You will see" in shown
        assert "Every promise holds." in shown


def test_whoever_looks_at_a_picture_asks_no_server_for_a_font() -> None:
    for path in DIRECTORY.glob("*.svg"):
        assert "url(http" not in path.read_text(encoding="utf-8"), path.name
