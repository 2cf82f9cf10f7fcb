"""The invariants of DESIGN.md 8, asserted while a world runs and at its end."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sync.entry import Header
from sync.group.typists import TYPISTS_MAX
from sync.group.values import SessionEnded, Status
from sync.machine import MessageId, PeerId
from sync.manager import SESSIONS_MAX
from sync.runner import QUEUE_MAX, Failure, Runner
from sync.sds.answering import ANSWERS_MAX
from sync.sds.asking import REQUESTS_MAX
from sync.sds.history import OWED_MAX, TIPS_MAX
from sync.sds.incoming import LOST_MAX, MISSING_MAX, WAITING_PER_SENDER_MAX
from sync.sds.message import Delivery
from sync.sim.disk import Disk, Row


@dataclass(slots=True)
class Witness:
    """Sees everything that `size` nodes release, as a person at each of them would."""

    size: int
    shown: defaultdict[int, set[MessageId]] = field(default_factory=lambda: defaultdict(set))
    """Per node, the messages shown there."""
    shown_at: defaultdict[MessageId, int] = field(default_factory=lambda: defaultdict(int))
    """Per message, at how many nodes it is shown."""
    partial: int = 0
    """Messages that are shown at some nodes and not at others."""
    deliveries: int = 0
    """Messages shown, at all nodes together."""
    sent: set[MessageId] = field(default_factory=set)
    """Messages that were shown to their own author."""
    marks: dict[MessageId, Delivery] = field(default_factory=dict)
    newest: dict[tuple[PeerId, int], tuple[int, int]] = field(default_factory=dict)
    """Per author and log: the newest (seq, lamport)."""
    sessions: list[SessionEnded] = field(default_factory=list)
    crashes: int = 0
    failures: list[Failure] = field(default_factory=list)
    """Inputs that a node refused; among honest nodes there are none."""
    gaps: int = 0
    """Deliveries marked as following a gap."""

    def written(self, node: int, header: Header) -> None:
        """I6: per author and log, seq and lamport strictly rise, across restarts too."""
        key = (header.author, header.log)
        seq, lamport = self.newest.get(key, (0, 0))
        assert header.seq == seq + 1, f"I6: node {node} wrote seq {header.seq} after {seq}"
        assert header.lamport > lamport, f"I6: node {node} wrote lamport {header.lamport}"
        self.newest[key] = (header.seq, header.lamport)

    def delivered(self, node: int, row: Row, disk: Disk) -> None:
        """I3 and I5: after its dependencies or marked, and only once."""
        entry = row.message.entry
        message_id, header = entry.message_id, entry.header
        shown = self.shown[node]
        assert message_id not in shown, f"I5: node {node} shows {message_id} twice"
        shown.add(message_id)
        self.deliveries += 1
        count = self.shown_at[message_id] = self.shown_at[message_id] + 1
        if count == 1:
            self.partial += self.size > 1
        elif count == self.size:
            self.partial -= 1
        if header.author == disk.me:
            self.sent.add(message_id)
        if row.after_gap:
            self.gaps += 1
            return
        rows = disk.rows
        for parent in header.parents:
            held = rows.get(parent.message_id)
            assert held is not None, f"I3: node {node} lacks a parent of {message_id}"
            assert held.status is Status.DELIVERED, f"I3: node {node} holds back {held}"

    def withdrawn(self, node: int, message_ids: Iterable[MessageId]) -> None:
        """Messages are set aside until their time; then they are shown again."""
        for message_id in message_ids:
            self.shown[node].remove(message_id)
            count = self.shown_at[message_id] = self.shown_at[message_id] - 1
            if count == 0:
                self.partial -= self.size > 1
            elif count == self.size - 1:
                self.partial += 1

    def marked(
        self, node: int, message_id: MessageId, delivery: Delivery, others: Iterable[Disk]
    ) -> None:
        """I4: acknowledged only if another node durably holds the message."""
        self.marks[message_id] = delivery
        if delivery is Delivery.ACKNOWLEDGED:
            held = any(message_id in disk.rows for disk in others)
            assert held, f"I4: node {node} shows {message_id} as acknowledged; nobody holds it"

    def check_end(self, disks: Sequence[Disk]) -> None:
        """I1, I2 and I5 once the world is quiet."""
        logs = [disk.log() for disk in disks]
        assert all(log == logs[0] for log in logs), f"I2: logs of {[len(log) for log in logs]}"
        assert logs[0] == sorted(logs[0]), "I2: a log is not in (lamport, message id) order"
        looks = [disk.looks() for disk in disks]
        assert all(look == looks[0] for look in looks), "I2: a message looks different elsewhere"
        held = {message_id for _, message_id in logs[0]}
        aside = {
            message_id
            for disk in disks
            for message_id, row in disk.rows.items()
            if row.status is Status.PARKED
        }
        lost = self.sent - held - aside
        assert not lost, f"I1: {len(lost)} messages shown as sent are gone"
        for node, disk in enumerate(disks):
            unshown = {message_id for _, message_id in disk.log()} - self.shown[node]
            assert not unshown, f"node {node} holds {len(unshown)} messages it never showed"


def check_bounds(runner: Runner, node: int) -> None:
    """I7: every queue, table and buffer of a node is within its limit."""
    sizes = {
        "inputs waiting": (runner.waiting, QUEUE_MAX),
        "sessions begun": (runner.manager.running, SESSIONS_MAX),
    }
    links = sum(len(group.peers) for group in runner.groups.values())
    for what, size in runner.manager.sizes().items():
        sizes[what] = (size, links)
    for group in runner.groups.values():
        log, incoming, repairs = group.sds.log, group.sds.incoming, group.sds.repairs
        waiting = Counter(held.content.sender_id for held in incoming.waiting.values())
        sizes |= {
            "sessions": (len(group.sessions.by_peer), len(group.peers)),
            "messages of one author held back": (
                max(waiting.values(), default=0),
                WAITING_PER_SENDER_MAX,
            ),
            "missing ids": (len(incoming.missing), MISSING_MAX),
            "lost ids": (len(incoming.lost), LOST_MAX),
            "tips": (len(log.tips), TIPS_MAX),
            "acknowledgements owed": (len(log.owed), OWED_MAX),
            "repair requests with a time": (len(repairs.asking.requests), REQUESTS_MAX),
            "repair requests": (len(repairs.asking), MISSING_MAX),
            "answers planned": (len(repairs.answering.answers), ANSWERS_MAX),
            "people typing": (len(group.typists), TYPISTS_MAX),
            "ids in the filter": (group.sds.filter.count, group.sds.parameters.bloom.capacity),
        }
    for what, (size, limit) in sizes.items():
        assert size <= limit, f"I7: node {node} has {size} {what}, {limit} at most"
