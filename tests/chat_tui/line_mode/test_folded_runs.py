"""Lines of somebody removed in line mode: one sentence a run, that says how many there are."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from sync.view.governance_infos import Lateness
from sync.view.view import Line, MessageShown
from tests.support.chat_tui.chats import line_mode
from tests.support.chat_tui.conversations import line
from tests.support.chat_tui.live_clients import lobby


def folded(number: int, nick: str = "mallory") -> Line:
    return replace(line(number, author=nick), late=Lateness.FOLDED)


async def said_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *steps: Sequence[Line]
) -> str:
    """Returns the output of line mode for these lines; each step of the program brings some."""
    async with line_mode(tmp_path) as (alice, face):
        face.now_in(lobby(alice))
        for step in steps:
            for one in step:
                face.event(MessageShown(replace(one, channel=lobby(alice))))
            face.settle()
    return capsys.readouterr().out


async def test_a_run_is_one_sentence_with_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line(1), folded(2), folded(3), folded(4, "trent"), line(5)]

    printed = await said_of(tmp_path, capsys, lines)

    assert [one.partition(" ")[2] for one in printed.splitlines()] == [
        "bob: message 1",
        "2 lines of mallory, who knew of the removal, are folded away.",
        "1 line of trent, who knew of the removal, is folded away.",
        "bob: message 5",
    ]


async def test_a_run_that_goes_on_later_is_said_again_with_all_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = await said_of(tmp_path, capsys, [folded(1)], [folded(2), folded(3)], [], [line(4)])

    counts = [one.split()[1] for one in printed.splitlines()]
    assert counts == ["1", "3", "bob:"]
