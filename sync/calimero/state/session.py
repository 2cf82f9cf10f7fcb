"""Sessions over the state of a channel: a handshake, then hash comparison or level-wise.

The first payload of either end is its handshake. Both then know the same two, so both compute the
same kind (`sync.sessions.selection`), and nothing more is said where the roots are equal. A false
handshake may cost time, never data: only equal roots at the end are agreement.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from sync.calimero.governance.ops import Key
from sync.calimero.handshake import decode_handshake, encode_handshake
from sync.calimero.state import exchange as compare
from sync.calimero.state import messages
from sync.calimero.state.common import Introductions, Part
from sync.calimero.state.comparing import spread_of
from sync.calimero.state.entry import RegisterKey, author_of
from sync.calimero.state.exchange import Compared, Comparison, Result, StateExchange
from sync.calimero.state.registers import Registers
from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, Nanos
from sync.sessions.cards import Round
from sync.sessions.handshake import EntityState, LogState, SyncHandshake, SyncKind, flags
from sync.sessions.never_live import NeverLive
from sync.sessions.protocol import (
    BringsState,
    Effect,
    Finished,
    Fit,
    GoOn,
    Opening,
    Pushed,
    Send,
    Situation,
    Speaks,
)
from sync.sessions.selection import Selection, Verdict, check_scopes, select, verdict
from sync.sessions.values import GOVERNANCE, LoadedEntry, Outcome, Plane
from sync.structures.differences import Role

STREAM: Final = "/chat-tui/state/1"
"""Protocol id of the streams, of both kinds."""

INACTIVITY_MAX: Final[Nanos] = 20 * SECOND
"""Silence after which a session has failed."""

ROUNDS_MAX: Final = 64
"""Payloads that are shown."""

COST: Final = 21_000
"""Estimate of a session before the handshake: a round trip, and a handshake each way."""

COMMON: Final = "both have the same of the authors whom both know"
"""End of a session in which one side has a floor: there may be more on either."""

KINDS: Final = {SyncKind.HASH: Comparison.HASH, SyncKind.LEVEL: Comparison.LEVEL}

OUTCOMES: Final = {
    Result.CONVERGED: Outcome.CONVERGED,
    Result.MOVED: Outcome.MOVED,
    Result.BENIGN: Outcome.BENIGN,
    Result.NOT_CONVERGED: Outcome.NOT_CONVERGED,
}


ENDINGS: Final = {
    Verdict.CONVERGED: Outcome.CONVERGED,
    Verdict.GOVERNANCE: Outcome.BENIGN,
    Verdict.DIVERGED: Outcome.NOT_CONVERGED,
}
"""Outcomes of sessions that end with their handshakes."""


class StateView(Protocol):
    """The state of a channel, as its sessions need it."""

    registers: Registers

    @property
    def aside(self) -> int:
        """Number of entries that came and are in no tree."""

    @property
    def outside(self) -> int:
        """Number of changes so far that no session made."""

    def scope(self) -> bytes:
        """Return SHA-256 of our sorted heads of governance; zeros where nobody governs."""

    def knows(self, author: Key) -> bool:
        """Return whether what somebody sets counts here, if we have it."""


class StateSync(Struct, frozen=True):
    """One of the kinds of sessions over state, as a protocol; see `sync.sessions.protocol`."""

    kind: SyncKind
    kinds: frozenset[SyncKind] = frozenset(KINDS)
    plane: Plane = Plane.STATE
    stream: str = STREAM
    transfer: str = ""
    payloads_max: int = 1
    usual: bool = False
    family: str = ""
    stays: bool = False
    entries_in: None = None
    contradicted: str = ""

    @property
    def name(self) -> str:
        """Name by which it is announced, shown and asked for."""
        return NAMES[self.kind]

    @property
    def chooses(self) -> bool:
        """True if the handshakes pick the kind."""
        return self.kind is SyncKind.CHOOSE

    def suits(self, situation: Situation) -> Fit | None:
        """Return how well it suits: the handshake decides, if no person has."""
        if self.kind is SyncKind.CHOOSE:
            return Fit(COST, "the handshake decides how")
        return Fit(COST, "asked for by name") if situation.named else None

    def exchange(self, opening: Opening) -> "Exchange":
        """Return the exchange of one session."""
        return Exchange(opening, self.kind, self.kinds)

    def encode_pushed(self, channel: ChannelId, payload: bytes, created_ns: Nanos) -> bytes:
        """Nothing is pushed by it."""
        raise AssertionError("state is never pushed on a stream of its own")

    def decode_pushed(self, frame: bytes) -> Pushed:
        """Nothing is pushed by it.

        Raises:
            RemoteError: always.
        """
        del frame
        raise RemoteError("state is never pushed on a stream of its own")


NAMES: Final = {SyncKind.CHOOSE: "state", SyncKind.HASH: "hash", SyncKind.LEVEL: "level"}
STATE: Final = StateSync(SyncKind.CHOOSE)
HASH: Final = StateSync(SyncKind.HASH)
LEVEL: Final = StateSync(SyncKind.LEVEL)


class Exchange(NeverLive):
    """One session; see `sync.sessions.protocol.Exchange`.

    Of a kind that is forced, its initiator says that it speaks no other one. Where one end has a
    floor, the authors whom both know are found before anything is compared.
    """

    def __init__(
        self,
        opening: Opening,
        kind: SyncKind,
        kinds: frozenset[SyncKind] = frozenset(KINDS),
    ) -> None:
        self.cards: list[Round] = []
        self._opens = opening.role is Role.INITIATOR
        self._view: StateView = opening.state  # type: ignore[assignment]  # the group's own
        forced = self._opens and kind in KINDS
        supported = flags(kind) if forced else flags(*kinds - opening.failed)
        self._ours = _handshake(self._view, opening, supported)
        self._outside = self._view.outside
        self._chosen: Selection | None = None
        self._comparing: StateExchange | None = None
        self._theirs: SyncHandshake | None = None
        self._meeting: Introductions | None = None
        self._part: Part | None = None
        self._brought: set[Key] = set()
        """Authors of entries that were brought since our last turn."""
        self._payloads = 0
        self._heard_at, self._grown = opening.at, opening.grown
        self._over = False

    # --- Inputs --------------------------------------------------------------------------------

    def open(self, now: Nanos) -> Sequence[Effect]:
        """Begin: tell what we have."""
        self._heard_at = now
        return [self._send_handshake()]

    def payload(self, payload: bytes, now: Nanos) -> Sequence[Effect]:
        """Take a payload of the peer: its handshake first.

        Raises:
            RemoteError: malformed, or not what an honest peer sends now.
        """
        if self._over:
            raise RemoteError("a message after the end of a session")
        if self._theirs is None:
            self._theirs = decode_handshake(payload)
            self._note(payload, "handshake", sent=False)
            effects = self._choose(self._theirs)
        elif self._comparing is None:
            effects = self._meet(payload)
        else:
            effects = self._mapped(self._comparing.payload(payload))
            self._note(payload, _words(payload), sent=False)
        self._heard_at = now
        self._payloads += 1
        return effects

    def go_on(self, now: Nanos) -> Sequence[Effect]:
        """Take our turn: what the peer brought has been judged."""
        del now
        assert self._comparing is not None
        moved = self._view.outside != self._outside
        if moved:
            self._comparing.moved()
        if self._part is not None:
            self._part.follow(None if moved else self._brought)
            self._brought = set()
        return self._mapped(self._comparing.go_on())

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> Sequence[Effect]:
        """Nothing is ever loaded."""
        del page, now, more
        return []

    def tick(self, now: Nanos) -> Sequence[Effect]:
        """Fail after too long a silence."""
        if self._over or now < self._heard_at + self._grown(INACTIVITY_MAX):
            return []
        return [self._finished("nothing came in time", Outcome.NOT_CONVERGED)]

    def deadline(self) -> Nanos | None:
        """Return when the silence has been too long."""
        return None if self._over else self._heard_at + self._grown(INACTIVITY_MAX)

    # --- Steps ---------------------------------------------------------------------------------

    def _send_handshake(self) -> Send:
        payload = encode_handshake(self._ours)
        self._note(payload, "handshake", sent=True)
        return Send(payload)

    def _choose(self, theirs: SyncHandshake) -> list[Effect]:
        """Compute the kind, as the peer does, and begin it; or leave it to governance first.

        Raises:
            RemoteError: one of the two says that the channel is governed, the other not.
        """
        check_scopes(self._ours, theirs)
        opener, answerer = (self._ours, theirs) if self._opens else (theirs, self._ours)
        effects: list[Effect] = [] if self._opens else [self._send_handshake()]
        self._chosen = chosen = select(opener, answerer, Plane.STATE)
        if chosen.kind not in KINDS:
            outcome = ENDINGS[verdict(opener, answerer, Plane.STATE)]
            then = GOVERNANCE if chosen.kind is SyncKind.GOVERNANCE else ""
            return [*effects, self._finished(chosen.why, outcome, then)]
        assert chosen.kind is not None
        effects.append(Speaks(NAMES[chosen.kind], chosen.why, chosen.estimate))
        if not (opener.log.floor or answerer.log.floor):
            return effects + self._begin(self._view.registers, theirs.state.spread)
        registers, knows = self._view.registers, self._view.knows
        self._meeting = Introductions(registers, knows, opens=self._opens)
        return effects + (self._sent(self._meeting.open()) if self._opens else [])

    def _meet(self, payload: bytes) -> list[Effect]:
        """Find the authors whom both know; then begin with their entries alone."""
        meeting, message = self._meeting, messages.decode(payload)
        if meeting is None or not isinstance(message, messages.Authors):
            raise RemoteError("it compares before the authors are known")
        self._note(payload, _words(payload), sent=False)
        effects = self._sent(meeting.payload(message))
        if meeting.common is None:
            return effects
        self._part = Part(self._view.registers, meeting.common)
        return effects + self._begin(self._part, None)

    def _begin(self, compared: Compared, spread: bytes | None) -> list[Effect]:
        """Begin the comparison that the handshakes chose."""
        assert self._chosen is not None
        assert self._chosen.kind is not None
        self._comparing = StateExchange(compared, self._content_of, lambda: self._view.aside)
        if not self._opens:
            return []
        return self._mapped(self._comparing.open(KINDS[self._chosen.kind], spread))

    def _sent(self, payloads: Sequence[bytes]) -> list[Effect]:
        for payload in payloads:
            self._note(payload, _words(payload), sent=True)
        return [Send(payload) for payload in payloads]

    def _content_of(self, key: RegisterKey) -> bytes | None:
        entry = self._view.registers.get(key)
        return None if entry is None else entry.content

    def _mapped(self, effects: Sequence[compare.Effect]) -> list[Effect]:
        mapped: list[Effect] = []
        for effect in effects:
            match effect:
                case compare.Send(payload):
                    self._note(payload, _words(payload), sent=True)
                    mapped.append(Send(payload))
                case compare.Brings(contents):
                    self._brought.update(author_of(content) for content in contents)
                    mapped.append(BringsState(contents))
                case compare.GoOn():
                    mapped.append(GoOn())
                case compare.Finished(Result.CONVERGED) if self._part is not None:
                    mapped.append(self._finished(COMMON, Outcome.BENIGN))
                case compare.Finished(result):
                    mapped.append(self._finished(result.value, OUTCOMES[result]))
        return mapped

    def _finished(self, result: str, outcome: Outcome, then: str = "") -> Finished:
        self._over = True
        return Finished(result, self._payloads, outcome=outcome, then=then)

    def _note(self, payload: bytes, words: str, *, sent: bool) -> None:
        if len(self.cards) < ROUNDS_MAX:
            self.cards.append(Round(sent, len(payload), words=words))


def _handshake(view: StateView, opening: Opening, supported: int) -> SyncHandshake:
    """Return our handshake; of the messages it tells what a session over them would compare."""
    tree, held = view.registers.tree, opening.held.digest
    log = LogState(held.root, held.count, opening.floor, logs=len(opening.heights()))
    state = EntityState(tree.root, len(tree), tree.depth, spread_of(tree))
    return SyncHandshake(view.scope(), log, state, supported)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def _words(payload: bytes) -> str:
    """Return what a payload says, in a few words."""
    match messages.decode(payload):
        case messages.HashNodes(nodes, wanted):
            more = f", {len(wanted):,} wanted" if wanted else ""
            return f"{_count(len(nodes), 'node')}{more}"
        case messages.LevelData(depth, nodes):
            return f"level {depth}: {_count(len(nodes), 'node')}"
        case messages.Want(ids):
            return f"{len(ids):,} wanted"
        case messages.Entries(contents):
            return f"{len(contents):,} entries"
        case messages.Outcome(_, count):
            return f"outcome: {count:,} entries"
        case messages.Authors(held, known):
            return f"state of {_count(len(held), 'author')}, {len(known):,} known"
