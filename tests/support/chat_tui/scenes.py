"""Scenes played by the simulator, for pictures and tests of the screen: the same in every process.

Rule: everything on the screen came about by the engine's own doing; only the network is arranged.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from chat_tui.app.app import ChatApp
from chat_tui.client.simulated import SimulatedChat
from chat_tui.screens.first_run import Answers, FirstRun
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.calimero.state.contents import Pin, Profile, StateKind, Topic
from sync.entries.changes import Edit, Reactions, Redaction
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, MessageId, Nanos
from sync.manager.registry import SNAPSHOT, WAKU_ONLY, WITH_CALIMERO
from sync.sim.clocks.walls import Person
from sync.sim.network import Link
from sync.sim.timeline import EPOCH
from sync.sim.world import Terms, World
from sync.view.view import ChannelInfo, SessionInfo, Snapshot
from tests.support.copies import made_once

NAMES: Final = ("alice", "bob", "carol", "dave")
ALICE, BOB, CAROL, DAVE = range(4)
SEED: Final = 8
"""Gives the four people four colours."""

QUICK: Final = Link(delay=(1 * MILLISECOND, 2 * MILLISECOND))
BUSY: Final = Link(delay=(1 * MILLISECOND, 150 * MILLISECOND))
"""A message pushed at once does not arrive at once."""
SILENT: Final = replace(QUICK, loss=1.0, streams=False)
"""Links stay up, and nothing arrives."""

FRIDAY_EVENING: Final[Nanos] = EPOCH + 13 * HOUR + 17 * MINUTE
"""17:57 UTC."""
MONDAY_MORNING: Final[Nanos] = FRIDAY_EVENING + 63 * HOUR + 14 * MINUTE
"""09:11 UTC."""

IN_A_FONT: Final = (
    "Доброе утро! Is that on the second floor?",
    "yes ☕ the one with the big window",
)
IN_MANY_SCRIPTS: Final = (
    "おはよう! 会議室は二階ですか、それとも三階ですか? 新しいプロジェクターはもう届きましたか?",
    "二階 👍🏽 e\u0301te\u0301 👩‍👩‍👧 the one with the big window",
)
"""Lines of dave and carol when they come in the morning."""

DAY: Final[Nanos] = 24 * HOUR
PART: Final = 12
"""Lines of those that come at once: fewer than the screen has."""

LIVE: Final = Terms(protocols=WAKU_ONLY)
"""Parameters that live chats have agreed on."""

UPLINK: Final = 60_000
"""Bytes a second that everybody sends: a page takes a second."""

LINES: Final = 300

LONG: Final[Nanos] = 10 * MINUTE
"""Within which everything in a scene comes about."""


class Scene:
    """A world of some people, of whom alice is at the screen."""

    def __init__(self, *names: str, terms: Terms = LIVE, link: Link = QUICK) -> None:
        self.names = names
        self.world = World(len(names), SEED, link, terms)
        self.world.membership = replace(self.world.membership, name="lobby")
        self.chat = SimulatedChat(self.world, ALICE, names)

    def snapshot(self) -> Snapshot:
        return self.chat.snapshot()

    def sleep_until(self, when: Nanos) -> None:
        """Let all computers be off until then: nobody has to simulate a night."""
        for number in range(len(self.names)):
            self.world.crash(number)
        self.world.run(when - self.world.now)
        for number in range(len(self.names)):
            self.world.restart(number)
        self.world.run(6 * SECOND)

    def say(self, who: int, text: str, *, then: Nanos = 20 * SECOND) -> None:
        """Let somebody write, and time pass."""
        self.world.write_text(who, text)
        self.world.run(then)

    def talk(self, did: str, lines: int, who: int = BOB) -> None:
        """Let somebody tell of many things, one a second."""
        for number in range(lines):
            self.say(who, f"{did} box {number + 1} of {lines}", then=SECOND)

    def turn_silent(self) -> None:
        self.world.network.link = SILENT

    def turn_quick(self) -> None:
        self.world.network.link = QUICK

    def until(self, true: Callable[[ChannelInfo], object], step: Nanos = MILLISECOND) -> None:
        """Go on until something is true of alice's channel; only an event can make it true."""
        end = self.world.now + LONG
        while not true(self.snapshot().channels[0]):
            assert self.world.now < end, "the scene does not come about"
            event_at = self.world.time.next_at or end
            self.world.run(step)
            while self.world.now < event_at:
                self.world.run(step)


def morning() -> Scene:
    """A conversation with every kind of line, and every mark, at its end."""
    return _played(*IN_A_FONT)


def morning_in_many_scripts() -> Scene:
    """The same, with signs that are two cells wide; few fonts have them for a picture."""
    return _played(*IN_MANY_SCRIPTS)


def play_morning(dave_says: str, carol_says: str) -> Scene:
    """A morning in which dave and carol say this when they come."""
    scene = Scene(*NAMES)
    _friday(scene)
    _monday(scene, dave_says, carol_says)
    _dave_leaves_a_gap(scene)
    _trouble(scene)
    return scene


_played = made_once(play_morning)


@made_once
def answers() -> Scene:
    """A talk in which people answer each other, also what was edited and deleted since."""
    scene = Scene("alice", "bob", "carol")
    scene.sleep_until(MONDAY_MORNING)

    def last() -> MessageId:
        return scene.world.nodes[ALICE].disk.lines()[-1][1]

    def answer(who: int, text: str, to: MessageId) -> MessageId:
        scene.world.write_text(who, text, reply_to=to)
        scene.world.run(20 * SECOND)
        return last()

    scene.say(BOB, "the projector is in room 2")
    projector = last()
    scene.say(CAROL, "it is in the kitchen, I think, or was it the hall?")
    kitchen = last()
    cable = answer(ALICE, "and the cable?", projector)
    scene.say(CAROL, "good morning!")
    box = answer(BOB, "in the box below it", cable)
    answer(CAROL, "no, I have seen it myself", kitchen)
    scene.world.change(BOB, Edit(projector, "the projector is in room 3"))
    scene.world.change(CAROL, Redaction(kitchen))
    scene.world.run(20 * SECOND)
    scene.world.change(CAROL, Reactions(box, ("☕",)))
    scene.world.change(ALICE, Reactions(box, ("❤",)))
    scene.world.run(20 * SECOND)
    answer(ALICE, "found it, and the long one too", box)
    answer(BOB, "then we begin at ten", last())
    return scene


@made_once
def alone() -> Scene:
    """Alice alone on the network, with lines that wait for somebody."""
    scene = Scene("alice")
    scene.sleep_until(MONDAY_MORNING)
    scene.say(ALICE, "good morning! is anybody in yet?")
    scene.say(ALICE, "I put the switch on the table in room 2")
    return scene


@made_once
def repairing() -> Scene:
    """Alice lacks a message and asks for it; dave lacks another, and she plans to answer him.

    Nobody compares histories, which would repair both at once.
    """
    scene = Scene(*NAMES, terms=Terms(reconcile=False))
    scene.sleep_until(MONDAY_MORNING)
    scene.say(ALICE, "who brings the cake?")
    scene.say(BOB, "my sister bakes one, with cherries")
    scene.world.crash(DAVE)
    scene.say(BOB, "she needs a lift at two, I am off to the meeting now")
    scene.world.crash(BOB)
    scene.world.restart(DAVE)
    scene.turn_silent()
    scene.say(CAROL, "I can drive", then=50 * MILLISECOND)
    scene.turn_quick()
    scene.say(CAROL, "the blue car is mine, and now I am off too", then=50 * MILLISECOND)
    scene.world.crash(CAROL)
    scene.until(lambda info: info.repair is not None and info.repair.answers)
    scene.say(ALICE, "fine, see you all at two", then=1500 * MILLISECOND)
    return scene


@made_once
def coming_back() -> Scene:
    """Alice was away, and before that cut off from carol: she lacks hundreds of lines.

    Nothing has come yet: `history` brings it, to whoever looks at her screen by then.
    """
    scene = Scene("alice", "bob", "carol")
    scene.sleep_until(MONDAY_MORNING)
    scene.talk("measured", 140)
    scene.world.partition({ALICE, BOB}, {CAROL})
    scene.world.run(20 * SECOND)
    scene.talk("counted", 60, CAROL)
    scene.talk("weighed", 60)
    scene.world.crash(ALICE)
    scene.world.heal()
    scene.world.run(20 * SECOND)
    scene.talk("sorted", 220)
    scene.talk("packed", 60, CAROL)
    scene.world.network.link = BUSY
    scene.world.restart(ALICE)
    return scene


def history(scene: Scene) -> None:
    """Let part of what alice lacks come, and a line that its sender writes meanwhile.

    Whoever else is here may have no link to her yet; what comes is shown once it is on her disk.
    """
    scene.until(lambda _: any(session.need for session in scene.snapshot().sessions))
    [sends] = [session.peer for session in scene.snapshot().sessions if session.need]
    nodes = scene.world.nodes
    [sender] = [number for number, one in enumerate(nodes) if one.identity.peer_id == sends]
    theirs, here = nodes[sender].disk.rows, nodes[ALICE].disk.rows
    before, held = frozenset(theirs), len(here)
    scene.say(sender, "alice, are you back? look at what we found", then=0)
    scene.until(lambda _: len(here) >= held + PART and here.keys() & (theirs.keys() - before))


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


def first_pages(scene: Scene) -> None:
    """Let some pages of the history come to her, of which the first are small."""
    scene.until(lambda _: any(is_coming(one) for one in scene.snapshot().sessions))


def is_coming(session: SessionInfo) -> bool:
    """Return whether a session has brought a tenth of a snapshot, and not all of it."""
    return session.protocol == SNAPSHOT.name and session.need < 10 * session.got < 10 * session.need


def everything(scene: Scene) -> None:
    """Let all of it come, and be compared."""
    first_pages(scene)
    scene.until(lambda info: info.messages > LINES, step=SECOND)
    scene.world.run(5 * SECOND)


@made_once
def empty() -> Scene:
    """Alice and bob, before anybody has said anything."""
    scene = Scene("alice", "bob")
    scene.sleep_until(MONDAY_MORNING)
    return scene


@made_once
def doubted(*wrong: int, ahead: Nanos = DAY) -> Scene:
    """Alice, bob and carol, who know each other; the clocks of some are a day ahead."""
    scene = Scene("alice", "bob", "carol")
    for node in scene.world.nodes:
        node.wall.person = Person.NEVER_ANSWERS
    scene.sleep_until(MONDAY_MORNING)
    scene.say(BOB, "good morning, the demo is at three")
    for number in wrong:
        scene.world.set_clock(number, ahead)
    scene.world.run(10 * SECOND)
    return scene


@made_once
def ahead_of_time() -> Scene:
    """Alice reads bob and carol, whose clocks are ahead, and writes herself."""
    scene = doubted(BOB, CAROL)
    scene.say(BOB, "I moved the projector to room 2, the other one is taken all day")
    scene.say(CAROL, "then I bring the long cable")
    scene.say(ALICE, "do you know that your clocks are ahead?")
    return scene


def _friday(scene: Scene) -> None:
    scene.sleep_until(FRIDAY_EVENING)
    scene.say(ALICE, "does anyone still have the long cable?", then=MINUTE)
    scene.say(BOB, "yes, in the drawer next to the printer", then=MINUTE)


def _monday(scene: Scene, dave_says: str, carol_says: str) -> None:
    scene.sleep_until(MONDAY_MORNING)
    scene.say(
        CAROL,
        "morning! the demo is at three, I moved the projector to room 2, the other one is taken "
        "all day by the people from the third floor",
        then=2 * MINUTE,
    )
    scene.say(DAVE, dave_says, then=40 * SECOND)
    scene.say(CAROL, carol_says)
    scene.say(BOB, "coffee first, then I bring the switch\nand the two long cables", then=MINUTE)
    scene.say(ALICE, "sure, I'm on my way", then=MINUTE)


def _dave_leaves_a_gap(scene: Scene) -> None:
    """Nobody hears dave's first line, and he is off before anybody can ask him for it."""
    scene.turn_silent()
    scene.say(DAVE, "the slides are on the shared drive", then=100 * MILLISECOND)
    scene.turn_quick()
    scene.say(DAVE, "so please look at page 7, my laptop is out of power", then=20 * MILLISECOND)
    scene.world.crash(DAVE)
    scene.world.run(3 * MINUTE)
    scene.say(BOB, "dave, which slides?", then=30 * SECOND)


def _trouble(scene: Scene) -> None:
    """Marks of every state at once, and a line that waits for the one before it."""
    scene.say(ALICE, "page 7 of what?", then=10 * MILLISECOND)
    scene.say(ALICE, "he is gone", then=10 * MILLISECOND)
    scene.say(BOB, "good", then=10 * MILLISECOND)
    scene.turn_silent()
    scene.until(lambda info: info.lost, step=SECOND)
    scene.say(ALICE, "hello? is anybody still reading this?", then=6 * MINUTE)
    scene.say(ALICE, "do we need the long one too?", then=8 * SECOND)
    scene.say(BOB, "was there something?", then=100 * MILLISECOND)
    scene.turn_quick()
    scene.say(ALICE, "I'll ask dave when he is back", then=10 * MILLISECOND)
    scene.say(BOB, "we do", then=0)
    scene.until(lambda info: info.waiting)
    scene.world.run(20 * MILLISECOND)


async def no_network() -> None:
    """A start of the network that has nothing to do."""


def screen_of(
    scene: Scene, *, glyphs: Glyphs = UNICODE, play: Callable[[Scene], None] | None = None
) -> ChatApp:
    """Alice's screen, whose cursor does not blink; once it is painted, `play` goes on."""

    async def start() -> None:
        if play is not None:
            play(scene)
            app.call_next(app._tick)

    app = ChatApp(scene.chat, start, glyphs=glyphs)
    app.composer.cursor_blink = False
    return app


def first_run() -> FirstRun:
    """The questions of the first start."""
    return FirstRun(Answers("alice", "", Path("/home/alice/.local/share/chat-tui")), lambda _: None)


@contextmanager
def utc() -> Iterator[None]:
    """Times of day in UTC, whatever the computer's place is."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
