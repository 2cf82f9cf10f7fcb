"""The search panel: here, everywhere, with filters, and what it says of very many hits."""

import pytest
from textual.content import Content

from chat_tui.transcript import find_screen
from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.transcript.find_screen import FindScreen, hit_content
from tests.support.chat_tui.readings import (
    change_keys,
    command,
    long_talk,
    reading,
    selected,
    short_talk,
    shown,
    until,
)

pytestmark = pytest.mark.usefixtures("in_utc")


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_hits_are_listed_while_typing_and_enter_jumps(size: tuple[int, int]) -> None:
    async with reading(short_talk(), size) as (app, pilot):
        await pilot.press("ctrl+f", *"projector")
        await until(pilot, lambda: "2 hits" in shown(app))
        listed = shown(app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: selected(app) == "Alice, the projector is in room 2")
        await until(pilot, lambda: "projector: hit 2 of 2" in shown(app))

    assert "Search #lobby" in listed
    assert "bob: @alice the projector needs" in listed
    assert "Ctrl+F all channels" in listed


async def test_again_everywhere_and_back_with_the_channel_of_each_hit() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("ctrl+f", "ctrl+f", *"cable")
        await until(pilot, lambda: "3 hits" in shown(app))
        everywhere = shown(app)
        await pilot.press("ctrl+f")
        await until(pilot, lambda: "Search #lobby" in shown(app))
        await pilot.press("escape")
        await pilot.pause()

        assert "Search all channels" in everywhere
        assert not isinstance(app.screen, FindScreen)
        assert app.composer.has_focus


async def test_a_hit_that_is_deleted_or_edited_while_the_panel_is_open_leaves_it() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        older, newer = [row.line for row in app.transcript.conversation.rows if row.line.own]
        await pilot.press("ctrl+f", *"cable")
        await until(pilot, lambda: "3 hits" in shown(app))
        await pilot.press("down", "down")
        await scene.chat.redact(newer.channel, newer.message_id)
        await until(pilot, lambda: "2 hits" in shown(app))
        kept = "\n".join(line.rstrip() for line in shown(app).splitlines())
        await scene.chat.edit(older.channel, older.message_id, "thank you")
        await until(pilot, lambda: "1 hit" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "long cable" in selected(app))

    chosen = next(line for line in kept.splitlines() if line.startswith(" ▸"))
    assert "malice" not in kept
    assert chosen.endswith("09:11 alice: thank you, and the cable?")


async def test_a_list_of_messages_says_of_each_what_it_says_now() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        newest = next(row.line for row in app.transcript.conversation.rows[::-1] if row.line.own)
        await command(pilot, "/grep cable")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        listed = shown(app)
        await scene.chat.redact(newest.channel, newest.message_id)
        await until(pilot, lambda: "malice? no" not in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, ChoiceScreen))

    assert "malice? no" in listed


async def test_a_hit_that_was_changed_once_the_reader_went_there_says_so() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+f", *"thank")
        await until(pilot, lambda: "1 hit" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "thank: hit 1 of 1 ·" in shown(app))
        own = app.transcript.selected()
        assert own is not None
        await scene.chat.edit(own.line.channel, own.line.message_id, "and the cable?")
        await until(pilot, lambda: "thank: hit 1 of 1, changed since ·" in shown(app))


async def test_a_wrong_filter_is_explained_in_the_panel() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("ctrl+f", *"to:bob")
        await until(pilot, lambda: "to: is not known in a search" in shown(app))
        await pilot.press("enter")
        await pilot.pause()

        assert isinstance(app.screen, FindScreen)


async def test_more_hits_than_are_listed_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_screen, "SHOWN_MAX", 20)
    async with reading(long_talk()) as (app, pilot):
        await pilot.press("ctrl+f", *"line")
        await until(pilot, lambda: "The newest 20 of 891" in shown(app))
        await pilot.press(*["pagedown"] * 3, "enter")
        await until(pilot, lambda: "hit 20 of the newest 20 of 891" in shown(app))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_of_a_search_that_finds_everything_the_number_is_in_sight_and_keys_go_on(
    size: tuple[int, int],
) -> None:
    async with reading(long_talk(), size) as (app, pilot):
        await pilot.press("ctrl+f", *"line")
        await until(pilot, lambda: "The newest 200 of 891" in shown(app))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: selected(app) == "line 897")


async def test_the_panel_follows_changed_keys() -> None:
    async with reading(short_talk()) as (app, pilot):
        change_keys(app, find_scope="f8", close="f7")
        await pilot.press("ctrl+f", "f8")
        await until(pilot, lambda: "Search all channels" in shown(app))
        await pilot.press("f7")
        await pilot.pause()

        assert not isinstance(app.screen, FindScreen)


def test_a_long_text_is_cut_so_that_its_hit_is_in_sight() -> None:
    content = hit_content(f"09:00 bob: {'rain ' * 60}zebra", "zebra")

    assert content.plain.startswith("09:00 bob: …")
    assert content.plain.endswith("zebra")
    assert [content.plain[one.start : one.end] for one in content.spans] == ["zebra"]


def test_what_a_text_says_is_no_markup() -> None:
    content = hit_content("09:00 bob: [bold]tea[/bold] [@click=app.quit]x[/]", "tea")

    assert content.plain == "09:00 bob: [bold]tea[/bold] [@click=app.quit]x[/]"


async def test_of_many_hits_only_those_in_sight_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def noted(text: str, query: str) -> Content:
        made.append(text)
        return hit_content(text, query)

    async with reading(long_talk(), (80, 24)) as (app, pilot):
        await pilot.press("ctrl+f", *"lin")
        await until(pilot, lambda: "The newest 200 of 891" in shown(app))
        monkeypatch.setattr(find_screen, "hit_content", noted)
        await pilot.press("down")
        await pilot.pause()

    assert 0 < len(set(made)) < 24
