"""The language of a search: what filters mean, and what is said of those it does not know."""

import pytest

from chat_tui.model.search_query import Query, everywhere, understood
from chat_tui.text.dates import day_after, moment
from sync.errors import LocalError
from tests.support.chat_tui.readings import short_talk
from tests.support.chat_tui.scenes import BOB

pytestmark = pytest.mark.usefixtures("in_utc")


def asked(text: str) -> Query:
    snapshot = short_talk().chat.snapshot()
    return understood(text, snapshot, everywhere(snapshot))


def test_words_stay_words_and_addresses_too() -> None:
    query = asked("projector http://example.org:80/x room")

    assert query.words == "projector http://example.org:80/x room"
    assert not query.is_empty
    assert asked("  ").is_empty


def test_filters_say_who_where_when_and_with_what() -> None:
    scene = short_talk()
    snapshot = scene.chat.snapshot()
    bob = next(one.peer for one in snapshot.peers if one.nick == "bob")
    day = moment("2025-11-21", snapshot.now)
    assert day is not None
    assert BOB

    query = asked('cable from:bob in:#lobby on:"2025-11-21" has:link')

    assert query.words == "cable"
    assert query.wanted.authors == {bob}
    assert query.wanted.channels == (scene.world.channel,)
    assert (query.wanted.since, query.wanted.before) == (day, day_after(day))
    assert query.wanted.links
    assert asked("from:me").wanted.authors == {snapshot.me}
    assert asked("before:2025-11-21").wanted.before == day
    assert asked("since:2025-11-21").wanted.since == day


def test_somebody_never_met_is_looked_for_by_name() -> None:
    query = asked("from:zoe")

    assert (query.wanted.authors, query.wanted.nicks) == (frozenset(), frozenset({"zoe"}))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("to:bob", "to: is not known in a search. There are from:NAME"),
        ("in:#nowhere", "You are in no channel called #nowhere. There are in:all, in:#lobby"),
        ("before:soon", "before:soon is no day. Write before:yesterday"),
        ("has:picture", "has:link finds addresses"),
        ("has:\x1b[31mred", "has:red is not known"),
    ],
)
def test_what_is_not_known_is_named_with_what_there_is(text: str, why: str) -> None:
    with pytest.raises(LocalError) as raised:
        asked(text)

    assert why in str(raised.value)
