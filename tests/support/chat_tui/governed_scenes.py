"""A governed channel played by the simulator, as alice, its owner, or somebody else sees it."""

from typing import Final

from chat_tui.app.app import ChatApp
from chat_tui.client.simulated import SimulatedChat
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import (
    Access,
    Add,
    Epoch,
    Key,
    Op,
    Policy,
    Remove,
    Role,
    SetPolicy,
    SetRole,
)
from sync.entries.changes import Redaction
from sync.group.ingest import message_of
from sync.group.values import Retrieved
from sync.machine import MILLISECOND, SECOND, ChannelId
from sync.sds.wire import encode_canonical
from sync.sim.governance.codes import governing_of
from sync.sim.network import Link
from sync.sim.world import Terms, World
from tests.support.sync.entries import Author

NAMES: Final = ("alice", "bob", "carol", "mallory")
ALICE, BOB, CAROL, MALLORY = range(4)
SEED: Final = 8
QUICK: Final = Link(delay=(1 * MILLISECOND, 2 * MILLISECOND))


class GovernedScene:
    """A world of some people in a channel that alice founded; `who` is at the screen."""

    def __init__(self, who: int = ALICE, *, alone: bool = False) -> None:
        terms = Terms(governed=True, governed_alone=alone)
        self.world = World(len(NAMES), SEED, QUICK, terms)
        channel = self.world.governed
        assert channel is not None
        self.channel: ChannelId = channel
        self.chat = SimulatedChat(self.world, who, NAMES, channel)
        self.world.run(20 * SECOND)

    def key(self, who: int) -> Key:
        return Key(self.world.nodes[who].identity.public_key)

    def governance(self, who: int = ALICE) -> Governance:
        return governing_of(self.world, who).governance

    def act(self, who: int, op: Op) -> None:
        """Let somebody govern, and time pass."""
        self.world.act(who, op)
        self.world.run(5 * SECOND)

    def say(self, who: int, text: str) -> None:
        self.world.write_text(who, text, self.channel)
        self.world.run(5 * SECOND)

    def hide(self, by: int, text: str) -> None:
        """Let somebody hide the line that says this."""
        rows = self.world.nodes[by].disks[self.channel].rows
        (line,) = [one for one, row in rows.items() if text.encode() in row.message.entry.body]
        self.world.change(by, Redaction(line), self.channel)
        self.world.run(5 * SECOND)

    def remove(self, by: int, who: int, reason: str) -> None:
        governance = self.governance(by)
        begun = governance.dag.acts[governance.now.epoch].epoch
        epoch = Epoch((begun.number if begun else 0) + 1, bytes(32))
        self.act(by, Remove((self.key(who),), epoch, reason))

    def set_role(self, by: int, who: int, role: Role) -> None:
        self.act(by, SetRole(self.key(who), role))

    def add(self, by: int, who: int) -> None:
        identity = self.world.nodes[who].identity
        self.act(by, Add(Key(identity.public_key), identity.noise_public, Role.MEMBER))

    def cut(self, *sides: set[int]) -> None:
        self.world.partition(*sides)
        self.world.run(SECOND)

    def heal(self) -> None:
        self.world.network.heal()
        self.world.links.rewired()
        self.world.run(90 * SECOND)


def a_day_of_governing(who: int = ALICE) -> GovernedScene:
    """Every kind of act that needs no code, a removal during a cut, and what lost against it."""
    scene = GovernedScene(who)
    scene.say(BOB, "good morning, is this the new channel?")
    scene.set_role(ALICE, BOB, Role.ADMIN)
    scene.say(CAROL, "it is")
    scene.act(BOB, SetPolicy(Policy(invite=Access.ADMINS, pins=Access.ADMINS)))
    scene.say(MALLORY, "BUY NOW")
    scene.cut({ALICE, CAROL}, {BOB, MALLORY})
    scene.remove(ALICE, MALLORY, "spam")
    scene.hide(ALICE, "BUY NOW")
    scene.set_role(ALICE, CAROL, Role.ADMIN)
    scene.remove(BOB, CAROL, "by mistake")
    scene.say(CAROL, "thank you")
    scene.heal()
    scene.act(ALICE, SetPolicy(Policy(write=Access.ADMINS, pins=Access.ADMINS)))
    return scene


def screen_of(scene: GovernedScene, *, glyphs: Glyphs = UNICODE) -> ChatApp:
    """The screen of who is at it, whose cursor does not blink."""

    async def start() -> None:
        """Nothing is to be started."""

    app = ChatApp(scene.chat, start, glyphs=glyphs)
    app.composer.cursor_blink = False
    return app


def folded_away() -> GovernedScene:
    """Lines of mallory that answer what knew of her removal, and claim not to know of it."""
    scene = GovernedScene(alone=True)
    scene.say(BOB, "good morning")
    before = scene.governance().heads
    scene.remove(ALICE, MALLORY, "spam")
    scene.say(BOB, "who was that?")
    disk = scene.world.nodes[ALICE].disks[scene.channel]
    answered = [row.message for row in disk.rows.values()][-1]
    mallory = Author("mallory", scene.channel, log=99)
    mallory.identity = scene.world.nodes[MALLORY].identity
    mallory.peer_id = mallory.identity.peer_id
    for text in ("it was me", "buy this", "and that"):
        now = scene.world.now
        line = mallory.write(text, after=[answered], created_ns=now, governance=before)
        entry, signatures = line.entry, scene.world.witness.signatures
        signatures.remember(mallory.peer_id, entry.signature, entry.header_bytes)  # her own program
        retrieved = Retrieved(encode_canonical(message_of(line.entry)))
        scene.world.give(ALICE, retrieved)
        scene.world.run(SECOND)
    return scene
