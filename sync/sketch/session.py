"""The exchange of a session by sketch: symbols, what is wanted by them, and the entries.

Rules:
1. Both ends compare what they held when the session began, from the higher floor of the two on;
   the lower one takes what is between out of its copy.
2. Who answers tries the opener's 64 symbols, and if they tell all, says what it wants. Else it
   sends its own, as many as its guess needs, and the opener tries. If these are too few, of which
   its own guess from all of them is much the better one, it asks at once as often as that needs, a
   part of what came before each time (`estimate.further`).
3. Whoever knows all owes what only it has, and the other one owes what it is asked for. Both go the
   one way in; the check after it alone says that both are equal.
4. What takes long is done in steps of 10 ms at most (`GoOn`).
"""

from collections.abc import Sequence
from enum import Enum
from typing import Final

import numpy as np

from sync.entries.entry import Entry, open_content
from sync.errors import RemoteError
from sync.machine import SECOND, Nanos
from sync.sessions import protocol
from sync.sessions.cards import Round
from sync.sessions.handshake import SyncHandshake, SyncKind
from sync.sessions.never_live import NeverLive
from sync.sessions.protocol import (
    ROUND_TRIP,
    Brings,
    Effect,
    Finished,
    GoOn,
    Owes,
    Send,
)
from sync.sessions.selection import SKETCH_DIFFERENCES_MAX
from sync.sessions.values import LoadedEntry, Outcome
from sync.sketch.asked import Asked
from sync.sketch.estimate import EACH, OPENING, SPREAD, are_too_few, differences, further, needed
from sync.sketch.floors import Lowering
from sync.sketch.key import words_of
from sync.sketch.lookup import Lookup
from sync.sketch.messages import (
    AskMore,
    Done,
    Entries,
    Message,
    MoreSymbols,
    Opening,
    Reason,
    Stop,
    Wanted,
    decode,
    encode,
)
from sync.sketch.peeling import STEP_IDS, Peeling, Progress
from sync.sketch.prefix import Sketch, first_of
from sync.sketch.sending import SketchSending
from sync.sketch.symbols import Symbols
from sync.sketch.words import said
from sync.structures.differences import Role
from sync.structures.set_digest import LEAF_BITS
from sync.structures.sorted_run import Columns, Words, split

INACTIVITY_MAX: Final[Nanos] = 20 * SECOND
"""Silence after which a session has failed."""

WAVES_AT_ONCE: Final = 8
"""Waves of decoding in one step, of a few ids each."""

ROUNDS_MAX: Final = 64
"""Payloads that are shown."""

SHOWN_MAX: Final = 256
"""Symbols of a payload of which it is shown when they became pure."""

GOES_ON: Final = SyncKind.WAKU.word
"""Protocol that goes on where a sketch does not tell all."""

GOES_ON_BYTES: Final = 20_000 + 4 * ROUND_TRIP


class State(Enum):
    """Next thing that is to happen."""

    BEGINNING = "our symbols are made ready"
    ASKED = "the peer opens, or answers our opening"
    TOLD = "the peer tries our symbols"
    PEELING = "we try the peer's symbols"
    LOOKING = "we look up what we owe"
    SENDING = "both send what they owe"
    OVER = "it is over"


class SketchExchange(NeverLive):
    """One session; see `sync.sessions.protocol.Exchange`, and the module docstring."""

    def __init__(
        self, opening: protocol.Opening, ours: SyncHandshake, theirs: SyncHandshake
    ) -> None:
        """Begin with the handshakes of both; `opening.log` was frozen when `opening.local` was."""
        sketch: Sketch = opening.log  # type: ignore[assignment]  # a view of the group's own
        self.cards: list[Round] = []
        self._opening = opening
        self._opens = opening.role is Role.INITIATOR
        self._state = State.BEGINNING if self._opens else State.ASKED
        self._oldest = max(ours.log.floor, theirs.log.floor)
        """Older messages one of the two does not take."""
        self._sketch = sketch
        self._floor = max(sketch.floor, self._oldest >> LEAF_BITS)
        """The lowest bucket that both sides can begin at."""
        self._lowering: Lowering | None = None
        self._kept = len(sketch.symbols)
        """Symbols that both sides have."""
        self._theirs: Opening | None = None
        self._told = 0
        """Symbols of ours that the peer was sent."""
        self._asked = Asked()
        self._peeling: Peeling | None = None
        self._guess = 0
        """About how many ids differ."""
        self._sought = 0
        """Ids of ours that are looked up."""
        self._lookup: Lookup | None = None
        self._sending = SketchSending()
        self._due = 0
        """Entries that the peer may send yet."""
        self._took = 0
        self._wants: Words | None = None
        """Hashes that we are about to ask for; None where the peer has asked."""
        self._done = [False, False]
        """Our end and the end of the peer: set once everything of it is sent."""
        self._payloads = 0
        self._heard_at = opening.at

    # --- Inputs --------------------------------------------------------------------------------

    def open(self, now: Nanos) -> list[Effect]:
        """Begin: say the first symbols, once they are ready."""
        self._heard_at = now
        return self.go_on(now)

    def payload(self, payload: bytes, now: Nanos) -> list[Effect]:
        """Take a message of the peer.

        Raises:
            RemoteError: malformed, or not what an honest peer sends now.
        """
        message = decode(payload)
        self._note(message, len(payload), sent=False)
        self._payloads += 1
        self._heard_at = now
        match message:
            case Opening() if self._state is State.ASKED and not self._opens:
                return self._on_opening(message)
            case MoreSymbols() if self._asked.awaited:
                return self._on_symbols(message)
            case AskMore() if self._state is State.TOLD:
                if self._told >= self._kept:
                    return self._stop(Reason.SPENT)
                return [self._tell(self._told + further(self._told))]
            case Wanted() if self._state is State.TOLD or self._is_first_answer:
                return self._on_wanted(message)
            case Entries(contents) if self._state in {State.LOOKING, State.SENDING}:
                return self._on_entries(contents)
            case Done() if self._state in {State.LOOKING, State.SENDING} and not self._done[1]:
                self._done[1] = True
                return self._end()
            case Stop(reason) if self._state in {State.ASKED, State.TOLD}:
                return [self._stopped(reason)]
            case _:
                raise RemoteError("a message out of turn")

    def go_on(self, now: Nanos) -> list[Effect]:
        """Do the next step of what takes long."""
        self._heard_at = now
        if self._state is State.BEGINNING:
            return self._begin()
        if self._state is State.PEELING:
            return self._peel()
        return self._look() if self._state is State.LOOKING else []

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> list[Effect]:
        """Send a page of what the peer lacks."""
        del more
        self._heard_at = now
        sent = [self._say(message) for message in self._sending.loaded(page)]
        return [*sent, *self._send()]

    def tick(self, now: Nanos) -> list[Effect]:
        """Fail after too long a silence."""
        due = self.deadline()
        if due is None or now < due:
            return []
        self._state = State.OVER
        return [Finished("nothing came in time", self._payloads)]

    def deadline(self) -> Nanos | None:
        """Return when the silence has been too long."""
        if self._state is State.OVER or self._sending.loading:
            return None
        return self._heard_at + self._opening.grown(INACTIVITY_MAX)

    @property
    def _is_first_answer(self) -> bool:
        """True while nothing has answered our opening: who has told its symbols wants nothing."""
        return self._opens and self._state is State.ASKED and not self._asked.known

    # --- Symbols -------------------------------------------------------------------------------

    def _begin(self) -> list[Effect]:
        """Take what is below the floor out of our copy; then say, or try, the first symbols."""
        lowering = self._lowering
        if lowering is None:
            lowering = Lowering(self._sketch, self._opening.local, self._floor)
            self._lowering = lowering
        if not lowering.fits:
            return self._stop(Reason.FLOORS)
        if not lowering.over:
            lowering.step()
            return [GoOn()]
        self._sketch, self._lowering = lowering.sketch, None
        if self._theirs is not None:
            first = self._theirs.symbols
            self._guess = self._guessed(first)
            if are_too_few(len(first), self._guess):
                return self._tell_enough()
            return self._try(first)
        self._state = State.ASKED
        self._asked.awaited = 1
        sketch = self._sketch
        first = sketch.symbols.part(0, OPENING)
        return [self._say(Opening(self._kept, sketch.floor, sketch.ids, first), differs=True)]

    def _on_opening(self, message: Opening) -> list[Effect]:
        if len(message.symbols) != OPENING or message.kept < OPENING:
            raise RemoteError(f"an opening of {len(message.symbols)} symbols")
        if message.floor < self._floor:
            return self._stop(Reason.FLOORS)
        self._floor = message.floor
        self._theirs = message
        self._kept = min(self._kept, message.kept)
        self._state = State.BEGINNING
        return self._begin()

    def _on_symbols(self, message: MoreSymbols) -> list[Effect]:
        """Try the peer's symbols, once all that were asked for have come, and may be enough."""
        asked = self._asked
        asked.hear(message, self._kept)
        if asked.awaited:
            return []
        if self._peeling is None:
            self._guess = self._guessed(asked.fresh)
            if are_too_few(asked.known, self._guess) and not asked.is_spent(self._kept):
                return self._ask()
        return self._try(asked.take())

    def _guessed(self, first: Symbols) -> int:
        """Return about how many ids differ, by the first symbols of the peer."""
        return differences(first.less(self._sketch.symbols.part(0, len(first))))

    def _try(self, symbols: Symbols) -> list[Effect]:
        if self._peeling is None:
            self._peeling = Peeling(self._sketch.key, self._sketch.symbols)
        self._peeling.extend(symbols)
        self._state = State.PEELING
        return self._peel()

    def _peel(self) -> list[Effect]:
        """Decode a while; then go on by what came of it."""
        peeling = self._peeling
        assert peeling is not None
        taken, waves = peeling.taken, peeling.wave
        while peeling.progress is Progress.GOING:
            peeling.step()
            if peeling.taken - taken > STEP_IDS // 2 or peeling.wave - waves > WAVES_AT_ONCE:
                break
        if peeling.progress is Progress.GOING:
            return [GoOn()]
        self._show(peeling)
        match peeling.progress:
            case Progress.DONE:
                return self._know(peeling)
            case Progress.POISONED:
                return self._stop(Reason.POISONED)
            case Progress.MANY:
                return self._stop(Reason.MANY)
            case _:
                return self._try_more()

    def _try_more(self) -> list[Effect]:
        """More symbols are needed: ask for them, or send ours instead."""
        if not self._opens:
            return self._tell_enough()
        return self._stop(Reason.SPENT) if self._asked.is_spent(self._kept) else self._ask()

    def _ask(self) -> list[Effect]:
        """Ask for as many more symbols as the guess needs."""
        self._state = State.ASKED
        return [self._say(AskMore()) for _ in range(self._asked.more(self._guess, self._kept))]

    def _tell_enough(self) -> list[Effect]:
        """Send as many symbols as the guess needs, if so many can tell it."""
        least = self._guess * (1 - 2 * SPREAD)
        if least > SKETCH_DIFFERENCES_MAX or EACH * least > self._kept:
            return self._stop(Reason.MANY)
        self._peeling = None
        return [self._tell(max(needed(self._guess), OPENING + OPENING // 4))]

    def _tell(self, end: int) -> Send:
        """Send our symbols up to a place."""
        self._state = State.TOLD
        sketch, first = self._sketch, self._told
        self._told = min(end, self._kept)
        symbols = sketch.symbols.part(first, self._told)
        return self._say(MoreSymbols(first, sketch.ids, symbols), differs=True)

    # --- Entries -------------------------------------------------------------------------------

    def _know(self, peeling: Peeling) -> list[Effect]:
        """All that differs is known: ask for what is theirs, once ours is found."""
        self._wants = peeling.hashes(1)
        return self._look_up(peeling.hashes(-1))

    def _on_wanted(self, message: Wanted) -> list[Effect]:
        """All is known to the peer: it owes some, and wants some."""
        self._due, self._asked.awaited = message.owed, 0
        return self._look_up(words_of(message.hashes))

    def _look_up(self, hashes: Words) -> list[Effect]:
        self._state = State.LOOKING
        self._peeling = None
        parts = self._opening.local.parts(first_of(self._sketch.floor))
        self._lookup = Lookup(parts, hashes)
        self._sought = len(hashes)
        return [GoOn()]

    def _look(self) -> list[Effect]:
        """Look on for what we owe; then ask, and begin to send."""
        lookup = self._lookup
        assert lookup is not None
        lookup.step()
        if not lookup.over:
            return [GoOn()]
        self._lookup = None
        timestamps, hashes = lookup.found
        if self._wants is not None and len(timestamps) < self._sought:
            return self._stop(Reason.POISONED)
        oldest = int(timestamps.searchsorted(np.uint64(self._oldest)))
        owed = len(timestamps) - oldest
        self._sending.owe(Columns(timestamps[oldest:], hashes[oldest:]))
        self._state = State.SENDING
        effects: list[Effect] = []
        asked: frozenset[bytes] = frozenset()
        if self._wants is not None:
            self._due, asked = len(self._wants), frozenset(split(self._wants))
            effects.append(self._say(Wanted(owed, self._wants.tobytes())))
        if owed or self._due:
            effects.insert(0, Owes(self._due, owed, 0, hashes=asked))
        return [*effects, *self._send()]

    def _send(self) -> list[Effect]:
        """Ask for the next page; once all is sent, say so."""
        page = self._sending.ask()
        if page is not None:
            return [page]
        if self._sending.loading or self._done[0]:
            return []
        self._done[0] = True
        return [self._say(Done()), *self._end()]

    def _on_entries(self, contents: Sequence[bytes]) -> list[Effect]:
        entries: list[Entry] = [open_content(content) for content in contents]
        if any(one.header.channel_id != self._opening.channel for one in entries):
            raise RemoteError("an entry of another channel")
        if self._done[1] or len(entries) > self._due:
            raise RemoteError("an entry that was not asked for")
        self._due -= len(entries)
        self._took += len(entries)
        return [Brings(entry) for entry in entries]

    def _end(self) -> list[Effect]:
        if not all(self._done):
            return []
        self._state = State.OVER
        result = "reconciled" if self._took or self._sending.sent else "equal"
        return [Finished(result, self._payloads, checked=True, brought=True)]

    def _stop(self, reason: Reason) -> list[Effect]:
        return [self._say(Stop(reason)), self._stopped(reason)]

    def _stopped(self, reason: Reason) -> Finished:
        """Return the end: who opened the session goes on by another protocol."""
        self._state = State.OVER
        self._peeling = self._lookup = None
        failed = reason is Reason.POISONED
        return Finished(
            f"goes on by {GOES_ON}: {reason.words}",
            self._payloads,
            outcome=Outcome.NOT_CONVERGED if failed else Outcome.BENIGN,
            then=GOES_ON,
            why=reason.words,
            estimate=GOES_ON_BYTES,
        )

    # --- What is said --------------------------------------------------------------------------

    def _say(self, message: Message, *, differs: bool = False) -> Send:
        payload = encode(message)
        self._note(message, len(payload), sent=True)
        return Send(payload, differs, isinstance(message, Entries))

    def _note(self, message: Message, size: int, *, sent: bool) -> None:
        if len(self.cards) < ROUNDS_MAX:
            self.cards.append(Round(sent, size, words=said(message)))

    def _show(self, peeling: Peeling) -> None:
        """Show with the symbols that came last in which wave each became pure."""
        at = next((at for at in range(len(self.cards), 0, -1) if not self.cards[at - 1].sent), 0)
        if at:
            waves = tuple(peeling.waves[:SHOWN_MAX].tolist())
            self.cards[at - 1] = self.cards[at - 1]._replace(waves=waves)
