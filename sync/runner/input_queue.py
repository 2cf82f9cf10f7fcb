"""Inputs that wait to be handled: in order, but that nobody's flood keeps others from their turns.

Rules:
1. What comes is handled in order, while there is no backlog.
2. In a backlog, what a peer sends beyond its rate waits until nothing else does, on links, by
   transfers and by sessions each; then peers have turns. Own lines without end do not keep them
   from these.
3. Drivers stop reading from peers well before the queue is full.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Final

from msgspec import Struct

from sync.errors import LocalError
from sync.group import values
from sync.machine import ChannelId, Nanos, PeerId
from sync.runner.input_rules import FOLLOWING, OF_LINKS, OF_TRANSFERS, OWN, REFUSABLE, SHARING, Line
from sync.runner.weights import BYTES_CROWDED, TRANSFER, Weights
from sync.structures.token_bucket import Buckets

QUEUE_MAX = 20_000
"""Inputs that may wait, beside those told once (`Rule.refusable`). Drivers stop reading from peers
well before (`crowded`)."""

CROWDED = 2_000
"""Inputs waiting for their turn, not put off, at which a driver stops reading from all peers."""

PASSED_BY_MAX = 16
"""Of so many own lines one lets something go first that is put off: who feeds a file into the chat
would silence peers for minutes. What peers send within their rates ends by itself."""

CROWDED_BY_ONE = 256
OF_ONE_MIN = 16
"""Inputs of one peer that are put off, at which a driver stops reading from it: 0.2 s of work. If
many peers have as many, each has its share of `CROWDED`, but not fewer than 16. Who has none put
off is read whatever the others do."""

PAYLOADS_MAX = 2
"""Payloads of one session that wait, at which a driver stops reading it: up to 1 MiB each, and an
honest peer sends the next one after our answer."""

SMALL_BYTES = 256 * 1024
"""Bytes of waiting payloads below which a session may have as many as a peer has inputs: entries of
logs come one a payload, and what waits together is checked ahead and committed together."""

FAIR_FROM = 64
"""Waiting inputs from which on peers are kept to their rate: without a backlog nobody waits."""

PER_SECOND = 20.0
BURST = 100.0
"""Frames of one peer that are taken as they came while there is a backlog. Those beyond wait until
nothing else is left, and peers then have turns: a flood slows down its sender, and is not lost."""

STREAMS: Final = "streams of "
"""Before the name of a peer: key of what waits of its sessions."""

PEERS_MAX: Final = 4_096
"""Streams whose peers are known; those opened longest ago are forgotten."""


class Addressed(Struct, frozen=True):
    """An input and the channel it is for."""

    channel: ChannelId
    event: values.Input


class InputQueue:
    """See the module docstring."""

    def __init__(self) -> None:
        self._queue: deque[Addressed] = deque()
        self._payloads: Counter[values.SessionId] = Counter()
        """Number of payloads of each session among them."""
        self._answering: set[values.SessionId] = set()
        """Sessions that have more to answer of what they were given."""
        self._peers: dict[values.SessionId, PeerId] = {}
        """Peers of the streams of sessions."""
        self._put_off: dict[str, deque[Addressed]] = {}
        """Inputs of peers that sent more than their share, of each in order; in the order of
        their turns."""
        self._waiting_off = 0
        """Number of these inputs."""
        self._passed_by = 0
        """Own lines taken since something that is put off had a turn."""
        self._own = 0
        """Number of inputs that somebody waits for, among all."""
        self.taken = 0
        """Number of all inputs that were taken."""
        self._weights = Weights()
        self._shares = Buckets(PER_SECOND, BURST)

    def __len__(self) -> int:
        return len(self._queue) + self._waiting_off

    def __bool__(self) -> bool:
        return bool(self._queue or self._put_off)

    # --- In ------------------------------------------------------------------------------------

    def add(self, channel: ChannelId, event: values.Input, now: Nanos) -> None:
        """Queue an input, behind the others or behind what its peer sent beyond its share.

        Raises:
            LocalError: the queue is full; whoever feeds must wait until it is not `crowded`.
                What is told once is never refused.
        """
        if len(self._queue) + self._waiting_off >= QUEUE_MAX and type(event) in REFUSABLE:
            raise LocalError("Too much at once: wait a moment, then go on.")
        self._weights.add(event)
        key = self._put_off_as(event, now)
        if type(event) is values.SessionPayload:
            self._payloads[event.session] += 1
        elif type(event) is values.SessionOffered:
            self._note_stream(event.session, event.peer)
        if key is None:
            self._own += type(event) in OWN
            self._queue.append(Addressed(channel, event))
            return
        waiting = self._put_off.get(key)
        if waiting is None:
            waiting = self._put_off[key] = deque()
        waiting.append(Addressed(channel, event))
        self._waiting_off += 1

    def add_own(self, channel: ChannelId, event: values.Input) -> None:
        """Queue what the node tells its own machines."""
        if isinstance(event, values.Continue):
            self._answering.add(event.session)
        elif isinstance(event, values.StartSession):
            self._note_stream(event.session, event.peer)
        self._queue.append(Addressed(channel, event))

    def _note_stream(self, session: values.SessionId, peer: PeerId) -> None:
        """Remember whose share the payloads of a session are taken of."""
        self._peers[session] = peer
        if len(self._peers) > PEERS_MAX:
            del self._peers[next(iter(self._peers))]

    def _key_of_stream(self, session: values.SessionId) -> str:
        return STREAMS + self._peers.get(session, str(session))

    def add_first(self, channel: ChannelId, events: list[values.Input]) -> None:
        """Queue these before all others, in their order."""
        self._queue.extendleft(Addressed(channel, event) for event in reversed(events))

    # --- Out -----------------------------------------------------------------------------------

    def take(self) -> tuple[Addressed, int]:
        """Take the next input and its weight: what is put off last, but see `PASSED_BY_MAX`."""
        self.taken += 1
        addressed = self._take()
        return addressed, self._weights.take_bytes(addressed.event)

    def _take(self) -> Addressed:
        if self._queue and not (self._put_off and self._is_turn_of_others()):
            return self._taken(self._queue.popleft())
        key = next(iter(self._put_off))
        waiting = self._put_off.pop(key)
        addressed = waiting.popleft()
        self._waiting_off -= 1
        if waiting:
            self._put_off[key] = waiting  # the next turn is another's
        return self._taken(addressed)

    def _taken(self, addressed: Addressed) -> Addressed:
        """Count what is taken of a session as waiting no more."""
        event = addressed.event
        if type(event) is values.SessionPayload:
            left = self._payloads.pop(event.session, 0) - 1
            if left > 0:
                self._payloads[event.session] = left
        elif type(event) is values.Continue:
            self._answering.discard(event.session)
        elif type(event) in OWN:
            self._own -= 1
        return addressed

    def next_ones(self, most: int) -> Iterator[Addressed]:
        """Yield the inputs that are taken next, roughly in their order; nothing is taken."""
        yield from islice(self._queue, most)
        most -= len(self._queue)
        waiting = len(self._put_off)
        for one in self._put_off.values():
            if most > 0:
                yield from islice(one, -(-most // waiting))

    def _is_turn_of_others(self) -> bool:
        """Return whether something that is put off goes before the next own line."""
        if type(self._queue[0].event) is not values.Write:
            return False
        self._passed_by = (self._passed_by + 1) % PASSED_BY_MAX
        return self._passed_by == 0

    def take_all(self, keeps: Callable[[Addressed], bool]) -> list[Addressed]:
        """Empty the queue; return what is to be kept of it."""
        waiting = [one for one in chain(self._queue, *self._put_off.values()) if keeps(one)]
        self._queue.clear()
        self._put_off.clear()
        self._waiting_off = self._own = 0
        self._weights.clear()
        self._payloads.clear()
        self._answering.clear()
        return waiting

    def add_again(self, waiting: Iterable[Addressed]) -> None:
        """Queue what `take_all` returned, behind what was queued since."""
        for one in waiting:
            self._queue.append(one)
            self._own += type(one.event) in OWN
            self._weights.add(one.event)
            if isinstance(one.event, values.SessionPayload):
                self._payloads[one.event.session] += 1
            elif isinstance(one.event, values.Continue):
                self._answering.add(one.event.session)

    # --- How full it is ------------------------------------------------------------------------

    @property
    def has_own(self) -> bool:
        """True if inputs wait that somebody waits for."""
        return self._own > 0

    @property
    def crowded(self) -> bool:
        """True if drivers should stop reading from peers for now."""
        return len(self._queue) >= CROWDED or self._weights.total >= BYTES_CROWDED

    @property
    def bytes_waiting(self) -> int:
        """Bytes of all that peers sent and that waits."""
        return self._weights.total

    def is_crowded_by(self, peer: PeerId, *, transfers: bool = False) -> bool:
        """Return whether drivers should pause reading a peer's link, or its transfers."""
        if not (self._queue or self._put_off):
            return False  # nearly always
        sender = TRANSFER + peer if transfers else peer
        if self.crowded or self._weights.is_full(sender):
            return True
        waiting = self._put_off.get(sender)
        if waiting is None:
            return False
        return len(waiting) >= _share(len(self._put_off), OF_ONE_MIN)

    def is_crowded_by_session(self, session: values.SessionId) -> bool:
        """Return whether drivers should pause reading the stream of a session."""
        waiting = self._payloads[session]
        most = _share(len(self._payloads) or 1, PAYLOADS_MAX)
        if session in self._answering or waiting >= most:
            return True
        many = waiting >= PAYLOADS_MAX and self._weights.bytes_of(session) >= SMALL_BYTES
        return many or self._weights.is_full(session)

    @property
    def backlog(self) -> dict[PeerId, int]:
        """Number of live frames per peer that wait until others had their turns."""
        return {
            PeerId(key): len(waiting)
            for key, waiting in self._put_off.items()
            if not key.startswith((TRANSFER, STREAMS))
        }

    def _put_off_as(self, event: values.Input, now: Nanos) -> str | None:
        """Return behind what an input must wait: too much of a peer came, or waits already."""
        kind = type(event)
        if kind is values.Arrived or kind in OF_LINKS:
            key: str = event.peer  # type: ignore[union-attr]  # its type says so
        elif kind in OF_TRANSFERS:
            key = TRANSFER + event.peer  # type: ignore[union-attr]
        elif kind in SHARING:
            key = self._key_of_stream(event.session)  # type: ignore[union-attr]
        elif kind in FOLLOWING:
            return self._follows(event)
        else:
            return None
        if key in self._put_off:
            return key
        beyond = len(self._queue) >= FAIR_FROM and not self._shares.take_token(key, now)
        return key if beyond else None

    def _follows(self, event: values.Input) -> str | None:
        """Return behind what an input without a share must wait: what its peer sent before."""
        if FOLLOWING[type(event)] is Line.SESSIONS:
            session = event.session  # type: ignore[union-attr]  # its type says so
            key = self._key_of_stream(session)
            self._peers.pop(session, None)  # it is the end of it
        else:
            key = TRANSFER + event.peer  # type: ignore[union-attr]
        return key if key in self._put_off else None


def _share(senders: int, least: int) -> int:
    """Return how many inputs of one may wait where so many senders have some that do."""
    return min(CROWDED_BY_ONE, max(least, CROWDED // senders))
