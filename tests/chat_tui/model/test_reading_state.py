"""After a restart, unread messages are still unread, and read ones are not new again."""

import json
from pathlib import Path

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.model import reading_state
from chat_tui.model.conversation import BEGINNING
from chat_tui.model.event_feed import Feed
from chat_tui.model.reading_state import SAVE_EVERY, Kept, Seen
from storage.profile.read_marks import CHANNELS_MAX, SIZE_MAX, ReadMarks
from sync.machine import ChannelId, MessageId
from sync.view.view import MessageShown
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import LOBBY, line
from tests.support.chat_tui.live_screens import until
from tests.support.chat_tui.readings import long_talk, paint, short_talk, shown
from tests.support.chat_tui.scenes import ALICE, BOB, Scene


def feed_of(scene: Scene) -> Feed:
    snapshot = scene.chat.snapshot()
    return Feed(snapshot.me, snapshot.nick)


def app_of(scene: Scene, path: Path) -> ChatApp:
    async def start() -> None:
        """There is no network to bring up."""

    return ChatApp(scene.chat, start, kept=Kept(ReadMarks(path)))


async def test_the_screen_goes_on_reading_where_the_last_run_ended(tmp_path: Path) -> None:
    scene, path = short_talk(), tmp_path / "read.json"
    with scenes.utc():
        app = app_of(scene, path)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "malice? no" in shown(app))
            await until(pilot, path.exists)
            assert "new \u2500" not in shown(app)
        scene.say(BOB, "are you back?")
        scene.say(BOB, "alice?")
        again = app_of(scene, path)
        async with again.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: " 2 new " in shown(again))
            before, _, after = shown(again).partition(" 2 new ")
            assert "malice? no" in before
            assert "are you back?" in after
        third = app_of(scene, path)
        async with third.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "are you back?" in shown(third))
            await pilot.pause()
            assert " 2 new " not in shown(third)


async def test_what_comes_right_after_a_start_counts_with_what_was_unread(tmp_path: Path) -> None:
    scene, path = short_talk(), tmp_path / "read.json"
    with scenes.utc():
        app = app_of(scene, path)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, path.exists)
        scene.say(BOB, "are you back?")
        again = app_of(scene, path)
        async with again.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: " 1 new " in shown(again))
            scene.say(BOB, "alice?")
            scene.say(BOB, "well")
            await paint(again, pilot)
            assert " 3 new " in shown(again)
            scene.say(ALICE, "here I am")
            scene.say(BOB, "at last")
            await paint(again, pilot)
            assert " 3 new " in shown(again), "what is said to one's face is not new"


async def test_other_channels_count_messages_and_mentions_of_others(tmp_path: Path) -> None:
    scene, marks = short_talk(), ReadMarks(tmp_path / "read.json")
    channel, history = scene.world.channel, scene.chat.history
    first = Seen(Kept(marks), feed_of(scene), history)
    await first.resume([channel], None)
    await first.save([channel])
    scene.say(scenes.ALICE, "my own")
    scene.say(BOB, "one")
    scene.say(BOB, "two, @alice")

    feed = feed_of(scene)
    await Seen(Kept(marks), feed, history).resume([channel], None)

    assert (feed.unread(channel), feed.mentioned(channel)) == (2, 1)
    assert feed.next_unread([channel], None) == channel


async def test_at_most_so_many_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, marks = long_talk(), ReadMarks(tmp_path / "read.json")
    channel = scene.world.channel
    marks.save({channel: BEGINNING})
    monkeypatch.setattr(reading_state, "UNREAD_MAX", 300)
    feed = feed_of(scene)

    await Seen(Kept(marks), feed, scene.chat.history).resume([channel], None)

    assert feed.unread(channel) == 400  # whole pages


async def test_a_channel_that_nobody_has_opened_is_wholly_unread_next_time(tmp_path: Path) -> None:
    scene, marks = short_talk(), ReadMarks(tmp_path / "read.json")
    feed = feed_of(scene)
    one = Seen(Kept(marks), feed, scene.chat.history)
    await one.resume([], None)
    feed.note_event(MessageShown(line(1)))
    feed.drain(None)

    await one.save([LOBBY])

    assert marks.load() == {LOBBY: BEGINNING}


async def test_marks_are_written_seldom_and_never_before_those_of_before_are_read(
    tmp_path: Path,
) -> None:
    scene = short_talk()
    one = Seen(Kept(ReadMarks(tmp_path / "read.json")), feed_of(scene), scene.chat.history)
    assert not one.is_due(0)
    await one.save([scene.world.channel])
    assert not (tmp_path / "read.json").exists()

    await one.resume([], None)

    assert [one.is_due(SAVE_EVERY * step // 2) for step in (1, 2, 3, 4, 5)] == [
        True, False, True, False, True,
    ]  # fmt: skip


async def test_without_marks_nothing_is_kept() -> None:
    scene = short_talk()
    feed = feed_of(scene)
    one = Seen(Kept(None), feed, scene.chat.history)

    assert await one.resume([scene.world.channel], None) == []
    await one.save([scene.world.channel])
    assert not one.is_due(SAVE_EVERY)


async def test_a_disk_that_refuses_does_not_stop_the_chat(tmp_path: Path) -> None:
    scene, marks = short_talk(), ReadMarks(tmp_path / "none" / "read.json")
    one = Seen(Kept(marks), feed_of(scene), scene.chat.history)

    await one.resume([scene.world.channel], None)
    await one.save([scene.world.channel])

    assert marks.load() == {}


def test_marks_come_back_as_they_were_kept_and_are_bounded(tmp_path: Path) -> None:
    marks = ReadMarks(tmp_path / "read.json")
    assert marks.load() == {}
    many = {ChannelId(f"{number:032x}"): (number, MessageId("ab")) for number in range(1_500)}

    marks.save(many)

    assert marks.load() == dict(list(many.items())[-CHANNELS_MAX:])
    assert (tmp_path / "read.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1]", '{"a": 1}', '{"a": [1, 2]}', '{"a": [-1, "ab"]}', '{"a": [1e400, "ab"]}',
        '{"a": [99999999999999999999, "ab"]}', "[" * 100_000, "\x00\xff",
        json.dumps({"a": [1, "x" * SIZE_MAX]}),
    ],
)  # fmt: skip
def test_a_damaged_file_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "read.json").write_text(text)

    assert ReadMarks(tmp_path / "read.json").load() == {}
