"""One Waku Sync session: its machines, where it is, what it did so far, and what it tells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from sync.check import check
from sync.check.wire import decode_frame
from sync.errors import RemoteError
from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId, earlier
from sync.sessions.claims import CLAIM_BYTES
from sync.sessions.receiving import Transfer
from sync.sessions.values import PAGE, Proved, SessionEnded, SessionId
from sync.structures.ordered_set import ZERO_HASH, Columns, OrderedSet, SyncId, joined
from sync.structures.set_digest import ROW_BYTES, Held
from sync.waku import reconcile
from sync.waku.division import NARROW, Parameters
from sync.waku.message import EVERYTHING, Bounds, Ranges
from sync.waku.rounds import Round, drawn

OFFERED = "the peer began it"

ROUNDS_MAX = 64
"""Payloads remembered to be shown; a session of a million differences has some ninety."""

SESSION_WITHIN: Nanos = 5 * MINUTE
"""How long a session may take in all, whoever began it: a peer that gives us a little at a time
must not keep a place for ever. What came until then stays, and the next session goes on."""

STALLED_AFTER: Nanos = 5 * SECOND
"""Silence after which what a session should bring is asked elsewhere, and held up for nothing."""

CHECK_WITHIN: Nanos = check.INACTIVITY_MAX
"""How long the responder waits for the check to begin, and the initiator for its stream."""


class Stage(Enum):
    """Stage of a session."""

    OPENING = "opening"
    RECONCILING = "reconciling"
    CHECKING = "checking"
    TRANSFERRING = "transferring"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of all sessions of a channel: identity, parameters and retention."""

    me: PeerId
    channel: ChannelId
    draw_salt: Callable[[], bytes]
    parameters: Parameters = NARROW
    retention: Nanos | None = None
    """What is older than this is neither compared nor accepted; None keeps everything."""

    def retained_from(self, reference: Nanos) -> Nanos:
        """Return from when on we take messages, by the reference clock; 0 for all of them."""
        return 0 if self.retention is None else max(0, reference - self.retention)


@dataclass(slots=True)
class Session:
    """One session; its machines are None until their streams are open."""

    number: SessionId
    peer: PeerId
    why: str
    began_at: Nanos
    heard_at: Nanos
    """When the peer's part in it last came."""

    since: Nanos = 0
    """What is older is not compared; 0 for everything."""

    retained_from: Nanos = 0
    """What is older is too old for us, whatever is compared."""

    until: SyncId = EVERYTHING.upper
    """What is younger is not compared."""

    moved_at: Nanos = 0
    """When it last found out or brought something."""

    given_up: bool = False
    """Whether it stalls: nobody waits for what it may still bring."""

    transfer: Transfer = field(default_factory=Transfer)
    local: OrderedSet | None = None
    held: Held | None = None
    reconciliation: reconcile.Reconciliation | None = None
    reconciled: reconcile.Finished | None = None
    checking: check.Check | None = None
    check_stream: SessionId | None = None
    checked: check.CheckFinished | None = None
    settled: bool = False
    """Whether no further differences will be found."""

    wait_until: Nanos | None = None
    """For the check to begin."""

    found: list[Columns] = field(default_factory=list)
    """What each payload of the reconciliation found that we lack: the check counts it as ours."""

    lacked: set[SyncId] = field(default_factory=set)
    """What we held and the peer lacked."""

    pushed: list[SyncId] = field(default_factory=list)
    """Of that, what is yet to be pushed."""

    early_frame: bytes | None = None
    """The first frame of the check, where it came before the last payload."""

    naive: int = 0
    """Bytes of a plain list of what we held."""

    need: int = 0
    have: int = 0
    got: int = 0
    payloads: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    rounds: list[Round] = field(default_factory=list)
    """The first payloads, as they are shown."""

    ended_at: Nanos | None = None
    result: str = ""

    @property
    def initiated(self) -> bool:
        """True if we opened the session."""
        return self.why != OFFERED

    @property
    def stage(self) -> Stage:
        """Current stage of the session."""
        if self.ended_at is not None:
            return Stage.OVER
        if self.settled:
            return Stage.TRANSFERRING
        if self.reconciled is not None:
            return Stage.CHECKING
        return Stage.OPENING if self.reconciliation is None else Stage.RECONCILING

    @property
    def converged(self) -> bool:
        """True if both sides are proved to hold the same set, once everything has come."""
        return self.checked is not None and self.checked.result is check.Result.EQUAL

    @property
    def whole(self) -> bool:
        """True if the window covers everything that we accept from others."""
        return self.since <= self.retained_from and self.until == EVERYTHING.upper

    @property
    def window(self) -> Bounds:
        """Bounds of the range that is compared."""
        return Bounds(SyncId(self.since, ZERO_HASH), self.until)

    def freeze(self, local: OrderedSet, held: Held) -> OrderedSet:
        """Compare what is held now, as far as the window goes; return that."""
        if self.until < EVERYTHING.upper:
            local = local.below(self.until)
            held = held.below(local, self.until.timestamp)
        self.local, self.held = local, held
        self.naive = ROW_BYTES * local.count(*self.window)
        return local

    def meet(self, received: Ranges) -> None:
        """Take note of where the initiator's window ends, which its first payload says."""
        if self.initiated or self.payloads or not received:
            return
        if received.upper(-1) < self.until:
            assert self.local is not None
            assert self.held is not None
            self.until = received.upper(-1)
            self.freeze(self.local, self.held)

    def take_pages(self) -> tuple[bytes, ...]:
        """Return the hashes to push, in pages, the newest first, each with its oldest first."""
        newest_first, self.pushed = sorted(self.pushed, reverse=True), []
        pages = [newest_first[at : at + PAGE] for at in range(0, len(newest_first), PAGE)]
        return tuple([one.hash for page in pages for one in reversed(page)])

    @property
    def ends_at(self) -> Nanos:
        """Time at which the session ends, whatever the peer still does."""
        return self.began_at + SESSION_WITHIN

    def deadline(self) -> Nanos | None:
        """Return when the session has waited too long, or taken too long in all."""
        due: Nanos | None
        match self.stage:
            case Stage.RECONCILING:
                due = self.reconciliation.deadline() if self.reconciliation else None
            case Stage.CHECKING:
                due = self.checking.deadline() if self.checking is not None else self.wait_until
            case Stage.TRANSFERRING:
                due = self.transfer.deadline()
            case Stage.OPENING:
                due = None
            case Stage.OVER:
                return None
        return earlier(earlier(due, self.gives_up_at()), self.ends_at)

    def gives_up_at(self) -> Nanos | None:
        """Return when the session, having brought nothing for `STALLED_AFTER`, is given up."""
        if self.given_up or not self.transfer.lacking:
            return None
        return self.moved_at + STALLED_AFTER

    @property
    def claimed(self) -> int:
        """Bytes that it takes for what the peer claims to hold, or to lack."""
        ids = self.transfer.ids + len(self.lacked)
        return CLAIM_BYTES * ids + self.transfer.waiting_bytes

    def begin_check(self, salt: bytes, now: Nanos, room: Callable[[], int]) -> list[check.Effect]:
        """Begin to prove what both sides should hold now, or to hear the peer prove it."""
        assert self.held is not None
        assert self.local is not None
        found = joined(self.found)
        held = self.held.with_found(self.local.together(found), found.timestamps)
        role = reconcile.Role.INITIATOR if self.initiated else reconcile.Role.RESPONDER
        self.checking = check.Check(role, held, self.since, salt, now, room)
        effects = self.checking.handle(check.Begin(), now) if self.initiated else []
        early, self.early_frame = self.early_frame, None
        return effects if early is None else [*effects, *self.take_frame(early, now)]

    def take_frame(self, payload: bytes, now: Nanos) -> list[check.Effect]:
        """Take a frame of the check; the first one may come before our part of it has begun.

        Raises:
            RemoteError: malformed, or not what an honest peer sends now.
        """
        if self.checking is not None:
            return self.checking.handle(check.FrameReceived(decode_frame(payload)), now)
        if self.early_frame is not None:
            raise RemoteError("a second frame of a check before the reconciliation was over")
        self.early_frame = payload
        return []

    def proved(self) -> Proved:
        """Return what the peer holds: what we held, but for what it lacked."""
        assert self.checked is not None
        assert self.local is not None
        local, lacked, floor = self.local, self.lacked, self.checked.floor
        whole = floor <= self.retained_from and self.until == EVERYTHING.upper
        return Proved(self.peer, floor, whole, lambda one: one in local and one not in lacked)

    def note(self, ranges: Ranges, size: int, *, sent: bool) -> None:
        """Count a payload, and remember it to be shown, if it is one of the first."""
        assert self.local is not None, "payloads are exchanged over a frozen set"
        self.payloads += 1
        if sent:
            self.bytes_out += size
        else:
            self.bytes_in += size
        if len(self.rounds) < ROUNDS_MAX:
            self.rounds.append(drawn(ranges, size, self.local, sent=sent))

    def outcome(self, missing: int) -> str:
        """Return how it ends, once nothing more is expected."""
        assert self.reconciled is not None
        if missing:
            return f"incomplete: {missing} messages did not come"
        if self.checked is None or self.checked.result is check.Result.EQUAL:
            return self.reconciled.result.value
        if self.checked.result is check.Result.DIFFERENT:
            found = self.checked.need + self.checked.have
            return f"fingerprints lied: the check found {found} more differences"
        reason = f": {self.checked.reason}" if self.checked.reason else ""
        return f"not proved, the check {self.checked.result.value}{reason}"

    def end(self, result: str, now: Nanos) -> SessionEnded:
        """Let go of all but what is shown, and return what is told of its end."""
        proved = self.converged and result == self.outcome(0)
        self.result, self.ended_at = result, now
        self.local = self.held = self.reconciliation = self.checking = None
        self.found, self.pushed, self.lacked = [], [], set()
        self.early_frame = None
        return SessionEnded(
            session=self.number,
            peer=self.peer,
            why=self.why,
            result=result,
            converged=proved,
            rounds=self.reconciled.rounds if self.reconciled else 0,
            have=self.have,
            need=self.need,
            got=self.got,
        )
