"""Schedules reconciliation sessions: which peer, when, and why; `choice` says by which protocol.

One table of sessions for all channels, of those that end: live ones are in none of its places.
There are five reasons: a new link, messages that others named and we lack, a session of a peer that
was cut short, a person who asks, and every five minutes one peer at random. Every start says why.

Sessions over whole author logs come where the peer offers its logs: behind the first one of a link,
which then takes the last hour alone, with a peer that everything was not compared with for a day;
after two that came to nothing; and once `PUSHED_MANY` messages have come, which it acknowledges.

On a new link the participant with the smaller key begins; the other side answers. Then everything
is compared, and so it is every twelfth time of those that come by themselves, since an old message
may have reached a peer later; else the last hour (Waku Sync, "Sync Interval"). A peer that
announced no port cannot be reached, so it begins all sessions with us.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from sync.machine import HOUR, MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick, earlier
from sync.manager.choice import Choice, choose
from sync.manager.expectations import Expectations
from sync.manager.histories import Histories
from sync.manager.live_sessions import RELAYS_MAX, LiveSessions
from sync.manager.presences import Presences
from sync.manager.registry import PROTOCOLS
from sync.manager.searching import Search
from sync.manager.values import (
    Announced,
    Asked,
    Compared,
    Ended,
    Input,
    Joined,
    LackingNow,
    Left,
    LogsOffered,
    Observed,
    Rebuilt,
    Relayed,
    Sought,
    Start,
    StateDiffers,
    WentLive,
)
from sync.manager.wishes import (
    AGAIN_MAX,
    ASKED,
    CUT_SHORT,
    MANY_CAME,
    MISSING,
    NEW_LINK,
    OTHER_STATE,
    PUSHED_MANY,
    REGULAR,
    REGULAR_WHOLE,
    Regular,
    Wish,
)
from sync.sessions.protocol import Protocols, Situation
from sync.sessions.values import GOVERNANCE, RELAY, Mode, Outcome, Plane, SessionKey

SESSIONS_MAX = 4
"""Sessions we begin and that run at once, of one peer each; each holds two connections and up to a
payload."""

LACKING_AFTER: Nanos = 3 * SECOND // 2
"""Time for which a missing message may come by itself before we reconcile."""

AGAIN_AFTER: Nanos = SECOND
"""Delay of reconciling after a second link to a peer: two who dial each other at once, settle."""

RETRY_FIRST: Nanos = 2 * SECOND
RETRY_MAX: Nanos = 60 * SECOND
STATE_RETRY_MAX: Nanos = 256 * SECOND

PERIOD: Nanos = 5 * MINUTE
"""Between two sessions that begin by themselves, a tenth more or less."""

SPAN: Nanos = HOUR
"""Span that most of them compare."""

EVERYTHING_EVERY = 12
"""Each so many-th of them compares everything: about once an hour."""

ASKING_MAX: Nanos = MINUTE
"""Time for which one session, begun or wished for, keeps the channel from asking others for what is
missing: most are over within seconds, and one that brings a long history names what is left."""

OF_HOST_MAX = SESSIONS_MAX - 1
"""Of the places, those that peers of one address may hold."""

MOVED_MAX = 3
"""Tries that follow each other at once because what was compared changed meanwhile."""

GOVERNANCE_WITHIN: Nanos = 2 * SECOND
"""Time in which governance is pulled that has to come before what was to be compared."""

CUT_TWICE = 2
"""Sessions in a row that came to nothing, after which the other kind is tried."""

ONE_AFTER_THE_OTHER: Nanos = SECOND
"""Between sessions over author logs that a channel wants of several peers: the first one has found
what is missing by then, and the next ones are put off before they begin."""


class Manager:
    """The one table of sessions, wanted and running."""

    def __init__(
        self,
        me: PeerId,
        rng: random.Random,
        protocols: Protocols = PROTOCOLS,
    ) -> None:
        """Begin without any session; without protocols, nobody is ever asked."""
        self._me = me
        self._rng = rng
        self._protocols = protocols
        self._linked: dict[tuple[ChannelId, PeerId], str] = {}
        """With the address each speaks from."""
        self._presences = Presences(protocols)
        self._histories = Histories()
        self.expectations = Expectations()
        self._begun: Counter[PeerId] = Counter()
        """Sessions over author logs that we began, since the peer has a link."""
        self._running: dict[SessionKey, Wish] = {}
        self._wishes: dict[SessionKey, Wish] = {}
        self._regular: dict[ChannelId, Regular] = {}
        self._searches: dict[ChannelId, Search] = {}
        self._observed: dict[ChannelId, PeerId] = {}
        """Peer of the next regular comparison: the newest author whose entry was let in."""
        self._live = LiveSessions()

    def handle(self, event: Input, now: Nanos) -> Sequence[Start]:
        """See `sync.machine`."""
        if not self._protocols:
            return ()
        match event:
            case Joined() | Left() | Announced() | LogsOffered():
                self._on_link(event, now)
            case Compared(channel, compared):
                self._histories.restore(channel, compared)
            case LackingNow(channel, count, peers):
                self._on_lacking(channel, count, peers, now)
            case Asked(channel, peer, protocol, live):
                plane = self._plane_of(protocol)
                self._wishes.pop(SessionKey(channel, peer, plane), None)
                asked = Wish(now, ASKED, protocol=protocol, by_logs=live, live=live)
                self._wish(channel, peer, asked, plane)
            case Ended():
                self._on_ended(event, now)
            case Sought():
                self._on_sought(event, now)
            case StateDiffers(channel, peer):
                self._wish(channel, peer, Wish(now, OTHER_STATE), Plane.STATE)
            case Relayed(channel, peer):
                self._on_relayed(channel, peer, now)
            case Observed(channel, peer):
                self._observed[channel] = peer
            case WentLive(channel, peer):
                ended = self._running.get(SessionKey(channel, peer))
                self._live.began(channel, peer, wanted=ended is not None and ended.live)
            case Rebuilt(channel):
                self._on_rebuilt(channel, now)
            case Tick():
                self.expectations.expire(now)
                self._wish_regularly(now)
            case _:
                assert_never(event)
        self._search(now)
        return self._start_due(now)

    def may_dial(self, channel: ChannelId, peer: PeerId) -> bool:
        """Return whether we, too, may begin sessions with `peer` in `channel`."""
        return (channel, peer) in self._linked

    def spoken(self, channel: ChannelId, peer: PeerId) -> frozenset[str]:
        """Return the protocols that a peer has announced."""
        return self._presences.speaks(channel, peer)

    def host_of(self, channel: ChannelId, peer: PeerId) -> str:
        """Return the address that `peer` speaks from; empty if that is not known."""
        return self._linked.get((channel, peer), "")

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
        due = self.expectations.deadline()
        for regular in self._regular.values():
            due = regular.at if due is None or regular.at < due else due
        if not (self._wishes or self._searches) or len(self._running) >= SESSIONS_MAX:
            return due  # nearly always
        held = self._held()
        times = [
            self._begins_at(key, wish)
            for key, wish in self._wishes.items()
            if self._has_place(key, held)
        ]
        times += [one.at for one in self._searches.values() if one.at is not None]
        return earlier(due, min(times, default=None))

    def _period(self) -> Nanos:
        return round(PERIOD * self._rng.uniform(0.9, 1.1))

    def _on_rebuilt(self, channel: ChannelId, now: Nanos) -> None:
        """Count all sessions of a channel as failed."""
        self.expectations.end_all(self.expectations.of(channel))
        for peer in self._live.peers(channel):
            self._live_over(channel, peer, now)
        for key in [key for key in self._running if key.channel == channel]:
            failed = Ended(channel, key.peer, Outcome.NOT_CONVERGED, plane=key.plane)
            self._on_ended(failed, now)

    def _on_sought(self, event: Sought, now: Nanos) -> None:
        """Wish for sessions with all of them, over author logs one after the other.

        Both sides send such a session's first page before one can be put off.
        """
        at = now
        for peer in event.peers:
            self._wishes.pop(SessionKey(event.channel, peer), None)
            needed = not event.once and self._histories.whole_needed(event.channel, peer, now)
            by_logs = bool(needed) and self._presences.offers(event.channel, peer)
            begins = at if by_logs else now
            wish = Wish(begins, event.why, once=event.once, by_logs=by_logs)
            self._wish(event.channel, peer, wish)
            at += ONE_AFTER_THE_OTHER if by_logs else 0

    def _on_relayed(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Wish for a live session with a relay, unless there are enough."""
        if self._live.has(channel, peer) or not self._presences.offers(channel, peer):
            return
        coming = {
            key.peer
            for table in (self._wishes, self._running)
            for key, one in table.items()
            if one.live and key.channel == channel
        }
        if len(self._live.wanted(channel) | coming) < RELAYS_MAX:
            self._wishes.pop(SessionKey(channel, peer), None)
            self._wish(channel, peer, Wish(now, RELAY, by_logs=True, live=True))

    def _live_over(
        self, channel: ChannelId, peer: PeerId, now: Nanos, *, wanted: bool = True
    ) -> None:
        """A live session is over; one that is still `wanted` is to begin anew."""
        if self._live.over(channel, peer) and wanted:
            at = now + RETRY_FIRST
            self._wish(channel, peer, Wish(at, RELAY, by_logs=True, live=True))

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
            observed = self._observed.pop(channel, None)
            chosen = observed if observed in peers else self._rng.choice(peers)
            self._wish(channel, chosen, Wish(now, why, span=span))

    def _on_link(self, event: Joined | Left | Announced | LogsOffered, now: Nanos) -> None:
        match event:
            case Joined(accepts=False):
                pass  # it begins sessions itself: nobody waits for it, and nobody wishes for one
            case Joined():
                self._on_joined(event, now)
            case Left(channel, peer):
                self._on_left(channel, peer, now)
            case Announced(channel, peer, spoken):
                if (channel, peer) in self._linked:
                    self._presences.told(channel, peer, spoken, now)
                if self._protocols.family not in spoken:
                    self.expectations.end(channel, peer)
            case LogsOffered(peer, channels):
                self._presences.offered(peer, channels)
            case _:
                assert_never(event)

    def _on_joined(self, event: Joined, now: Nanos) -> None:
        channel, peer = event.channel, event.peer
        again = (channel, peer) in self._linked
        if not again and self._is_history_expected(channel, peer, now):
            self.expectations.begin(channel, peer, now)
        self._linked[channel, peer] = event.host
        self._histories.count_logs(channel, event.logs)
        if channel not in self._regular:
            self._regular[channel] = Regular(now + self._period())
        if not again:
            self._presences.joined(channel, peer, now)
        if self._me < peer:
            at = now + AGAIN_AFTER if again else now
            self._wish(channel, peer, Wish(at, NEW_LINK))

    def _on_left(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Forget whoever has no link: as many are remembered as there are links."""
        self._linked.pop((channel, peer), None)
        self.expectations.end(channel, peer)
        self._presences.left(channel, peer)
        self._live.over(channel, peer)
        if not any(one == peer for _, one in self._linked):
            self._begun.pop(peer, None)
        for table in (self._wishes, self._running):
            for key in [key for key in table if key[:2] == (channel, peer)]:
                del table[key]
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
                if key.channel == channel and wish.why == MISSING:
                    del self._wishes[key]
        else:
            asking = self._is_asking(channel, now)
            search.plan(peers, now, ASKING_MAX if asking else LACKING_AFTER)

    def _is_asking(self, channel: ChannelId, now: Nanos) -> bool:
        """Return whether somebody is asked in `channel`, or will be soon.

        Who was asked in this round does not count again, nor a session that takes too long: whoever
        begins one after the other, or trickles, must not keep us from asking others.
        """
        soon, search = now + LACKING_AFTER, self._searches.get(channel)
        tried = set() if search is None else search.tried
        wished = [(key, wish) for key, wish in self._wishes.items() if wish.at <= soon]
        return any(
            key.channel == channel
            and key.plane is Plane.LOG
            and now < wish.at + ASKING_MAX
            and (wish.why == MISSING or key.peer not in tried)
            for key, wish in (*self._running.items(), *wished)
        )

    def _search(self, now: Nanos) -> None:
        """Wish for the sessions whose time has come that look for what is missing."""
        for channel, search in self._searches.items():
            if search.at is None or search.at > now:
                continue
            if self._is_asking(channel, now):
                search.at = now + ASKING_MAX  # what comes of that is told, or takes too long
                continue
            peers = [
                one for one in self._peers(channel) if SessionKey(channel, one) not in self._running
            ]
            if not peers:
                search.at = None  # whose end is told, or who comes
                continue
            self._wish(channel, search.pick(peers, self._rng), Wish(now, MISSING))

    def _peers(self, channel: ChannelId) -> list[PeerId]:
        return sorted(key[1] for key in self._linked if key[0] == channel)

    def _on_ended(self, event: Ended, now: Nanos) -> None:
        """Try again what failed, ever later; ask somebody else while something is missing."""
        if event.mode is Mode.LIVE:  # it had none of the places
            wanted = event.outcome is not Outcome.BENIGN
            self._live_over(event.channel, event.peer, now, wanted=wanted)
            return
        channel, peer, outcome = event.channel, event.peer, event.outcome
        self._histories.count_logs(channel, event.logs)
        key = SessionKey(channel, peer, event.plane)
        ended = _anew(self._running.pop(key, None))
        if event.plane is Plane.STATE:
            self._on_state_ended(key, ended, outcome, now)
            return
        if event.then and ended is not None:
            self._go_on(key, event, ended, now)
            return
        converged = outcome is Outcome.CONVERGED
        self._end_expectation(event)
        failures = ended.failures + 1 if ended is not None and not event.got else 1
        at = now + min(RETRY_FIRST << min(failures - 1, 6), RETRY_MAX)
        if converged:
            wish = self._wishes.get(key)
            if wish is not None and not (wish.live or wish.is_asked):
                del self._wishes[key]
            self._on_converged(event, ended, now)
        elif outcome is Outcome.BENIGN and ended is not None and ended.is_tried_again:
            self._wish(channel, peer, replace(ended, at=at, failures=failures))
        elif outcome is Outcome.BENIGN:
            self._wish(channel, peer, Wish(now + RETRY_MAX, CUT_SHORT))
        elif outcome is Outcome.MOVED and ended is not None and ended.moved < MOVED_MAX:
            self._wish(channel, peer, replace(ended, at=now, moved=ended.moved + 1))
        elif ended is not None and ended.why != MISSING and not ended.once:
            self._wish(
                channel,
                peer,
                replace(ended, at=at, failures=failures, moved=0),
            )
        elif ended is None:  # it may be over for the peer, which then does not try again
            self._wish(channel, peer, Wish(now + 2 * RETRY_FIRST, CUT_SHORT))
        search = self._searches.get(channel)
        if search is None or not search.lacking:
            return
        if event.got:
            search.news(now)
        over = outcome not in {Outcome.BENIGN, Outcome.MOVED}
        if over and (ended is None or (ended.span is None and not ended.once)):
            search.tried |= {peer} & {*self._peers(channel)}  # it lacks it too, or had its turn
        if not self._is_asking(channel, now):
            search.plan(self._peers(channel), now)

    def _end_expectation(self, event: Ended) -> None:
        """Expect a history no longer: no session over author logs follows, or this was it."""
        failed = event.outcome not in {Outcome.CONVERGED, Outcome.BENIGN}
        if failed or event.whole:
            self.expectations.end(event.channel, event.peer)

    def _go_on(self, key: SessionKey, event: Ended, ended: Wish, now: Nanos) -> None:
        """Begin at once what the handshakes of a session have picked; or once governance is here.

        Whatever else was wished for meanwhile is served by it.
        """
        again = replace(ended, at=now, protocol=event.then, chosen=event.then_why)
        again.estimate = event.estimate
        if event.then == GOVERNANCE:
            again = replace(ended, at=now + GOVERNANCE_WITHIN)
        self._wishes.pop(key, None)
        self._wish(key.channel, key.peer, again, key.plane)

    def _on_state_ended(
        self, key: SessionKey, ended: Wish | None, outcome: Outcome, now: Nanos
    ) -> None:
        """Try again what moved or failed; a root that is told again wishes for all else."""
        if ended is None or outcome in {Outcome.CONVERGED, Outcome.BENIGN}:
            return
        if outcome is Outcome.MOVED and ended.moved < MOVED_MAX:
            again = replace(ended, at=now, moved=ended.moved + 1)
        else:
            at = now + min(RETRY_FIRST << min(ended.failures, 7), STATE_RETRY_MAX)
            again = replace(ended, at=at, failures=ended.failures + 1, moved=0)
        self._wish(key.channel, key.peer, again, Plane.STATE)

    def _on_converged(self, event: Ended, ended: Wish | None, now: Nanos) -> None:
        """Compare by author logs what a session did not, or what it brought."""
        channel, peer = event.channel, event.peer
        if event.whole:
            self._histories.compared(channel, peer, now)
        if ended is not None and ended.then:
            self._wish(channel, peer, Wish(now, ended.then, by_logs=True))
        elif ended is not None and ended.live and not self._live.has(channel, peer):
            if ended.failures < AGAIN_MAX:
                self._ask_to_stay_again(event, ended, now)
        elif self._owes_ticks(event, ended):
            self._wish(channel, peer, Wish(now, MANY_CAME, by_logs=True))

    def _ask_to_stay_again(self, event: Ended, ended: Wish, now: Nanos) -> None:
        """Ask a peer again that had no place: it may have heard meanwhile that it needs us too."""
        at = now + (RETRY_FIRST << ended.failures)
        again = replace(ended, at=at, failures=ended.failures + 1)
        self._wish(event.channel, event.peer, again)

    def _owes_ticks(self, event: Ended, ended: Wish | None) -> bool:
        """Return whether a peer pushed so much that it waits for acknowledgements of it."""
        protocol = self._protocols.named(event.protocol)
        return (
            event.got >= PUSHED_MANY
            and protocol is not None
            and protocol.usual
            and not (ended is not None and ended.once)
            and self._presences.offers(event.channel, event.peer)
        )

    def _begins_at(self, key: SessionKey, wish: Wish) -> Nanos:
        return self._presences.begins_at(key.channel, key.peer, wish.at)

    def _wish(self, channel: ChannelId, peer: PeerId, wish: Wish, plane: Plane = Plane.LOG) -> None:
        key = SessionKey(channel, peer, plane)
        known = self._wishes.get(key)
        if (channel, peer) in self._linked and (known is None or wish.at < known.at):
            self._wishes[key] = wish

    def _start_due(self, now: Nanos) -> list[Start]:
        """Start what is due and has a place: first with whom it failed least, then in order.

        A peer that keeps failing waits for all others; of equals the address with fewest places is
        first.
        """
        starts: list[Start] = []
        self._presences.forget_waits(now)
        due = {key for key, wish in self._wishes.items() if self._begins_at(key, wish) <= now}
        while due and len(self._running) < SESSIONS_MAX:
            held = self._held()
            due = {key for key in due if self._has_place(key, held)}
            if not due:
                break
            key = min(due, key=lambda key: self._rank(key, held))
            due.remove(key)
            wish = self._wishes.pop(key)
            self._narrow(key, wish, now)
            choice = self._choose(key, wish)
            if choice is None:
                continue  # the peer does not speak what is wanted
            wish.at = now
            self._running[key] = wish
            starts.append(
                Start(
                    key.channel,
                    key.peer,
                    choice.protocol,
                    wish.why,
                    wish.span,
                    wish.chosen or choice.why,
                    wish.estimate or choice.cost,
                    self._count(key.peer, choice),
                    bool(wish.then),
                    wish.live,
                    self._presences.offers(key.channel, key.peer),
                )
            )
        return starts

    def _narrow(self, key: SessionKey, wish: Wish, now: Nanos) -> None:
        """Have the first session of a link take the last hour alone, if all else comes by logs."""
        if wish.why != NEW_LINK or wish.then or not self._presences.offers(*key[:2]):
            return
        wish.then = self._histories.whole_needed(key.channel, key.peer, now)
        if wish.then:
            wish.span = SPAN

    def _is_history_expected(self, channel: ChannelId, peer: PeerId, now: Nanos) -> bool:
        """Return whether the history of a channel is about to come from a peer that joins."""
        peers = [peer, *self._peers(channel)]
        needed = self._histories.whole_needed
        return bool(self._protocols.family) and all(needed(channel, one, now) for one in peers)

    def _count(self, peer: PeerId, choice: Choice) -> int:
        """Return how many sessions over author logs we began with a peer, and count this one."""
        protocol = self._protocols.named(choice.protocol)
        if protocol is None or not protocol.family:
            return 0
        self._begun[peer] += 1
        return self._begun[peer] - 1

    def may_ask(self, channel: ChannelId, peer: PeerId, protocol: str) -> bool:
        """Return whether `protocol` suits a session with `peer` that a person asks for now."""
        key = SessionKey(channel, peer, self._plane_of(protocol))
        return self._choose(key, Wish(0, ASKED, protocol=protocol)) is not None

    def _plane_of(self, protocol: str) -> Plane:
        known = self._protocols.named(protocol) if protocol else None
        return Plane.LOG if known is None else known.plane

    def _choose(self, key: SessionKey, wish: Wish) -> Choice | None:
        channel, peer = key.channel, key.peer
        offered = self._presences.offers(channel, peer)
        asked = self._protocols.named(wish.protocol) if wish.protocol else None
        wanted = not asked.usual if asked is not None else wish.by_logs
        cut = wish.failures // CUT_TWICE % 2 == 1 and asked is None and not wish.live
        situation = Situation(
            wish.why,
            wish.span,
            self._presences.speaks(channel, peer),
            key.plane,
            wish.failures,
            by_logs=(wanted != cut) and offered and wish.span is None,
            logs=self._histories.logs(channel),
            offered=offered,
            named=asked is not None,
        )
        return choose(self._protocols, situation, wish.protocol)

    def _rank(
        self, key: SessionKey, held: Counter[str]
    ) -> tuple[int, int, Nanos, ChannelId, PeerId, str]:
        wish = self._wishes[key]
        places = held[self._linked[key.channel, key.peer]]
        return wish.failures, places, wish.at, key.channel, key.peer, key.plane.value

    def _held(self) -> Counter[str]:
        """Return how many places each peer holds, and each address."""
        held: Counter[str] = Counter([key.peer for key in self._running])
        held.update([host for key in self._running if (host := self.host_of(*key[:2]))])
        return held

    def _has_place(self, key: SessionKey, held: Counter[str]) -> bool:
        """Return whether a peer may have one of the places: nobody has two, no address all of them.

        Identities cost nothing, and each may keep its place for minutes.
        """
        if held[key.peer]:
            return False
        host = self._linked[key.channel, key.peer]
        return held[host] < OF_HOST_MAX or self._wishes[key].why == ASKED


def _anew(wish: Wish | None) -> Wish | None:
    """Return a wish of which handshakes had picked the protocol, so that they do so again."""
    if wish is None or not wish.chosen:
        return wish
    return replace(wish, protocol="", chosen="", estimate=0)
