"""Ends of sessions: what follows, when what failed is tried again, and by which kind.

Agreement is proved: state sessions end with an outcome, sessions over messages with a check. What
failed is tried again after 2^n seconds by another kind; what was put off, or moved meanwhile, or
was not to be had, has not failed.
"""

from typing import Final

from msgspec.structs import replace

from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.manager.choosing import Choosing, anew
from sync.manager.expectations import Expectations
from sync.manager.live_sessions import LiveSessions
from sync.manager.slots import Slots
from sync.manager.values import Ended
from sync.manager.wishes import AGAIN_MAX, CUT_SHORT, MANY_CAME, PUSHED_MANY, Wish
from sync.sessions.values import GOVERNANCE, RELAY, SHARE, Outcome, Plane, SessionKey

RETRY_FIRST: Final[Nanos] = 2 * SECOND
RETRY_MAX: Final[Nanos] = 60 * SECOND
"""Before a session with an older program that failed is tried again; doubled each time."""

FAILED_RETRY_MAX: Final[Nanos] = 256 * SECOND
"""The same, at most, where a handshake picks the next kind."""

MOVED_MAX: Final = 3
"""Tries that follow each other at once because what was compared changed meanwhile."""

PUT_OFF_FOR: Final[Nanos] = SECOND
"""Before state is compared that a peer does not compare just now, as it is empty and waits for its
first handshake: that is over within moments."""

GOVERNANCE_WITHIN: Final[Nanos] = 2 * SECOND
"""Time in which governance is pulled that has to come before what was to be compared."""


class Ends:
    """See the module docstring."""

    def __init__(
        self,
        slots: Slots,
        choosing: Choosing,
        expectations: Expectations,
        live: LiveSessions,
    ) -> None:
        self._slots = slots
        self._choosing = choosing
        self._expectations = expectations
        self._live = live

    def live_over(
        self, channel: ChannelId, peer: PeerId, now: Nanos, *, wanted: bool = True
    ) -> None:
        """A live session is over; one that is still `wanted` is to begin anew."""
        if self._live.over(channel, peer) and wanted:
            at = now + RETRY_FIRST
            self._slots.wish(channel, peer, Wish(at, RELAY, by_logs=True, live=True))

    def of_state(self, event: Ended, ended: Wish | None, now: Nanos) -> None:
        """Try again what moved, failed or was put off; later roots wish for all else.

        A root that was told before both agreed, on all or on what both can judge, wishes for
        nothing any more.
        """
        key, outcome = SessionKey(event.channel, event.peer, event.plane), event.outcome
        self._note_kind(key, event, ended)
        put_off = outcome is Outcome.BENIGN and (not event.answered or bool(event.then))
        if outcome is Outcome.CONVERGED or (outcome is Outcome.BENIGN and not put_off):
            self._slots.let_go(key)
            return
        if ended is None:
            return
        if (put_off or outcome is Outcome.MOVED) and ended.moved < MOVED_MAX:
            wait = GOVERNANCE_WITHIN if event.then else PUT_OFF_FOR
            at = now + (wait if put_off else 0)
            again = replace(ended, at=at, moved=ended.moved + 1)
        elif put_off:
            return
        else:
            failures = ended.failures + 1
            at = now + _after(failures, FAILED_RETRY_MAX)
            again = replace(ended, at=at, failures=failures, moved=0)
        self._slots.wish(key.channel, key.peer, again, Plane.STATE)

    def of_messages(self, event: Ended, ended: Wish | None, now: Nanos) -> None:
        """Try again what failed, ever later, or compare what a session did not."""
        channel, peer, outcome = event.channel, event.peer, event.outcome
        key = SessionKey(channel, peer)
        self._note_kind(key, event, ended)
        self._end_expectation(event)
        if outcome is Outcome.CONVERGED:
            self._slots.let_go(key)
            self._on_converged(event, ended, now)
            return
        ended = None if ended is None else anew(ended)
        failures = ended.failures + 1 if ended is not None and not event.got else 1
        by_rule = self._choosing.begins_with_handshake(channel, peer)
        at = now + _after(failures, FAILED_RETRY_MAX if by_rule else RETRY_MAX)
        brought = event.got >= PUSHED_MANY
        if brought:  # a part of a long history: the next one waits for nothing
            at = now
        if outcome is Outcome.BENIGN and ended is not None and ended.is_tried_again:
            self._slots.wish(channel, peer, replace(ended, at=at, failures=failures))
        elif outcome is Outcome.BENIGN:
            failed = 0 if ended is None else ended.failures
            self._slots.wish(channel, peer, Wish(now + RETRY_MAX, CUT_SHORT, failed))
        elif outcome is Outcome.MOVED and ended is not None and ended.moved < MOVED_MAX:
            self._slots.wish(channel, peer, replace(ended, at=now, moved=ended.moved + 1))
        elif ended is not None and not ended.once and (by_rule or not ended.is_search):
            self._slots.wish(channel, peer, replace(ended, at=at, failures=failures, moved=0))
        elif ended is None and (event.got or not self._waits_longer(key)):
            # it may be over for the peer, which then does not try again
            self._slots.wish(
                channel, peer, Wish(now if brought else now + 2 * RETRY_FIRST, CUT_SHORT)
            )

    def _waits_longer(self, key: SessionKey) -> bool:
        """Return whether a session of ours failed already, and is to be tried again in its time.

        Two who never agree would else make each other begin anew every few seconds.
        """
        wish = self._slots.wishes.get(key)
        return wish is not None and wish.failures > 0

    def go_on(self, event: Ended, ended: Wish | None, now: Nanos) -> bool:
        """Begin at once what the handshakes of a session have picked; return whether they did.

        Where governance comes first, that is once it has had time to come.
        """
        channel, peer = event.channel, event.peer
        if ended is None or not event.then:
            return False
        if event.outcome is Outcome.NOT_CONVERGED:
            self._note_kind(SessionKey(channel, peer), event, ended)
        if event.then != GOVERNANCE:
            again = replace(
                ended,
                at=now,
                span=None,
                protocol=event.then,
                chosen=event.then_why,
                estimate=event.estimate,
            )
            self._slots.wish_instead(channel, peer, again)
            return True
        if ended.moved >= MOVED_MAX:
            return False
        again = replace(anew(ended), at=now + GOVERNANCE_WITHIN, moved=ended.moved + 1)
        self._slots.wish_instead(channel, peer, again)
        return True

    # --- What came of it -----------------------------------------------------------------------

    def _note_kind(self, key: SessionKey, event: Ended, ended: Wish | None) -> None:
        """Remember the kind that failed, for the next handshake; forget all once both agree."""
        if event.outcome is Outcome.CONVERGED:
            self._choosing.failed.agreed(key)
        elif event.outcome is Outcome.NOT_CONVERGED and ended is not None:
            of_rule = key.plane is Plane.STATE or self._choosing.begins_with_handshake(*key[:2])
            named = ended.protocol and not ended.chosen
            if of_rule and not (named or ended.live or ended.why == SHARE):
                self._choosing.failed.failed(key, event.protocol)

    def _end_expectation(self, event: Ended) -> None:
        """Expect a history no longer: no session over author logs follows, or this was it."""
        failed = event.outcome not in {Outcome.CONVERGED, Outcome.BENIGN}
        if failed or event.whole:
            self._expectations.end(event.channel, event.peer)

    def _on_converged(self, event: Ended, ended: Wish | None, now: Nanos) -> None:
        """Compare by author logs what a session did not, or what it brought."""
        channel, peer = event.channel, event.peer
        if event.whole:
            self._choosing.histories.compared(channel, peer, now)
        if ended is not None and ended.then:
            self._slots.wish(channel, peer, Wish(now, ended.then, by_logs=True))
        elif ended is not None and ended.live and not self._live.has(channel, peer):
            if ended.failures < AGAIN_MAX:
                self._ask_to_stay_again(event, ended, now)
        elif self._owes_ticks(event, ended):
            self._slots.wish(channel, peer, Wish(now, MANY_CAME, by_logs=True))

    def _ask_to_stay_again(self, event: Ended, ended: Wish, now: Nanos) -> None:
        """Ask a peer again that had no place: it may have heard meanwhile that it needs us too."""
        at = now + (RETRY_FIRST << ended.failures)
        again = replace(ended, at=at, failures=ended.failures + 1)
        self._slots.wish(event.channel, event.peer, again)

    def _owes_ticks(self, event: Ended, ended: Wish | None) -> bool:
        """Return whether a peer pushed so much that it waits for acknowledgements of it."""
        protocol = self._choosing.protocols.named(event.protocol)
        return (
            event.got >= PUSHED_MANY
            and protocol is not None
            and protocol.usual
            and not (ended is not None and ended.once)
            and self._choosing.presences.offers(event.channel, event.peer)
        )


def _after(failures: int, most: Nanos) -> Nanos:
    """Return after how long what failed so many times is tried again: 2^n seconds."""
    return min(RETRY_FIRST << min(failures - 1, 8), most)
