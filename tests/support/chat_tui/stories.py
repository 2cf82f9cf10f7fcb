"""Scenes of which one message has a story worth telling."""

from chat_tui.details.facts import Known, know, read
from sync.entries.changes import Edit, Reactions, Redaction
from sync.machine import MILLISECOND, SECOND
from sync.sim.world import Terms
from sync.view.view import Line
from tests.support.chat_tui import scenes
from tests.support.chat_tui.scenes import ALICE, BOB, CAROL, DAVE, NAMES, Scene
from tests.support.copies import made_once

LOST = "can you bring the switch?"


@made_once
def repaired() -> Scene:
    """Dave's question did not reach alice; she asked for it, and bob answered, for dave had gone.

    Nobody compares histories, which would bring it too.
    """
    scene = Scene(*NAMES, terms=Terms(reconcile=False))
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.say(ALICE, "who goes to room 2?")
    scene.world.partition({ALICE}, {BOB, CAROL, DAVE})
    scene.world.run(8 * SECOND)
    scene.say(DAVE, LOST, then=3 * SECOND)
    scene.world.heal()
    scene.world.run(20 * MILLISECOND)
    scene.say(DAVE, "and the long cable, I am off now", then=20 * MILLISECOND)
    scene.world.crash(DAVE)
    scene.until(lambda info: not info.missing_count)
    scene.world.run(20 * SECOND)
    scene.say(ALICE, "I bring both", then=8 * SECOND)
    return scene


@made_once
def late_joiner() -> Scene:
    """Alice was off while bob wrote; comparing histories brings it."""
    scene = Scene("alice", "bob")
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.world.crash(ALICE)
    scene.say(BOB, "the demo is at three")
    scene.world.restart(ALICE)
    scene.world.run(20 * SECOND)
    return scene


async def changed(*, deleted: bool = False) -> Scene:
    """Bob writes, edits twice, and two react; he may delete it at the end."""
    scene = Scene("alice", "bob", "carol")
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.say(BOB, "the demo is at two")
    line = await line_of(scene, "two")
    for text in ("the demo is at three", "the demo is at four"):
        scene.world.change(BOB, Edit(line.message_id, text))
        scene.world.run(20 * SECOND)
    for who in (ALICE, CAROL):
        scene.world.change(who, Reactions(line.message_id, ("👍",)))
        scene.world.run(20 * SECOND)
    if deleted:
        scene.world.change(BOB, Redaction(line.message_id))
        scene.world.run(20 * SECOND)
    return scene


async def line_of(scene: Scene, words: str) -> Line:
    """The newest message that has these words; with none, the newest of all."""
    page = await scene.chat.history.page(scene.world.channel, before=None, limit=1000)
    return next(line for line in reversed(page) if words in line.text)


async def known(scene: Scene, words: str) -> Known:
    """All that alice can know of that message."""
    line = await line_of(scene, words)
    return know(scene.chat, line, await read(scene.chat.history, line))
