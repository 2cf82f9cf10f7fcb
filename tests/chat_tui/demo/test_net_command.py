"""`/net` in the demo: words for what the pretend network does, and F5 in the real chat."""

import pytest
from textual.pilot import Pilot

from chat_tui.demo.acts import Delay, Duplicate, Loss, Write
from chat_tui.demo.net_command import acts_of
from sync.errors import LocalError
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import lines, on_screen, ready
from tests.support.chat_tui.live_screens import until
from tests.support.chat_tui.readings import reading, short_talk, shown


def test_what_is_wished_becomes_acts_in_its_order() -> None:
    assert acts_of("/net loss=20 DELAY=1000ms duplicate=5%") == (
        Loss(20),
        Delay(1_000),
        Duplicate(5),
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/net", "Say what the network does"),
        ("/net jitter=3", "Unknown setting 'jitter'"),
        ("/net loss", "loss is a number from 0 to 100"),
        ("/net loss=101", "loss is a number from 0 to 100"),
        ("/net delay=60001", "delay is a number from 0 to 60,000"),
        ("/net delay=" + "9" * 5000, "delay is a number"),
        ("/net loss=\u0663", "loss is a number"),
        ("/join #lobby", "the demo has /net alone"),
    ],
)
def test_what_is_wrong_is_said_with_an_example(line: str, says: str) -> None:
    with pytest.raises(LocalError, match=says) as caught:
        acts_of(line)

    assert "/net loss=20 delay=40" in str(caught.value)


async def test_the_line_of_the_demo_takes_the_command_and_draws_it() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        await type_line(pilot, "/net loss=15 delay=200")
        assert "loss 15%" in "\n".join(lines(screen))
        assert "delay 200 ms" in "\n".join(lines(screen))
        await type_line(pilot, "/nett loss=1")
        assert "the demo has /net alone" in "\n".join(lines(screen))
        await type_line(pilot, "//net loss=30")

        assert [entry.act for entry in stage.acts] == [
            Loss(15),
            Delay(200),
            Write(0, "/net loss=30"),
        ]


async def test_in_the_past_all_wishes_are_done_after_one_replay() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        await pilot.press(*["."] * 6, *[","] * 3)
        await type_line(pilot, "/net loss=15 delay=200")
        await ready(pilot)

        assert [entry.act for entry in stage.acts] == [Loss(15), Delay(200)]
        assert "loss 15%" in "\n".join(lines(screen))


async def test_f5_compares_histories() -> None:
    with scenes.utc():
        async with reading(short_talk()) as (app, pilot):
            await pilot.press("f5")
            await until(pilot, lambda: "Comparing #lobby with 1 of the others." in shown(app))


async def type_line(pilot: Pilot[None], line: str) -> None:
    await pilot.press("w", *["space" if sign == " " else sign for sign in line], "enter")
    await pilot.pause()
