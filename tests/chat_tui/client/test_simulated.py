"""A simulated participant behind the interface of a live one."""

from collections.abc import Awaitable, Callable

import pytest

from chat_tui.client.simulated import SimulatedChat
from sync.entries.entry import TEXT_MAX
from sync.errors import LocalError
from sync.machine import MINUTE, SECOND, ChannelId
from sync.sds.message import Delivery
from sync.sim.world import World
from sync.view.view import DeliveryShown, Event, Line, MessageShown, PeerState
from tests.support.chat_tui import scenes
from tests.support.copies import made_once
from tests.support.storage.searching import found_by


def pair() -> tuple[World, SimulatedChat, ChannelId]:
    """Alice and bob, who see each other; alice is looked at."""
    world = World(2, seed=3)
    chat = SimulatedChat(world, 0, ("alice", "bob"))
    world.run(6 * SECOND)
    return world, chat, world.channel


async def whole_history(chat: SimulatedChat, channel: ChannelId) -> list[Line]:
    return list(await chat.history.page(channel, before=None, limit=1000))


async def test_a_written_line_is_on_the_disk_and_told_with_its_name() -> None:
    _, chat, channel = pair()
    events: list[Event] = []
    chat.subscribe(events.append)

    written = await chat.send_text(channel, "hello")

    [line] = await whole_history(chat, channel)
    assert (line.message_id, line.text, line.nick, line.own) == (written, "hello", "alice", True)
    assert MessageShown(line) in events


async def test_a_line_of_another_is_told_with_that_ones_name_and_acknowledges() -> None:
    world, chat, channel = pair()
    events: list[Event] = []
    chat.subscribe(events.append)
    mine = await chat.send_text(channel, "hello")

    world.run(SECOND)
    world.write_text(1, "hi")
    world.run(SECOND)

    shown = [event.line for event in events if isinstance(event, MessageShown)]
    assert [(line.nick, line.text) for line in shown] == [("alice", "hello"), ("bob", "hi")]
    assert DeliveryShown(channel, mine, Delivery.ACKNOWLEDGED) in events


async def test_nothing_is_told_after_unsubscribing() -> None:
    _, chat, channel = pair()
    events: list[Event] = []
    unsubscribe = chat.subscribe(events.append)

    unsubscribe()
    await chat.send_text(channel, "hello")

    assert events == []


async def test_pages_from_either_end_give_every_line_once_in_order() -> None:
    _, chat, channel = pair()
    for number in range(25):
        await chat.send_text(channel, f"line {number}")

    newest = await chat.history.page(channel, before=None, limit=10)
    middle = await chat.history.page(channel, before=newest[0].position, limit=10)
    oldest = await chat.history.page(channel, before=middle[0].position, limit=10)
    after = await chat.history.page_after(channel, after=oldest[-1].position, limit=3)

    texts = [line.text for line in (*oldest, *middle, *newest)]
    assert texts == [f"line {number}" for number in range(25)]
    assert [line.text for line in after] == ["line 5", "line 6", "line 7"]
    assert await chat.history.count(channel) == 25


async def test_search_finds_lines_with_every_word_newest_last() -> None:
    _, chat, channel = pair()
    for text in ("the long cable", "a cable", "Long gone", "the CABLE is long"):
        await chat.send_text(channel, text)

    found = await found_by(chat.history, channel, "long cable", limit=5)

    assert [line.text for line in found] == ["the long cable", "the CABLE is long"]
    assert [line.text for line in await found_by(chat.history, channel, "cable", limit=1)] == [
        "the CABLE is long"
    ]


async def test_another_channel_has_no_history_and_takes_no_line() -> None:
    _, chat, channel = pair()
    await chat.send_text(channel, "hello")
    other = ChannelId("f" * 32)

    assert await chat.history.count(other) == 0
    with pytest.raises(LocalError, match="not in that channel"):
        await chat.send_text(other, "hello")


async def test_the_snapshot_shows_the_engine_and_who_is_here() -> None:
    world, chat, channel = pair()
    await chat.send_text(channel, "hello")

    [info] = chat.snapshot().channels
    [bob] = chat.snapshot().peers
    world.crash(1)
    world.run(MINUTE)
    [gone] = chat.snapshot().peers

    assert (info.channel, info.messages, info.outgoing_count) == (channel, 1, 1)
    assert info.peers == (bob.peer,)
    assert (bob.nick, bob.state) == ("bob", PeerState.UP)
    assert (gone.nick, gone.state) == ("bob", PeerState.DOWN)
    assert gone.last_seen_ns is not None
    assert chat.snapshot().now - gone.last_seen_ns >= MINUTE
    assert any("Broadcast" in step for step in chat.snapshot().trace)


async def test_a_full_disk_refuses_a_line_in_a_sentence_and_takes_the_next() -> None:
    world, chat, channel = pair()
    world.fill_disk(0)

    with pytest.raises(LocalError, match="disk is full"):
        await chat.send_text(channel, "lost")
    world.free_disk(0)
    await chat.send_text(channel, "kept")

    assert [line.text for line in await whole_history(chat, channel)] == ["kept"]


@pytest.mark.parametrize("text", ["", "x" * (TEXT_MAX + 1)])
async def test_what_no_message_can_hold_is_refused(text: str) -> None:
    _, chat, channel = pair()

    with pytest.raises(LocalError):
        await chat.send_text(channel, text)

    assert await chat.history.count(channel) == 0


async def test_who_is_down_writes_nothing_and_keeps_the_history() -> None:
    world, chat, channel = pair()
    await chat.send_text(channel, "hello")
    world.crash(0)

    with pytest.raises(LocalError):
        await chat.send_text(channel, "anybody?")

    assert chat.snapshot().channels == ()
    assert [line.text for line in await whole_history(chat, channel)] == ["hello"]


async def test_a_failed_line_can_be_sent_again_and_a_received_one_not() -> None:
    scene = scenes.morning()
    [info] = scene.snapshot().channels
    failed = next(one for one in info.outgoing if one.delivery is Delivery.FAILED)

    await scene.chat.resend(info.channel, failed.message_id)
    scene.world.run(MINUTE)

    [line] = await found_by(scene.chat.history, info.channel, "anybody still reading", limit=1)
    assert line.delivery is Delivery.ACKNOWLEDGED
    with pytest.raises(LocalError, match="does not wait"):
        await scene.chat.resend(info.channel, failed.message_id)


async def test_asking_to_compare_begins_a_session_with_everybody_here() -> None:
    world, chat, channel = pair()
    ended = len(world.witness.sessions)

    asked = await chat.sync(channel)
    world.run(10 * SECOND)

    assert asked == 1
    assert len(world.witness.sessions) > ended


@pytest.mark.parametrize(
    "act",
    [
        lambda chat: chat.memberships.join("#other"),
        lambda chat: chat.memberships.create("other"),
        lambda chat: chat.connect("192.168.1.20", 46021),
        lambda chat: chat.rename("bob"),
    ],
)
async def test_what_a_simulation_cannot_do_it_says(
    act: Callable[[SimulatedChat], Awaitable[object]],
) -> None:
    _, chat, _ = pair()

    with pytest.raises(LocalError, match="This is a simulation"):
        await act(chat)


def test_a_simulation_invites_nobody() -> None:
    _, chat, channel = pair()

    with pytest.raises(LocalError, match="This is a simulation"):
        chat.memberships.invite(channel)


async def test_the_morning_scene_has_every_mark_a_gap_and_a_line_held_back() -> None:
    scene = scenes.morning()
    snapshot = scene.snapshot()
    [info] = snapshot.channels
    lines = await whole_history(scene.chat, info.channel)

    marks = {line.delivery for line in lines if line.own}
    gaps = [line.nick for line in lines if line.after_gap]
    away = [peer.nick for peer in snapshot.peers if peer.state is PeerState.DOWN]

    assert marks == set(Delivery)
    assert gaps == ["dave"]
    assert away == ["dave"]
    assert (info.waiting_count, len(info.missing)) == (1, 1)


def test_the_same_seed_plays_the_same_scene() -> None:
    first, second = (scenes.play_morning("good morning", "hello") for _ in range(2))

    assert first.snapshot() == second.snapshot()


def test_a_copy_of_a_scene_goes_on_as_the_scene_does() -> None:
    played = scenes.play_morning("good morning", "hello")
    copied = made_once(lambda: played)
    copies = [copied(), copied()]

    for scene in (*copies, played):
        scene.world.crash(scenes.BOB)
        scene.world.restart(scenes.BOB)
        scene.say(scenes.BOB, "back again", then=MINUTE)

    assert {scene.world.now for scene in copies} == {played.world.now}
    assert all(scene.snapshot() == played.snapshot() for scene in copies)
    assert len({scene.world.rng.random() for scene in (*copies, played)}) == 1


async def test_the_world_goes_on_from_the_scene_and_finds_what_was_missing() -> None:
    scene = scenes.morning()

    scene.world.run(MINUTE)

    [info] = scene.snapshot().channels
    assert info.missing == ()
    assert info.waiting == ()
    texts = [line.text for line in await whole_history(scene.chat, info.channel)]
    assert texts[-1] == "we do"
