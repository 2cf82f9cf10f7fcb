"""Schedules reconciliation sessions: which peer, when, by which protocol, and why.

One table of sessions for all channels. Today there is one protocol, Waku Sync, and five reasons: a
new link, messages that others named and we lack, a session of a peer that was cut short, a person
who asks, and every five minutes one peer at random. Every start says why.

On a new link the participant with the smaller key begins; the other side answers. Then everything
is compared, and so it is every twelfth time of those that come by themselves, since an old message
may have reached a peer later; else the last hour (Waku Sync, "Sync Interval"). A peer that
announced no port cannot be dialled, so it begins all sessions with us.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from sync.machine import HOUR, MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick, earlier
from sync.manager.searching import Search

SESSIONS_MAX = 4
"""Sessions we begin and that run at once, of one peer each; each holds two connections and up to a
payload."""

LACKING_AFTER: Nanos = 3 * SECOND // 2
"""How long we wait for what is missing to come by itself before we reconcile."""

AGAIN_AFTER: Nanos = SECOND
"""How long after a second link to a peer we reconcile: two who dial each other at once, settle."""

RETRY_FIRST: Nanos = 2 * SECOND
RETRY_MAX: Nanos = 60 * SECOND

PERIOD: Nanos = 5 * MINUTE
"""Between two sessions that begin by themselves, a tenth more or less."""

SPAN: Nanos = HOUR
"""What most of them compare."""

EVERYTHING_EVERY = 12
"""Each so many-th of them compares everything: about once an hour."""

PROTOCOL = "waku"
PROTOCOLS = (PROTOCOL,)
"""All there are. Without any, what a channel repairs by itself must do: nobody is asked."""

NEW_LINK = "new link"
MISSING = "messages are missing"
ASKED = "asked by the person"
REGULAR = "every five minutes"
REGULAR_WHOLE = "every hour"
CUT_SHORT = "a session that the peer began was cut short"


@dataclass(frozen=True, slots=True)
class Joined:
    """A link to `peer` proved `channel`; whether we can dial it for sessions."""

    channel: ChannelId
    peer: PeerId
    accepts: bool = True


@dataclass(frozen=True, slots=True)
class Left:
    """The link to `peer` is down, or no longer carries `channel`."""

    channel: ChannelId
    peer: PeerId


@dataclass(frozen=True, slots=True)
class LackingNow:
    """`channel` lacks `count` messages that others named; `peers` are connected."""

    channel: ChannelId
    count: int
    peers: tuple[PeerId, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """The person asks to reconcile with `peer` now."""

    channel: ChannelId
    peer: PeerId


@dataclass(frozen=True, slots=True)
class Ended:
    """A session is over; `converged` if both sides hold the same now, `got` messages later."""

    channel: ChannelId
    peer: PeerId
    converged: bool
    got: int = 0
    put_off: bool = False
    """Whether `Sought` tells when to try again."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A channel wants sessions with these peers now, because of `why`."""

    channel: ChannelId
    peers: tuple[PeerId, ...]
    why: str
    once: bool = False
    """Whether they are of a part only, and the channel itself says what follows."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The machines of `channel` were made anew after a failed commit: their sessions are gone."""

    channel: ChannelId


Input: TypeAlias = Joined | Left | LackingNow | Asked | Ended | Sought | Rebuilt | Tick


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a session."""

    channel: ChannelId
    peer: PeerId
    protocol: str
    why: str
    span: Nanos | None = None
    """How old may be what is compared; None for everything."""


@dataclass(slots=True)
class Wish:
    """A session we want: when, why, how often it failed already, and how far back it looks."""

    at: Nanos
    why: str
    failures: int = 0
    span: Nanos | None = None
    once: bool = False
    """See `Sought`."""


@dataclass(slots=True)
class Regular:
    """Regular comparison of a channel: when the next one is due, and how many there were."""

    at: Nanos
    count: int = 0


class Manager:
    """The one table of sessions, wanted and running."""

    def __init__(
        self, me: PeerId, rng: random.Random, protocols: Sequence[str] = PROTOCOLS
    ) -> None:
        self._me = me
        self._rng = rng
        self._protocols = protocols
        self._linked: set[tuple[ChannelId, PeerId]] = set()
        self._running: dict[tuple[ChannelId, PeerId], Wish] = {}
        self._wishes: dict[tuple[ChannelId, PeerId], Wish] = {}
        self._regular: dict[ChannelId, Regular] = {}
        self._searches: dict[ChannelId, Search] = {}

    def handle(self, event: Input, now: Nanos) -> Sequence[Start]:
        """See `sync.machine`."""
        if not self._protocols:
            return ()
        match event:
            case Joined(accepts=False):
                pass  # it begins sessions itself: nobody waits for it, and nobody wishes for one
            case Joined(channel, peer):
                again = (channel, peer) in self._linked
                self._linked.add((channel, peer))
                if channel not in self._regular:
                    self._regular[channel] = Regular(now + self._period())
                if self._me < peer:
                    at = now + AGAIN_AFTER if again else now
                    self._wish(channel, peer, Wish(at, NEW_LINK))
            case Left(channel, peer):
                self._linked.discard((channel, peer))
                self._wishes.pop((channel, peer), None)
                self._running.pop((channel, peer), None)
                self._on_left(channel, peer, now)
            case LackingNow(channel, count, peers):
                self._on_lacking(channel, count, peers, now)
            case Asked(channel, peer):
                self._wish(channel, peer, Wish(now, ASKED))
            case Ended():
                self._on_ended(event, now)
            case Sought(channel, peers, why, once):
                for peer in peers:
                    self._wishes.pop((channel, peer), None)
                    self._wish(channel, peer, Wish(now, why, once=once))
            case Rebuilt(channel):
                for _, peer in [key for key in self._running if key[0] == channel]:
                    self._on_ended(Ended(channel, peer, converged=False), now)
            case Tick():
                self._wish_regularly(now)
            case _:
                assert_never(event)
        self._search(now)
        return self._start_due(now)

    def may_dial(self, channel: ChannelId, peer: PeerId) -> bool:
        """Return whether we, too, may begin sessions with `peer` in `channel`."""
        return (channel, peer) in self._linked

    @property
    def running(self) -> int:
        """Number of sessions we began whose end we have not seen."""
        return len(self._running)

    def sizes(self) -> dict[str, int]:
        """Return how much the tables hold beside what runs; a link bounds what is held of it."""
        return {
            "sessions wished for": len(self._wishes),
            "peers asked": sum(len(search.tried) for search in self._searches.values()),
            "searches": len(self._searches),
        }

    def deadline(self) -> Nanos | None:
        """Return when the next session may start; None while all places are taken."""
        due: Nanos | None = None
        for regular in self._regular.values():
            due = regular.at if due is None or regular.at < due else due
        if not (self._wishes or self._searches) or len(self._running) >= SESSIONS_MAX:
            return due  # nearly always
        busy = {peer for _, peer in self._running}
        times = [wish.at for (_, peer), wish in self._wishes.items() if peer not in busy]
        times += [one.at for one in self._searches.values() if one.at is not None]
        return earlier(due, min(times, default=None))

    def _period(self) -> Nanos:
        return round(PERIOD * self._rng.uniform(0.9, 1.1))

    def _wish_regularly(self, now: Nanos) -> None:
        """Compare channels whose time has come with one peer each; without peers, with nobody."""
        for channel, regular in list(self._regular.items()):
            if regular.at > now:
                continue
            peers = self._peers(channel)
            if not peers:
                del self._regular[channel]
                continue
            regular.at, regular.count = now + self._period(), regular.count + 1
            whole = regular.count % EVERYTHING_EVERY == 0
            why, span = (REGULAR_WHOLE, None) if whole else (REGULAR, SPAN)
            self._wish(channel, self._rng.choice(peers), Wish(now, why, span=span))

    def _on_left(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Forget whoever has no link: as many are remembered as there are links."""
        search = self._searches.get(channel)
        if search is None:
            return
        search.tried.discard(peer)
        others = self._peers(channel)
        if not others:
            del self._searches[channel]
        elif not self._is_asking(channel, now):
            search.plan(others, now)

    def _on_lacking(
        self, channel: ChannelId, count: int, peers: tuple[PeerId, ...], now: Nanos
    ) -> None:
        """Ask one of `peers`, unless one is asked already or soon.

        A session put off because its peer fails does not count: another peer may have it.
        """
        search = self._searches.get(channel)
        peers = tuple(peer for peer in peers if (channel, peer) in self._linked)
        if search is None:
            if not count or not peers:
                return
            search = self._searches[channel] = Search()
        search.lacks(count, now)
        if count == 0:
            for key, wish in list(self._wishes.items()):
                if key[0] == channel and wish.why == MISSING:
                    del self._wishes[key]
        elif not self._is_asking(channel, now):
            search.plan(peers, now, LACKING_AFTER)

    def _is_asking(self, channel: ChannelId, now: Nanos) -> bool:
        """Return whether a session of `channel` is running or begins soon."""
        soon = now + LACKING_AFTER
        return any(key[0] == channel for key in self._running) or any(
            key[0] == channel and (wish.why == MISSING or wish.at <= soon)
            for key, wish in self._wishes.items()
        )

    def _search(self, now: Nanos) -> None:
        """Wish for the sessions whose time has come that look for what is missing."""
        for channel, search in self._searches.items():
            if search.at is None or search.at > now:
                continue
            if self._is_asking(channel, now):
                search.at = None  # what comes of that is told
                continue
            peers = self._peers(channel)
            if not peers:
                search.at = None
                continue
            self._wish(channel, search.pick(peers, self._rng), Wish(now, MISSING))

    def _peers(self, channel: ChannelId) -> list[PeerId]:
        return sorted(key[1] for key in self._linked if key[0] == channel)

    def _on_ended(self, event: Ended, now: Nanos) -> None:
        """Try again what failed, ever later; ask somebody else while something is missing."""
        channel, peer, converged = event.channel, event.peer, event.converged
        ended = self._running.pop((channel, peer), None)
        failures = ended.failures + 1 if ended is not None and not event.got else 1
        at = now + min(RETRY_FIRST << min(failures - 1, 6), RETRY_MAX)
        if converged:
            self._wishes.pop((channel, peer), None)
        elif event.put_off:
            self._wish(channel, peer, Wish(now + RETRY_MAX, CUT_SHORT))
        elif ended is not None and ended.why != MISSING and not ended.once:
            self._wish(channel, peer, Wish(at, ended.why, failures, ended.span))
        elif ended is None:  # it may be over for the peer, which then does not try again
            self._wish(channel, peer, Wish(now + 2 * RETRY_FIRST, CUT_SHORT))
        search = self._searches.get(channel)
        if search is None or not search.lacking:
            return
        if event.got:
            search.news()
        elif converged and (ended is None or (ended.span is None and not ended.once)):
            search.tried |= {peer} & {*self._peers(channel)}  # it lacks it too
        if not self._is_asking(channel, now):
            search.plan(self._peers(channel), now)

    def _wish(self, channel: ChannelId, peer: PeerId, wish: Wish) -> None:
        key = (channel, peer)
        known = self._wishes.get(key)
        if key in self._linked and (known is None or wish.at < known.at):
            self._wishes[key] = wish

    def _start_due(self, now: Nanos) -> list[Start]:
        """Start what is due and has a place: first with whom it failed least, then in order.

        Nobody has more than one of the places, and who keeps failing waits for all others.
        """
        starts: list[Start] = []
        busy = {peer for _, peer in self._running}
        due = [key for key, wish in self._wishes.items() if wish.at <= now]
        for key in sorted(
            due, key=lambda key: (self._wishes[key].failures, self._wishes[key].at, key)
        ):
            if len(self._running) >= SESSIONS_MAX:
                break
            if key[1] in busy:
                continue
            busy.add(key[1])
            wish = self._running[key] = self._wishes.pop(key)
            starts.append(Start(*key, PROTOCOL, wish.why, wish.span))
        return starts
