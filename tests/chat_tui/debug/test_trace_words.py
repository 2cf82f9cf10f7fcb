"""Steps of the engine in words: known names, unknown ones, many of a kind."""

import pytest

from chat_tui.debug.trace_words import apart, step_detail, step_words
from tests.support.chat_tui import scenes
from tests.support.chat_tui.panes import opened

TIME = "09:20:50.883"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Deliver 454e97, SendPayload", "shows 1 message (454e97), sends 1 payload of a session"),
        ("Deliver aa, Deliver bb, Deliver cc", "shows 3 messages (aa bb and 1 more)"),
        ("Broadcast 2225 B, Broadcast 2225 B", "sends to everybody 2 frames (2225 B)"),
        ("SetCounter, SetCounter", "set counter 2 times"),
        (
            "4bd7ba7 Arrived → StoreMessage, Deliver",
            "a frame came: stores 1 message, shows 1 message (4bd7ba7)",
        ),
        (
            "runner  RootTold → nothing",
            "somebody told the root of its state: nothing follows (runner)",
        ),
        ("runner  NewThing → nothing", "new thing: nothing follows (runner)"),
    ],
)
def test_a_step_in_words(line: str, wanted: str) -> None:
    assert step_words(f"{TIME} {line}") == f"{TIME} {wanted}"


def test_a_line_without_a_step_stays_as_it_is() -> None:
    assert step_words("nothing") == "nothing"


def test_a_name_is_taken_apart_into_words() -> None:
    assert [apart(name) for name in ("SetCounter", "Tick", "OpsArrived")] == [
        "set counter",
        "tick",
        "ops arrived",
    ]


def test_a_step_opens_to_the_names_of_its_classes() -> None:
    detail = step_detail(f"{TIME} runner  RootTold → Deliver, SendPayload")

    assert detail.facts == ("runner  RootTold", "Deliver", "SendPayload")
    assert detail.plain.endswith(".")


@pytest.mark.slow
async def test_a_key_shows_the_names_of_classes_and_words_again() -> None:
    async with opened(scenes.repairing, "6") as screen:
        words = screen.text()
        await screen.press("v")
        names = screen.text()
        await screen.press("v")

        assert "sends to everybody 1 frame" in words
        assert "Broadcast" not in words
        assert "Broadcast" in names
        assert screen.text() == words


@pytest.mark.slow
async def test_words_of_the_filter_may_be_names_or_words() -> None:
    async with opened(scenes.repairing, "6") as screen:
        for typed in ("Missing", "misses"):
            await screen.press("slash")
            screen.pane._asking.value = ""
            await screen.press(*typed, "enter")

            assert "misses 1 message that was named" in " ".join(screen.text().split())
