"""Colours of names in the chat: assigned once, remembered, the first eight distinct."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.model.author_places import (
    ANSI_HUES,
    AUTHORS_MAX,
    HUES,
    AuthorPlaces,
    by_key,
)
from chat_tui.model.event_feed import Feed
from chat_tui.model.reading_state import Kept, Seen
from chat_tui.settings.schema import THEME
from chat_tui.terminal.themes import AUTHORS, author_style
from storage.profile.author_colours import SIZE_MAX, AuthorColours
from storage.profile.read_marks import ReadMarks
from sync.machine import PeerId
from tests.support.chat_tui import scenes


def peer(number: int) -> PeerId:
    return PeerId(f"{number:08x}" + "0" * 56)


def test_there_are_as_many_places_as_hues() -> None:
    assert len(AUTHORS) == HUES


@given(st.lists(st.integers(0, 2**32 - 1), min_size=8, max_size=8, unique=True))
def test_the_first_eight_never_share_a_colour_in_any_theme(numbers: list[int]) -> None:
    places = AuthorPlaces()

    given_ = [places.place_of(peer(number)) for number in numbers]

    for theme in THEME.kind.choices:
        shown = {
            str(author_style(peer(number), theme, place=place).color)
            for number, place in zip(numbers, given_, strict=True)
        }
        assert len(shown) == ANSI_HUES, theme


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40))
def test_a_place_stays_whatever_comes_after_and_colours_are_shared_evenly(
    numbers: list[int],
) -> None:
    places = AuthorPlaces()
    first = {number: places.place_of(peer(number)) for number in numbers}

    assert {number: places.place_of(peer(number)) for number in numbers} == first
    held = [[*first.values()].count(place) for place in range(HUES)]
    assert max(held) - min(held) <= 1


def test_whoever_is_alone_has_the_colour_of_the_key() -> None:
    assert AuthorPlaces().place_of(peer(7)) == by_key(peer(7)) == 7


def test_beyond_the_limit_nobody_is_remembered() -> None:
    places = AuthorPlaces({peer(number): number % HUES for number in range(AUTHORS_MAX)})

    assert places.place_of(peer(AUTHORS_MAX + 3)) == by_key(peer(AUTHORS_MAX + 3))
    assert len(places.places) == AUTHORS_MAX


async def test_places_are_the_same_after_a_restart(tmp_path: Path) -> None:
    scene = scenes.morning()
    file = tmp_path / "colours.json"

    def start() -> Seen:
        snapshot = scene.snapshot()
        kept = Kept(ReadMarks(tmp_path / "read.json"), None, AuthorColours(file))
        return Seen(kept, Feed(snapshot.me, snapshot.nick), scene.chat.history)

    first = start()
    before = [first.places.place_of(peer(number)) for number in (10, 20, 30)]
    await first.resume([], None)
    await first.save([])
    again = start()

    assert before == [0, 1, 2]
    assert [again.places.place_of(peer(number)) for number in (30, 20, 10)] == before[::-1]


@pytest.mark.parametrize(
    "content",
    [
        "", "no JSON", "[]", '{"x": 1}', '{"' + "a" * 64 + '": -1}', '{"' + "a" * 64 + '": true}',
        '{"' + "a" * 64 + '": 100}', " " * (SIZE_MAX + 1),
    ],
    ids=["empty", "text", "list", "key", "negative", "true", "large", "long"],
)  # fmt: skip
def test_a_damaged_file_counts_as_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "colours.json"
    file.write_text(content)

    assert AuthorColours(file).load() == {}


def test_many_authors_take_little_room(tmp_path: Path) -> None:
    file = tmp_path / "colours.json"
    AuthorColours(file).save({peer(number): number % HUES for number in range(5_000)})

    assert len(AuthorColours(file).load()) == AUTHORS_MAX
    assert file.stat().st_size < SIZE_MAX
