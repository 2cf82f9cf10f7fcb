"""Topic and pins: the commands and the key, what the screen shows, and who may."""

import pytest

from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.transcript.row_layout import PIN_CELLS
from chat_tui.wording.glyphs import ASCII, UNICODE
from sync.calimero.governance.ops import Access, Policy, Role, SetPolicy
from sync.calimero.state.contents import Pin, StateKind, Topic
from sync.machine import SECOND
from tests.support.chat_tui import governed_scenes, scenes
from tests.support.chat_tui.governed_scenes import GovernedScene
from tests.support.chat_tui.readings import command, paint, press, reading, short_talk, shown, until
from tests.support.chat_tui.scenes import BOB, Scene

pytestmark = pytest.mark.usefixtures("in_utc")

LONG = "the demo of the new projector is on Friday at three, in room 2, please bring the long cable"


def bob_sets(scene: Scene, text: str | None) -> None:
    scene.world.set_state(BOB, None if text is None else Topic(text))
    scene.world.run(SECOND)


def bob_pins(scene: Scene, message_id: str, *, on: bool = True) -> None:
    content = Pin() if on else None
    name = bytes.fromhex(message_id)
    scene.world.set_state(BOB, content, kind=StateKind.PIN, name=name)
    scene.world.run(SECOND)


def ids(scene: Scene) -> list[str]:
    return [line[1] for line in scene.world.nodes[scenes.ALICE].disk.lines()]


async def run(scene: Scene | GovernedScene, line: str) -> str:
    [info] = scene.chat.snapshot().channels
    return (await Commands(scene.chat).run(line, At(info.channel))).text


async def test_the_topic_stands_in_the_header_cut_with_a_sign_and_whole_in_its_command() -> None:
    scene = short_talk()
    bob_sets(scene, LONG)
    async with reading(scene) as (app, pilot):
        first = shown(app).splitlines()[0]
        await command(pilot, "/topic")
        await until(pilot, lambda: "set by bob" in " ".join(shown(app).split()))
        whole = " ".join(shown(app).replace("│", " ").split())
    async with reading(scene, (140, 40)) as (app, _):
        wide = shown(app).splitlines()[0]

    assert "in sync · the demo of the new p" in first
    assert "…" in first
    assert "alice" in first
    assert LONG in whole
    assert "the demo of the new projector is on Friday at three" in wide


async def test_a_topic_is_set_replaced_and_taken_back() -> None:
    scene = short_talk()
    none = await run(scene, "/topic")
    await run(scene, "/topic   apples   and pears ")
    first = await run(scene, "/topic")
    bob_sets(scene, "only pears")
    second = await run(scene, "/topic")
    await run(scene, "/topic -")
    third = await run(scene, "/topic")
    again = await run(scene, '/topic ""')
    long = await run(scene, f"/topic {'x' * 121}")

    assert none == "#lobby has no topic. Everybody here may set one: /topic and a text."
    assert first.startswith("#lobby: apples and pears (set by you, ")
    assert second.startswith("#lobby: only pears (set by bob, ")
    assert third == none
    assert again == "#lobby has no topic to take back."
    assert long == "The topic has 121 characters; 120 is the most."


async def test_a_pinned_line_has_a_sign_a_place_in_the_list_and_its_pinner_in_the_details() -> None:
    scene = short_talk()
    first = ids(scene)[0]
    bob_pins(scene, first)
    async with reading(scene) as (app, pilot):
        line = next(one for one in shown(app).splitlines() if "projector is in room 2" in one)
        await command(pilot, "/pins")
        await until(pilot, lambda: "1 line pinned in #lobby" in shown(app))
        await press(pilot, "enter")
        await until(pilot, lambda: app.transcript.cursor == first)
        await press(pilot, "enter")
        await until(pilot, lambda: "Pinned" in shown(app))
        details = shown(app)

    assert f"bob{UNICODE.pin} Alice, the projector" in line
    assert "by bob, 24 Nov 2025" in details


async def test_the_key_pins_the_selected_message_and_takes_the_pin_off() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await press(pilot, "ctrl+t", "P")
        await until(pilot, lambda: "Pinned: " in shown(app))
        await paint(app, pilot)
        pinned = [one.message_id for one in scene.snapshot().channels[0].state.pins]
        on = shown(app)
        await press(pilot, "P")
        await until(pilot, lambda: "Not pinned any more" in shown(app))
        off = scene.snapshot().channels[0].state.pins

    assert pinned == [ids(scene)[-1]]
    assert f"alice{UNICODE.pin}▸malice? no" in on
    assert off == ()


async def test_pins_without_unicode_have_a_letter() -> None:
    scene = short_talk()
    bob_pins(scene, ids(scene)[0])
    async with reading(scene, glyphs=ASCII) as (app, _):
        assert "bobP Alice, the projector" in shown(app)
    assert len(f"{ASCII.pin} ") == PIN_CELLS


async def test_line_mode_pins_the_newest_line_lists_pins_and_takes_the_last_off() -> None:
    scene = short_talk()
    nothing = [await run(scene, line) for line in ("/pins", "/unpin")]
    pinned = await run(scene, "/pin")
    again = await run(scene, f"/pin {ids(scene)[-1][:6]}")
    listed = await run(scene, "/pins")
    other = await run(scene, f"/unpin {ids(scene)[0][:8]}")
    off = await run(scene, "/unpin")

    assert nothing == [
        "Nothing is pinned in #lobby. /pin pins the selected or newest line.",
        "Nothing is pinned in #lobby.",
    ]
    assert pinned.startswith('Pinned: "malice? no, just the cable".')
    assert again == '"malice? no, just the cable" is pinned already, by you.'
    assert listed.startswith("1 line pinned in #lobby:\n")
    assert "malice? no, just the cable (pinned by you)" in listed
    assert other == f"{ids(scene)[0][:6]} is not pinned. /pins lists what is."
    assert off == 'Not pinned any more: "malice? no, just the cable".'


async def test_a_deleted_line_is_named_by_its_author_and_pinned_no_more() -> None:
    scene = short_talk()
    scene.say(scenes.ALICE, "a secret")
    gone = ids(scene)[-1][:6]
    await run(scene, "/pin")
    await run(scene, f"/delete {gone}")
    scene.world.run(SECOND)

    assert await run(scene, f"/unpin {gone}") == (
        "Not pinned any more: a message of alice, deleted since."
    )
    assert await run(scene, f"/pin {gone}") == "That message is deleted; it cannot be pinned."


async def test_a_pin_of_a_line_that_is_not_here_is_counted() -> None:
    scene = short_talk()
    bob_pins(scene, "ab" * 32)

    assert await run(scene, "/pins") == "1 line pinned in #lobby, not here yet."


async def test_where_admins_alone_set_topic_and_pins_a_member_is_told_whom_to_ask() -> None:
    scene = GovernedScene(governed_scenes.BOB)
    scene.say(governed_scenes.ALICE, "hello")
    may = await run(scene, "/topic apples")
    policy = Policy(topic=Access.ADMINS, pins=Access.ADMINS)
    scene.act(governed_scenes.ALICE, SetPolicy(policy))
    gone = scene.chat.snapshot().channels[0].state.topic
    topic, pin = await run(scene, "/topic pears"), await run(scene, "/pin")
    scene.set_role(governed_scenes.ALICE, governed_scenes.BOB, Role.READER)
    reader = await run(scene, "/topic pears")

    title = scene.chat.snapshot().channels[0].name
    assert may.endswith("is set; all see it.")
    assert gone is None
    assert topic == (f"Admins alone set the topic in #{title} (/policy topic). Ask alice (owner).")
    assert pin == f"Admins alone pin in #{title} (/policy pins). Ask alice (owner)."
    assert reader == (
        "You are a reader here: you can read and react, not set the topic. Ask alice (owner)."
    )
