"""Sessions wished for and running, the links they need, and the places that run at once.

Nobody has two places, and no address all of them: identities cost nothing, and each may keep its
place for minutes.
"""

from collections import Counter

from sync.machine import ChannelId, Nanos, PeerId
from sync.manager.wish_table import Wishes
from sync.manager.wishes import ASKED, Wish
from sync.sessions.sync_config import SESSIONS_MAX
from sync.sessions.values import Plane, SessionKey


class Slots:
    """See the module docstring; `most` sessions run at once."""

    def __init__(self, most: int = SESSIONS_MAX) -> None:
        self.most = most
        self.linked: dict[tuple[ChannelId, PeerId], str] = {}
        """With the address each speaks from."""
        self.running: dict[SessionKey, Wish] = {}
        self.wishes = Wishes()

    # --- Links ---------------------------------------------------------------------------------

    def peers(self, channel: ChannelId) -> list[PeerId]:
        """Return who has a link that carries a channel, in order."""
        return sorted(key[1] for key in self.linked if key[0] == channel)

    def left(self, channel: ChannelId, peer: PeerId) -> None:
        """No link to a peer carries a channel any more."""
        self.linked.pop((channel, peer), None)
        for plane in Plane:
            key = SessionKey(channel, peer, plane)
            self.wishes.pop(key, None)
            self.running.pop(key, None)

    # --- Wishes --------------------------------------------------------------------------------

    def wish(self, channel: ChannelId, peer: PeerId, wish: Wish, plane: Plane = Plane.LOG) -> None:
        """Wish for a session with who has a link, unless one is wished for sooner."""
        key = SessionKey(channel, peer, plane)
        known = self.wishes.get(key)
        if (channel, peer) in self.linked and (known is None or wish.at < known.at):
            self.wishes[key] = wish

    def wish_instead(self, channel: ChannelId, peer: PeerId, wish: Wish) -> None:
        """Wish for a session over messages instead of any that was wished for."""
        self.wishes.pop(SessionKey(channel, peer), None)
        self.wish(channel, peer, wish)

    def let_go(self, key: SessionKey) -> None:
        """Forget the wish for a session, unless it is to stay or a person waits for it."""
        wish = self.wishes.get(key)
        if wish is not None and not (wish.live or wish.is_asked):
            del self.wishes[key]

    # --- Places --------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """True while no session more may run."""
        return len(self.running) >= self.most

    def held(self) -> Counter[str]:
        """Return how many places each peer holds, and each address."""
        held: Counter[str] = Counter([key.peer for key in self.running])
        held.update([host for key in self.running if (host := self.linked.get(key[:2]))])
        return held

    def has_place(self, key: SessionKey, held: Counter[str]) -> bool:
        """Return whether the peer of a wish may have a place beside those that are held."""
        if held[key.peer]:
            return False
        host = self.linked[key.channel, key.peer]
        return held[host] < max(1, self.most - 1) or self.wishes[key].why == ASKED

    def next_of(self, due: set[SessionKey], held: Counter[str]) -> SessionKey:
        """Return which wish comes first: with whom it failed least, then in order.

        A peer that keeps failing waits for all others; of equals the address with fewest places is
        first.
        """

        def rank(key: SessionKey) -> tuple[int, int, Nanos, ChannelId, PeerId, str]:
            wish = self.wishes[key]
            places = held[self.linked[key.channel, key.peer]]
            return wish.failures, places, wish.at, key.channel, key.peer, key.plane.value

        return min(due, key=rank)
