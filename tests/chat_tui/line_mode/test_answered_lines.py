"""Answers in line mode: the line above them, and what is said once the answered one comes."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.line_mode import answered_lines
from chat_tui.line_mode.answered_lines import AnsweredLines
from sync.machine import MessageId
from sync.view.view import LineChanged, MessageShown, PreviewShown, Unshown
from tests.support.chat_tui.chats import line_mode
from tests.support.chat_tui.conversations import LOBBY, line
from tests.support.chat_tui.live_clients import lobby

TARGET = line(1, "tea?")
REPLY = replace(line(5, "yes", author="carol"), reply_to=TARGET.message_id)


async def test_an_answer_stands_below_what_it_answers_as_that_is_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = replace(TARGET, text="coffee?", edited=True)
    async with line_mode(tmp_path) as (alice, face):
        here = lobby(alice)
        face.now_in(here)
        face.event(MessageShown(replace(TARGET, channel=here)))
        nothing = face.unread([REPLY])
        face.event(MessageShown(replace(REPLY, channel=here)))
        face.event(LineChanged(replace(edited, channel=here), rewritten=True, reacted=False))
        again = replace(REPLY, channel=here, message_id=MessageId("7" * 64), text="no")
        face.event(MessageShown(again))
    printed = capsys.readouterr().out.splitlines()

    assert nothing == {}
    assert printed[1] == "↪ bob: tea?"
    assert printed[2].endswith(" carol: yes")
    assert printed[-2] == "↪ bob: coffee? (edited)"


async def test_what_comes_later_is_said_to_be_what_was_answered_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with line_mode(tmp_path) as (alice, face):
        here = lobby(alice)
        face.now_in(here)
        wanted = face.unread([REPLY])
        face.learn({TARGET.message_id: Unshown.ABSENT})
        face.event(MessageShown(replace(REPLY, channel=here)))
        for _ in range(2):
            face.event(MessageShown(replace(TARGET, channel=here)))
    printed = capsys.readouterr().out.splitlines()

    assert wanted == {LOBBY: [TARGET.message_id]}
    assert printed[0] == "↪ a message that is not here"
    assert [one for one in printed if one.startswith("* That is what carol answered at ")] == [
        printed[3]
    ]


def test_no_more_is_remembered_than_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answered_lines, "KEPT", 3)
    monkeypatch.setattr(answered_lines, "AWAITED_MAX", 2)
    known = AnsweredLines()
    for number in range(9):
        known.note(line(number))
        known.told(replace(line(20 + number), reply_to=MessageId(f"{number:064x}")))

    assert known.unread([REPLY]) == {LOBBY: [TARGET.message_id]}
    came = [
        known.came(replace(line(0), message_id=MessageId(f"{number:064x}"))) for number in range(9)
    ]
    assert [one is not None for one in came] == [False] * 7 + [True] * 2


async def test_lines_on_their_way_are_quoted_above_those_that_answer_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with line_mode(tmp_path) as (alice, face):
        here = lobby(alice)
        face.now_in(here)
        coming = [replace(one, channel=here, loading=True) for one in (TARGET, REPLY)]
        face.event(PreviewShown(coming[0]))
        nothing = face.unread(coming[1:])
        face.event(PreviewShown(coming[1]))
    printed = capsys.readouterr().out.splitlines()

    assert nothing == {}
    assert printed[1] == "↪ bob: tea?"
