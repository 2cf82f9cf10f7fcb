"""Every row of every tab opens, and nothing is cut, at every participant of every scenario."""

import re
from collections.abc import Iterator
from typing import Final

import pytest
from textual.content import Content

from chat_tui.client.simulated import SimulatedChat
from chat_tui.debug.styled_lines import PaneLine, detail_lines
from chat_tui.debug.tabs.bloom import BloomPage
from chat_tui.debug.tabs.buffers import BuffersPage
from chat_tui.debug.tabs.group import GroupPage
from chat_tui.debug.tabs.now import NowPage
from chat_tui.debug.tabs.page import Page, Shown
from chat_tui.debug.tabs.sync import SyncPage
from chat_tui.debug.tabs.trace import TracePage
from chat_tui.debug.tabs.wire import WirePage
from chat_tui.demo.run import Run
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.wording.glyphs import UNICODE
from chat_tui.wording.sentences import find
from tests.support.chat_tui.demos import SEED

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_utc")]

WIDTHS: Final = (44, 78)
"""Cells of the pane beside the chat, and of one on a screen of 80 columns."""

EVERY: Final = 30
"""Things told between two looks; the whole grid looks more often."""

QUOTED: Final = re.compile("\u201c[^\u201d\n]*")
SHORT: Final = re.compile("[0-9a-fL]\u2026|^ [0-9:.]+ . [a-z]+\u2026 +[A-Z]+")
"""Shortened on purpose: ids, Lamport times, and names in the columns of frames."""


def pages_of(chat: SimulatedChat) -> list[Page]:
    at = chat.inspection
    of_frames: list[Page] = [
        NowPage(at),
        BuffersPage(at),
        BloomPage(at),
        WirePage(at),
        TracePage(at),
    ]
    return [*of_frames, SyncPage(), GroupPage()]


def contents(line: PaneLine, width: int) -> Iterator[Content]:
    """A line, and what it opens."""
    yield line.content
    if line.opens is not None:
        yield from (one.content for one in detail_lines(line.opens(), width, UNICODE))


def look(run: Run, chat: SimulatedChat, pages: list[Page]) -> None:
    snapshot = chat.snapshot()
    shown = Shown(snapshot, find(snapshot, run.world.channel), UNICODE)
    for page in pages:
        for width in WIDTHS:
            for line in page.lines(shown, width):
                for content in contents(line, width):
                    assert content.cell_length <= width, content.plain
                    rest = SHORT.sub("", QUOTED.sub("", content.plain))
                    assert "\u2026" not in rest, content.plain


@pytest.mark.parametrize("every", [EVERY, pytest.param(5, marks=pytest.mark.grid)])
@pytest.mark.parametrize("number", [one.number for one in SCENARIOS if not one.people])
def test_each_row_opens_and_is_whole(number: int, every: int) -> None:
    run = Run(scenario(number), SEED)
    chats = [SimulatedChat(run.world, at, run.scenario.names) for at in range(run.scenario.size)]
    pages = [pages_of(chat) for chat in chats]
    told = 0
    while run.step():
        told += 1
        if told % every == 0:
            for chat, its in zip(chats, pages, strict=True):
                look(run, chat, its)
    assert told > every
