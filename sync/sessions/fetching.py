"""Fetching of missing messages: pushed ones let in, and the rest shared out among peers."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol, assert_never

from sync.machine import MessageId, Nanos, PeerId
from sync.sessions import receiving
from sync.sessions.ending import result_of
from sync.sessions.protocol import Owes, Protocols, SyncProtocol
from sync.sessions.session import ReadPushed, Session
from sync.sessions.shares import Shares
from sync.sessions.table import Table
from sync.sessions.values import (
    PUT_OFF,
    SHARE,
    Accepted,
    Continue,
    Effect,
    Push,
    Refused,
    Sought,
    UnwantedHashes,
    UnwantedLogs,
    UnwantedMessages,
    Wanted,
    WantedHashes,
    WantedLogs,
    WantedMessages,
)
from sync.structures.ids import Ids
from sync.structures.ordered_set import SyncId

LOOKED_AFTER: Final = 64
"""Messages of the leader between two looks at what others could bring."""


class End(Protocol):
    """The function that ends a session."""

    def __call__(
        self,
        session: Session,
        result: str,
        now: Nanos,
        missing: Sequence[SyncId] | None = None,
        *,
        stops: bool = False,
    ) -> list[Effect]:
        """End a session; what it lacks may come for a little while, unless it `stops`."""


class Expected(NamedTuple):
    """Messages that a session expects its peer to push."""

    protocol: SyncProtocol
    """By which it is pushed."""
    wants: Callable[[SyncId], bool]
    """Tells whether a message is still to come."""


class Fetching:
    """See the module docstring; `end` ends a session of the table."""

    def __init__(
        self, table: Table, protocols: Protocols, end: End, read_pushed: ReadPushed
    ) -> None:
        self.shares = Shares()
        self.linked: set[PeerId] = set()
        """Whoever has a link."""
        self.pushing: set[PeerId] = set()
        """Peers whose transfer has not ended, though the session it was for is over."""
        self._table = table
        self._protocols = protocols
        self._end = end
        self._read_pushed = read_pushed

    # --- Pushed messages -----------------------------------------------------------------------

    def on_transferred(self, peer: PeerId, payload: bytes, now: Nanos) -> list[Effect]:
        """Let in what an active session found missing.

        The rest of a transfer that we took no more of is on its way, or waits: nobody is to blame.

        Raises:
            RemoteError: malformed.
        """
        session = self._table.by_peer.get(peer) or self._table.late.of(peer, now)
        protocol = self._protocols.named("") if session is None else session.protocol
        pushed = None if protocol is None else self._read_pushed(protocol, payload)
        if session is None and peer in self.pushing:
            return []
        if session is None or pushed is None:
            return [Refused(peer, "a transferred message outside a session")]
        session.heard_at = now
        session.bytes_brought += len(payload)
        wanted = pushed.sync_id
        if wanted.timestamp < session.since:
            return [Refused(peer, "a transferred message from before what was compared")]
        item = Accepted(peer, wanted, pushed.item)
        return self.feed(session, receiving.Arrived(wanted, item, len(payload)), now)

    def expects_from(self, peer: PeerId, now: Nanos) -> Expected | None:
        """Return what is expected of a peer that pushes; None where it is outside a session."""
        session = self._table.by_peer.get(peer) or self._table.late.of(peer, now)
        if session is None:
            return None
        return Expected(session.protocol, session.transfer.wants)

    def on_ended(self, peer: PeerId, now: Nanos) -> list[Effect]:
        """The peer's stream of pushes ended."""
        if peer in self.pushing:  # an earlier session was over before its end came
            self.pushing.discard(peer)
            return []
        session = self._table.by_peer.get(peer)
        return self.feed(session, receiving.RemoteFinished(), now) if session else []

    def feed(self, session: Session, event: receiving.Input, now: Nanos) -> list[Effect]:
        """Feed the receiving half of a session."""
        effects: list[Effect] = []
        for result in session.transfer.handle(event, now):
            match result:
                case receiving.Accept(item):
                    assert isinstance(item, Accepted)
                    session.got += 1
                    session.moved_at = now
                    effects += [item, *_hoped_again(session)]
                case receiving.Decline(_, receiving.Reason.ELSEWHERE):
                    pass
                case receiving.Decline() if session.peer in self.pushing:
                    pass  # of an earlier session
                case receiving.Decline(_, reason):
                    effects.append(Refused(session.peer, f"a transferred message: {reason.value}"))
                case receiving.TransferFinished() if session.ended_at is not None:
                    pass  # the last of it came late
                case receiving.TransferFinished(_, missing):
                    result_ = result_of(session, len(missing))
                    effects += self._end(session, result_, now, missing)
                case _:
                    assert_never(result)
        if session is self.shares.leader:
            if self.shares.paged(now) and self.shares.met:
                self.shares.later.add(session.peer)
                effects += self._end(session, "the rest comes from others", now, stops=True)
            elif session.got % LOOKED_AFTER == 0:
                effects += self.share_out(now)
        return effects

    # --- Differences ---------------------------------------------------------------------------

    def differ(
        self,
        session: Session,
        need: Sequence[SyncId],
        have: Sequence[SyncId],
        now: Nanos,
    ) -> list[Effect]:
        """Want what we lack, which may have been pushed already, and note what the peer lacks."""
        session.need += len(need)
        session.have += len(have)
        if have:
            lacked = Ids.of(have)
            session.pushed.append(lacked)
            session.lacked.insert(lacked.rows, 1)
        need = Ids.of(need)
        wanted: list[Effect] = [Wanted(need)] if need and not session.given_up else []
        return wanted + self.feed(session, receiving.Wanted(need), now)

    @staticmethod
    def want_owed(session: Session, owes: Owes) -> list[Effect]:
        """Expect on the session's own stream what the peer owes, and elsewhere what is put off."""
        session.put_off -= owes.asked
        session.put_off |= owes.put_off
        if session.given_up:
            return []
        authors = frozenset([PeerId(key.hex()) for key in owes.authors]) - session.authors
        asked = owes.asked - session.asked
        session.authors |= authors
        session.asked |= asked
        effects: list[Effect] = [WantedLogs(authors)] if authors else []
        if owes.hashes:
            session.asked_hashes = owes.hashes
            effects.append(WantedHashes(owes.hashes))
        return [*effects, WantedMessages(asked)] if asked else effects

    @staticmethod
    def let_go(session: Session, *, stalled: bool = False) -> list[Effect]:
        """Expect no entries on its stream any more: all have come, or none do."""
        hashes, session.asked_hashes = session.asked_hashes, frozenset()
        authors, session.authors = frozenset(session.authors), set()
        asked, session.asked = frozenset(session.asked), set()
        effects: list[Effect] = [UnwantedLogs(authors)] if authors else []
        if hashes:
            effects.append(UnwantedHashes(hashes, stalled))
        return [*effects, UnwantedMessages(asked)] if asked else effects

    def wake(self) -> list[Effect]:
        """Let those go on who left something to a session that does not bring it now."""
        running = self._table.running.values()
        return [Continue(one.number) for one in running if one.put_off]

    @staticmethod
    def push(session: Session) -> list[Effect]:
        """Push what the peer lacks, the newest page first: that is what people want to read.

        The rest follows in its order, and takes its place as it comes.
        """
        if not session.pushed:
            return []
        return [Push(session.peer, session.take_pages(), session.protocol.transfer)]

    def settle(self, session: Session, now: Nanos) -> list[Effect]:
        """No more differences will be found: what is missing may still come."""
        session.settled = True
        return self.feed(session, receiving.ReconciliationFinished(), now)

    # --- Messages that are here ----------------------------------------------------------------

    def on_here(self, sync_id: SyncId, message_id: MessageId, now: Nanos) -> list[Effect]:
        """Nobody needs to bring what is here; whoever left it to others counts it as held."""
        effects: list[Effect] = []
        for session in list(self._table.running.values()):
            if message_id in session.put_off:
                session.put_off.discard(message_id)
                session.brought.add(sync_id, aside=True)  # where it lies is not known yet
                effects += [] if session.put_off else [Continue(session.number)]
            if session.transfer.wants(sync_id):
                session.got += 1
                effects += self.feed(session, receiving.Here(sync_id), now)
        self.shares.came(sync_id)
        return effects

    def awaits(self, sync_id: SyncId, message_id: MessageId) -> bool:
        """Return whether a session still expects this message, of its peer or of others."""
        return self.shares.lacks(sync_id) or any(
            one.transfer.wants(sync_id) or message_id in one.put_off
            for one in self._table.running.values()
        )

    # --- What is missing, shared out -----------------------------------------------------------

    def share_found(self, session: Session, now: Nanos) -> list[Effect]:
        """Ask others for a part of what the leader has found missing."""
        if session is not self.shares.leader:
            return []
        if not session.transfer.lacking:
            self.shares.leader = None  # nothing is missing any more: others need not wait
            return self.go_on(now)
        self.shares.found(session, now)
        return self.share_out(now)

    def share_out(self, now: Nanos) -> list[Effect]:
        """Ask idle peers for shares."""
        idle = self.shares.idle(self.linked, set(self._table.by_peer), now)
        return [Sought(idle, SHARE, once=True)] if idle else []

    def go_on(self, now: Nanos) -> list[Effect]:
        """Share out what is left; where nobody brings anything, compare everything anew."""
        if self.shares.busy:
            return self.share_out(now)
        later = [peer for peer in self.shares.finished() if peer in self.linked]
        return [Sought(tuple(later), PUT_OFF)] if later else []

    def stalled(self, now: Nanos) -> list[Effect]:
        """End the sessions whose shares are asked elsewhere now."""
        effects: list[Effect] = []
        led = self.shares.leader
        for session in self.shares.stalled(self._table.by_peer, now):
            effects += self._end(session, "it stopped to bring its share", now, stops=True)
        if led is not self.shares.leader:
            effects += self.go_on(now)
        return effects


def _hoped_again(session: Session) -> list[Effect]:
    """Wait again for what a peer owes that goes on after it stalled."""
    if not session.given_up or session.ended_at is not None:
        return []
    session.given_up = False
    return [Wanted(session.transfer.missing)]
