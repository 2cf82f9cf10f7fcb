"""The questions that the table of sessions asks a protocol, and what it may answer.

A protocol has one adapter in its own room (`sync.waku.session` is the first). It is registered once
(`sync.manager.registry`); nothing else knows it by name.

The table does what all protocols need: it opens and closes streams, freezes what is held, has
differences pushed and wanted, checks the result, ends what takes too long, and tells of it.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from sync.entries.entry import Entry
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sessions.cards import Round
from sync.sessions.handshake import SyncKind
from sync.sessions.page_values import CheckedPage
from sync.sessions.values import LoadedEntry, Outcome, Plane, Stored
from sync.structures.differences import Differences, Role
from sync.structures.link_trips import as_it_is
from sync.structures.log_spans import LogHeight, LogSpan
from sync.structures.ordered_set import Bounds, OrderedSet, SyncId
from sync.structures.set_digest import Held

ROUND_TRIP: Final = 20_000
"""Bytes that a round trip counts as in an estimate: what a LAN carries meanwhile."""


# --- Which protocol ----------------------------------------------------------------------------


class Situation(Struct, frozen=True):
    """Known facts when a session is to begin.

    Attributes:
        why: the reason, as it is shown.
        span: how old may be what is compared; None for everything.
        spoken: protocols that the peer has announced.
        plane: what is compared.
        failures: sessions for this reason that came to nothing, one after the other.
        by_logs: whether whole author logs are to be compared and brought, in causal order.
        logs: how many logs are held.
        offered: whether the peer has announced its author logs of the channel.
        named: whether a person asks for one protocol.
        handshake: whether a handshake is to pick how to compare.
    """

    why: str
    span: Nanos | None = None
    spoken: frozenset[str] = frozenset()
    plane: Plane = Plane.LOG
    failures: int = 0
    by_logs: bool = False
    logs: int = 0
    offered: bool = False
    named: bool = False
    handshake: bool = False


class Fit(Struct, frozen=True):
    """Estimate of a protocol: bytes, with `ROUND_TRIP` for each round trip, and why it suits."""

    cost: int
    why: str


# --- One session -------------------------------------------------------------------------------


class Opening(Struct, frozen=True):
    """Subject of one session, as its protocol is told.

    Attributes:
        role: our end of it.
        channel: where it is.
        peer: with whom.
        local: what we hold, frozen.
        held: the same with its digest.
        window: what of it is compared.
        at: when its stream was open.
        room: returns how many ids more may be found before there is no memory for them.
        payloads_max: payloads of one answer that the peer takes.
        heights: returns the heights of the logs that `local` has, ascending.
        count: sessions that its initiator began with its peer before, since they are linked.
        announced: whether the peer was told that it may ask for the channel's author logs.
        offered: whether the peer has told us that we may.
        failed: kinds that came to nothing with this peer since both last agreed.
        live: whether it may stay, to pass on what is new.
        state: the channel's state, for protocols of that plane; they alone know its type.
        log: its messages beside what is frozen, in the same way.
        floor: nothing older is held, or taken; 0 where everything is.
        grown: returns how long to wait for the peer where a fast one is waited for so long.
    """

    role: Role
    channel: ChannelId
    peer: PeerId
    local: OrderedSet
    held: Held
    window: Bounds
    at: Nanos
    room: Callable[[], int]
    payloads_max: int = 1
    heights: Callable[[], tuple[LogHeight, ...]] = tuple
    count: int = 0
    announced: bool = True
    live: bool = False
    state: object = None
    log: object = None
    offered: bool = False
    failed: frozenset[SyncKind] = frozenset()
    floor: Nanos = 0
    grown: Callable[[Nanos], Nanos] = as_it_is


class Send(Struct, frozen=True):
    """Effect: send a payload on the session's stream.

    Attributes:
        payload: its bytes.
        differs: it says that the two sets differ.
        carries: it carries entries, of which each has a row of its own in the protocol log.
    """

    payload: bytes
    differs: bool = False
    carries: bool = False


class Narrow(Struct, frozen=True):
    """Effect: both sides compare what is older than `until` only."""

    until: SyncId


class GoOn(Struct, frozen=True):
    """Effect: there is more to do for what came; call `Exchange.go_on` after what waits now."""


class Speaks(Struct, frozen=True):
    """Effect: it is known by which of the stream's protocols, `name`, both go on.

    Where handshakes have picked it, `why`, and the bytes that it is expected to take.
    """

    name: str
    why: str = ""
    estimate: int = 0


class Owes(Struct, frozen=True):
    """Effect: so many messages are lacking here, by the peer's word, and so many there.

    Attributes:
        need: what the peer owes, of `logs` logs by `authors`, public keys.
        have: what we owe.
        asked: ids of what the peer owes, where it is asked for by these.
        hashes: the same, where it is asked for by Waku hashes.
        put_off: ids that it is not asked for yet, as other sessions bring them.
    """

    need: int
    have: int
    logs: int
    authors: frozenset[bytes] = frozenset()
    asked: frozenset[MessageId] = frozenset()
    put_off: frozenset[MessageId] = frozenset()
    hashes: frozenset[bytes] = frozenset()


class Load(Struct, frozen=True):
    """Effect: load a page of these spans, behind the place `after`, and call `Exchange.loaded`."""

    spans: tuple[LogSpan, ...]
    after: tuple[int, MessageId] | None = None
    ids: tuple[SyncId, ...] = ()
    """Instead of spans: these alone."""
    messages: tuple[MessageId, ...] = ()
    """The same, by their message ids."""


class LoadNewest(Struct, frozen=True):
    """Effect: load delivered entries, the newest first, and call `Exchange.loaded`.

    Attributes:
        before: strictly below this place; None for the newest ones.
        most: bytes of content; one entry comes at least.
    """

    before: tuple[int, MessageId] | None
    most: int


class Checks(Struct, frozen=True):
    """Effect: check page `number` off the loop, and call `ChecksPages.page_checked`."""

    number: int
    payload: bytes


class Snapshots(Struct, frozen=True):
    """Effect: the channel learns of its snapshot (`sync.calimero.log.snapshot_news`)."""

    news: object


class Brings(Struct, frozen=True):
    """Effect: the peer sent an entry on the session's own stream; the group checks it."""

    entry: Entry


class BringsState(Struct, frozen=True):
    """Effect: the peer sent state entries; the group checks them before anything else happens."""

    contents: tuple[bytes, ...]


class Finished(Struct, frozen=True):
    """Effect, the last one: both have compared what they hold, with this `result`.

    Attributes:
        result: how it ended, as it is shown.
        rounds: payloads received.
        checked: whether both sides now prove to hold the same (`sync.check`); then that decides
            about the outcome.
        outcome: the outcome of a session without a check.
        live: whether its stream stays, and the exchange with it, to pass on what is new.
        brought: whether all that either side was found to lack has come on its stream (`Brings`):
            the check is about that as well.
        then: name of the protocol that goes on, in a session of its own that whoever began this
            one begins at once; empty if none does.
        why: why it is that one.
        estimate: bytes that it is expected to take.
        other_state: whether the handshakes told different roots of the channel's state, and both
            are there to be compared; None where they told none, or something else comes first.
    """

    result: str
    rounds: int
    checked: bool = False
    outcome: Outcome = Outcome.NOT_CONVERGED
    live: bool = False
    brought: bool = False
    then: str = ""
    why: str = ""
    estimate: int = 0
    other_state: bool | None = None


Effect: TypeAlias = (
    Send
    | Narrow
    | GoOn
    | Differences
    | Speaks
    | Owes
    | Load
    | LoadNewest
    | Checks
    | Snapshots
    | Brings
    | BringsState
    | Finished
)


class Exchange(Protocol):
    """One session's run of a protocol: a machine (`sync.machine`) that the table feeds.

    Work that takes long is done in parts (`GoOn`), between which others have their turns.
    """

    @property
    def cards(self) -> Sequence[Round]:
        """The first payloads, as they are shown."""

    def open(self, now: Nanos) -> Sequence[Effect]:
        """Begin: the stream that we asked for is there. Not asked of who answers."""

    def payload(self, payload: bytes, now: Nanos) -> Sequence[Effect]:
        """Take a payload of the peer.

        Raises:
            RemoteError: not what an honest peer sends now; nothing has changed.
        """

    def go_on(self, now: Nanos) -> Sequence[Effect]:
        """Do the next part of what `GoOn` said is left."""

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> Sequence[Effect]:
        """Take the page that `Load` asked for; without `more`, nothing is left of its spans."""

    def stored(self, one: Stored, now: Nanos, *, known: bool) -> Sequence[Effect]:
        """A message is stored that was not here; `known`: the peer has it, or is sent it anyway."""

    def leave(self, now: Nanos) -> Sequence[Effect]:
        """End live mode."""

    def tick(self, now: Nanos) -> Sequence[Effect]:
        """The clock reached `deadline`: finish, or set a later one; else the session is ended."""

    def deadline(self) -> Nanos | None:
        """Return when `tick` is next due."""


@runtime_checkable
class ChecksPages(Protocol):
    """An exchange that has pages checked off the loop (`Checks`)."""

    def page_checked(
        self, number: int, page: CheckedPage | None, reason: str, now: Nanos
    ) -> Sequence[Effect]:
        """Take the outcome of a check; without a page, `reason` says why it is refused.

        Raises:
            RemoteError: it is refused, or no honest peer sends it now.
        """


class Pushed(Struct, frozen=True):
    """A message as it came on a stream of pushes: its id, and what the group makes of it."""

    sync_id: SyncId
    item: object


class SyncProtocol(Protocol):
    """A protocol by which two peers compare what they hold."""

    @property
    def name(self) -> str:
        """Name by which it is chosen, announced, shown and logged."""

    @property
    def plane(self) -> Plane:
        """Kind of what it compares."""

    @property
    def stream(self) -> str:
        """Protocol id that its streams are opened with."""

    @property
    def transfer(self) -> str:
        """Protocol id of the streams that messages are pushed on; empty if it pushes none."""

    @property
    def payloads_max(self) -> int:
        """Payloads of one answer that we take."""

    @property
    def usual(self) -> bool:
        """True if every peer speaks it, announced or not."""

    @property
    def family(self) -> str:
        """Name by which presences tell of it and its like, whose author logs are then announced.

        See `sync.manager.announcing`. Empty for one that is told by its own name.
        """

    @property
    def stays(self) -> bool:
        """True if its sessions may go on to pass on what is new."""

    @property
    def chooses(self) -> bool:
        """True if its sessions begin with a handshake, which picks how to go on."""

    @property
    def entries_in(self) -> Callable[[bytes], Sequence[bytes]] | None:
        """Reader of the contents of entries in a payload; None if none come on its own streams.

        A pure function, which drivers may call in a thread. It raises `RemoteError` of a payload
        that is malformed.
        """

    @property
    def contradicted(self) -> str:
        """Words for differences that only the check found."""

    def suits(self, situation: Situation) -> Fit | None:
        """Return how well it suits; None if it does not. A pure function."""

    def exchange(self, opening: Opening) -> Exchange:
        """Return the exchange of a session whose stream is open."""

    def encode_pushed(self, channel: ChannelId, payload: bytes, created_ns: Nanos) -> bytes:
        """Return a stored message as it is pushed."""

    def decode_pushed(self, frame: bytes) -> Pushed:
        """Return what was pushed.

        Raises:
            RemoteError: malformed.
        """


class Protocols(Struct, frozen=True):
    """The protocols that a node speaks, the usual one first; a handful, so nothing is indexed."""

    spoken: tuple[SyncProtocol, ...] = ()

    def __iter__(self) -> Iterator[SyncProtocol]:
        return iter(self.spoken)

    def __bool__(self) -> bool:
        return bool(self.spoken)

    def named(self, name: str) -> SyncProtocol | None:
        """Return a protocol by its name, the first one without a name; None if it is unknown."""
        return next((one for one in self.spoken if name in {"", one.name}), None)

    def of_stream(self, stream: str) -> SyncProtocol | None:
        """Return the protocol whose sessions open streams with this id."""
        return next((one for one in self.spoken if one.stream == stream), None)

    def of_transfer(self, stream: str) -> SyncProtocol | None:
        """Return the protocol that pushes messages on streams with this id."""
        return next((one for one in self.spoken if stream and one.transfer == stream), None)

    def among(self, names: Collection[str]) -> "Protocols":
        """Return those with one of these names, and those that everybody speaks."""
        return Protocols(tuple([one for one in self.spoken if one.usual or one.name in names]))

    def choosing(self, plane: Plane, spoken: Collection[str]) -> SyncProtocol | None:
        """Return the protocol of a plane that begins with a handshake, if the peer speaks it."""
        return next(
            (
                one
                for one in self.spoken
                if one.chooses and one.plane is plane and told_as(one) in spoken
            ),
            None,
        )

    @property
    def names(self) -> frozenset[str]:
        """Names of all."""
        return frozenset([one.name for one in self.spoken])

    @property
    def announced(self) -> tuple[str, ...]:
        """Names that presences tell: of those that a peer cannot take for granted."""
        return tuple(dict.fromkeys([told_as(one) for one in self.spoken if not one.usual]))

    @property
    def family(self) -> str:
        """Name of the family whose author logs are announced; empty if none of these needs that."""
        return next((one.family for one in self.spoken if one.family), "")


def told_as(protocol: SyncProtocol) -> str:
    """Return the name by which presences tell that a protocol is spoken."""
    return protocol.family or protocol.name
