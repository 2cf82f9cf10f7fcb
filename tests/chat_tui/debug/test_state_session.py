"""The card of a session about topic, pins and names in the pane: it compares no messages."""

import pytest

from sync.calimero.state.contents import Pin, StateKind, Topic
from sync.calimero.state.session import HASH, LEVEL, STATE
from sync.machine import SECOND
from sync.sessions.protocol import Protocols
from sync.sim.world import Terms
from sync.waku.session import WAKU_SYNC
from tests.support.chat_tui.readings import reading, shown
from tests.support.chat_tui.scenes import ALICE, BOB, Scene

pytestmark = pytest.mark.usefixtures("in_utc")


def two_topics() -> Scene:
    """Alice and bob were cut apart, and both set the topic and pinned a line."""
    scene = Scene("alice", "bob", terms=Terms(protocols=Protocols((WAKU_SYNC, STATE, HASH, LEVEL))))
    for number in range(4):
        scene.say(BOB, f"line {number}", then=SECOND)
    scene.world.run(10 * SECOND)
    scene.world.partition({ALICE}, {BOB})
    pinned = [bytes.fromhex(line[1]) for line in scene.world.nodes[ALICE].disk.lines()]
    for who, topic in ((ALICE, "lunch at noon"), (BOB, "lunch at one")):
        scene.world.set_state(who, Topic(topic))
        scene.world.set_state(who, Pin(), kind=StateKind.PIN, name=pinned[who])
    scene.world.run(20 * SECOND)
    scene.world.heal()
    scene.world.run(30 * SECOND)
    return scene


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_it_says_which_kind_what_was_told_and_opens(size: tuple[int, int]) -> None:
    async with reading(two_topics(), size) as (app, pilot):
        await pilot.press("f2", "4")
        await pilot.pause()
        card = " ".join(shown(app).replace("│", " ").split())
        await pilot.press("j", "enter")
        await pilot.pause()
        opened = " ".join(shown(app).replace("│", " ").split())

    assert "parts of the state differ" in card
    assert "rt 1 in 308 B, handshake" in card
    assert "out 50 B, outcome: 3 entries" in card
    assert "result got 2" in card
    assert "we lacked 2, of which 2 came" in opened
    assert "lacked 0" not in opened
    assert "(topic, pins, names, marks)" in opened
    assert "308 bytes: handshake" in opened
