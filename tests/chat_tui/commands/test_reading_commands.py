"""Commands about reading, as line mode has them: over a real chat's disk, with sentences."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.model.command_findings import Detailed, Goal, Hits, Listed, View
from sync.machine import SECOND
from sync.view.finding import Wanted
from tests.support.chat_tui import scenes
from tests.support.chat_tui.chats import meet, opened, run, running
from tests.support.chat_tui.readings import long_talk, short_talk
from tests.support.chat_tui.scenes import Scene
from tests.support.storage.searching import found_by

pytestmark = pytest.mark.usefixtures("in_utc")


@asynccontextmanager
async def talked(tmp_path: Path) -> AsyncIterator[tuple[Client, Client]]:
    """Alice and bob, who have talked."""
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        await meet(alice, bob)
        yield alice, bob


async def simulated(scene: Scene, line: str) -> Result:
    return await Commands(scene.chat).run(line, At(scene.world.channel))


@pytest.mark.net
async def test_search_lists_hits_by_the_index_of_the_disk(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        for text in ("the cable is here", "Cables are everywhere", "uncabled", "caf\u00e9"):
            await alice.send_text(alice.first_channel, text)
        found = await run(alice, "/search CABLE")
        accents = await run(alice, "/search cafe")
        none = await run(alice, "/search giraffe")
        empty = await run(alice, "/search")

    assert isinstance(found.found, Hits)
    assert [line.text for line in found.found.lines] == [
        "the cable is here",
        "Cables are everywhere",
    ]
    assert re.search(r"2 hits:\n.*:\n  \w{6} \d\d:\d\d alice: the cable", found.text)
    assert isinstance(accents.found, Hits)
    assert not none.ok
    assert "No message here has words that begin with 'giraffe'" in none.text
    assert "/search projector room" in empty.text


@pytest.mark.net
async def test_mentions_are_of_others_in_the_text_and_as_whole_words(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        channel = alice.first_channel
        assert channel is not None
        [] = await alice.history.find(Wanted((channel,), naming="alice"), limit=5)
        nobody = await run(alice, "/mentions")
    scene = short_talk()
    listed = await simulated(scene, "/mentions")

    assert "Nobody has mentioned alice." in nobody.text
    assert isinstance(listed.found, Listed)
    assert [line.text.split()[0] for line in listed.found.lines] == ["Alice,", "@alice"]


@pytest.mark.net
async def test_the_disk_knows_mentions_by_others_alone(tmp_path: Path) -> None:
    async with talked(tmp_path) as (alice, bob):
        channel = alice.first_channel
        assert channel is not None
        own = await alice.send_text(channel, "alice said alice")
        await bob.send_text(channel, "look, Alice! it works")
        await bob.send_text(channel, "malice does not")
        while len(await alice.history.page(channel, before=None, limit=9)) < 3:
            await bob.send_text(channel, "alice? still there?")
        found = await run(alice, "/mentions")

    assert isinstance(found.found, Listed)
    assert found.found.lines[0].text == "look, Alice! it works"
    assert own not in [line.message_id for line in found.found.lines]


async def test_goto_prints_the_lines_around_a_day_a_time_or_an_id() -> None:
    scene = long_talk()
    [line] = await found_by(scene.chat.history, scene.world.channel, "apple 450", limit=1)

    by_id = await simulated(scene, f"/goto {line.message_id[:10]}")
    by_time = await simulated(scene, "/goto 09:16")
    tomorrow = await simulated(scene, "/goto 2099-01-01")
    nonsense = await simulated(scene, "/goto somewhere")
    unknown = await simulated(scene, "/goto abcd1234")

    assert by_id.found == Goal(line.position, line.message_id)
    printed = by_id.text.splitlines()
    assert len(printed) == 1 + 1 + 5 + 1 + 5
    assert printed[7].startswith("> ")
    assert printed[7].endswith("bob: alice, apple 450")
    assert isinstance(by_time.found, Goal)
    assert "Nothing was written from" in tomorrow.text
    assert "Write 2026-11-21" in nonsense.text
    assert "No message here has an id that begins with abcd1234." in unknown.text


async def test_info_copy_quote_and_open_print_what_a_screen_would_do() -> None:
    scene = short_talk()
    [line] = await found_by(scene.chat.history, scene.world.channel, "look twice", limit=1)
    name = line.message_id[:8]

    info = await simulated(scene, f"/info {name}")
    copied = await simulated(scene, f"/copy {name}")
    quoted = await simulated(scene, f"/quote {name}")
    links = await simulated(scene, f"/open {name}")
    raw = await simulated(scene, f"/raw {name}")
    which = await simulated(scene, "/info")

    assert isinstance(info.found, Detailed)
    assert line.message_id in info.text
    assert copied.text == line.text
    assert quoted.text == f"> {line.nick}: {line.text}"
    assert "http://xn--exmple-4nf.com/b leads to xn--exmple-4nf.com" in links.text
    assert raw.text == line.text
    assert "type the beginning of its id" in which.text


async def test_on_a_screen_they_are_about_the_selected_message() -> None:
    scene = short_talk()
    [line] = await found_by(scene.chat.history, scene.world.channel, "look twice", limit=1)
    at = At(scene.world.channel, line.message_id)
    commands = Commands(scene.chat)

    results = [
        (await commands.run(text, at)).found
        for text in ("/copy", "/quote", "/open", "/raw", "/fold", "/info")
    ]

    views = ("copy", "quote", "open_link", "raw", "fold")
    assert results == [*map(View, views), Detailed(line)]


async def test_views_of_a_screen_say_in_line_mode_why_there_is_nothing_to_do() -> None:
    scene = short_talk()

    said = [(await simulated(scene, text)).text for text in ("/unread", "/bare", "/clear", "/fold")]

    assert all(text.startswith("Line mode") for text in said)


async def test_repair_asks_at_once_for_what_is_missing() -> None:
    scene = scenes.repairing()
    early = await simulated(deepcopy(scene), "/repair")
    scene.world.run(2 * SECOND)
    [request] = scene.snapshot().channels[0].repair.requests  # type: ignore[union-attr]
    due = request.t_req - scene.snapshot().now

    answer = await simulated(scene, "/repair")
    scene.world.run(SECOND // 20)
    [after] = scene.snapshot().channels[0].repair.requests  # type: ignore[union-attr]

    assert due > SECOND // 20
    assert early.text.startswith("It was asked for 4 s ago; unless it comes, it is asked for again")
    assert answer.text == "Asking for 1 missing message now; what comes takes its place."
    assert after.asked == request.asked + 1


async def test_repair_says_when_there_is_nothing_to_ask_for() -> None:
    scene = short_talk()
    nothing = await simulated(scene, "/repair all")
    missing = await simulated(scenes.repairing(), "/repair ffff")

    assert "Nothing is missing here" in nothing.text
    assert "No missing message begins with ffff" in missing.text


@pytest.mark.net
async def test_everything_is_said_when_no_channel_is_open(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        for word in ("/search x", "/grep x", "/mentions", "/goto today", "/info abcd", "/repair"):
            result = await Commands(alice).run(word, At(None))

            assert not result.ok
            assert "No channel is open" in result.text
