"""The places that `--since` takes."""

from datetime import datetime

import pytest
from msgspec.structs import replace

from chat_tui.line_mode.since import Since, parse
from chat_tui.wording.json_events import OLD_AFTER
from sync.errors import LocalError
from sync.machine import SECOND
from tests.support.chat_tui.conversations import NOON, line


@pytest.mark.parametrize("text", ["2026-01-31", "2026-01-31T09:30", "2026-01-31 09:30:15+02:00"])
def test_a_time_is_local_unless_it_says_otherwise(text: str) -> None:
    told = parse(text, NOON)

    assert told == Since(from_ns=round(datetime.fromisoformat(text).timestamp()) * SECOND)


def test_the_beginning_of_an_id_is_no_time() -> None:
    assert parse("3FA2C81B", NOON) == Since(prefix="3fa2c81b")
    assert parse("20261399", NOON) == Since(prefix="20261399")
    assert parse("20260131", NOON).prefix == ""


def test_now_leaves_out_what_was_written_long_before_and_no_clock_that_is_slow() -> None:
    since = parse("now", NOON)

    assert not since.leaves_out(replace(line(1), created_ns=NOON - 2 * SECOND))
    assert since.leaves_out(replace(line(1), created_ns=NOON - OLD_AFTER - SECOND))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "3fa2",
        "12:00 o'clock",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_whatever_else_is_refused_with_what_can_be_given(text: str) -> None:
    with pytest.raises(LocalError, match="--since takes now"):
        parse(text, NOON)
