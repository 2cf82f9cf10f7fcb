"""p2panda replication as two of the protocols of `sync.sessions`: by log heights, and by sets.

One machine for both ends of a session; its states are in `sync.p2panda.states`. The check that
follows, and what it finds, are those of all sessions.

Rules:
1. A session has one mode and one channel. Who is asked for more than that, or for what it has not
   announced, closes the stream without a word.
2. What differs is sent as soon as it is known: reconciliation and entries share the stream.
3. Everything up to the heights frozen at the start was sent when SyncDone says so.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, assert_never

from msgspec import Struct

from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, Nanos
from sync.p2panda import set_reconciliation
from sync.p2panda.announcements import schema_id
from sync.p2panda.bounds import Place
from sync.p2panda.entries import content_of, entry_message, open_entry
from sync.p2panda.heads import Heads, heads_of
from sync.p2panda.log_heights import compare
from sync.p2panda.messages import (
    LOGS_MAX,
    Done,
    EmptyPayload,
    Entry,
    Fingerprint,
    Have,
    LowerBound,
    Message,
    Payload,
    Reason,
    ReplicationError,
    SyncDone,
    SyncRequest,
    Terminal,
    decode,
    encode,
)
from sync.p2panda.sending import Sending
from sync.p2panda.states import TRANSITIONS, State, Step
from sync.p2panda.words import MODES, batch_said, said
from sync.sessions.cards import Round
from sync.sessions.protocol import (
    ROUND_TRIP,
    Brings,
    Effect,
    Finished,
    Fit,
    Opening,
    Owes,
    Pushed,
    Send,
    Situation,
    Speaks,
    SyncProtocol,
)
from sync.sessions.values import LoadedEntry, Outcome, Plane, Stored
from sync.structures.differences import Role
from sync.structures.log_spans import LogSpan

STREAM: Final = "/chat-tui/p2panda/1"

FIRST_WITHIN: Final[Nanos] = 15 * SECOND
"""Time until the first message of the peer."""

PROGRESS_WITHIN: Final[Nanos] = 30 * SECOND
"""Time without any message of the peer, once there was one, while something of it is due."""

ROUNDS_MAX: Final = 64
"""Messages remembered to be shown."""

IN_A_BATCH: Final = (LowerBound, Fingerprint, Payload, EmptyPayload, Done, Terminal)

NO_MORE: Final = "not needed any more"
TOO_FAR: Final = "interrupted: too much is due that continues no log"

SET_LOGS: Final = 512
"""Logs above which mode 1 is cheaper in bytes than all heights."""

HEIGHT_BYTES: Final = 50
SET_BYTES: Final = 20_000
"""Bytes of comparing: a height of each log; or fingerprints, where a few logs grew."""


class Mode(Enum):
    """Modes by which two peers compare the heights of their logs."""

    LOG_HEIGHT = 0
    SETS = 1


NAMES: Final[Mapping[Mode, str]] = {mode: MODES[mode.value] for mode in Mode}


class Replication(Struct, frozen=True):
    """One mode, as it is registered (`sync.sessions.protocol.SyncProtocol`).

    Attributes:
        mode: how heights are compared.
        pushes: whose transfers carry what only the check finds: by id, and never of a log.
    """

    mode: Mode
    pushes: SyncProtocol
    plane: Plane = Plane.LOG
    stream: str = STREAM
    payloads_max: int = 1
    usual: bool = False
    family: str = "p2panda"
    stays: bool = True
    chooses: bool = False
    contradicted: str = "differences above the heights"

    @property
    def name(self) -> str:
        """Name by which it is chosen, announced, shown and logged."""
        return NAMES[self.mode]

    @property
    def transfer(self) -> str:
        """Protocol id of the streams that what the check found is pushed on."""
        return self.pushes.transfer

    def suits(self, situation: Situation) -> Fit | None:
        """Return how well it suits: sessions over whole logs, with who announced them to us."""
        if situation.span is not None or not (situation.by_logs and situation.offered):
            return None
        logs = situation.logs
        if self.mode is Mode.LOG_HEIGHT:
            if logs > (LOGS_MAX if situation.named else SET_LOGS):
                return None
            return Fit(HEIGHT_BYTES * logs + ROUND_TRIP, "entries come in causal order")
        return Fit(SET_BYTES + 3 * ROUND_TRIP, f"there are over {SET_LOGS} logs")

    def exchange(self, opening: Opening) -> "Exchange":
        """Return the exchange of one session; who answers takes the mode that is asked for."""
        return Exchange(opening, self.mode)

    def entries_in(self, payload: bytes) -> Sequence[bytes]:
        """Return the content of the entry in a message, if it is one that carries an entry.

        Raises:
            ReplicationError: malformed.
        """
        message = decode(payload)
        return (content_of(message),) if isinstance(message, Entry) else ()

    def encode_pushed(self, channel: ChannelId, payload: bytes, created_ns: Nanos) -> bytes:
        """Return a stored message as it is pushed."""
        return self.pushes.encode_pushed(channel, payload, created_ns)

    def decode_pushed(self, frame: bytes) -> Pushed:
        """Return what was pushed.

        Raises:
            RemoteError: malformed.
        """
        return self.pushes.decode_pushed(frame)


@dataclass(slots=True)
class _Batch:
    """The messages of a batch so far, to be shown."""

    counted: Counter[type[Message]] = field(default_factory=Counter)
    size: int = 0


class Exchange:
    """One session; see `sync.sessions.protocol.Exchange`."""

    def __init__(self, opening: Opening, mode: Mode) -> None:
        self.state = State.OFFERED if opening.role is Role.RESPONDER else State.REQUESTED
        self.mode = mode
        self._opening = opening
        self._session = opening.count
        self._heads = heads_of(opening.heights())
        self._sets: set_reconciliation.Reconciliation | None = None
        self._told: dict[tuple[bytes, int], int] = {}
        """Heights of the peer that differ from ours, by log."""
        self._sending = Sending()
        self._known = False
        """Whether all differences are known to us."""
        self._done = False
        """Whether the peer has sent SyncDone."""
        self._peer_stays = False
        self._stays = opening.live
        self._news = Sending()
        """Entries stored since the heights were frozen, due in live mode."""
        self._messages = 0
        self._taken = 0
        self._grown = opening.grown
        self._due_at: Nanos | None = opening.at + self._grown(FIRST_WITHIN)
        self._cards: list[Round] = []
        self._batches = {True: _Batch(), False: _Batch()}
        """Those that are being sent, and read."""

    @property
    def cards(self) -> Sequence[Round]:
        """The first messages, as they are shown."""
        return self._cards

    # --- See `sync.sessions.protocol.Exchange` -------------------------------------------------

    def open(self, now: Nanos) -> list[Effect]:
        """Ask for the session; what begins the comparison is right behind."""
        del now
        request = SyncRequest(self._session, self.mode.value, (self._schema,))
        return [*self._say(request), *self._begin()]

    def payload(self, payload: bytes, now: Nanos) -> list[Effect]:
        """Take one message.

        Raises:
            RemoteError: not what an honest peer sends now, with the reason.
        """
        message = decode(payload)
        self._messages += 1
        self._due_at = now + self._grown(PROGRESS_WITHIN)
        self._draw(message, len(payload), sent=False)
        if self.state is State.OFFERED:
            return self._on_request(message)
        if self.state is State.REQUESTED:
            self._step(Step.ANSWERED)
        if isinstance(message, SyncRequest) or message[0] != self._session:
            raise ReplicationError(Reason.SESSION)
        if self.state in {State.LIVE, State.LEAVING}:
            return self._on_live(message)
        if self._done:
            raise ReplicationError(Reason.OUT_OF_TURN, "a message after SyncDone")
        match message:
            case Entry():
                return self._on_entry(message)
            case SyncDone():
                return self._on_done(message)
            case Have() if self.mode is Mode.LOG_HEIGHT:
                return self._on_have(message)
            case _:
                return self._on_sets(message)

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> list[Effect]:
        """Send a page of what the peer lacks."""
        self._due_at = now + self._grown(PROGRESS_WITHIN)
        effects: list[Effect] = []
        for loaded in page:
            message = entry_message(self._session, loaded.entry)
            effects.append(Send(encode(message), carries=True))
        if self.state in {State.LIVE, State.LEAVING}:
            self._due_at = None if self.state is State.LIVE else self._due_at
            self._news.loaded(page, more=more)
            return [*effects, *self._pass_on()]
        self._sending.loaded(page, more=more)
        return [*effects, *self._go_on()]

    def stored(self, one: Stored, now: Nanos, *, known: bool) -> list[Effect]:
        """Pass on what is new, in live mode; what comes before it waits until then."""
        del now
        if known or self.state in {State.LEAVING, State.OVER}:
            return []
        if not self._news.add(one):
            self._step(Step.OVERFLOWED)
            return [Finished(TOO_FAR, self._messages)]
        return self._pass_on()

    def leave(self, now: Nanos) -> list[Effect]:
        """Say that nothing more comes, and wait for the peer to say so."""
        if self.state is not State.LIVE:
            return []
        self._step(Step.ENDED)
        self._due_at = now + self._grown(FIRST_WITHIN)
        return self._say(SyncDone(self._session, live=False))

    def go_on(self, now: Nanos) -> list[Effect]:
        """See `sync.sessions.protocol.Exchange`."""
        raise AssertionError("it never says that there is more to do")

    def tick(self, now: Nanos) -> list[Effect]:
        """End the session if the peer is silent for too long."""
        if self._due_at is None or now < self._due_at or self.state is State.OVER:
            return []
        self._step(Step.EXPIRED)
        return [Finished("timed out", self._messages)]

    def deadline(self) -> Nanos | None:
        """Return when the peer has been silent for too long."""
        waits = self._sending.loading and self.state is not State.LEAVING
        return None if waits else self._due_at

    # --- Beginning -----------------------------------------------------------------------------

    @property
    def _schema(self) -> str:
        return schema_id(self._opening.channel)

    def _on_request(self, message: Message) -> list[Effect]:
        """Answer a request, or close without a word: what is raised is told here alone."""
        if not isinstance(message, SyncRequest):
            raise ReplicationError(Reason.OUT_OF_TURN, "a message before the request")
        if message.schemas != (self._schema,):
            raise RemoteError("a request for something else than the channel of its stream")
        if not self._opening.announced:
            raise RemoteError("a request for a channel that was not announced to it")
        if message.mode not in {one.value for one in Mode}:
            raise RemoteError(f"a request with the unknown mode {message.mode}")
        self._session, self.mode = message.session, Mode(message.mode)
        self._step(Step.ACCEPTED)
        if self.mode is Mode.SETS:
            self._sets = set_reconciliation.Reconciliation(self._session, self._heads)
        return [Speaks(NAMES[self.mode])]

    def _begin(self) -> list[Effect]:
        """Send what begins the comparison."""
        if self.mode is Mode.SETS:
            self._sets = set_reconciliation.Reconciliation(self._session, self._heads)
            return self._carry_out(self._sets.begin())
        return self._say(self._have())

    def _have(self) -> Have:
        """Return our heights; of more than one message may have, the first ones."""
        return Have(self._session, tuple(self._heads.items[:LOGS_MAX]))

    # --- Comparing -----------------------------------------------------------------------------

    def _on_have(self, have: Have) -> list[Effect]:
        if self._known:
            raise ReplicationError(Reason.OUT_OF_TURN, "a second Have")
        answer = [] if self._opening.role is Role.INITIATOR else self._say(self._have())
        found = compare(self._heads, have.heights)
        for span in found.owed:
            self._sending.owe(span)
        self._note_told(have.heights)
        return [*answer, *self._owes(found.owed, found.expected), *self._all_known()]

    def _on_sets(self, message: Message) -> list[Effect]:
        if self._sets is None:
            raise ReplicationError(Reason.OUT_OF_TURN, type(message).__name__)
        return self._carry_out(self._sets.receive(message))

    def _carry_out(self, results: Iterable[set_reconciliation.Effect]) -> list[Effect]:
        effects: list[Effect] = []
        owed: list[LogSpan] = []
        expected: list[LogSpan] = []
        known = False
        for result in results:
            match result:
                case set_reconciliation.Say(said):
                    effects += self._say(said)
                case set_reconciliation.Owed(span):
                    self._sending.owe(span)
                    self._told[span.key, span.log] = span.after
                    owed.append(span)
                case set_reconciliation.Expected(span):
                    self._told[span.key, span.log] = span.height
                    expected.append(span)
                case set_reconciliation.Reconciled():
                    known = True
                case _:
                    assert_never(result)
        effects += self._owes(owed, expected)
        return [*effects, *(self._all_known() if known else self._go_on())]

    def _note_told(self, heights: Iterable[Place]) -> None:
        self._told = {(key, log): height for key, log, height in heights}

    def _owes(self, owed: Sequence[LogSpan], expected: Sequence[LogSpan]) -> list[Effect]:
        """Tell how much each side owes; of what the peer owes, it is the peer's claim."""
        if not owed and not expected:
            return []
        have, need = (sum(one.height - one.after for one in spans) for spans in (owed, expected))
        authors = frozenset([one.key for one in expected])
        return [Owes(need, have, len(expected), authors)]

    # --- Entries -------------------------------------------------------------------------------

    def _all_known(self) -> list[Effect]:
        self._known = True
        self._step(Step.COMPARED)
        return self._go_on()

    def _go_on(self) -> list[Effect]:
        """Ask for the next page; once all is sent, say so."""
        if (page := self._sending.ask()) is not None:
            return [page]
        if self.state is not State.SENDING or self._sending.loading:
            return []
        self._step(Step.SENT)
        return [*self._say(SyncDone(self._session, live=self._stays)), *self._finish()]

    def _on_entry(self, message: Entry) -> list[Effect]:
        """Take an entry above what is held here of its log, as far as the peer told.

        A log of which the peer has told nothing yet may come as soon as it knows what we lack.
        """
        entry = open_entry(message)
        header = entry.header
        key = bytes.fromhex(header.author), header.log
        told = self._told.get(key)
        if header.channel_id != self._opening.channel:
            raise ReplicationError(Reason.OUT_OF_TURN, "an entry of another channel")
        if header.seq <= self._heads.height(*key) or (told is not None and header.seq > told):
            raise ReplicationError(Reason.OUT_OF_TURN, "an entry that was not asked for")
        self._taken += 1
        return [Brings(entry)]

    def _on_done(self, message: SyncDone) -> list[Effect]:
        if not self._known:
            raise ReplicationError(Reason.OUT_OF_TURN, "SyncDone before all was compared")
        self._done = True
        self._peer_stays = message.live
        return self._finish()

    def _finish(self) -> list[Effect]:
        if not self._done or self.state is not State.WAITING:
            return []
        live = self._stays and self._peer_stays
        self._heads, self._told, self._sets = Heads(()), {}, None  # only the stream may stay
        self._step(Step.STAYED if live else Step.DONE)
        self._due_at = None
        moved = self._taken or self._sending.sent
        result = "reconciled" if moved else "equal"
        finished = Finished(result, self._messages, checked=True, live=live, brought=True)
        return [finished, *self._pass_on()]

    # --- Live mode -----------------------------------------------------------------------------

    def _pass_on(self) -> list[Effect]:
        if self.state is not State.LIVE:
            return []
        page = self._news.ask()
        return [] if page is None else [page]

    def _on_live(self, message: Message) -> list[Effect]:
        """Take what the peer passes on, or end with it."""
        self._due_at = None if self.state is State.LIVE else self._due_at
        match message:
            case Entry():
                entry = open_entry(message)
                if entry.header.channel_id != self._opening.channel:
                    raise ReplicationError(Reason.OUT_OF_TURN, "an entry of another channel")
                return [Brings(entry)]
            case SyncDone(_, live) if not live:
                answer = [] if self.state is State.LEAVING else self._say(message)
                self._step(Step.PEER_ENDED)
                self._due_at = None
                over = Finished(NO_MORE, self._messages, outcome=Outcome.BENIGN)
                return [*answer, over]
            case _:
                raise ReplicationError(Reason.OUT_OF_TURN, f"{type(message).__name__} in live mode")

    def _step(self, step: Step) -> None:
        self.state = TRANSITIONS[self.state][step]

    # --- What is said --------------------------------------------------------------------------

    def _say(self, message: Message) -> list[Effect]:
        data = encode(message)
        self._draw(message, len(data), sent=True)
        return [Send(data)]

    def _draw(self, message: Message, size: int, *, sent: bool) -> None:
        """Remember a message to be shown, if it is one of the first that are no entries.

        The messages of a batch are one row, once it ends.
        """
        if isinstance(message, Entry) or len(self._cards) >= ROUNDS_MAX:
            return
        words = said(message)
        if isinstance(message, IN_A_BATCH):
            batch = self._batches[sent]
            batch.counted[type(message)] += 1
            batch.size += size
            if not isinstance(message, Terminal):
                return
            size, words = batch.size, batch_said(batch.counted)
            self._batches[sent] = _Batch()
        self._cards.append(Round(sent=sent, size=size, words=words))
