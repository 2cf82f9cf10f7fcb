"""Rows that answer others: what stands above them, whatever comes in which order."""

import pytest
from msgspec.structs import replace

from chat_tui.model import conversation as model
from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Changed
from sync.machine import MessageId
from sync.view.view import Line, Unshown
from tests.support.chat_tui.conversations import conversation, line

TARGET = line(1, "tea?")
REPLY = replace(line(5, "yes", author="alice"), reply_to=TARGET.message_id)


def quotes(held: Conversation) -> list[str]:
    return [row.quote for row in held.rows]


def read(held: Conversation, answered: Line | Unshown) -> list[Changed]:
    return held.take_quotes({TARGET.message_id: answered}, held.unquoted)  # type: ignore[return-value]


def test_a_reply_says_what_it_answers_and_nothing_is_read_for_it() -> None:
    held = conversation(TARGET, line(2), REPLY)

    assert quotes(held) == ["", "", "bob: tea?"]
    assert held.unquoted == []


def test_what_has_no_row_is_read_and_until_then_the_line_is_kept() -> None:
    held = conversation(line(2), REPLY)
    before = quotes(held)
    wanted = held.unquoted

    changes = read(held, TARGET)

    assert (before, wanted) == (["", "…"], [TARGET.message_id])
    assert changes == [Changed(1)]
    assert quotes(held) == ["", "bob: tea?"]
    assert held.unquoted == []


def test_what_is_not_here_says_so_and_changes_when_it_comes() -> None:
    held = conversation(line(2), REPLY)
    read(held, Unshown.ABSENT)
    before = quotes(held)

    held.arrive(TARGET)

    assert before == ["", "a message that is not here"]
    assert quotes(held) == ["", "", "bob: tea?"]


def test_a_change_of_what_is_answered_is_shown_whether_it_has_a_row_or_not() -> None:
    with_row, without = conversation(TARGET, REPLY), conversation(line(2), REPLY)
    read(without, TARGET)

    for held in (with_row, without):
        held.change(replace(TARGET, text="coffee?", edited=True))
        assert quotes(held)[-1] == "bob: coffee? (edited)"
        held.change(replace(TARGET, text="", deleted=True))
        assert quotes(held)[-1] == "a message of bob, deleted since"


def test_what_was_read_is_older_than_what_came_meanwhile() -> None:
    held = conversation(line(2), REPLY)
    wanted = held.unquoted
    held.change(replace(TARGET, text="coffee?", edited=True))

    assert held.take_quotes({TARGET.message_id: TARGET}, wanted) == []
    assert quotes(held)[-1] == "bob: coffee? (edited)"


def test_what_the_disk_refused_is_not_asked_for_again_and_again() -> None:
    held = conversation(REPLY)

    held.take_quotes({}, held.unquoted)

    assert held.unquoted == []
    assert quotes(held) == ["…"]


def test_what_was_written_anew_is_read_again() -> None:
    held = conversation(TARGET, REPLY)

    held.hide(TARGET.message_id)

    assert held.unquoted == [TARGET.message_id]


def test_history_that_came_at_once_is_looked_at_again() -> None:
    held = conversation(REPLY)
    read(held, Unshown.ABSENT)

    held.refill()

    assert held.unquoted == [TARGET.message_id]


def test_what_stands_there_dim_is_quoted_though_it_waits_on_the_disk() -> None:
    held = conversation(line(2), REPLY)
    held.arrive(replace(TARGET, loading=True))
    held.doubt_quotes()

    read(held, Unshown.WAITS)

    assert quotes(held) == ["", "", "bob: tea?"]


def test_a_deleted_reply_answers_nothing_any_more() -> None:
    held = conversation(TARGET, REPLY)

    held.change(replace(REPLY, text="", deleted=True))

    assert quotes(held) == ["", ""]


def test_two_people_of_one_name_are_told_apart_there_too() -> None:
    held = conversation(TARGET, REPLY)

    held.arrive(line(9, author="carol", nick="bob"))

    assert quotes(held)[1].startswith("bob ")
    assert quotes(held)[1].endswith(": tea?")
    assert quotes(held)[1] != "bob: tea?"


def test_nothing_is_remembered_of_what_no_row_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model, "ROWS_KEPT", 10)
    monkeypatch.setattr(model, "ROWS_SLACK", 0)
    replies = [replace(line(at), reply_to=MessageId(f"{at:064x}")) for at in range(1, 40)]
    held = conversation(*replies)

    held.trim(len(held.rows))

    assert len(held.unquoted) == len(held.rows) == 10
    held.restart()
    assert held.unquoted == []


def test_a_window_full_of_replies_to_one_changes_with_it() -> None:
    replies = [replace(line(at), reply_to=TARGET.message_id) for at in range(2, 2_000)]
    held = conversation(TARGET, *replies)

    changes = held.change(replace(TARGET, text="coffee?", edited=True))

    assert len(changes) == len(replies) + 1
    assert set(quotes(held)[1:]) == {"bob: coffee? (edited)"}
