"""Read marks in line mode: one sentence for each reader of each line, and none where all hide."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.line_mode.output import TextFace
from chat_tui.line_mode.read_lines import LINES_MAX, READERS_SAID, ReadLines
from chat_tui.settings.schema import READ_MARKS
from sync.view.state_infos import ReadInfo, StateInfo
from sync.view.view import ChannelInfo, Line
from tests.support.chat_tui.chats import meet, running
from tests.support.chat_tui.conversations import line, peer
from tests.support.chat_tui.live_clients import Heard, lobby
from tests.support.chat_tui.snapshots_of_state import CALM, present, snapshot
from tests.support.sync.nodes import until


def read_to(*marks: tuple[str, Line]) -> ChannelInfo:
    """The channel in which these people have read up to these lines."""
    reads = [ReadInfo(peer(name), at.lamport, at.message_id) for name, at in marks]
    return replace(CALM, state=StateInfo(reads=tuple(reads)))


def said(lines: ReadLines, *marks: tuple[str, Line]) -> list[str]:
    names = [name for name, _ in marks]
    shown = snapshot(*[present(name) for name in names], info=read_to(*marks))
    return lines.news(shown, shown.channels[0], [peer(name) for name in names])


def test_readers_are_said_once_of_the_newest_line_of_ours_that_they_have_read() -> None:
    lines = ReadLines()
    hello, theirs, after = line(1, "hello", author="alice"), line(2), line(3, "so?", author="alice")
    for one in (hello, theirs, after):
        lines.note(one)

    assert said(lines, ("bob", theirs), ("carol", hello)) == ['"hello" read by bob, carol.']
    assert said(lines, ("bob", theirs)) == []
    assert said(lines, ("bob", after)) == ['"so?" read by bob.']
    assert said(lines, ("alice", after)) == []


def test_of_a_crowd_some_are_said_and_of_old_lines_none() -> None:
    lines = ReadLines()
    own = [line(lamport, author="alice") for lamport in range(1, LINES_MAX + 3)]
    for one in own:
        lines.note(one)
    crowd = [(f"reader {number}", own[-1]) for number in range(READERS_SAID + 5)]

    assert said(lines, ("bob", own[0])) == []
    assert [len(one.split(",")) for one in said(lines, *crowd)] == [READERS_SAID]
    assert said(lines, *crowd) == []


@pytest.mark.net
async def test_line_mode_says_who_has_read_and_nothing_where_marks_are_hidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        for one in (alice, bob):
            one.settings.change(READ_MARKS, "on")
            one.stating._marks.noticed = True
        heard = Heard(bob)
        face = TextFace(alice, alice.settings)
        alice.subscribe(face.event)
        await meet(alice, bob)
        await bob.send_text(lobby(bob), "I am here")
        sent = await alice.send_text(lobby(alice), "hello")
        await heard.texts(2)
        [mine] = await alice.history.named(lobby(alice), sent, limit=1)
        bob.stating.saw(bob.snapshot(), lobby(bob), mine.position)
        printed = ""

        def is_said() -> bool:
            nonlocal printed
            printed += capsys.readouterr().out
            return "read by bob" in printed

        await until(is_said, "alice is told")
        alice.settings.change(READ_MARKS, "off")
        hidden = alice.snapshot().channels[0].state.reads

    assert '* "hello" read by bob.' in printed.splitlines()
    assert hidden == ()
