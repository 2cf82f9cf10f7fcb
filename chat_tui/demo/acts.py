"""Acts on a demo's world, by its scenario or by the person: their values, and `do`.

An act that makes no sense now (somebody who is off writes) does nothing, and says so by False.
"""

from typing import Final, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from sync.calimero.governance.ops import Key
from sync.calimero.state.contents import Pin, Read, StateKind, Topic
from sync.machine import MILLISECOND
from sync.sim.governance.codes import make_code, removal, take_code
from sync.sim.watch import Doom, Watch
from sync.sim.world import World

DELAY_MAX_MS: Final = 60_000
"""Longer than anybody waits for a demo."""

TEXT_CHARACTERS_MAX: Final = 500
"""Of a line written in a demo: its panels are narrow."""


class Write(Struct, frozen=True):
    """Participant `who` writes a line."""

    who: int
    text: str


class Lose(Struct, frozen=True):
    """The next new message of `who` (None: of anybody) is lost on its way to `to`."""

    who: int | None
    to: tuple[int, ...]


class Loss(Struct, frozen=True):
    """From now on a share of all frames is lost: `percent`."""

    percent: int


class Delay(Struct, frozen=True):
    """From now on a frame takes about `milliseconds` one way, give or take a half."""

    milliseconds: int


class Duplicate(Struct, frozen=True):
    """From now on a share of all frames arrives twice: `percent`."""

    percent: int


class LosePart(Struct, frozen=True):
    """From now on each receiver loses `percent` of the new messages; everything else arrives."""

    percent: int


class Cut(Struct, frozen=True):
    """The link between two participants is cut, or mended if it was."""

    one: int
    other: int

    @property
    def ends(self) -> tuple[int, int]:
        """The two, the smaller number first."""
        return min(self.one, self.other), max(self.one, self.other)


class Divide(Struct, frozen=True):
    """The network falls in two: `side` and the others; with an empty side it is whole again."""

    side: tuple[int, ...]


class Power(Struct, frozen=True):
    """A participant's computer is switched off, or on again."""

    who: int
    on: bool


class Expel(Struct, frozen=True):
    """Participant `who` removes `whom` from the channel, which is governed."""

    who: int
    whom: int
    reason: str


class GiveCode(Struct, frozen=True):
    """Participant `who` makes a code by which somebody may come in."""

    who: int


class EnterCode(Struct, frozen=True):
    """Participant `who`, who is not in, enters the newest code that was made."""

    who: int


class SetTopic(Struct, frozen=True):
    """Participant `who` sets the topic."""

    who: int
    text: str


class PinLine(Struct, frozen=True):
    """Participant `who` pins a line: the one `back` lines before the newest here."""

    who: int
    back: int = 0


class ReadAll(Struct, frozen=True):
    """Participant `who` has read everything here, and says so."""

    who: int


Setting: TypeAlias = SetTopic | PinLine | ReadAll
Govern: TypeAlias = Expel | GiveCode | EnterCode
Act: TypeAlias = (
    Write | Lose | Loss | Delay | Duplicate | LosePart | Cut | Divide | Power | Setting | Govern
)


def do(act: Act, world: World, watch: Watch) -> bool:
    """Do `act` now; returns whether it changed anything."""
    nodes, network = world.nodes, world.network
    match act:
        case Write(who, text):
            up = nodes[who].runner is not None
            world.write_text(who, text)
            return up
        case Lose(who, to):
            watch.dooms.append(Doom(who, frozenset(to)))
        case Loss(percent):
            network.link = replace(network.link, loss=percent / 100)
        case Delay(milliseconds):
            about = milliseconds * MILLISECOND
            network.link = replace(network.link, delay=(about // 2, about * 3 // 2))
        case Duplicate(percent):
            network.link = replace(network.link, duplicate=percent / 100)
        case LosePart(percent):
            watch.content_loss = percent / 100
        case Cut():
            network.cuts ^= {act.ends}
            world.links.rewired()
        case Divide(()):
            world.heal()
        case Divide(side):
            others = set(range(len(nodes))) - set(side)
            world.partition(set(side), others)
        case Power(who, on):
            if on == (nodes[who].runner is not None):
                return False
            (world.restart if on else world.crash)(who)
        case SetTopic() | PinLine() | ReadAll():
            return _set(act, world)
        case Expel() | GiveCode() | EnterCode():
            return _govern(act, world)
        case _:
            assert_never(act)
    return True


def _set(act: Setting, world: World) -> bool:
    """Set something in the channel now that is no line."""
    node = world.nodes[act.who]
    log = node.disk.log()
    if node.runner is None or not log:
        return False
    match act:
        case SetTopic(who, text):
            world.set_state(who, Topic(text), world.channel)
        case PinLine(who, back):
            name = bytes.fromhex(log[-1 - min(back, len(log) - 1)][1])
            world.set_state(who, Pin(), world.channel, kind=StateKind.PIN, name=name)
        case ReadAll(who):
            lamport, message_id = log[-1]
            mark = Read(lamport, bytes.fromhex(message_id))
            world.set_state(who, mark, world.channel, kind=StateKind.READ)
    return True


def _govern(act: Expel | GiveCode | EnterCode, world: World) -> bool:
    """Do an act of governance now, in a world with a governed channel."""
    if world.levels is None or world.nodes[act.who].runner is None:
        return False
    match act:
        case Expel(who, whom, reason):
            key = Key(world.nodes[whom].identity.public_key)
            world.act(who, removal(world, who, key, reason=reason))
        case GiveCode(who):
            make_code(world, who)
        case EnterCode(who):
            if not world.levels.given:
                return False
            take_code(world, who, world.levels.given[-1])
    return True
