"""Messages that others named and that a channel lacks: whom to ask for them, and when."""

import random
from typing import Final

from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId
from sync.manager.searching import Search
from sync.manager.slots import Slots
from sync.manager.values import Ended
from sync.manager.wishes import MISSING, Wish
from sync.sessions.values import Outcome, Plane, SessionKey

LACKING_AFTER: Final[Nanos] = 3 * SECOND // 2
"""Time for which a missing message may come by itself before we reconcile."""

ASKING_MAX: Final[Nanos] = MINUTE
"""Time for which one session, begun or wished for, keeps the channel from asking others for what is
missing: most are over within seconds, and one that brings a long history names what is left."""


class Seeking:
    """The searches of all channels."""

    def __init__(self, slots: Slots, rng: random.Random) -> None:
        self._slots = slots
        self._rng = rng
        self.searches: dict[ChannelId, Search] = {}

    def lacks(self, channel: ChannelId, count: int, named: tuple[PeerId, ...], now: Nanos) -> None:
        """Ask one of the peers `named`, unless one is asked already or soon.

        A session put off because its peer fails does not count: another peer may have it.
        """
        search = self.searches.get(channel)
        peers = tuple(peer for peer in named if (channel, peer) in self._slots.linked)
        if search is None:
            if not count or not peers:
                return
            search = self.searches[channel] = Search()
        search.lacks(count, now)
        if count == 0:
            for key, wish in list(self._slots.wishes.items()):
                if key.channel == channel and wish.why == MISSING:
                    del self._slots.wishes[key]
        else:
            asking = self._is_asking(channel, now)
            search.plan(peers, now, ASKING_MAX if asking else LACKING_AFTER)

    def left(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """A peer has no link any more: it is asked nothing."""
        search = self.searches.get(channel)
        if search is None:
            return
        search.tried.discard(peer)
        others = self._slots.peers(channel)
        if not others:
            del self.searches[channel]
        elif not self._is_asking(channel, now):
            search.plan(others, now)

    def ended(self, event: Ended, ended: Wish | None, now: Nanos) -> None:
        """A session is over: ask somebody else while something is missing."""
        channel, peer = event.channel, event.peer
        search = self.searches.get(channel)
        if search is None or not search.lacking:
            return
        if event.got:
            search.news(now)
        over = event.outcome not in {Outcome.BENIGN, Outcome.MOVED}
        if over and (ended is None or (ended.span is None and not ended.once)):
            # it lacks it too, or had its turn
            search.tried |= {peer} & {*self._slots.peers(channel)}
        if not self._is_asking(channel, now):
            search.plan(self._slots.peers(channel), now)

    def begin_due(self, now: Nanos) -> None:
        """Wish for the sessions whose time has come that look for what is missing."""
        for channel, search in self.searches.items():
            if search.at is None or search.at > now:
                continue
            if self._is_asking(channel, now):
                search.at = now + ASKING_MAX  # what comes of that is told, or takes too long
                continue
            peers = [
                one
                for one in self._slots.peers(channel)
                if SessionKey(channel, one) not in self._slots.running
            ]
            if not peers:
                search.at = None  # whose end is told, or who comes
                continue
            self._slots.wish(channel, search.pick(peers, self._rng), Wish(now, MISSING))

    def _is_asking(self, channel: ChannelId, now: Nanos) -> bool:
        """Return whether somebody is asked in `channel`, or will be soon.

        Who was asked in this round does not count again, nor a session that takes too long: whoever
        begins one after the other, or trickles, must not keep us from asking others.
        """
        soon, search = now + LACKING_AFTER, self.searches.get(channel)
        tried = set() if search is None else search.tried
        wished = [(key, wish) for key, wish in self._slots.wishes.items() if wish.at <= soon]
        return any(
            key.channel == channel
            and key.plane is Plane.LOG
            and now < wish.at + ASKING_MAX
            and (wish.why == MISSING or key.peer not in tried)
            for key, wish in (*self._slots.running.items(), *wished)
        )
