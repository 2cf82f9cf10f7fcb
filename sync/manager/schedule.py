"""SyncManager: which peer is compared with, when, and why; `choosing` says by which protocol.

Core loop: a link or a start makes wishes (`start`); so does the periodic tick (`periodic`), with
peer selection (`peer_selection`); wishes become sessions, of which a bounded number run at once
(`slots`); what a peer opens needs no place here (`handle_opened_stream` in `sync.sessions`).

One table of sessions for all channels, of those that end: live ones are in none of its places.
There are five reasons: a new link, messages that others named and we lack, a session of a peer that
was cut short, a person who asks, and every five minutes one peer. Every start says why.

With a peer that speaks it a handshake comes first, whatever the reason, and what the two tell picks
how to go on (`sync.sessions.selection`); nothing more is done where both hold the same.

With older programs sessions over whole author logs come where the peer offers its logs: behind the
first one of a link, which then takes the last hour alone, with a peer that everything was not
compared with for a day; after two that came to nothing; and once `PUSHED_MANY` messages have come,
which it acknowledges.

On a new link the participant with the smaller key begins; the other side answers. Then everything
is compared. A peer that announced no port cannot be reached, so it begins all sessions with us.
"""

import random
from collections.abc import Sequence
from typing import Final, assert_never

from sync.machine import SECOND, ChannelId, Nanos, PeerId, Tick, earlier
from sync.manager.choosing import Choosing
from sync.manager.ends import Ends
from sync.manager.expectations import Expectations
from sync.manager.histories import Histories
from sync.manager.live_sessions import RELAYS_MAX, LiveSessions
from sync.manager.peer_selection import PeerSelection
from sync.manager.periodic import Periodic
from sync.manager.presences import Presences
from sync.manager.registry import PROTOCOLS
from sync.manager.seeking import Seeking
from sync.manager.slots import Slots
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
from sync.manager.wishes import ASKED, NEW_LINK, OTHER_STATE, Wish
from sync.sessions.protocol import Protocols
from sync.sessions.sync_config import CONFIG, SyncConfig
from sync.sessions.values import RELAY, RELAYS, Mode, Outcome, Plane, SessionKey

AGAIN_AFTER: Final[Nanos] = SECOND
"""Delay of reconciling after a second link to a peer: two who dial each other at once, settle."""

UNBEGUN_AFTER: Final[Nanos] = 3 * SECOND // 2
"""Time from a new link on in which its other end begins the session that is due, if it can dial us:
a firewall may let us dial it, and keep it from that. What it has tried for over a second gives way
to ours (`sync.sessions.sessions`)."""

ONE_AFTER_THE_OTHER: Final[Nanos] = SECOND
"""Between whole comparisons that a channel wants of several peers: the first one has found what is
missing by then, and the next ones are put off before they begin."""


class Manager:
    """The one table of sessions, wanted and running."""

    def __init__(
        self,
        me: PeerId,
        rng: random.Random,
        protocols: Protocols = PROTOCOLS,
        config: SyncConfig = CONFIG,
    ) -> None:
        """Begin without any session; without protocols, nobody is ever asked."""
        self._me = me
        self._protocols = protocols
        self._slots = Slots(config.max_concurrent)
        self._presences = Presences(protocols)
        self._histories = Histories()
        self.expectations = Expectations()
        self._choosing = Choosing(protocols, self._presences, self._histories)
        self._selection = PeerSelection()
        self._periodic = Periodic(self._slots, self._choosing, self._selection, rng, config)
        self._seeking = Seeking(self._slots, rng)
        self._live = LiveSessions()
        self._dialled: set[tuple[ChannelId, PeerId]] = set()
        """Links that we dialled, of peers that may be unable to dial us."""
        self._ends = Ends(self._slots, self._choosing, self.expectations, self._live)

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
                self._seeking.lacks(channel, count, peers, now)
            case Asked(channel, peer, protocol, live):
                plane = self._choosing.plane_of(protocol)
                self._slots.wishes.pop(SessionKey(channel, peer, plane), None)
                asked = Wish(now, ASKED, protocol=protocol, by_logs=live, live=live)
                self._slots.wish(channel, peer, asked, plane)
            case Ended():
                self._on_ended(event, now)
            case Sought():
                self._on_sought(event, now)
            case StateDiffers(channel, peer):
                if (channel, peer) in self._slots.linked:
                    self._selection.heard(channel, peer, now).differs = True
                self._slots.wish(channel, peer, Wish(now, OTHER_STATE), Plane.STATE)
            case Relayed(channel, peer, for_it=False):
                self._on_relayed(channel, peer, now)
            case Relayed(channel, peer):
                self._on_relayed_to(channel, peer, now)
            case Observed(channel, peer):
                self._periodic.observed[channel] = peer
            case WentLive(channel, peer):
                self._on_live(channel, peer)
            case Rebuilt(channel, swapped):
                outcome = Outcome.MOVED if swapped else Outcome.NOT_CONVERGED
                self._on_rebuilt(channel, outcome, now)
            case Tick():
                self.expectations.expire(now)
                self._presences.forget_waits(now)
                self._periodic.tick(now)
            case _:
                assert_never(event)
        self._seeking.begin_due(now)
        return self._start_due(now)

    def may_dial(self, channel: ChannelId, peer: PeerId) -> bool:
        """Return whether we, too, may begin sessions with `peer` in `channel`."""
        return (channel, peer) in self._slots.linked

    def may_ask(self, channel: ChannelId, peer: PeerId, protocol: str) -> bool:
        """Return whether `protocol` suits a session with `peer` that a person asks for now."""
        return self._choosing.may_ask(channel, peer, protocol)

    def spoken(self, channel: ChannelId, peer: PeerId) -> frozenset[str]:
        """Return the protocols that a peer has announced."""
        return self._presences.speaks(channel, peer)

    def host_of(self, channel: ChannelId, peer: PeerId) -> str:
        """Return the address that `peer` speaks from; empty if that is not known."""
        return self._slots.linked.get((channel, peer), "")

    def dialled(self, channel: ChannelId, peer: PeerId) -> bool:
        """Return whether we dialled the link of `peer`."""
        return (channel, peer) in self._dialled

    @property
    def running(self) -> int:
        """Number of sessions we began whose end we have not seen."""
        return len(self._slots.running)

    def sizes(self) -> dict[str, int]:
        """Return how much the tables hold beside what runs; a link bounds what is held of it."""
        searches = self._seeking.searches
        return {
            "sessions wished for": len(self._slots.wishes),
            "peers asked": sum(len(search.tried) for search in searches.values()),
            "searches": len(searches),
        }

    def deadline(self) -> Nanos | None:
        """Return when the next session may start; None while all places are taken."""
        due = earlier(self.expectations.deadline(), self._periodic.deadline())
        slots, searches = self._slots, self._seeking.searches
        if not (slots.wishes or searches) or slots.full:
            return due  # nearly always
        held = slots.held()
        times = [
            self._begins_at(key, slots.wishes[key])
            for key in slots.wishes.of_others(held)
            if slots.has_place(key, held)
        ]
        times += [one.at for one in searches.values() if one.at is not None]
        return earlier(due, min(times, default=None))

    # --- Links ---------------------------------------------------------------------------------

    def _on_link(self, event: Joined | Left | Announced | LogsOffered, now: Nanos) -> None:
        match event:
            case Joined(accepts=False):
                pass  # it begins sessions itself: nobody waits for it, and nobody wishes for one
            case Joined():
                self._on_joined(event, now)
            case Left(channel, peer):
                self._on_left(channel, peer, now)
            case Announced(channel, peer, spoken):
                if (channel, peer) in self._slots.linked:
                    self._selection.heard(channel, peer, now)
                    self._presences.told(channel, peer, spoken, now)
                if self._protocols.family not in spoken:
                    self.expectations.end(channel, peer)
            case LogsOffered(peer, channels):
                self._presences.offered(peer, channels)
            case _:
                assert_never(event)

    def _on_joined(self, event: Joined, now: Nanos) -> None:
        channel, peer = event.channel, event.peer
        again = (channel, peer) in self._slots.linked
        if not again and self._is_history_expected(channel, peer, now):
            self.expectations.begin(channel, peer, now)
        if not event.dialled:
            self._dialled.discard((channel, peer))
        elif not again:
            self._dialled.add((channel, peer))
        self._slots.linked[channel, peer] = event.host
        self._selection.heard(channel, peer, now)
        self._histories.count_logs(channel, event.logs)
        self._periodic.joined(channel, now)
        if not again:
            self._presences.joined(channel, peer, now)
        if self._me < peer:
            at = now + AGAIN_AFTER if again else now
            self._slots.wish(channel, peer, Wish(at, NEW_LINK))
        elif event.dialled and not again:
            self._slots.wish(channel, peer, Wish(now + UNBEGUN_AFTER, NEW_LINK))

    def _on_left(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Forget whoever has no link: as many are remembered as there are links."""
        self._slots.left(channel, peer)
        self._dialled.discard((channel, peer))
        self.expectations.end(channel, peer)
        self._presences.left(channel, peer)
        self._selection.left(channel, peer)
        self._choosing.failed.left(channel, peer)
        self._live.over(channel, peer)
        if not any(one == peer for _, one in self._slots.linked):
            self._choosing.forget_count(peer)
        self._seeking.left(channel, peer, now)

    def _is_history_expected(self, channel: ChannelId, peer: PeerId, now: Nanos) -> bool:
        """Return whether the history of a channel is about to come from a peer that joins."""
        peers = [peer, *self._slots.peers(channel)]
        needed = self._histories.whole_needed
        return bool(self._protocols.family) and all(needed(channel, one, now) for one in peers)

    # --- What a channel wants ------------------------------------------------------------------

    def _on_sought(self, event: Sought, now: Nanos) -> None:
        """Wish for sessions with all of them, over everything one after the other.

        Both sides send such a session's first page before one can be put off.
        """
        channel, at = event.channel, now
        for peer in event.peers:
            needed = not event.once and self._histories.whole_needed(channel, peer, now)
            by_logs = bool(needed) and self._presences.offers(channel, peer)
            begins = at if by_logs else now
            wish = Wish(begins, event.why, once=event.once, by_logs=by_logs)
            self._slots.wish_instead(channel, peer, wish)
            at += ONE_AFTER_THE_OTHER if by_logs else 0

    def _on_relayed(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Wish for a live session with a relay, unless there are enough."""
        if self._live.has(channel, peer) or not self._presences.offers(channel, peer):
            return
        coming = {
            key.peer
            for table in (self._slots.wishes, self._slots.running)
            for key, one in table.items()
            if one.live and one.why != RELAYS and key.channel == channel
        }
        if len(self._live.wanted(channel) | coming) < RELAYS_MAX:
            wish = Wish(now, RELAY, by_logs=True, live=True)
            self._slots.wish_instead(channel, peer, wish)

    def _on_relayed_to(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Wish for a live session with a peer that needs us, if it may be unable to begin it."""
        if (channel, peer) not in self._dialled or self._live.has(channel, peer):
            return
        running = self._slots.running.get(SessionKey(channel, peer))
        if self._presences.offers(channel, peer) and not (running is not None and running.live):
            wish = Wish(now + UNBEGUN_AFTER, RELAYS, by_logs=True, live=True)
            self._slots.wish(channel, peer, wish)

    def _on_live(self, channel: ChannelId, peer: PeerId) -> None:
        """A session with a peer stays: none is wished for that would do the same."""
        key = SessionKey(channel, peer)
        began, wish = self._slots.running.get(key), self._slots.wishes.get(key)
        wanted = began is not None and began.live and began.why != RELAYS
        self._live.began(channel, peer, wanted=wanted)
        if wish is not None and wish.live:
            self._slots.wishes.pop(key)

    # --- Ends ----------------------------------------------------------------------------------

    def _on_ended(self, event: Ended, now: Nanos) -> None:
        """Go on, try again what failed, or ask somebody else while something is missing."""
        channel, peer = event.channel, event.peer
        if event.mode is Mode.LIVE:  # it had none of the places
            wanted = event.outcome is not Outcome.BENIGN
            self._ends.live_over(channel, peer, now, wanted=wanted)
            return
        self._histories.count_logs(channel, event.logs)
        ended = self._slots.running.pop(SessionKey(channel, peer, event.plane), None)
        self._note(event, ended, now)
        if event.plane is Plane.STATE:
            self._ends.of_state(event, ended, now)
        elif not self._ends.go_on(event, ended, now):
            self._ends.of_messages(event, ended, now)
            self._seeking.ended(event, ended, now)

    def _note(self, event: Ended, ended: Wish | None, now: Nanos) -> None:
        """Take note that a peer is there, and how soon it answers."""
        if (event.channel, event.peer) not in self._slots.linked:
            return
        known = self._selection.heard(event.channel, event.peer, now)
        if event.outcome is Outcome.CONVERGED:
            known.differs = False
        protocol = self._protocols.named(event.protocol)
        if ended is not None and protocol is not None and protocol.chooses:
            known.latency = now - ended.at

    def _on_rebuilt(self, channel: ChannelId, outcome: Outcome, now: Nanos) -> None:
        """Count all sessions of a channel as failed; or as moved, where a snapshot came."""
        self.expectations.end_all(self.expectations.of(channel))
        for peer in self._live.peers(channel):
            self._ends.live_over(channel, peer, now)
        for key in [key for key in self._slots.running if key.channel == channel]:
            self._on_ended(Ended(channel, key.peer, outcome, plane=key.plane), now)

    # --- Starts --------------------------------------------------------------------------------

    def _begins_at(self, key: SessionKey, wish: Wish) -> Nanos:
        return self._presences.begins_at(key.channel, key.peer, wish.at)

    def _start_due(self, now: Nanos) -> list[Start]:
        """Start what is due and has a place; what the peer does not speak is let go of."""
        starts: list[Start] = []
        slots = self._slots
        if slots.full or not slots.wishes:
            return starts  # nearly always
        waiting = [(key, slots.wishes[key]) for key in slots.wishes.of_others(slots.held())]
        due = {key for key, wish in waiting if self._begins_at(key, wish) <= now}
        while due and not slots.full:
            held = slots.held()
            due = {key for key in due if slots.has_place(key, held)}
            if not due:
                break
            key = slots.next_of(due, held)
            due.remove(key)
            wish = slots.wishes.pop(key)
            start = self._choosing.start(key, wish, now)
            if start is None:
                continue
            wish.at = now
            slots.running[key] = wish
            self._selection.tried(key.channel, key.peer, now)
            starts.append(start)
        return starts
