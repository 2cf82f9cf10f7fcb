"""Lines that scripts write: an object that names its channel, or a text like any other."""

import pytest

from chat_tui.line_mode.written import as_typed, checked, object_of
from sync.errors import LocalError


@pytest.mark.parametrize(
    "line",
    ["hello", "{not json", '{"channel": "#a"}', '{"level": "info"}', '["text"]', "{" * 100_000],
)
def test_whatever_is_no_object_with_a_text_is_a_text(line: str) -> None:
    assert object_of(line) is None


def fields(line: str) -> dict[str, str]:
    found = object_of(line)
    assert found is not None
    return checked(found)


def test_an_object_has_a_text_and_may_name_a_channel() -> None:
    assert fields('{"text": "a"}') == {"text": "a"}
    assert fields(' {"channel": "@bob", "text": "b"}') == {"channel": "@bob", "text": "b"}
    assert fields('{"text": "a", "channel": null}') == {"text": "a"}


def test_an_object_may_say_what_it_answers_as_an_event_has_it() -> None:
    assert fields('{"text": "a", "reply_to": "3fa2"}') == {"text": "a", "reply_to": "3fa2"}
    assert fields('{"text": "a", "reply_to": null}') == {"text": "a"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"text": 1}', "'text' is to be a string."),
        ('{"text": null}', "'text' is to be a string."),
        ('{"text": "a", "reply_to": 3}', "'reply_to' is to be a string."),
        ('{"text": "a", "chanel": "#b"}', "'chanel' is no field of a message: a line has channel,"),
    ],
)
def test_an_object_that_is_wrong_is_an_error_and_goes_nowhere(line: str, says: str) -> None:
    with pytest.raises(LocalError) as refused:
        fields(line)
    assert str(refused.value).startswith(says)


def test_a_text_that_begins_with_a_slash_is_no_command() -> None:
    assert as_typed("/quit") == "//quit"
    assert as_typed("/usr/bin") == "//usr/bin"
    assert as_typed("quit") == "quit"
