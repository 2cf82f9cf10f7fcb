"""Lines on their way in line mode: told at once, marked, in order, and once."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.line_mode.output import TextFace
from sync.view.view import LineChanged, MessageShown, PreviewShown
from tests.support.chat_tui.chats import running
from tests.support.chat_tui.conversations import line


@pytest.mark.net
async def test_lines_whose_history_is_fetched_are_told_in_order_marked_and_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, "alice") as alice:
        face = TextFace(alice, alice.settings)
        newest = [replace(line(lamport), loading=True) for lamport in (7, 8, 9)]
        for one in newest:
            face.event(PreviewShown(one))
        told = capsys.readouterr().out.splitlines()
        assert [text.split("message ")[1] for text in told] == ["7", "8", "9"]
        assert all("(on its way)" in text for text in told)

        face.event(PreviewShown(replace(line(3), loading=True)))
        face.event(PreviewShown(newest[-1]))
        face.event(PreviewShown(replace(line(10, author="alice"), loading=True)))
        assert not capsys.readouterr().out, "older ones are told in their turn, own ones were typed"

        for lamport in (3, 7, 8, 9, 11):
            face.event(MessageShown(line(lamport)))
        told = capsys.readouterr().out.splitlines()
        assert [text.split("message ")[1] for text in told] == ["3", "11"]
        assert not any("on its way" in text for text in told)


@pytest.mark.net
async def test_an_edit_of_a_line_that_was_told_on_its_way_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, "alice") as alice:
        face = TextFace(alice, alice.settings)
        one = replace(line(7), loading=True)
        face.event(PreviewShown(one))
        capsys.readouterr()

        changed = replace(one, text="hello", edited=True)
        face.event(LineChanged(changed, rewritten=True, reacted=False))
        assert "hello" in capsys.readouterr().out
        face.event(LineChanged(replace(line(3), loading=True), rewritten=True, reacted=False))
        assert not capsys.readouterr().out
