"""Hostile members of a world: nodes like all others, but for what they do besides.

Each has keys and a membership of its own, and aliases: further keys, which cost nothing. Its engine
is ours, so it hears, answers and reconciles like anybody; what it says besides is drawn from
`sync.sim.hostile.acts`, and what its sessions let out may be twisted on its way.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, assert_never

from msgspec.structs import replace

from sync.errors import RemoteError
from sync.group import values
from sync.machine import HOUR, MILLISECOND, SECOND, Nanos
from sync.runner.batch import Release
from sync.sds.wire import encode
from sync.sim.hostile.acts import (
    ACTS,
    Act,
    Behave,
    Claim,
    Deed,
    MakeLinks,
    Manner,
    Mind,
    OpenStream,
    Say,
    TellClock,
    Transfer,
    forged,
    tampered,
    waku_of,
)
from sync.sim.links import Mesh
from sync.sim.node import Node
from sync.sim.outlet import Frame, Outlet
from sync.sim.rooms import CHANNEL, Room
from sync.sim.signatures import Signatures
from sync.sim.streams import Streams
from sync.sim.timeline import Timeline
from sync.structures.ordered_set import SyncId

ALIASES: Final = 12
"""Further keys of each: with all of them linked, strangers are many more than friends."""

EVERY: Final[tuple[Nanos, Nanos]] = (200 * MILLISECOND, 3 * SECOND)
"""Between two acts of one member."""

LATE: Final[Sequence[Nanos]] = (SECOND, 3 * SECOND, 9 * SECOND, 14 * SECOND, 28 * SECOND)
"""Delays of payloads, of which one is drawn for each: machines wait 4 to 30 s for one."""

KNOWN: Final = 64
"""Messages on its disk, and frames of others, that a member acts upon."""


@dataclass(slots=True)
class Member:
    """One hostile member: its node, its aliases, what it knows, and how its sessions go."""

    node: Node
    aliases: Sequence[Node]
    mind: Mind
    manner: Manner = Manner.HONEST
    overheard: deque[bytes] = field(default_factory=lambda: deque(maxlen=KNOWN))
    late: dict[values.SessionId, Nanos] = field(default_factory=dict)
    """When the last payload leaves that it sends late, by session."""
    opened: set[values.SessionId] = field(default_factory=set)
    """Session streams that are not its engine's."""

    def known_by(self, number: int) -> Node:
        """Return the node that speaks as key `number`."""
        return self.node if number == 0 else self.aliases[number - 1]


@dataclass(slots=True)
class Hostiles:
    """All of them; `done` counts their acts."""

    members: Sequence[Member]
    honest: Sequence[Node]
    room: Room
    timeline: Timeline
    links: Mesh
    streams: Streams
    outlet: Outlet
    acts: dict[str, Act] = field(default_factory=lambda: ACTS)
    done: Counter[str] = field(default_factory=Counter)
    resting: bool = False
    """Whether they act no more; how their sessions go stays as it is."""

    def begin(self) -> None:
        """Let each act in its time, from now on; all keys of one speak from its address."""
        for number, member in enumerate(self.members):
            for node in (member.node, *member.aliases):
                node.wall.stranger, node.wall.host = True, f"10.255.0.{number}"
            self._plan(member)

    def rest(self) -> None:
        """Let all of them act no more, and be as honest as their engines; their aliases go."""
        self.resting = True
        for member in self.members:
            member.manner = Manner.HONEST
            self._make_links(member, 0)

    def heard(self, node: Node, payload: bytes) -> None:
        """One of them got a frame."""
        self._member(node).overheard.append(payload)

    def act(self, member: Member, name: str) -> None:
        """Let a member do one of its acts now."""
        if member.node.runner is None:
            return
        self.done[name] += 1
        mind, room = member.mind, self.room
        mind.now = self.timeline.now
        disk = member.node.disks[CHANNEL]
        ids = [message_id for _, message_id in disk.log()[-KNOWN:]]
        mind.held = [room.gate.read(disk.rows[one].message.payload) for one in ids]
        mind.overheard = tuple(member.overheard)
        for deed in list(self.acts[name](mind)):
            self._do(member, deed)

    def twist(self, node: Node, release: Release) -> Sequence[Release]:
        """Return what a hostile node lets out instead of what its engine would."""
        member, effect = self._member(node), release.effect
        draw, manner = member.mind.rng.random, member.manner
        match effect:
            case values.CloseSession(session) if session in member.opened:
                return ()
            case values.CloseSession(session) if session in member.late:
                self._late(member, session, partial(self.streams.close, node, session))
                return ()
            case values.SendPayload() if manner is Manner.STALL and draw() < 1 / 2:
                return ()
            case values.SendPayload(session, payload) if (
                manner is Manner.DELAY or session in member.late
            ):
                self._late(member, session, partial(self.streams.send, node, session, payload))
                return ()
            case values.SendPayload(session, payload) if manner is Manner.GARBLE:
                garbled = _garbled(member.mind.rng, payload)
                return (replace(release, effect=values.SendPayload(session, garbled)),)
            case values.Push() if manner is Manner.WITHHOLD:
                return ()
            case values.Push(peer) if manner is Manner.TAMPER:
                self._push_forgeries(member, self.outlet.number_of(peer))
                return ()
            case _:
                return (release,)

    # --- Inside --------------------------------------------------------------------------------

    def _member(self, node: Node) -> Member:
        return self.members[node.number - self.members[0].node.number]

    def _plan(self, member: Member) -> None:
        at = self.timeline.now + member.mind.rng.randint(*EVERY)
        self.timeline.plan(at, self._act_in_turn, member)

    def _act_in_turn(self, member: Member, _: object) -> None:
        if not self.resting:
            self.act(member, member.mind.rng.choice(list(self.acts)))
            self._plan(member)

    def _do(self, member: Member, deed: Deed) -> None:
        now, node = self.timeline.now, member.node
        match deed:
            case Say(payload, to, by):
                self._say(member.known_by(by), payload, to)
            case TellClock(ahead):
                for one in (node, *member.aliases):
                    one.told_offset = ahead
                    self.links.pongs.begin()
                    self.links.pongs.told_by(one)
            case MakeLinks(count):
                self._make_links(member, count)
            case OpenStream(to, protocol, payloads):
                assert node.runner is not None
                session = node.runner.new_session()
                member.opened.add(session)
                other = self.honest[to]
                wanted = values.OpenSession(session, other.identity.peer_id, protocol)
                self.streams.open(node, CHANNEL, wanted, other, now)
                for payload in payloads:
                    self.streams.send(node, session, payload, now)
            case Transfer(to, payloads, ends):
                self.streams.push_raw(node, CHANNEL, self.honest[to], payloads, now, ends=ends)
            case Behave(manner):
                member.manner = manner
            case Claim(count):
                self._claim(member, count)
            case _:
                assert_never(deed)

    def _say(self, speaker: Node, payload: bytes, to: tuple[int, ...]) -> None:
        """Send a frame to those of `to` (empty: of the honest) whom there is a link with."""
        message = None
        with suppress(RemoteError):
            message = self.room.gate.read(payload)
        receivers = [one.number for one in self.honest if one.number in speaker.joined]
        if to:
            receivers = [number for number in receivers if number in to]
        arrived = values.Arrived(speaker.identity.peer_id, payload)
        self.outlet.send(Frame(speaker.number, self.room, arrived, message), receivers)

    def _make_links(self, member: Member, count: int) -> None:
        for number, alias in enumerate(member.aliases):
            for other in self.honest:
                if number < count:
                    self.links.dial(alias, other)
                else:
                    self.links.hang_up(alias, other)

    def _claim(self, member: Member, count: int) -> None:
        """Let its engine count as held what does not exist."""
        assert member.node.runner is not None
        holdings = member.node.runner.groups[CHANNEL].holdings
        rng = member.mind.rng
        for _ in range(count):
            stamp = self.timeline.now - rng.randrange(HOUR)
            holdings.add(SyncId(stamp, rng.randbytes(32)))

    def _late(
        self, member: Member, session: values.SessionId, act: Callable[[Nanos], None]
    ) -> None:
        """Act on a session a while after all that was done late on it before."""
        at = max(self.timeline.now, member.late.get(session, 0)) + member.mind.rng.choice(LATE)
        member.late[session] = at
        self.timeline.call(at, lambda: act(self.timeline.now))

    def _push_forgeries(self, member: Member, to: int) -> None:
        if to not in range(len(self.honest)):
            return
        made = [one for one in (forged(member.mind), tampered(member.mind)) if one is not None]
        payloads = tuple([waku_of(member.mind, encode(one)) for one in made])
        self._do(member, Transfer(to, payloads))


def new_members(
    nodes: Sequence[Node],
    hostile_from: int,
    room: Room,
    signatures: Signatures,
    filter_bytes: int,
    seed: int,
) -> list[Member]:
    """Return the hostile members of a new world, each with its share of the aliases."""
    members = []
    for node in nodes[hostile_from:]:
        if node.is_alias:
            continue
        aliases = [one for one in nodes if one.is_alias and one.host == node.number]
        mind = Mind(
            rng=random.Random(f"hostile {seed} {node.number}"),  # noqa: S311
            keys=[node.identity, *[alias.identity for alias in aliases]],
            sign=signatures.sign,
            channel=room.channel,
            gate=room.gate,
            filter_bytes=filter_bytes,
            honest=range(hostile_from),
        )
        members.append(Member(node, aliases, mind))
    return members


def _garbled(rng: random.Random, payload: bytes) -> bytes:
    """Return a payload with a byte changed, cut short, or other ones."""
    if not payload or rng.random() < 1 / 4:
        return rng.randbytes(40)
    at = rng.randrange(len(payload))
    if rng.random() < 1 / 2:
        return payload[:at]
    return payload[:at] + bytes([payload[at] ^ (1 << rng.randrange(8))]) + payload[at + 1 :]
