"""Shortening of lines that lack room: nothing essential is cut off."""

import re

import pytest
from rich.cells import cell_len

from chat_tui.app.overlays import doctor_content
from chat_tui.client.doctor.findings import Finding
from chat_tui.debug.tab_table import TABS
from chat_tui.demo.screen import DemoScreen
from chat_tui.keys.table import USUAL, with_keys
from chat_tui.text.shortening import fitting
from chat_tui.wording import panels, peers_table
from chat_tui.wording.glyphs import UNICODE
from chat_tui.wording.panels import Unseen
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import on_screen
from tests.support.chat_tui.pictures import SMALL
from tests.support.chat_tui.readings import reading, shown


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (70, "1 earlier message is missing, asking peers in 4 s"),
        (45, "1 missing, asking peers in 4 s"),
        (25, "1 missing, asking in 4 s"),
    ],
)
def test_a_gap_says_what_comes_next_in_every_width(cells: int, said: str) -> None:
    whole = "1 earlier message is missing, asking peers in 4 s"

    assert fitting(whole, cells) == said
    assert cell_len(said) <= cells


def test_what_to_do_about_a_lost_message_is_never_cut_off() -> None:
    for sentence in (
        "an earlier message could not be found; /repair tries again",
        "an earlier message is missing; /repair tries again",
        "2 messages could not be found (asked 3 times); /repair tries again",
        "2 messages could not be found (asked 3 times, 5 min); /repair tries again",
    ):
        short = fitting(sentence, 48)
        assert short.endswith("/repair tries again")
        assert cell_len(short) <= 48


@pytest.mark.parametrize("width", [58, 78, 98, 138])
def test_the_last_line_has_whole_keys_alone_and_always_help_and_quit(width: int) -> None:
    snapshot = scenes.empty().snapshot()
    channel = snapshot.channels[0].channel

    line = panels.keys(snapshot, channel, Unseen(lambda _: 0), USUAL, width=width).plain.rstrip()

    assert cell_len(line) <= width
    assert line.startswith("F1 Help")
    assert line.endswith("Ctrl+Q Quit")
    assert ("F4 Demo" in line) == (width > 80)


@pytest.mark.parametrize("width", [58, 78, 138])
def test_a_key_of_the_peers_screen_stands_beside_its_word(width: int) -> None:
    lines = peers_table.keys(width).plain.split("\n")

    assert all(cell_len(line.rstrip()) <= width for line in lines)
    for key, word in peers_table.KEYS:
        assert any(f"{with_keys(key, USUAL)} {word}" in line for line in lines)


def test_the_doctor_indents_what_goes_on_in_another_line() -> None:
    fix = "Allow UDP port 5353, or use /connect HOST:PORT, which needs no multicast at all."
    finding = Finding("announcement heard back", "not within 3 s", fix)

    lines = doctor_content([finding], "All tests are done.", 60).plain.split("\n")

    assert lines[0] == "FAIL  announcement heard back: not within 3 s"
    assert " ".join(line.strip() for line in lines[1:-1]) == fix
    assert all(line.startswith(" " * 6) and cell_len(line) <= 57 for line in lines[1:-1])


async def test_the_smallest_screen_says_everything_whole() -> None:
    async with reading(scenes.morning(), SMALL) as (_, pilot):
        await pilot.pause()
        screen = shown(pilot.app)

    assert "1 missing, 1 lost" in screen
    assert re.search(r"1 earlier message is missing, asking peers in \d s", screen)
    assert "1 message is held back for it, 1 min at most." in screen
    assert "Enter sends, Ctrl+J new line, / a command" in screen
    assert "Ctrl+Q Quit" in screen
    assert "…" not in screen


@pytest.mark.parametrize("size", [SMALL, (80, 24), (140, 40)])
async def test_the_demo_always_says_how_it_is_left(size: tuple[int, int]) -> None:
    async with on_screen(3, size) as (pilot, screen, _):
        assert isinstance(screen, DemoScreen)

        assert "Esc leave" in shown(pilot.app)


async def test_the_demo_says_that_there_are_more_people_than_it_shows() -> None:
    async with on_screen(5) as (pilot, _, _):
        assert "1 more: Tab" in shown(pilot.app)


async def test_the_tabs_of_the_pane_stay_apart_whichever_is_shown() -> None:
    async with reading(scenes.repairing(), (140, 40)) as (_, pilot):
        await pilot.press("f2")
        for number in range(len(TABS)):
            await pilot.press(str(number))
            await pilot.pause()
            lines = [line.split("│")[-2] for line in shown(pilot.app).split("\n")[2:4]]
            names = [f"{at}{one.value}" for at, one in enumerate(TABS)]
            names[number] = f"[{names[number]}]"
            assert " ".join(lines).split() == names


async def test_a_tab_is_chosen_by_a_click_on_its_name() -> None:
    async with reading(scenes.repairing(), (140, 40)) as (_, pilot):
        await pilot.press("f2", "2")
        await pilot.click("#debug-tabs", offset=(3, 1))  # the second line begins with 5Wire
        await pilot.pause()

        assert "[5Wire]" in shown(pilot.app)


async def test_the_wire_in_a_narrow_pane_ends_with_sizes() -> None:
    async with reading(scenes.repairing(), (140, 40)) as (_, pilot):
        await pilot.press("f2", "5")
        await pilot.pause()

        lines = shown(pilot.app).split("\n")
        frames = [line for line in lines if " kB" in line and ("→" in line or "←" in line)]

    assert len(frames) > 10
    assert all(line.rstrip("│ ").endswith(" kB") for line in frames)


async def test_a_selected_person_has_one_ground_from_end_to_end() -> None:
    async with reading(scenes.morning()) as (_, pilot):
        await pilot.press("f3")
        await pilot.pause()
        strips = pilot.app.screen._compositor.render_strips()
        [line] = [strip for strip in strips if "▸" in strip.text]
        grounds = {
            (part.style.bgcolor, part.style.reverse)
            for part in line.crop(1, 70)
            if part.style is not None and part.text.strip()
        }

    assert len(grounds) == 1


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (58, {"address", "clock", "rtt", "last seen"}),
        (66, {"address", "clock", "rtt"}),
        (70, {"address", "clock"}),
        (78, {"address"}),
        (138, set()),
    ],
)
def test_what_is_thought_of_a_key_is_in_the_table_in_every_width(
    width: int, left_out: set[str]
) -> None:
    lines = [
        line.plain for line in peers_table.table(scenes.morning().snapshot(), width, 0, UNICODE)
    ]

    assert all(cell_len(line) <= width for line in lines)
    assert {head for head in peers_table.HEADS if head not in lines[0]} == left_out
    assert all(line.rstrip().endswith(("verified", "first seen")) for line in lines[1:])
