"""The protocol that a wish is served by: a handshake first, where the peer speaks that.

With older programs, for shares and live sessions, and where a person has named a protocol, it is
the cheapest that suits (`choice`).
"""

from collections import Counter
from typing import Final

from msgspec.structs import replace

from sync.machine import HOUR, ChannelId, Nanos, PeerId
from sync.manager.choice import Choice, choose
from sync.manager.failed_kinds import FailedKinds
from sync.manager.histories import Histories
from sync.manager.presences import Presences
from sync.manager.values import Start
from sync.manager.wishes import ASKED, NEW_LINK, Wish
from sync.sessions.handshake import SyncKind
from sync.sessions.protocol import Protocols, Situation
from sync.sessions.values import SHARE, Plane, SessionKey

SPAN: Final[Nanos] = HOUR
"""Span that most sessions with older programs compare."""

CUT_TWICE: Final = 2
"""Sessions in a row that came to nothing, after which an older program is asked by the other kind
of protocol."""


class Choosing:
    """See the module docstring."""

    def __init__(self, protocols: Protocols, presences: Presences, histories: Histories) -> None:
        self.protocols = protocols
        self.presences = presences
        self.histories = histories
        self.failed = FailedKinds()
        self._begun: Counter[PeerId] = Counter()
        """Sessions over author logs that we began, since the peer has a link."""

    def forget_count(self, peer: PeerId) -> None:
        """A peer has no link any more."""
        self._begun.pop(peer, None)

    def plane_of(self, protocol: str) -> Plane:
        """Return the plane of a protocol, that of messages without one."""
        known = self.protocols.named(protocol) if protocol else None
        return Plane.LOG if known is None else known.plane

    def begins_with_handshake(self, channel: ChannelId, peer: PeerId) -> bool:
        """Return whether sessions over messages with a peer begin with a handshake."""
        spoken = self.presences.speaks(channel, peer)
        return self.protocols.choosing(Plane.LOG, spoken) is not None

    def by_handshake(self, key: SessionKey, wish: Wish) -> bool:
        """Return whether a handshake is to pick how a wish is served.

        Not if the last one failed: then another protocol says whether both hold the same.
        """
        return (
            key.plane is Plane.LOG
            and not wish.protocol
            and not wish.live
            and wish.why != SHARE
            and SyncKind.CHOOSE not in self.failed.of(key)
            and self.begins_with_handshake(key.channel, key.peer)
        )

    def choose(self, key: SessionKey, wish: Wish) -> Choice | None:
        """Return the protocol of a session; None if the peer does not speak what is wanted."""
        channel, peer = key.channel, key.peer
        spoken = self.presences.speaks(channel, peer)
        if self.by_handshake(key, wish):
            chooses = self.protocols.choosing(Plane.LOG, spoken)
            assert chooses is not None
            situation = Situation(wish.why, None, spoken, handshake=True)
            return choose(self.protocols, situation, chooses.name)
        offered = self.presences.offers(channel, peer)
        asked = self.protocols.named(wish.protocol) if wish.protocol else None
        wanted = not asked.usual if asked is not None else wish.by_logs
        cut = wish.failures // CUT_TWICE % 2 == 1 and asked is None and not wish.live
        situation = Situation(
            wish.why,
            wish.span,
            spoken,
            key.plane,
            wish.failures,
            by_logs=(wanted != cut) and offered and wish.span is None,
            logs=self.histories.logs(channel),
            offered=offered,
            named=asked is not None,
        )
        return choose(self.protocols, situation, wish.protocol)

    def start(self, key: SessionKey, wish: Wish, now: Nanos) -> Start | None:
        """Return how a wish is served now; None if the peer does not speak what is wanted.

        What handshakes have picked and cannot be had any more is not left to handshakes again, or
        they might pick it for ever.
        """
        self._narrow(key, wish, now)
        choice = self.choose(key, wish)
        if choice is None and wish.chosen:
            self.failed.failed(key, wish.protocol)
            self.failed.failed(key, "")
            wish.protocol = wish.chosen = ""
            choice = self.choose(key, wish)
        if choice is None:
            return None
        whole = self.by_handshake(key, wish)
        return Start(
            key.channel,
            key.peer,
            choice.protocol,
            wish.why,
            None if whole else wish.span,
            wish.chosen or choice.why,
            wish.estimate or choice.cost,
            self._count(key.peer, choice),
            bool(wish.then),
            wish.live,
            self.presences.offers(key.channel, key.peer),
            self.failed.of(key) - {SyncKind.CHOOSE},
        )

    def _narrow(self, key: SessionKey, wish: Wish, now: Nanos) -> None:
        """Have the first session of a link take the last hour alone, if all else comes by logs.

        With who speaks of handshakes that is only done by a newcomer without a snapshot: logs begin
        with what is oldest, and what is newest is wanted first.
        """
        channel, peer = key.channel, key.peer
        if wish.why != NEW_LINK or wish.then or wish.chosen:
            return
        if not self.presences.offers(channel, peer):
            return
        if self.by_handshake(key, wish) and (self.histories.logs(channel) or self._snaps(key)):
            return
        wish.then = self.histories.whole_needed(channel, peer, now)
        if wish.then:
            wish.span = SPAN
            if self.by_handshake(key, wish):
                usual = self.protocols.named("")
                assert usual is not None
                wish.protocol, wish.chosen = usual.name, "what is newest comes first"

    def _snaps(self, key: SessionKey) -> bool:
        """Return whether a newcomer may have a snapshot of this peer."""
        word = SyncKind.SNAPSHOT.word
        spoken = self.presences.speaks(key.channel, key.peer)
        return word in spoken and SyncKind.SNAPSHOT not in self.failed.of(key)

    def _count(self, peer: PeerId, choice: Choice) -> int:
        """Return how many sessions over author logs we began with a peer, and count this one."""
        protocol = self.protocols.named(choice.protocol)
        if protocol is None or not protocol.family:
            return 0
        self._begun[peer] += 1
        return self._begun[peer] - 1

    def may_ask(self, channel: ChannelId, peer: PeerId, protocol: str) -> bool:
        """Return whether `protocol` suits a session with `peer` that a person asks for now."""
        key = SessionKey(channel, peer, self.plane_of(protocol))
        return self.choose(key, Wish(0, ASKED, protocol=protocol)) is not None


def anew(wish: Wish) -> Wish:
    """Return a wish of which handshakes had picked the protocol, so that they do so again."""
    if not wish.chosen:
        return wish
    return replace(wish, protocol="", chosen="", estimate=0, span=None, then="")
