"""Snapshots of edits, reactions and deletions, down to the cell."""

import pytest

from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from sync.entries.changes import Change, Edit, Reactions, Redaction
from sync.machine import MINUTE, SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.scenes import ALICE, BOB, CAROL, DAVE, Scene
from tests.support.chat_tui.screenshots import NARROW, WIDE
from tests.support.chat_tui.snap_compare import SnapCompare

STACKED = (62, 24)

pytestmark = pytest.mark.usefixtures("in_utc")


def changed() -> Scene:
    """A conversation in which all of it has happened, to lines of alice and of others."""
    scene = Scene(*scenes.NAMES)
    scene.sleep_until(scenes.MONDAY_MORNING)
    said = (
        (CAROL, "the demo is at three, I moved the projector to room 2, and the long cable too"),
        (ALICE, "shall we have cake?"),
        (BOB, "yes!! my sister bakes one, with cherries"),
        (DAVE, "I have an alergy"),
        (ALICE, "oops, that was meant for somebody else"),
        (CAROL, "see you all at three"),
    )
    for who, text in said:
        scene.say(who, text, then=MINUTE)
    ids = [message_id for _, message_id in scene.world.nodes[ALICE].disk.lines()]
    acts: tuple[tuple[int, Change], ...] = (
        (CAROL, Edit(ids[0], f"{said[0][1]} (it was in the cupboard by the door)")),
        (BOB, Reactions(ids[1], ("🎉", "👍"))),
        (CAROL, Reactions(ids[1], ("👍",))),
        (ALICE, Reactions(ids[2], ("❤",))),
        (BOB, Edit(ids[0], "nobody but carol can say this")),
        (DAVE, Edit(ids[3], "I have an allergy")),
        (ALICE, Reactions(ids[3], ("👀",))),
        (DAVE, Reactions(ids[3], ("👀",))),
        (ALICE, Redaction(ids[4])),
    )
    for who, change in acts:
        scene.world.change(who, change)
        scene.world.run(10 * SECOND)
    return scene


@pytest.mark.parametrize("size", [STACKED, NARROW, WIDE], ids=["stacked", "narrow", "wide"])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_changed_messages(snap_compare: SnapCompare, size: tuple[int, int], glyphs: Glyphs) -> None:
    app = scenes.screen_of(changed(), glyphs=glyphs)

    assert snap_compare(app, terminal_size=size)
