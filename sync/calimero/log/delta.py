"""Delta sync: who lacks what in a causal graph is known by ids, and by a Bloom filter at its end.

Both ends have each other's handshake. Each says which ids its messages name that it lacks, and what
it holds above the common frontier; each sends what the other lacks by that, parents first. Parents
and heads that are still unknown are asked for in the next turn, until nobody asks any more.

Rules:
1. Ends take turns, and the opener begins. A turn ends with a `BloomFilter`, later with a `Want`.
2. An entry that was not asked for is refused: neither named, nor covered by a filter without it.
3. An entry goes the one way in, and waits there for the parents it lacks.
4. What either side claims may cost time, never data: the check alone says that both are equal.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sync.calimero.log.delta_asking import DeltaAsking
from sync.calimero.log.delta_messages import (
    FILTER_IDS_MAX,
    LAMPORT_MAX,
    WALK_MAX,
    BloomFilter,
    DeltaEntries,
    Message,
    Stretch,
    Want,
    decode,
    encode,
)
from sync.calimero.log.delta_sending import DeltaSending
from sync.calimero.log.delta_view import DeltaView
from sync.calimero.log.phases import DELTA, Delta, DeltaStep
from sync.entries.entry import Entry, open_content
from sync.errors import RemoteError
from sync.machine import SECOND, MessageId, Nanos
from sync.sessions.cards import Round
from sync.sessions.handshake import SyncHandshake
from sync.sessions.never_live import NeverLive
from sync.sessions.protocol import Brings, Effect, Finished, GoOn, Load, Opening, Owes, Send
from sync.sessions.values import LoadedEntry
from sync.structures.differences import Role

INACTIVITY_MAX: Final[Nanos] = 20 * SECOND
"""Silence after which a session has failed."""

TURNS_MAX: Final = 64
"""Turns after which nothing more is asked for: a chain of lost messages takes a few."""

EXAMINED_MAX: Final = 2 * FILTER_IDS_MAX
"""Messages compared with a peer's filters in one turn, the newest: 30 ms. A filter covers half as
many, and we may hold as many again."""

EXAMINED_OF_SESSION: Final = 4 * EXAMINED_MAX
"""Messages compared in all turns of a session."""

PUT_OFF_MAX: Final[Nanos] = 2 * SECOND
"""Time for which a turn waits for what other sessions bring: on one LAN an answer takes less."""

ROUNDS_MAX: Final = 64
"""Payloads that are shown."""


class DeltaExchange(NeverLive):
    """One session; see `sync.sessions.protocol.Exchange`, and the module docstring."""

    def __init__(self, opening: Opening, ours: SyncHandshake, theirs: SyncHandshake) -> None:
        """Begin with the handshakes of both; `opening.log` was frozen when `opening.local` was."""
        self.cards: list[Round] = []
        self._opening = opening
        self._log = log = _view_of(opening)
        self._our_heads, self._their_heads = ours.log.heads, theirs.log.heads
        self._asking = DeltaAsking(log)
        self._sending = DeltaSending(opening.local)
        self._named: dict[bytes, int] = {}
        """Parents of what came in this turn that were not here, by the place they are named at."""
        begins = opening.role is Role.INITIATOR
        self._phase = Delta.SAYING if begins else Delta.LISTENING
        self._turns = 0
        """Turns of ours so far."""
        self._examines = EXAMINED_OF_SESSION
        """Messages that may be compared yet."""
        self._theirs: BloomFilter | Want | None = None
        """The end of the peer's last turn."""
        self._asks = True
        """True if the end of our last turn asked for something."""
        self._came = False
        """True if entries came in the peer's turn."""
        self._held_until: Nanos | None = None
        """While our turn waits for what other sessions bring: how long."""
        self._payloads = 0
        self._due_at = opening.at + self._opening.grown(INACTIVITY_MAX)

    # --- Inputs --------------------------------------------------------------------------------

    def open(self, now: Nanos) -> list[Effect]:
        """Take the first turn."""
        self._due_at = now + self._opening.grown(INACTIVITY_MAX)
        return self._end_turn()

    def payload(self, payload: bytes, now: Nanos) -> list[Effect]:
        """Take a message of the peer's turn.

        Raises:
            RemoteError: malformed, out of turn, or with an entry that was not asked for.
        """
        if self._phase is not Delta.LISTENING:
            raise RemoteError("a message out of turn")
        message = decode(payload)
        self._note(message, len(payload), sent=False)
        match message:
            case DeltaEntries(contents):
                effects = self._on_entries(contents)
            case BloomFilter() if self._theirs is None:
                effects = self._on_asked(message)
            case Want() if self._theirs is not None:
                effects = self._on_asked(message)
            case _:
                raise RemoteError("a filter is the end of a first turn, and of no other")
        self._payloads += 1
        self._due_at = now + self._opening.grown(INACTIVITY_MAX)
        return effects

    def go_on(self, now: Nanos) -> list[Effect]:
        """Take our turn: what the peer brought has been judged, or what was awaited is here."""
        if self._phase is Delta.WAITING:
            self._step(DeltaStep.CAME)
        if self._phase is not Delta.SAYING:
            return []
        self._due_at = now + self._opening.grown(INACTIVITY_MAX)
        for message_id, named_at in self._named.items():
            if not self._log.holds(message_id):
                self._asking.want(message_id, named_at)
        self._named = {}
        self._came = False
        return self._go_on(now)

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> list[Effect]:
        """Send a page of what the peer lacks."""
        del more
        self._due_at = now + self._opening.grown(INACTIVITY_MAX)
        sent = [self._say(message) for message in self._sending.loaded(page)]
        return [*sent, *self._go_on(now)]

    def tick(self, now: Nanos) -> list[Effect]:
        """Fail after too long a silence; wait no longer for what others do not bring."""
        due = self.deadline()
        if due is None or now < due:
            return []
        if self._phase is Delta.WAITING:
            self._step(DeltaStep.CAME)
            return self._end_turn()
        self._step(DeltaStep.EXPIRED)
        return [Finished("nothing came in time", self._payloads)]

    def deadline(self) -> Nanos | None:
        """Return when the silence has been too long, or others have been waited for long enough."""
        if self._phase is Delta.OVER or self._sending.loading:
            return None
        return self._held_until if self._phase is Delta.WAITING else self._due_at

    # --- The peer's turn -----------------------------------------------------------------------

    def _on_entries(self, contents: Iterable[bytes]) -> list[Effect]:
        entries = [self._opened(content) for content in contents]
        for entry in entries:
            for parent in entry.header.parents:
                self._note_parent(bytes.fromhex(parent.message_id), entry.header.lamport)
        self._came = True
        return [Brings(entry) for entry in entries]

    def _note_parent(self, message_id: bytes, named_at: int) -> None:
        lacks = message_id not in self._asking.taken and self._log.lamport_of(message_id) is None
        if lacks and len(self._named) < WALK_MAX:
            self._named.setdefault(message_id, named_at)

    def _opened(self, content: bytes) -> Entry:
        entry = open_content(content)
        message_id, taken = bytes.fromhex(entry.message_id), self._asking.taken
        if entry.header.channel_id != self._opening.channel:
            raise RemoteError("an entry of another channel")
        if not self._asking.is_answer(entry.header.lamport, message_id):
            raise RemoteError("an entry that was not asked for")
        if len(taken) == WALK_MAX:
            raise RemoteError(f"more than {WALK_MAX:,} entries in one session")
        taken.add(message_id)
        return entry

    def _on_asked(self, asked: BloomFilter | Want) -> list[Effect]:
        """Work out what the peer lacks; its turn is over."""
        self._theirs = asked
        if self._turns > TURNS_MAX and asked != Want():
            raise RemoteError("a peer that asks without end")
        if asked == Want() and not self._asks and not self._came:
            return [self._finished()]
        self._step(DeltaStep.ASKED)
        owed = self._sending.owe(self._owed(asked))
        return [Owes(0, owed, 0), GoOn()] if owed else [GoOn()]

    def _owed(self, asked: BloomFilter | Want) -> Iterator[tuple[int, bytes]]:
        """Yield where what the peer lacks stands, as far as it is here."""
        for message_id in asked.wanted if isinstance(asked, BloomFilter) else asked.ids:
            lamport = self._log.lamport_of(message_id)
            if lamport is not None:
                yield lamport, message_id
        told = list(asked.near)
        if isinstance(asked, BloomFilter):
            told.append(Stretch(asked.floor, LAMPORT_MAX, asked.filter))
        left = min(EXAMINED_MAX, self._examines)
        for one in reversed(told):
            if not left:
                return
            places = self._log.between(one.floor, one.until, left)
            left -= len(places)
            self._examines -= len(places)
            lacking = set(one.filter.lacking([message_id for _, message_id in places]))
            yield from [place for place in places if place[1] in lacking]

    # --- Our turn ------------------------------------------------------------------------------

    def _go_on(self, now: Nanos) -> list[Effect]:
        """Ask for the next page; once all is sent, end the turn.

        Where nothing is left to ask for but what other sessions bring, the turn waits for that.
        """
        page: Load | None = self._sending.ask()
        if page is not None:
            return [page]
        if self._sending.loading:
            return []
        if self._asking.waits:
            self._held_until = self._held_until or now + PUT_OFF_MAX
            if now < self._held_until:
                self._step(DeltaStep.PUT_OFF)
                return []
        return self._end_turn()

    def _end_turn(self) -> list[Effect]:
        self._turns += 1
        self._held_until = None
        message = self._first() if self._turns == 1 else self._next()
        self._step(DeltaStep.SAID)
        self._asks = message != Want()
        said = self._say(message)
        ids = message.wanted if isinstance(message, BloomFilter) else message.ids
        asked = frozenset([MessageId(one.hex()) for one in ids])
        left = self._asking.put_off
        effects: list[Effect] = []
        if asked or left:
            effects = [Owes(len(asked), 0, 0, asked=asked, put_off=left)]
        effects.append(said)
        if not self._asks and self._theirs == Want():
            effects.append(self._finished())
        return effects

    def _first(self) -> BloomFilter:
        """Return our filter above the common frontier: the lowest of the heads known to both."""
        common = [one for one in self._their_heads if self._log.lamport_of(one) is not None]
        places = [self._log.lamport_of(one) for one in common or self._our_heads]
        floor = min((one for one in places if one is not None), default=0)
        for message_id, named_at in self._log.missing():
            self._asking.want(message_id, named_at)
        return self._asking.first(floor)

    def _next(self) -> Want:
        if self._turns >= TURNS_MAX:
            return Want()
        for message_id in self._their_heads:
            if not self._log.holds(message_id):
                self._asking.want(message_id)
        return self._asking.next()

    # --- What is said --------------------------------------------------------------------------

    def _say(self, message: Message) -> Send:
        payload = encode(message)
        self._note(message, len(payload), sent=True)
        return Send(payload, carries=isinstance(message, DeltaEntries))

    def _step(self, step: DeltaStep) -> None:
        self._phase = DELTA[self._phase][step]

    def _finished(self) -> Finished:
        self._step(DeltaStep.AGREED)
        moved = self._asking.taken or self._sending.sent
        result = "reconciled" if moved else "equal"
        return Finished(result, self._payloads, checked=True, brought=True)

    def _note(self, message: Message, size: int, *, sent: bool) -> None:
        if len(self.cards) < ROUNDS_MAX:
            self.cards.append(Round(sent, size, words=_words(message)))


def _view_of(opening: Opening) -> DeltaView:
    """Return the messages that a session is about."""
    return opening.log  # type: ignore[return-value]  # a view of the group's own


def _words(message: Message) -> str:
    """Return what a message says, in a few words."""
    match message:
        case BloomFilter(_, held, wanted):
            return f"filter of {len(held.bits):,} bytes, {len(wanted):,} wanted"
        case Want(ids):
            return f"{len(ids):,} wanted" if ids else "nothing more wanted"
        case DeltaEntries(contents):
            return "1 entry" if len(contents) == 1 else f"{len(contents):,} entries"
