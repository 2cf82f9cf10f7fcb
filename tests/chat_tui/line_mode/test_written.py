"""Lines that scripts write: an object that names its channel, or a text like any other."""

import pytest

from chat_tui.line_mode.written import as_typed, object_of


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "{not json",
        '{"text": 1}',
        '{"channel": "#a"}',
        '{"text": "a", "colour": "red"}',
        '["text"]',
        '{"text": "a", "channel": null}',
        "{" * 100_000,
    ],
)
def test_whatever_is_no_such_object_is_a_text(line: str) -> None:
    assert object_of(line) is None


def test_an_object_has_a_text_and_may_name_a_channel() -> None:
    assert object_of('{"text": "a"}') == {"text": "a"}
    assert object_of(' {"channel": "@bob", "text": "b"}') == {"channel": "@bob", "text": "b"}


def test_an_object_may_say_what_it_answers_as_an_event_has_it() -> None:
    assert object_of('{"text": "a", "reply_to": "3fa2"}') == {"text": "a", "reply_to": "3fa2"}
    assert object_of('{"text": "a", "reply_to": null}') == {"text": "a"}
    assert object_of('{"text": "a", "reply_to": 3}') is None


def test_a_text_that_begins_with_a_slash_is_no_command() -> None:
    assert as_typed("/quit") == "//quit"
    assert as_typed("/usr/bin") == "//usr/bin"
    assert as_typed("quit") == "quit"
