"""Announcing: of which channels peers may ask for author logs, told to them and heard of them.

Rules:
1. A peer is told once it has proved a channel and named our family of protocols in its presence,
   and when what it has proved changes; never of a channel that it has not proved.
2. The counter of an announcement is committed before it leaves, so it rises over restarts.
3. What was told and heard is kept while the peer has a link. On a second one it is told again:
   what was sent on the first may be lost.
4. Of a peer that announces too often nothing more is read for a moment.
5. Where messages older than some days are dropped, author logs are not whole: nothing is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, assert_never

from msgspec import Struct

from sync.errors import RemoteError
from sync.machine import MILLISECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.values import Announced, Joined, Left
from sync.p2panda.announcements import (
    VERSION,
    Announcements,
    channel_of,
    next_counter,
    schema_id,
)
from sync.p2panda.messages import Announce, decode, encode
from sync.structures.token_bucket import Buckets

TELL_EVERY: Final[Nanos] = 250 * MILLISECOND
"""Between two announcements to a peer: what changes meanwhile is told with the next one."""

TAKEN_PER_SECOND: Final = 8.0
TAKEN_BURST: Final = 32.0
"""Announcements of one peer that are read: twice as many as one of ours sends, and one for each of
the links that follow each other while a network comes and goes."""

TOO_OFTEN: Final = f"announces author logs over {TAKEN_PER_SECOND:.0f} times a second"


class Added(Struct, frozen=True):
    """A channel is taken up; the disk knows the `counter` of our last announcement to anybody."""

    channel: ChannelId
    counter: int


class Removed(Struct, frozen=True):
    """We are in a channel no more."""

    channel: ChannelId


class Heard(Struct, frozen=True):
    """An announcement of `peer` came, encoded."""

    peer: PeerId
    payload: bytes


Input: TypeAlias = Added | Removed | Joined | Left | Announced | Heard | Tick


class Told(Struct, frozen=True):
    """Effect: commit `counter`, then send `payload` to `peer`."""

    peer: PeerId
    counter: int
    payload: bytes


class Ignored(Struct, frozen=True):
    """Effect: an announcement of `peer` changed nothing, because of `reason`."""

    peer: PeerId
    reason: str


class Offered(Struct, frozen=True):
    """Effect: author logs of these `channels` may be asked of `peer` now, and of no others."""

    peer: PeerId
    channels: frozenset[ChannelId]


Effect: TypeAlias = Told | Ignored | Offered


class Standing(Struct, frozen=True):
    """Announcements between us and a peer, to be shown; `version` is None if it made none."""

    version: int | None
    theirs: frozenset[ChannelId]
    ours: frozenset[ChannelId]

    @property
    def is_known(self) -> bool:
        """True if the peer announces with a version that we request by."""
        return self.version == VERSION


@dataclass(slots=True)
class Linked:
    """A peer with a link."""

    channels: set[ChannelId] = field(default_factory=set)
    """Those it has proved."""
    speaks: bool = False
    """Whether its presence named the family."""
    again: bool = False
    """Whether what it was told may be lost."""
    said: Announcements = field(default_factory=Announcements)
    offers: frozenset[ChannelId] = frozenset()
    """Channels of which it announces author logs; whether it has proved them or not."""
    next_at: Nanos = 0
    """When it may be told next."""


class Announcing:
    """See the module docstring.

    Args:
        family: the name in presences; without one nothing is told or heard.
        keeps_all: false where messages older than some days are dropped.
    """

    def __init__(self, family: str, *, keeps_all: bool = True) -> None:
        self._family = family
        self._keeps_all = keeps_all
        self._counter = 0
        self._ours: set[ChannelId] = set()
        self._linked: dict[PeerId, Linked] = {}
        self._changed: set[PeerId] = set()
        """Those to whom something may have to be told."""
        self._taken = Buckets(TAKEN_PER_SECOND, TAKEN_BURST)

    @property
    def active(self) -> bool:
        """False if no protocol of ours needs announcements."""
        return bool(self._family)

    def handle(self, event: Input, now: Nanos) -> Sequence[Effect]:
        """See `sync.machine`."""
        if not self.active:
            return ()
        match event:
            case Added(channel, counter):
                self._ours.add(channel)
                self._counter = max(self._counter, counter)
            case Removed(channel):
                self._ours.discard(channel)
            case Joined() | Left() | Announced() | Heard():
                return self._on_link(event, now)
            case Tick():
                return self._tell(now)
            case _:
                assert_never(event)
        return ()

    def deadline(self) -> Nanos | None:
        """Return when somebody is to be told; None while nothing has changed."""
        if not self._changed:
            return None  # nearly always
        return min(self._linked[peer].next_at for peer in self._changed)

    # --- What others may know ------------------------------------------------------------------

    def may_request(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether author logs of `channel` may be asked of `peer`."""
        return channel in self._requestable(peer)

    def announced_to(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether `peer` may ask us for author logs of `channel`."""
        linked = self._linked.get(peer)
        return linked is not None and linked.said.answers([schema_id(channel)])

    def standing(self, peer: PeerId) -> Standing | None:
        """Return what was announced between us and `peer`; None if nothing was."""
        linked = self._linked.get(peer)
        if linked is None or (linked.said.theirs is None and not linked.said.ours):
            return None
        theirs = linked.said.theirs
        return Standing(
            None if theirs is None else theirs.version,
            _channels(() if theirs is None else theirs.schemas),
            _channels(linked.said.ours),
        )

    # --- What happens --------------------------------------------------------------------------

    def _on_link(self, event: Joined | Left | Announced | Heard, now: Nanos) -> list[Effect]:
        before = self._requestable(event.peer)
        effects: list[Effect] = []
        match event:
            case Joined(channel, peer):
                self._on_joined(channel, peer)
            case Left(channel, peer):
                self._on_left(channel, peer)
            case Announced(_, peer, protocols):
                self._on_announced(peer, protocols)
            case Heard(peer, payload):
                effects += self._on_heard(peer, payload, now)
            case _:
                assert_never(event)
        after = self._requestable(event.peer)
        return effects if after == before else [*effects, Offered(event.peer, after)]

    def _requestable(self, peer: PeerId) -> frozenset[ChannelId]:
        linked = self._linked.get(peer)
        if linked is None or not self._keeps_all:
            return frozenset()
        return linked.offers & linked.channels

    def _on_joined(self, channel: ChannelId, peer: PeerId) -> None:
        linked = self._linked.setdefault(peer, Linked())
        linked.again |= channel in linked.channels
        linked.channels.add(channel)
        self._note_change(peer, linked)

    def _on_left(self, channel: ChannelId, peer: PeerId) -> None:
        linked = self._linked.get(peer)
        if linked is None:
            return
        linked.channels.discard(channel)
        if linked.channels:
            self._note_change(peer, linked)
        else:
            del self._linked[peer]
            self._changed.discard(peer)

    def _on_announced(self, peer: PeerId, protocols: frozenset[str]) -> None:
        """A presence of the peer came; one that is another program since is told nothing more."""
        linked = self._linked.get(peer)
        if linked is None:
            return
        linked.speaks = self._family in protocols
        if linked.speaks:
            self._note_change(peer, linked)
        else:
            linked.said, linked.offers = Announcements(), frozenset()
            self._changed.discard(peer)

    def _note_change(self, peer: PeerId, linked: Linked) -> None:
        if linked.speaks and self._keeps_all:
            self._changed.add(peer)

    def _on_heard(self, peer: PeerId, payload: bytes, now: Nanos) -> Sequence[Effect]:
        """Keep what a peer announces of our channels: of others nothing is asked."""
        linked = self._linked.get(peer)
        if linked is None:
            return ()  # its link is gone
        if not self._taken.take_token(peer, now):
            return (Ignored(peer, TOO_OFTEN),)
        try:
            message = decode(payload)
        except RemoteError as error:
            return (Ignored(peer, f"announcement: {error}"),)
        if not isinstance(message, Announce):
            return (Ignored(peer, "something else where an announcement should be"),)
        known = [one for one in message.schemas if channel_of(one) in self._ours]
        linked.said.receive(message._replace(schemas=tuple(known)))
        linked.offers = _channels(linked.said.requestable)
        return ()

    def _tell(self, now: Nanos) -> list[Told]:
        """Tell those who are due, all with one counter."""
        due = sorted(peer for peer in self._changed if self._linked[peer].next_at <= now)
        counter = next_counter(self._counter, now)
        told: list[Told] = []
        for peer in due:
            self._changed.discard(peer)
            linked = self._linked[peer]
            if linked.again:
                linked.again, linked.said.ours = False, frozenset()
            announce = linked.said.announce(linked.channels, counter)
            if announce is not None:
                linked.next_at = now + TELL_EVERY
                told.append(Told(peer, counter, encode(announce)))
        if told:
            self._counter = counter
        return told


def _channels(schemas: Sequence[str] | frozenset[str]) -> frozenset[ChannelId]:
    return frozenset([one for one in map(channel_of, schemas) if one is not None])
