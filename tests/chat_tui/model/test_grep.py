"""Regular expressions over the history: bounded, whatever the pattern."""

import pytest

from chat_tui.model import grep
from chat_tui.model.grep import matching
from sync.errors import LocalError
from tests.support.chat_tui.readings import long_talk, short_talk

pytestmark = pytest.mark.net


async def test_the_newest_matches_come_first_from_all_pages() -> None:
    scene = long_talk()

    found = await matching(scene.chat.history, [scene.world.channel], r"^ALICE.*\d50$")

    assert [line.text for line in found.lines] == [
        f"alice, apple {number}" for number in range(850, 50, -100)
    ]
    assert (found.read, found.cut) == (900, "")


async def test_a_flood_of_matches_is_cut_and_says_so() -> None:
    scene = long_talk()

    found = await matching(scene.chat.history, [scene.world.channel], "line")

    assert len(found.lines) == grep.FOUND_MAX
    assert "there are more" in found.cut


@pytest.mark.parametrize("pattern", ["(", "*", "(?P<a", "[z-a]", "a{99999999999999999999}"])
async def test_a_wrong_pattern_says_what_is_wrong(pattern: str) -> None:
    scene = short_talk()

    with pytest.raises(LocalError, match="is not a regular expression"):
        await matching(scene.chat.history, [scene.world.channel], pattern)


async def test_a_pattern_that_takes_for_ever_is_ended_and_says_so() -> None:
    scene = short_talk()
    scene.say(1, "a" * 60 + "!")

    found = await matching(scene.chat.history, [scene.world.channel], r"(a+)+$", within_s=0.5)

    assert found.lines == []
    said = "The pattern took longer than 0.5 s, so no message was looked through."
    assert found.said_of_none == said
