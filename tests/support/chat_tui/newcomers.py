"""Scenes in which alice comes with nothing, and is told what the others know."""

from dataclasses import replace
from typing import Final

from sync.calimero.state.contents import Pin, Profile, StateKind, Topic
from sync.machine import SECOND
from sync.manager.registry import SNAPSHOT, WITH_CALIMERO
from sync.sim.world import Terms
from sync.view.view import SessionInfo
from tests.support.chat_tui.copies import made_once
from tests.support.chat_tui.scenes import ALICE, BOB, CAROL, MONDAY_MORNING, QUICK, Scene

UPLINK: Final = 60_000
"""Bytes a second that everybody sends: a page takes a second."""

LINES: Final = 300


@made_once
def newcomer() -> Scene:
    """Bob and carol have talked for long, with topic, pin and names; alice was never there."""
    terms, link = Terms(protocols=WITH_CALIMERO), replace(QUICK, uplink=UPLINK)
    scene = Scene("alice", "bob", "carol", terms=terms, link=link)
    scene.sleep_until(MONDAY_MORNING)
    scene.world.crash(ALICE)
    scene.talk("measured", LINES)
    scene.world.set_state(BOB, Topic("the demo is on Friday at three, in room 2"))
    pinned = bytes.fromhex(scene.world.nodes[BOB].disk.lines()[-3][1])
    scene.world.set_state(CAROL, Pin(), kind=StateKind.PIN, name=pinned)
    scene.world.set_state(CAROL, Profile("carol (office)"), kind=StateKind.PROFILE)
    scene.say(CAROL, "who else comes on Friday?", then=5 * SECOND)
    scene.world.restart(ALICE)
    return scene


def first_page(scene: Scene) -> None:
    """Let a page of the history come to her."""
    scene.until(lambda _: any(is_coming(one) for one in scene.snapshot().sessions))


def is_coming(session: SessionInfo) -> bool:
    """Return whether a session has brought a part of a snapshot."""
    return session.protocol == SNAPSHOT.name and 0 < session.got < session.need


def everything(scene: Scene) -> None:
    """Let all of it come, and be compared."""
    first_page(scene)
    scene.until(lambda info: info.messages > LINES, step=SECOND)
    scene.world.run(5 * SECOND)
