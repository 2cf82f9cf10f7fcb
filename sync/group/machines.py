"""Machines of one channel, held together: what each of its inputs may ask and feed."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator

from sync.calimero.governance.ops import GroupId, Key, OpId
from sync.calimero.state.current import CurrentState
from sync.entries.entry import Header
from sync.group import values
from sync.group.aside import Aside
from sync.group.author_log import AuthorLog
from sync.group.governing import Governing
from sync.group.held_marks import HeldMarks
from sync.group.history_loading import Loading
from sync.group.logs import ChannelLogs
from sync.group.relays import Relays
from sync.group.sds_mapping import mapped
from sync.group.snapshots.staging import Snapshots
from sync.group.state_beats import StateBeats
from sync.group.stating import Stating
from sync.group.typing_notices import Typists
from sync.group.views.log_view import MessagesOf
from sync.group.writer import Author, Writer
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.manager.registry import PROTOCOLS
from sync.sds import events as sds
from sync.sds.channel import Channel
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sds.parameters import Parameters
from sync.sessions import sessions
from sync.sessions import values as session_values
from sync.sessions.claims import Claims
from sync.sessions.handshake import SyncKind
from sync.sessions.holdings import Holdings
from sync.sessions.protocol import Protocols
from sync.sessions.session import Terms
from sync.sessions.values import Plane
from sync.sketch.key import KEY_SIZE
from sync.sketch.prefix import Prefix
from sync.structures.ordered_set import SyncId


class Machines(ABC):
    """Machines of a channel, and what its inputs have in common; `group.Group` is the whole.

    Whoever handles an input gets it as `group`, and returns effects.
    """

    def __init__(  # noqa: PLR0913, PLR0915  # all but the first four have defaults
        self,
        author: Author,
        channel: ChannelId,
        parameters: Parameters,
        rng: random.Random,
        claims: Claims | None = None,
        protocols: Protocols = PROTOCOLS,
        *,
        governed: bool = False,
        anybody: bool = False,
        sketch_key: bytes = bytes(KEY_SIZE),
    ) -> None:
        """Make the machines of a channel.

        Args:
            author: who we are in it.
            channel: its id.
            parameters: of SDS.
            rng: decides delays and choices.
            claims: the budget of the whole node.
            protocols: by which sessions compare.
            governed: whether a signed history says who is in.
            anybody: whether whoever makes a key can be in it.
            sketch_key: of its sketches (`sync.sketch.key`), 32 bytes; members have the same.
        """
        self.channel = channel
        self.author = author
        self.gate = author.gate(channel, parameters.limits, governed=governed)
        self.governing: Governing | None = None
        """Governance of the channel; None where nobody governs."""
        if self.gate.governed:
            self.governing = Governing(channel, author.me, author.sign, rng)
        self.writer = Writer(author.me, channel, self.gate, author.sign)
        self.sds = Channel(author.me, channel, parameters, self.writer.seal, rng)
        self.loading = Loading()
        self.sds.expect(self.loading.on_its_way)
        self.sds.looks_up = True
        self.logs = ChannelLogs()
        self.stating = Stating(
            GroupId(bytes.fromhex(channel)),
            Key(bytes.fromhex(author.me)),
            author.sign,
            None if self.governing is None else self.governing.verdict,
            self.logs.has_author if anybody else None,
            self._governance_heads,
        )
        self.current = CurrentState()
        self.holdings = Holdings(self.logs.heights)
        speaks = SyncKind.SKETCH.word in protocols.names
        self.prefix = Prefix(sketch_key, self.holdings.items, kept=speaks)
        self.holdings.added = self._held
        self.relays = Relays()
        self.messages, self.snapshots = MessagesOf(self), Snapshots(channel)
        self.protocols, self.anybody = protocols, anybody
        self.sessions = sessions.Sessions(
            Terms(
                author.me,
                channel,
                author.draw_salt,
                author.retention,
                self.stating,
                self.messages,
                self.gate.read_pushed,
            ),
            self.holdings,
            protocols,
            claims,
            self.relays.needs,
            self.is_blocked,
        )
        self.peers: set[PeerId] = set()
        self.audience = 0
        """Number of others that a broadcast reaches, as `values.Audience` told."""
        self.timed = values.LinksTimed(())
        """Slow links, as told last."""
        self.aside = Aside(author.me)
        self.typists = Typists()
        self.state_beats, self.held_marks = StateBeats(author.me, rng), HeldMarks()
        self.relays_at: Nanos | None = None
        """When to look whether live sessions that we began are still needed."""
        self.restored = False
        """Whether what the disk holds was read."""
        self.copy: Message | None = None
        """The message that the last input brought though it is here already."""
        self.copies: dict[PeerId, int] = {}
        """Number of messages that a running session with a peer brought though they were here."""
        self.asked: tuple[HistoryEntry, ...] = ()
        """Requests of the frames that the last input had us send."""
        self.now: Nanos = 0
        """Time of the last input."""
        self._lacked = False
        self._lacking_at: Nanos = 0
        """When the manager is told again that we still lack something."""
        self.forgoes = False
        """Whether the next moment without history on its way ends the search for what is old."""

    def feed_sds(
        self,
        event: sds.Input,
        fresh: values.StoredMessage | None = None,
        delivery: Delivery | None = None,
    ) -> list[values.Effect]:
        """Feed SDS; `fresh` is the message it decides about, with its `delivery` if it is ours."""
        results = self.sds.handle(event, self.now)
        if self.writer.sealed is not None:
            fresh, delivery = self.writer.sealed, Delivery.UNACKNOWLEDGED
        effects: list[values.Effect] = []
        for result in results:
            effects += mapped(self.channel, result, fresh, delivery)
            if isinstance(result, sds.Broadcast):
                self.asked += result.message.repair_request
            elif isinstance(result, sds.Answer):
                effects += self._note_asked(result.message_id)
            elif isinstance(result, sds.Retrieve):
                lacked = len(self.sds.incoming.missing)
                effects.append(values.Lacking(lacked, tuple(sorted(self.peers))))
        return effects

    def _note_asked(self, message_id: MessageId) -> list[values.Effect]:
        """Note for whom we are the relay: we gave it what its author would have given it first.

        An author who hears a request answers before all others, and whoever hears that does not.
        """
        given = self.sds.repairs.answering.given.get(message_id)
        if given is None or given.sender not in self.peers or given.requester not in self.peers:
            return []
        self.relays.asked(given.sender, given.requester, self.now)
        return [values.Relayed(given.requester, for_it=True)]

    def _held(self, sync_id: SyncId) -> None:
        """Another id is held."""
        self.prefix.add(sync_id, self.now)

    def is_blocked(self, plane: Plane) -> bool:
        """Return whether a snapshot, or the wait for one, keeps other sessions of a plane away.

        State that came before it would leave a channel that is not empty, so without a snapshot.
        """
        return self.snapshots.blocks if plane is Plane.LOG else self.snapshots.holds_back

    def holds(self, message_id: MessageId) -> bool:
        """Return whether an entry is here, whatever became of it."""
        return (
            message_id in self.sds.log.order
            or message_id in self.sds.incoming.waiting
            or self.is_outside(message_id)
            or message_id in self.loading.ids
        )

    def held_ids(self) -> Iterator[MessageId]:
        """Yield the ids of all entries that are here; see `holds`."""
        yield from [message_id for _, message_id in self.sds.log.order]
        yield from self.sds.incoming.waiting
        yield from self.aside.parked.outlines
        yield from self.aside.waiting.outlines
        yield from self.loading.ids
        if self.governing is not None:
            yield from self.governing.pending.entries
            yield from self.governing.dropped

    def waiting_ids(self) -> set[MessageId]:
        """Return the ids of entries that are here and count only later: set aside, or pending."""
        waiting = {*self.aside.parked.outlines, *self.aside.waiting.outlines}
        return waiting if self.governing is None else waiting | {*self.governing.pending.entries}

    def is_outside(self, message_id: MessageId) -> bool:
        """Return whether an entry is here that counts nowhere: set aside, pending or dropped."""
        governing = self.governing
        return message_id in self.aside or (governing is not None and message_id in governing)

    def is_ahead(self, header: Header) -> bool:
        """Return whether an entry is stamped too far in the future to count now."""
        return self.aside.is_ahead(header.lamport, header.created_ns, self.now)

    def lack_ops(self, peer: PeerId | None, ops: tuple[OpId, ...]) -> list[values.Effect]:
        """Ask who named ops that are not here, at once."""
        governing = self.governing
        if governing is not None and (peer in self.peers or peer in governing.nearby):
            assert peer is not None
            governing.beats.wants(peer, self.now)
        return [values.LackingOps(peer, ops)]

    def begin_log(self) -> values.SetLog:
        """Go on in a new log; return the record of it."""
        self.writer.log = AuthorLog(self.author.draw_log())
        return values.SetLog(self.channel, self.writer.log.number)

    @abstractmethod
    def feed_sessions(self, event: session_values.Input) -> list[values.Effect]:
        """Feed the sessions; what one wants and got takes the way of every other message."""

    def _governance_heads(self) -> tuple[OpId, ...]:
        return () if self.governing is None else self.governing.governance.heads
