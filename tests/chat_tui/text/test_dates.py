"""Days and times as people write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.text.dates import moment
from sync.machine import SECOND
from tests.support.chat_tui.conversations import NOON

pytestmark = pytest.mark.usefixtures("in_utc")


def at(text: str) -> str:
    """The moment `text` means at noon of Friday, 21 November 2025."""
    found = moment(text, NOON)
    return "" if found is None else f"{datetime.fromtimestamp(found // SECOND, tz=UTC):%F %H:%M}"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2025-11-20", "2025-11-20 00:00"),
        ("2025-11-20 14:30", "2025-11-20 14:30"),
        ("21.11.", "2025-11-21 00:00"),
        ("22.11.", "2024-11-22 00:00"),
        ("1.2.2024", "2024-02-01 00:00"),
        ("today", "2025-11-21 00:00"),
        ("Yesterday 09:05", "2025-11-20 09:05"),
        ("friday", "2025-11-21 00:00"),
        ("saturday", "2025-11-15 00:00"),
        ("09:05", "2025-11-21 09:05"),
        ("14:30", "2025-11-20 14:30"),
    ],
)
def test_a_day_or_time_is_the_last_one_that_has_been(text: str, meant: str) -> None:
    assert at(text) == meant


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "2025-13-01", "31.2.2025", "9f3a", "today tomorrow 12:00", "0.0."]
)
def test_what_is_no_time_is_told_apart(text: str) -> None:
    assert at(text) == ""


@given(st.from_regex(r"(\d{1,4}[-.:]){0,3}\d{0,4}( \d{1,2}:\d\d)?", fullmatch=True))
def test_any_numbers_are_a_moment_or_none(text: str) -> None:
    found = moment(text, NOON)

    assert found is None or isinstance(found, int)
