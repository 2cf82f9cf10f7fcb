"""Two members of a channel and the streams between them, for tests of sessions."""

from collections import deque
from dataclasses import dataclass, field

from sync.group import values
from sync.machine import Nanos
from sync.sim.streams import loaded
from sync.structures.ids import Ids
from sync.waku.message import WakuMessage, content_topic, pubsub_topic
from sync.waku.wire import encode_transfer
from tests.support.sync.entries import CHANNEL
from tests.support.sync.groups import NOW, Member

TOPIC = pubsub_topic(CHANNEL)


def transfer(sent: values.StoredMessage) -> bytes:
    created_ns = sent.entry.header.created_ns
    return encode_transfer(WakuMessage(sent.payload, content_topic(CHANNEL), created_ns), TOPIC)


@dataclass
class Pair:
    """Two members and the streams between them: each session number has a peer's number."""

    one: Member
    other: Member
    numbers: int = 0
    twins: dict[tuple[str, int], int] = field(default_factory=dict)
    ended: list[values.SessionEnded] = field(default_factory=list)
    queue: deque[tuple[Member, values.Input]] = field(default_factory=deque)
    lose_pushed_after: int | None = None
    carried: list[values.Effect] = field(default_factory=list)
    announced: bool = True
    """Whether each was told that it may ask for whole logs."""
    payloads_max: int = 1
    """Payloads of one answer that both take."""

    def __post_init__(self) -> None:
        self.one.join(self.other.peer_id)
        self.other.join(self.one.peer_id)

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def start(self, member: Member, why: str = "test", span: Nanos | None = None) -> None:
        peer = self.beside(member)
        self.queue.append((member, values.StartSession(self.number(), peer.peer_id, why, span)))

    def run(self, now: Nanos = NOW) -> None:
        """Let everything arrive, in order."""
        while self.queue:
            self.step(now)

    def step(self, now: Nanos = NOW) -> None:
        """Let one thing arrive."""
        member, event = self.queue.popleft()
        for effect in member.tell(event, now):
            self.carry_out(member, effect)

    def beside(self, member: Member) -> Member:
        return self.other if member is self.one else self.one

    def carry_out(self, member: Member, effect: values.Effect) -> None:
        self.carried.append(effect)
        peer = self.beside(member)
        match effect:
            case values.OpenSession(session, _, protocol):
                twin = self.number()
                self.twins[member.name, session] = twin
                self.twins[peer.name, twin] = session
                most = self.payloads_max
                offered = values.SessionOffered(
                    twin, member.peer_id, protocol, most, announced=self.announced
                )
                self.queue.append((peer, offered))
                self.queue.append((member, values.SessionOpened(session, most)))
            case values.Continue():
                self.queue.append((member, effect))
            case values.SendPayload(session, payload):
                twin = self.twins[member.name, session]
                self.queue.append((peer, values.SessionPayload(twin, payload)))
            case values.CloseSession(session):
                twin = self.twins[member.name, session]
                self.queue.append((peer, values.SessionClosed(twin)))
            case values.Push(_, ids):
                self.push(member, ids)
            case values.LoadEntries():
                self.queue.append((member, loaded(member.disk, effect)))
            case values.LoadAuthors(requester, message_ids):
                named = tuple([member.disk.load(one).named for one in message_ids])
                self.queue.append((member, values.AuthorsLoaded(requester, named)))
            case values.LoadHeldBack(after, limit):
                outlines = member.disk.load_held_back(after, limit)
                self.queue.append((member, values.HeldBackLoaded(outlines)))
            case values.SessionEnded():
                self.ended.append(effect)
            case _:
                pass

    def push(self, member: Member, ids: Ids) -> None:
        peer = self.beside(member)
        rows = member.disk.load_by_sync_ids(ids)
        for row in rows[: self.lose_pushed_after]:
            sent = member.disk.rows[row.message_id].message
            self.queue.append((peer, values.Transferred(member.peer_id, transfer(sent))))
        self.queue.append((peer, values.TransferEnded(member.peer_id)))

    def results(self) -> set[str]:
        return {ended.result for ended in self.ended}


def pair() -> Pair:
    """Two members, the one with the smaller key first."""
    one, other = sorted((Member("alice"), Member("bob")), key=lambda member: member.peer_id)
    return Pair(one, other)


def different() -> Pair:
    both = pair()
    for number in range(5):
        both.one.write(f"one's line {number}")
        both.other.write(f"other's line {number}")
    return both
