"""Sessions over the messages of a channel: a handshake each way, then what the rule picks.

Both know the same two handshakes, so both compute the same kind (`sync.sessions.selection`). Equal
roots end the session with the check, which acknowledges. A kind of `MAKERS` goes on on the same
stream, in an exchange of its own; one with a stream of its own is begun by whoever opened this
session, once it is over.

What a handshake claims may cost time, never data: a snapshot is taken by whoever is empty, and that
is known here, and only a check that finds both equal is agreement.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from sync.calimero.handshake import decode_handshake, encode_handshake
from sync.calimero.log import delta_messages
from sync.calimero.log.delta import DeltaExchange
from sync.calimero.log.snapshot import SnapshotReceiver, SnapshotSource
from sync.calimero.log.snapshot_news import SnapshotView
from sync.calimero.log.view import LogView
from sync.calimero.state.comparing import spread_of
from sync.calimero.state.session import StateView
from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, Nanos
from sync.sessions import protocol
from sync.sessions.cards import Round
from sync.sessions.handshake import EntityState, LogState, SyncHandshake, SyncKind, flags
from sync.sessions.never_live import NeverLive
from sync.sessions.page_values import CheckedPage
from sync.sessions.protocol import (
    ROUND_TRIP,
    Effect,
    Finished,
    Fit,
    Opening,
    Pushed,
    Send,
    Situation,
    Speaks,
    SyncProtocol,
)
from sync.sessions.selection import Selection, check_scopes, other_state, select
from sync.sessions.values import GOVERNANCE, LoadedEntry, Outcome, Plane, Stored
from sync.sketch import messages as sketch_messages
from sync.sketch.prefix import Sketch
from sync.sketch.session import SketchExchange
from sync.structures.borsh import BorshWriter
from sync.structures.differences import Role
from sync.structures.log_spans import LogHeight
from sync.structures.made_once import made_once
from sync.structures.ordered_set import EVERYTHING

STREAM: Final = "/chat-tui/log/1"
"""Protocol id of the streams, of all kinds that need none of their own."""

INACTIVITY_MAX: Final[Nanos] = 20 * SECOND
"""Time for the handshake of the peer."""

COST: Final = 1_000 + ROUND_TRIP
"""Estimate of a session before the handshake: a round trip, and a handshake each way."""

KEY_SIZE: Final = 32
"""Bytes of an author's public key."""

Maker: TypeAlias = Callable[[Opening, SyncHandshake, SyncHandshake], protocol.Exchange]
"""Makes the exchange of a kind, from what is compared, our handshake and theirs."""


def _snapshot(opening: Opening, ours: SyncHandshake, theirs: SyncHandshake) -> protocol.Exchange:
    """Return the end of a snapshot: who opened the session is empty."""
    if opening.role is Role.RESPONDER:
        return SnapshotSource(opening, ours, theirs)
    view: SnapshotView = opening.log  # type: ignore[assignment]  # the group's own
    return SnapshotReceiver(opening, view, ours, theirs)


MAKERS: Final[Mapping[SyncKind, Maker]] = {
    SyncKind.DELTA: DeltaExchange,
    SyncKind.SNAPSHOT: _snapshot,
    SyncKind.SKETCH: SketchExchange,
}
"""Kinds that go on on the stream of the handshake."""

WITH_ENTRIES: Final[
    Mapping[int, Callable[[bytes], delta_messages.Message | sketch_messages.Message]]
] = {
    delta_messages.TAGS[delta_messages.DeltaEntries]: delta_messages.decode,
    sketch_messages.TAGS[sketch_messages.Entries]: sketch_messages.decode,
}
"""Readers of the messages that bring entries, by discriminant."""

NAMES: Final[Mapping[SyncKind, str]] = {
    SyncKind.CHOOSE: "log",
    SyncKind.DELTA: "delta",
    SyncKind.SNAPSHOT: "snapshot",
    SyncKind.SKETCH: SyncKind.SKETCH.word,
}

ELSEWHERE: Final[Mapping[SyncKind, str]] = {
    SyncKind.LOG_HEIGHT: "logheight",
    SyncKind.SETS: "sets",
    SyncKind.WAKU: "waku",
    SyncKind.GOVERNANCE: GOVERNANCE,
}
"""Names of what goes on on streams of its own."""

UNSUITED: Final[Mapping[SyncKind, str]] = {
    SyncKind.SNAPSHOT: "the channel is not empty here",
    SyncKind.SKETCH: "that takes over 1,000 messages, and symbols of them on both sides",
}
"""Reasons why a kind that a person asked for is not used; of others, the rule says why."""

LEAVE_OUT: Final = "Leave it out, and what is cheapest is taken."

BY_LOGS: Final = frozenset({SyncKind.LOG_HEIGHT, SyncKind.SETS})
"""Kinds of author logs, which are asked of those alone who have announced them."""


class LogSync(Struct, frozen=True):
    """One of the kinds of sessions over messages, as a protocol (`sync.sessions.protocol`).

    Attributes:
        kind: the only one that it speaks; `CHOOSE` for whichever the rule picks.
        pushes: whose transfers carry what only the check finds.
        kinds: those that may be picked, beside Waku Sync.
    """

    kind: SyncKind
    pushes: SyncProtocol
    kinds: frozenset[SyncKind] = frozenset(SyncKind)
    plane: Plane = Plane.LOG
    stream: str = STREAM
    payloads_max: int = 1
    usual: bool = False
    family: str = ""
    stays: bool = False
    contradicted: str = "the comparison left differences"

    @property
    def name(self) -> str:
        """Name by which it is announced, shown and asked for."""
        return NAMES[self.kind]

    @property
    def chooses(self) -> bool:
        """True if the handshakes pick the kind."""
        return self.kind is SyncKind.CHOOSE

    @property
    def transfer(self) -> str:
        """Protocol id of the streams that what the check found is pushed on."""
        return self.pushes.transfer

    def suits(self, situation: Situation) -> Fit | None:
        """Return how well it suits: the handshake decides, if no person has."""
        if self.kind is SyncKind.CHOOSE:
            chooses = situation.handshake or situation.named
            return Fit(COST, "the handshake decides how") if chooses else None
        return Fit(COST, "asked for by name") if situation.named else None

    def exchange(self, opening: Opening) -> "Exchange":
        """Return the exchange of one session."""
        return Exchange(opening, self.kind, self.kinds)

    def entries_in(self, payload: bytes) -> Sequence[bytes]:
        """Return the contents of the entries that delta sync or a sketch brings.

        Pages of snapshots are checked whole (`sync.calimero.log.snapshot_pages`).

        Raises:
            DecodeError: malformed.
        """
        decoder = WITH_ENTRIES.get(payload[0]) if payload else None
        message = None if decoder is None else decoder(payload)
        entries = delta_messages.DeltaEntries | sketch_messages.Entries
        return message.contents if isinstance(message, entries) else ()

    def encode_pushed(self, channel: ChannelId, payload: bytes, created_ns: Nanos) -> bytes:
        """Return a stored message as it is pushed."""
        return self.pushes.encode_pushed(channel, payload, created_ns)

    def decode_pushed(self, frame: bytes) -> Pushed:
        """Return what was pushed.

        Raises:
            RemoteError: malformed.
        """
        return self.pushes.decode_pushed(frame)


class Exchange(NeverLive):
    """One session; see `sync.sessions.protocol.Exchange`.

    Of a kind that is forced, its initiator says that it speaks no other one.
    """

    def __init__(
        self,
        opening: Opening,
        kind: SyncKind,
        kinds: frozenset[SyncKind] = frozenset(SyncKind),
    ) -> None:
        view: LogView = opening.log  # type: ignore[assignment]  # the group's own
        self._opening = opening
        self._views: dict[SyncKind, object] = {
            SyncKind.DELTA: view.frozen(),
            SyncKind.SNAPSHOT: view.snapshot,
            SyncKind.SKETCH: _sketch(opening, view),
        }
        """By kind that goes on here: the channel's messages as it needs them."""
        self._opens = opening.role is Role.INITIATOR
        self._forced = kind if self._opens and kind is not SyncKind.CHOOSE else None
        if self._views[SyncKind.SKETCH] is None:
            kinds -= {SyncKind.SKETCH}
        self._ours = _handshake(opening, self._forced, kinds)
        self._nested: protocol.Exchange | None = None
        self._cards: list[Round] = []
        self._other_state: bool | None = None
        self._payloads = 0
        self._heard_at = opening.at
        self._over = False

    @property
    def cards(self) -> Sequence[Round]:
        """The first payloads, as they are shown."""
        return self._cards if self._nested is None else [*self._cards, *self._nested.cards]

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
        if self._nested is not None:
            return self._mapped(self._nested.payload(payload, now))
        theirs = decode_handshake(payload)
        self._cards.append(Round(sent=False, size=len(payload), words="handshake"))
        self._payloads += 1
        self._heard_at = now
        return self._choose(theirs, now)

    def go_on(self, now: Nanos) -> Sequence[Effect]:
        """See `Exchange`."""
        return [] if self._nested is None else self._mapped(self._nested.go_on(now))

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> Sequence[Effect]:
        """See `Exchange`."""
        if self._nested is None:
            return []
        return self._mapped(self._nested.loaded(page, now, more=more))

    def stored(self, one: Stored, now: Nanos, *, known: bool) -> Sequence[Effect]:
        """See `Exchange`."""
        if self._nested is None:
            return []
        return self._mapped(self._nested.stored(one, now, known=known))

    def page_checked(
        self, number: int, page: CheckedPage | None, reason: str, now: Nanos
    ) -> Sequence[Effect]:
        """See `sync.sessions.protocol.ChecksPages`."""
        nested: object = self._nested
        assert isinstance(nested, protocol.ChecksPages), "it asked for the check"
        return self._mapped(nested.page_checked(number, page, reason, now))

    def tick(self, now: Nanos) -> Sequence[Effect]:
        """Fail after too long a silence."""
        if self._nested is not None:
            return self._mapped(self._nested.tick(now))
        if self._over or now < self._heard_at + self._opening.grown(INACTIVITY_MAX):
            return []
        return [self._finish(Finished("nothing came in time", self._payloads))]

    def deadline(self) -> Nanos | None:
        """Return when the silence has been too long."""
        if self._over:
            return None
        if self._nested is not None:
            return self._nested.deadline()
        return self._heard_at + self._opening.grown(INACTIVITY_MAX)

    # --- Steps ---------------------------------------------------------------------------------

    def _send_handshake(self) -> Send:
        payload = encode_handshake(self._ours)
        self._cards.append(Round(sent=True, size=len(payload), words="handshake"))
        return Send(payload)

    def _choose(self, theirs: SyncHandshake, now: Nanos) -> list[Effect]:
        """Compute the kind, as the peer does, and begin it or end.

        Raises:
            RemoteError: one of the two says that the channel is governed, the other not.
        """
        check_scopes(self._ours, theirs)
        opener, answerer = (self._ours, theirs) if self._opens else (theirs, self._ours)
        effects: list[Effect] = [] if self._opens else [self._send_handshake()]
        chosen = select(opener, answerer, Plane.LOG)
        self._other_state = other_state(opener, answerer, chosen)
        maker = None if chosen.kind is None else MAKERS.get(chosen.kind)
        if maker is None or chosen.kind is None:
            equal = self._ours.log.root == theirs.log.root
            return [*effects, self._finish(self._ending(chosen, equal=equal))]
        opening = replace(self._opening, log=self._views[chosen.kind])
        self._nested = maker(opening, self._ours, theirs)
        begun = self._nested.open(now) if self._opens else ()
        return [
            *effects,
            Speaks(NAMES[chosen.kind], chosen.why, chosen.estimate),
            *self._mapped(begun),
        ]

    def _ending(self, chosen: Selection, *, equal: bool) -> Finished:
        """Return how a session ends for which there is nothing more to do on this stream."""
        rounds, why = self._payloads, chosen.why
        if chosen.kind is None:
            return Finished(why, rounds, checked=equal, outcome=Outcome.BENIGN)
        then = ELSEWHERE[chosen.kind]
        if self._forced is not None and chosen.kind is not SyncKind.GOVERNANCE:
            why = UNSUITED.get(self._forced, why)
            words = f"{NAMES[self._forced]} does not suit: {why}. {LEAVE_OUT}"
            return Finished(words, rounds, outcome=Outcome.BENIGN)
        return Finished(
            f"goes on by {then}: {why}",
            rounds,
            outcome=Outcome.BENIGN,
            then=then,
            why=why,
            estimate=chosen.estimate,
        )

    def _mapped(self, effects: Sequence[Effect]) -> list[Effect]:
        """Count what the handshake took, and note the end."""
        return [self._finish(one) if isinstance(one, Finished) else one for one in effects]

    def _finish(self, finished: Finished) -> Finished:
        self._over = True
        before = 0 if self._nested is None else self._payloads
        return replace(finished, rounds=finished.rounds + before, other_state=self._other_state)


def _sketch(opening: Opening, view: LogView) -> Sketch | None:
    """Return our symbols, where a session is about all that we take."""
    lower, upper = opening.window
    if lower.timestamp > opening.floor or upper != EVERYTHING.upper:
        return None
    return view.sketch(opening.local, opening.floor, opening.at)


def _handshake(
    opening: Opening, forced: SyncKind | None, allowed: frozenset[SyncKind]
) -> SyncHandshake:
    """Return our handshake; of the messages it tells what is frozen, and what lacks just now."""
    view: LogView = opening.log  # type: ignore[assignment]  # the group's own
    state: StateView = opening.state  # type: ignore[assignment]
    tree, held, heights = state.registers.tree, opening.held.digest, opening.heights()
    log = LogState(
        held.root,
        0 if view.is_empty else held.count,  # our own lines are no history
        opening.floor,
        tuple(sorted(bytes.fromhex(one) for one in view.heads())),
        len(view.wanted()),
        len(heights),
        _digest(heights),
    )
    entities = EntityState(tree.root, len(tree), tree.depth, spread_of(tree))
    return SyncHandshake(view.scope(), log, entities, _supported(opening, view, forced, allowed))


def _supported(
    opening: Opening, view: LogView, forced: SyncKind | None, allowed: frozenset[SyncKind]
) -> int:
    """Return the flags of the kinds that this session may be of.

    Whoever began it takes a snapshot only if nothing at all is here; one with messages says that it
    gives them. A kind that failed is left out, and with one of author logs the other.
    """
    kinds = {*MAKERS, SyncKind.WAKU, SyncKind.GOVERNANCE}
    opens = opening.role is Role.INITIATOR
    if opening.offered if opens else opening.announced:
        kinds |= BY_LOGS
    if opens and not view.is_empty and not opening.held.digest.count:
        kinds.discard(SyncKind.SNAPSHOT)  # what is here is no message that counts
    kinds &= allowed | {SyncKind.WAKU, SyncKind.GOVERNANCE}
    kinds -= opening.failed
    if opening.failed & BY_LOGS:
        kinds -= BY_LOGS
    return flags(*kinds) if forced is None else flags(*kinds & {forced})


@made_once
def _digest(heights: tuple[LogHeight, ...]) -> bytes:
    """Return SHA-256 of the heights of all logs, ascending."""
    out = BorshWriter()
    for key, log, height in heights:
        out.fixed(key, KEY_SIZE)
        out.u64(log)
        out.u64(height)
    return hashlib.sha256(bytes(out.data)).digest()
