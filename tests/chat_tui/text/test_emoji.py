"""Emoji by name: each one cell pair wide, each found by the beginning of its name."""

from rich.cells import cell_len

from chat_tui.settings.schema import THEMES
from chat_tui.text.emoji import EMOJI, named
from chat_tui.text.safe_text import clean_text
from chat_tui.widgets.completion import special
from chat_tui.widgets.composer import completions


def test_every_emoji_is_one_character_two_cells_wide_and_survives_cleaning() -> None:
    assert len(EMOJI) >= 200
    for name, emoji in EMOJI.items():
        assert name == name.casefold()
        assert len(emoji) == 1, name
        assert cell_len(emoji) == 2, name
        assert clean_text(emoji) == emoji, name


def test_the_shortest_name_comes_first() -> None:
    assert named("tad") == ["🎉"]
    assert named("smil")[0] == EMOJI["smile"]
    assert named("nothing") == []


def test_faces_of_signs_and_times_are_left_alone() -> None:
    for text in (":)", ":D", "at 9:15", ":", "a :", "http://x"):
        assert special(text) is None, text
    assert special("well :thumbsu") == ["👍"]
    assert special(":THUMBSUP:") == ["👍"]
    assert special(":nothing") == []


def test_names_of_settings_and_their_values_are_only_completed_after_set() -> None:
    assert completions("/set quiet", []) == ["quiet_hours"]
    assert completions("/set mouse o", []) == ["on", "off"]
    assert completions("/theme solar", []) == ["solarized-dark", "solarized-light"]
    assert completions("/set name al", ["alice"]) == []
    assert completions("/msg al", ["alice"]) == ["alice"]
    assert completions("quiet", ["alice"]) == []


def test_the_second_word_of_sync_is_a_way_to_compare() -> None:
    assert special("/set ticks ") == ["recent", "always", "never"]
    assert special("/set ticks a") == ["always"]
    assert special("/theme ") == list(THEMES)
    assert special("/set ") is None
    assert special("/sync bob w") == ["waku"]
    assert special("/sync bob the second r") == ["rbsr"]
    assert special("/sync bob th") is None
    assert special("/sync w") is None
    assert special("sync bob w") is None
