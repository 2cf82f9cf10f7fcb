"""Settings on the screen: what a person presses, and sees then."""

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from chat_tui.screens.settings import SettingsScreen
from chat_tui.settings import schema
from chat_tui.settings.preferences import Preferences
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import reading, shown
from tests.support.chat_tui.scenes import screen_of

SECTIONS = len(schema.Section)

pytestmark = pytest.mark.usefixtures("in_utc")


async def go_to(pilot: Pilot[None], name: str) -> SettingsScreen:
    """Open the settings at one of them."""
    await pilot.press("f6")
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    choices = screen.query_one(OptionList)
    choices.highlighted = choices.get_option_index(name)
    await pilot.pause()
    return screen


# --- The screen of settings ---------------------------------------------------------------------


async def test_a_theme_is_seen_while_it_is_chosen() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await go_to(pilot, "theme")
        before = app.theme
        await pilot.press("right")
        await pilot.pause()
        screen = shown(app)

        assert before == "tokyo-night"
        assert app.theme == "high-contrast"
        assert "high-contrast" in screen
        assert "changed" in screen
        assert "by default it is tokyo-night" in screen
        await pilot.press("left", "escape")
        assert app.theme == "tokyo-night"
        assert not isinstance(app.screen, SettingsScreen)


async def test_delete_takes_a_change_back() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await go_to(pilot, "theme")
        await pilot.press("right", "delete")
        await pilot.pause()

        assert app.theme == "tokyo-night"
        assert "changed" not in shown(app)


async def test_enter_goes_through_choices_and_types_what_has_none() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        screen = await go_to(pilot, "bell")
        await pilot.press("enter")
        assert scene.chat.settings[schema.BELL] is False
        choices = screen.query_one(OptionList)
        choices.highlighted = choices.get_option_index("quiet_hours")
        await pilot.press("enter", "ctrl+u", *"22:00-07:00", "enter")
        await pilot.pause()

        assert scene.chat.settings[schema.QUIET_HOURS] == (22 * 60, 7 * 60)
        assert "22:00-07:00" in shown(app)
        assert app.focused is choices


async def test_what_cannot_be_is_said_and_typing_goes_on_until_esc() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        screen = await go_to(pilot, "keys.help")
        await pilot.press("enter", "ctrl+u", *"f3", "enter")
        await pilot.pause()
        said = shown(app)
        still_typing = app.focused is screen.query_one(Input)
        await pilot.press("escape")
        await pilot.pause()

        assert "F3 is taken by keys.peers" in said
        assert still_typing
        assert scene.chat.settings.keys()["help"] == ("f1", "alt+h")
        assert isinstance(app.screen, SettingsScreen)
        assert "is taken" not in shown(app)


async def test_numbers_go_up_and_down_and_no_further() -> None:
    scene = scenes.empty()
    async with reading(scene) as (_, pilot):
        await go_to(pilot, "nick_width")
        await pilot.press(*["right"] * 20)
        most = scene.chat.settings[schema.NICK_WIDTH]
        await pilot.press(*["left"] * 30)

        assert most == 24
        assert scene.chat.settings[schema.NICK_WIDTH] == 4


async def test_tab_goes_from_part_to_part_and_round() -> None:
    async with reading(scenes.empty()) as (_, pilot):
        screen = await go_to(pilot, "name")
        choices = screen.query_one(OptionList)
        at = []
        for _ in range(SECTIONS):
            await pilot.press("tab")
            option = choices.highlighted_option
            assert option is not None
            at.append(option.id)
        await pilot.press("shift+tab")
        option = choices.highlighted_option

        assert at[:2] == ["theme", "alerts"]
        assert at[-1] == "name"
        assert option is not None
        assert option.id == at[-2]


@pytest.mark.parametrize("key", ["left", "right", "tab", "delete"])
async def test_a_page_up_over_the_first_heading_ends_at_the_first_setting(key: str) -> None:
    async with reading(scenes.empty()) as (_, pilot):
        screen = await go_to(pilot, "time_format")
        choices = screen.query_one(OptionList)
        await pilot.press("pageup")
        first = choices.highlighted_option
        await pilot.press(key)
        await pilot.pause()

        assert first is not None
        assert first.id == schema.SETTINGS[0].name
        assert choices.highlighted_option is not None


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_in_a_window_of_one_line_pages_of_settings_move_nothing(key: str) -> None:
    async with reading(scenes.empty()) as (_, pilot):
        screen = await go_to(pilot, "theme")
        await pilot.resize_terminal(80, 1)
        await pilot.pause()
        await pilot.press(key, "left")
        await pilot.pause()
        option = screen.query_one(OptionList).highlighted_option

    assert option is not None
    assert option.id == "theme"


async def test_a_name_is_told_to_the_chat_or_the_reason_said() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await go_to(pilot, "name")
        await pilot.press("enter", "ctrl+u", *"zoe", "enter")
        await pilot.pause()

        assert "This is a simulation" in shown(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 16), (80, 24), (140, 40)])
async def test_every_setting_can_be_reached_and_is_explained(size: tuple[int, int]) -> None:
    async with reading(scenes.empty(), size) as (app, pilot):
        screen = await go_to(pilot, "name")
        choices = screen.query_one(OptionList)
        for setting in schema.SETTINGS:
            choices.highlighted = choices.get_option_index(setting.name)
            await pilot.pause()
            assert setting.help.split()[0] in shown(app)
            assert f" {setting.in_file} " in shown(app)


# --- What settings do on the screen -------------------------------------------------------------


async def test_the_look_follows_at_once() -> None:
    scene = scenes.morning()
    async with reading(scene, (100, 40)) as (app, pilot):
        change = scene.chat.settings.change
        before = shown(app)
        change(schema.TIME_FORMAT, "12h")
        change(schema.NICK_WIDTH, 4)
        change(schema.DAY_SEPARATORS, False)
        change(schema.TICKS, "never")
        change(schema.GLYPHS, "ascii")
        await pilot.pause()
        after = shown(app)

        assert "09:13" in before
        assert " 9:13am dave  " in after
        assert " 9:11am car.  " in after
        assert "Monday" in before
        assert "Monday" not in after
        assert "●" in before
        assert "●" not in after
        assert "failed  x" in after  # what needs something is always said
        assert "maybe received  ~" in after
        assert not set("─│╭╮╰╯┆◐○") & set(after)


async def test_cosy_leaves_a_line_between_authors_and_the_place_stays() -> None:
    scene = scenes.morning()
    async with reading(scene) as (app, pilot):
        await pilot.press("pageup")
        top = app.transcript._place
        scene.chat.settings.change(schema.DENSITY, "cosy")
        await pilot.pause()
        lines = shown(app).split("\n")
        said = next(n for n, text in enumerate(lines) if "the one with the big window" in text)

        assert not lines[said - 1].strip(" ▁▂▃▄▅▆▇█")
        assert top is not None
        assert app.transcript._place is not None
        assert app.transcript._place.message_id == top.message_id


async def test_low_bandwidth_paints_twice_a_second_in_16_colours() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        scene.chat.settings.change(schema.THEME, "nord")
        scene.chat.settings.change(schema.LOW_BANDWIDTH, True)
        await pilot.pause()
        slow = (app.theme, app._pace.every_s, app.animation_level)
        scene.chat.settings.reset(schema.LOW_BANDWIDTH)
        await pilot.pause()

        assert slow == ("ansi", 0.5, "none")
        assert (app.theme, app._pace.every_s) == ("nord", 0.1)


async def test_no_color_leaves_no_colour_and_every_state_its_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    scene = scenes.morning()
    app = screen_of(scene)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        strips = [
            strip.apply_filter(app._filters[-1], app.screen.background_colors[1])
            for strip in app.screen._compositor.render_strips()
        ]

        colours = {
            str(part.name)
            for strip in strips
            for segment in strip
            if segment.style is not None
            for part in (segment.style.color, segment.style.bgcolor)
            if part is not None
        }
        assert colours <= {"default"}
        for word in ("failed", "sent", "maybe received", "1 missing"):
            assert word in shown(app)


async def test_what_is_wrong_in_the_files_is_said_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[look]\ntheme = nord\n")
    scene = scenes.empty()
    scene.chat.settings = Preferences(tmp_path / "settings.toml")
    async with reading(scene, (140, 24)) as (app, _):
        assert "settings.toml, line 2" in shown(app).replace("\n", "")


# --- The input ----------------------------------------------------------------------------------


async def test_tab_makes_an_emoji_of_its_name() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await pilot.press(*"done :tad", "tab")
        once = app.composer.text
        await pilot.press(*":sm", "tab", "tab")

        assert once == "done 🎉 "
        assert app.composer.text.endswith("😏 ")


async def test_tab_knows_settings_and_their_values() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await pilot.press(*"/set", "space", *"the", "tab", *"nor", "tab")

        assert app.composer.text == "/set theme nord "


async def test_a_long_paste_says_so_sends_nothing_and_esc_takes_it_out() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        await pilot.press(*"see:", "space")
        app.composer.post_message(events.Paste("\n".join("abcdefg") + "\n"))
        await pilot.pause()
        pasted, said = app.composer.text, str(app.composer.border_subtitle)
        await pilot.press("!", "escape")
        await pilot.pause()

        assert pasted == "see: a\nb\nc\nd\ne\nf\ng\n"
        assert "7 lines pasted: Enter sends them as one message, Esc takes them out" in said
        assert app.composer.text == "see: !"
        assert not app.composer.border_subtitle
        assert scene.snapshot().channels[0].messages == 0


async def test_a_short_paste_says_nothing_and_the_limit_can_be_set() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        app.composer.post_message(events.Paste("a\nb\nc\nd\ne"))
        await pilot.pause()
        usual = app.composer.border_subtitle
        scene.chat.settings.change(schema.PASTE_LINES, 2)
        app.composer.post_message(events.Paste("a\nb\nc"))
        await pilot.pause()
        strict = app.composer.border_subtitle
        scene.chat.settings.change(schema.PASTE_LINES, 0)
        await pilot.press("enter")
        app.composer.post_message(events.Paste("a\n" * 100))
        await pilot.pause()

        assert not usual
        assert "3 lines pasted" in str(strict)
        assert not app.composer.border_subtitle


async def test_without_colours_the_chosen_row_is_underlined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = screen_of(scenes.empty())
    async with app.run_test(size=(80, 24)) as pilot:
        for key, row in (("ctrl+p", "Help"), ("f6", "  name ")):
            await pilot.press(key)
            await pilot.pause()
            lines = app.screen._compositor.render_strips()
            marked = [
                segment.text
                for strip in lines
                for segment in strip
                if segment.style is not None and segment.style.underline
            ]
            assert "".join(marked).startswith(row)
            await pilot.press("escape")


async def test_each_setting_takes_one_line_on_a_small_screen_also_after_a_resize() -> None:
    async with reading(scenes.empty(), (60, 24)) as (app, pilot):
        await pilot.press("f6", "down", "down", "down", "right")
        await pilot.pause()
        small = [line.rstrip() for line in shown(app).split("\n")]
        await pilot.resize_terminal(100, 24)
        await pilot.pause()
        large = shown(app)
        await pilot.resize_terminal(60, 24)
        await pilot.pause()
        again = [line.rstrip() for line in shown(app).split("\n")]

    row = next(line for line in small if "time_format" in line)
    assert row.endswith("12h                     changed")
    assert row in again
    assert "Left, Right, Enter change, Del resets, Esc closes" in small[-1]
    assert "Left and Right change, Enter types, Del resets, Esc closes" in large
