"""Settings: the table, the files, what is over what, and what a wrong value is answered."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.theme import BUILTIN_THEMES

from chat_tui.settings import schema
from chat_tui.settings.kinds import Hours, Switch, Whole
from chat_tui.settings.preferences import (
    Preferences,
    Source,
    Wishes,
    checked_wishes,
    explanation,
    listing,
)
from chat_tui.settings.schema import SETTINGS, Section, Setting, When, find
from chat_tui.terminal.themes import OWN
from sync.errors import LocalError

TYPED: dict[str, str] = {
    "name": "ann", "status": "in room 2", "colour": "teal", "time_format": "12h",
    "day_separators": "off", "paste_lines": "9", "markup": "off", "fold_lines": "20",
    "hyperlinks": "off",
    "theme": "nord", "density": "cosy", "nick_width": "12", "glyphs": "ascii", "ticks": "never",
    "animations": "on", "motion": "off", "mouse": "off", "low_bandwidth": "on", "alerts": "all",
    "bell": "off", "desktop": "osc9", "title": "off", "quiet_hours": "22:00-07:00",
    "interface": "192.168.1.20", "port": "5000", "discovery": "off",
    "connect": "192.168.1.31:46021 [fe80::1]", "clock": "stay", "typing_notices": "off",
    "read_marks": "on", "history_days": "30", "ask_above_mb": "50", "protocol_log": "off",
}  # fmt: skip
"""Another value than the default for every setting that is not a key."""


def typed(setting: Setting[Any]) -> str:
    return "f8, alt+r" if setting.section is Section.KEYS else TYPED[setting.name]


def files(directory: Path, profile: str = "", user: str = "") -> Preferences:
    """The settings of a profile and a user with these files."""
    ours, users = directory / "settings.toml", directory / "config.toml"
    ours.write_text(profile)
    users.write_text(user)
    return Preferences(ours, Wishes(users))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_survives_a_file(tmp_path: Path, setting: Setting[Any]) -> None:
    value = setting.kind.parse(typed(setting))
    assert value != setting.default

    Preferences(tmp_path / "settings.toml").change(setting, value)
    again = Preferences(tmp_path / "settings.toml")

    assert again[setting] == value
    assert again.source(setting) is Source.PROFILE
    assert again.problems == []


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_typed_as_it_is_shown(setting: Setting[Any]) -> None:
    for value in (setting.default, setting.kind.parse(typed(setting))):
        assert setting.kind.parse(setting.kind.shown(value)) == value
        assert setting.kind.read(setting.kind.written(value)) == value


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_says_what_a_change_does(setting: Setting[Any]) -> None:
    sentence = explanation(Preferences(), setting)

    assert setting.help.endswith((".", "none."))
    assert setting.help[0].isupper() or setting.name in setting.help
    assert setting.when.value in sentence
    assert setting.shown_default in sentence


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_no_setting_takes_nonsense(setting: Setting[Any]) -> None:
    for text in ("", "\x1b[2J", "[a] [b " * 40):
        with pytest.raises(LocalError, match=r"\.$"):
            setting.kind.parse(text)
    for value in (3.5, {"a": 1}, None, [1]):
        with pytest.raises(LocalError, match=r"\.$"):
            setting.kind.read(value)


@given(st.text())
def test_nothing_typed_breaks_a_kind(text: str) -> None:
    for setting in SETTINGS:
        try:
            value = setting.kind.parse(text)
        except LocalError:
            continue
        assert setting.kind.read(setting.kind.written(value)) == value


def test_themes_are_those_there_are() -> None:
    there = {*BUILTIN_THEMES, *OWN} - {"ansi-dark", "ansi-light"}  # ours is for both

    assert set(schema.THEMES) == there


def test_only_what_was_changed_is_written(tmp_path: Path) -> None:
    settings = files(tmp_path)

    settings.change(schema.THEME, "nord")
    settings.change(schema.BELL, False)
    settings.reset(schema.BELL)

    held = tomllib.loads((tmp_path / "settings.toml").read_text())
    assert held == {"look": {"theme": "nord"}, "alerts": {}}
    assert (tmp_path / "config.toml").read_text() == ""


def test_comments_order_and_unknown_keys_stay(tmp_path: Path) -> None:
    before = (
        "# mine\n[look]\ncolour = 3 # what is this?\ntheme = 'nord'   # dark\n\n[plugins]\nx = 1\n"
    )
    settings = files(tmp_path, before)

    settings.change(schema.THEME, "dracula")

    after = (tmp_path / "settings.toml").read_text()
    assert after == before.replace("'nord'", '"dracula"')


def test_an_unknown_key_is_named_with_the_nearest_and_kept(tmp_path: Path) -> None:
    settings = files(tmp_path, '[look]\nthem = "nord"\n[plugins]\nx = 1\n')

    them, plugins = settings.problems

    assert "there is no look.them" in them
    assert "Nearest are theme, " in them
    assert "It stays in the file." in them
    assert "plugins.x" in plugins


def test_a_bad_value_is_said_and_only_that_setting_is_the_usual_one(tmp_path: Path) -> None:
    settings = files(tmp_path, '[look]\ntheme = "pink"\nnick_width = 12\n')

    [problem] = settings.problems

    assert settings[schema.THEME] == schema.THEME.default
    assert settings[schema.NICK_WIDTH] == 12
    assert "theme" in problem
    assert "pink is not valid" in problem
    assert "tokyo-night holds" in problem


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[look]\ntheme = nord\n", 2),
        ("[look\n", 1),
        ('a = 1\n\n\nb = "open', 4),
        ("x = 1\nx = 2", 2),
    ],
)
def test_a_file_that_is_no_toml_says_the_line_and_is_not_touched(
    tmp_path: Path, text: str, line: int
) -> None:
    settings = files(tmp_path, text)

    [problem] = settings.problems
    with pytest.raises(LocalError, match=r"nothing was written to it: .* The change holds until"):
        settings.change(schema.THEME, "nord")

    assert f"settings.toml, line {line}:" in problem
    assert "Correct that line" in problem
    assert settings[schema.THEME] == "nord"  # for this run
    assert (tmp_path / "settings.toml").read_text() == text


@pytest.mark.parametrize("text", ["look = 5\n", 'look = "x"\n', "[[look]]\nmouse = true\n"])
def test_a_section_that_is_a_value_is_not_written_into_and_the_change_holds_for_now(
    tmp_path: Path, text: str
) -> None:
    settings = files(tmp_path, text)

    with pytest.raises(LocalError, match="nothing was written to it"):
        settings.reset(schema.THEME)
    with pytest.raises(LocalError, match=r"nothing was written to it.* holds until the chat"):
        settings.change(schema.THEME, "nord")

    assert settings[schema.THEME] == "nord"
    assert (tmp_path / "settings.toml").read_text() == text


def test_a_file_that_is_no_text_is_said(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_bytes(b"a = 1\n\xff\xfe\n")

    [problem] = Preferences(tmp_path / "settings.toml").problems

    assert "line 2: it is not UTF-8" in problem


def test_a_directory_that_cannot_be_written_lets_the_change_hold(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Preferences(tmp_path / "file" / "settings.toml")

    with pytest.raises(LocalError, match="until the chat closes"):
        settings.change(schema.THEME, "nord")

    assert settings[schema.THEME] == "nord"


def test_the_stronger_source_wins(tmp_path: Path) -> None:
    users, ours = tmp_path / "config.toml", tmp_path / "settings.toml"
    users.write_text('[look]\ntheme = "nord"\nticks = "never"\nmouse = true\ndensity = "cosy"\n')
    ours.write_text('[look]\ntheme = "dracula"\nmouse = true\ndensity = "cosy"\n')
    wishes = checked_wishes(["density=compact", "look.ticks=always"], "ssh", users)

    settings = Preferences(ours, wishes)

    assert settings[schema.THEME] == "dracula"
    assert settings[schema.MOUSE] is False
    assert settings.source(schema.MOUSE) is Source.PRESET
    assert settings[schema.DENSITY] == "compact"
    assert settings[schema.TICKS] == "always"
    assert settings.source(schema.TITLE) is Source.DEFAULT


def test_a_change_counts_more_than_the_start(tmp_path: Path) -> None:
    settings = Preferences(tmp_path / "settings.toml", checked_wishes(["mouse=off"], "ssh"))

    settings.change(schema.MOUSE, True)

    assert settings[schema.MOUSE] is True


def test_reset_goes_back_to_what_the_users_own_file_says(tmp_path: Path) -> None:
    settings = files(tmp_path, '[look]\ntheme = "nord"\n', '[look]\ntheme = "dracula"\n')

    settings.reset(schema.THEME)

    assert settings[schema.THEME] == "dracula"
    assert files(tmp_path, (tmp_path / "settings.toml").read_text())[schema.THEME] == "tokyo-night"


def test_a_setting_may_stand_without_its_section(tmp_path: Path) -> None:
    settings = files(tmp_path, 'theme = "nord"\n')
    before = settings[schema.THEME]

    settings.change(schema.THEME, "dracula")

    assert before == "nord"
    assert (tmp_path / "settings.toml").read_text() == 'theme = "dracula"\n'


def test_who_subscribes_hears_of_changes_until_it_leaves() -> None:
    settings = Preferences()
    heard: list[str] = []
    leave = settings.subscribe(lambda setting: heard.append(setting.name))

    settings.change(schema.THEME, "nord")
    settings.reset(schema.THEME)
    leave()
    settings.change(schema.THEME, "nord")

    assert heard == ["theme", "theme"]


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    files(tmp_path).change(schema.THEME, "nord")

    assert (tmp_path / "settings.toml").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ("theme", "--set name=value"),
        ("them=nord", "Nearest are theme"),
        ("theme=pink", "pink is not valid"),
        ("alerts.theme=nord", "There is no setting alerts.theme"),
    ],
)
def test_a_wrong_wish_is_refused_with_what_may_be(pair: str, says: str) -> None:
    with pytest.raises(LocalError, match=says):
        checked_wishes([pair])


def test_a_setting_is_found_with_its_section_dashes_and_capitals() -> None:
    assert find("look.Nick-Width") is schema.NICK_WIDTH
    assert find("keys.help") is schema.KEY_SETTINGS["help"]


def test_the_list_has_every_setting_with_its_help() -> None:
    lines = listing(Preferences())

    for setting in SETTINGS:
        assert f"{setting.in_file} = {setting.shown_default}" in lines
        assert setting.help in lines


def test_a_key_may_not_mean_two_things(tmp_path: Path) -> None:
    settings = files(tmp_path)
    peers = schema.KEY_SETTINGS["peers"]

    with pytest.raises(LocalError, match=r"F1 is taken by keys\.help \(Help\)"):
        settings.change(peers, ("f1",))

    assert settings[peers] == ("f3", "alt+n")
    assert (tmp_path / "settings.toml").read_text() == ""


def test_files_that_give_a_key_two_meanings_leave_all_keys_as_they_are(tmp_path: Path) -> None:
    settings = files(tmp_path, '[keys]\npeers = ["f1"]\nquit = "alt+q"\n')

    assert settings.keys()["peers"] == ("f3", "alt+n")
    assert settings.keys()["quit"] == ("ctrl+q",)
    assert "F1 is taken by keys.help" in settings.problems[0]
    assert "all keys are the default ones" in settings.problems[1]


def test_a_reset_may_not_take_a_key_that_has_another_meaning_by_now() -> None:
    settings = Preferences()
    settings.change(schema.KEY_SETTINGS["help"], ("f12",))
    settings.change(schema.KEY_SETTINGS["peers"], ("f1",))

    with pytest.raises(LocalError, match="F1 is taken"):
        settings.reset(schema.KEY_SETTINGS["help"])

    assert settings.keys()["help"] == ("f12",)


def test_numbers_and_switches_are_no_text() -> None:
    assert Whole(1, 5).parse(" 3 ") == 3
    assert Switch().parse("YES") is True
    assert Hours().parse("22:00 - 7:00") == (22 * 60, 7 * 60)
    for text in ("25:00-07:00", "22:60-07:00", "22-7"):
        with pytest.raises(LocalError, match="22:00-07:00"):
            Hours().parse(text)
    with pytest.raises(LocalError, match="from 1 to 5"):
        Whole(1, 5).read(value=True)


def test_what_only_a_start_can_take_up_says_so() -> None:
    late = {setting.name for setting in SETTINGS if setting.when is When.START}

    assert late == {"interface", "port", "discovery", "connect", "history_days"}
