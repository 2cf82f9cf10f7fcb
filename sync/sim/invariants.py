"""The invariants of PROTOCOL 9, asserted while a world runs and at its end.

The holdings, knowledge and words of nodes are looked up here, not believed: a rule that is broken
in the engine shows in what a node lets out.
"""

import hashlib
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sync.entries import identity
from sync.entries.entry import Entry, Header
from sync.group.values import SessionEnded, Status, StoredMessage
from sync.machine import SECOND, MessageId, Nanos, PeerId
from sync.runner.batch import Failure
from sync.runner.runner import Runner
from sync.sds.message import Delivery, Message
from sync.sim.disk import Disk, Row
from sync.sim.governance.witness import GovernanceWitness
from sync.sim.measure import Meter
from sync.sim.signatures import Signatures

HINTS_SPARED = 2
"""False "possibly" that are put down to chance, whatever the bound."""

HEARD_ENOUGH = 5
"""Requests heard by somebody who has the message, of which one at least is answered."""


@dataclass(slots=True)
class Witness:
    """Sees everything that the nodes of a channel release, as a person at each of them would.

    Nodes from number `hostile_from` on are hostile: nothing is asked of them, and their word is not
    held against those who took it.
    """

    size: int
    """Number of nodes whom everything must reach."""
    hostile_from: int = sys.maxsize
    signatures: Signatures = field(default_factory=Signatures)
    """Made by the nodes of its world."""
    honest: set[PeerId] = field(default_factory=set)
    """Authors whose nodes sign here, and nowhere else."""
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
    declined: Counter[str] = field(default_factory=Counter)
    """Inputs that honest nodes declined of a peer without refusing them, by the reason."""
    gaps: int = 0
    """Deliveries marked as following a gap."""
    named: defaultdict[int, dict[MessageId, int]] = field(default_factory=lambda: defaultdict(dict))
    """Per node, which of its own messages others have named to it, and one of those who did."""
    governance: GovernanceWitness | None = None
    """Asks the definition of who is in, where somebody governs (I8, I9)."""
    hint_chances: int = 0
    """Number of times a filter was asked for a message that its sender did not hold (I4)."""

    def written(self, node: int, header: Header, disk: Disk) -> None:
        """I6: per author and log, seq and lamport strictly rise, across restarts too.

        And a message is later than all that its author had before it (SDS, "Send Message").
        """
        key = (header.author, header.log)
        seq, lamport = self.newest.get(key, (0, 0))
        assert header.seq == seq + 1, f"I6: node {node} wrote seq {header.seq} after {seq}"
        assert header.lamport > lamport, f"I6: node {node} wrote lamport {header.lamport}"
        for parent in header.parents:
            before = disk.rows[parent.message_id].message.entry.header.lamport
            assert header.lamport > before, f"I6: node {node} wrote lamport {header.lamport} late"
        self.newest[key] = (header.seq, header.lamport)

    def delivered(self, node: int, row: Row, disk: Disk, *, swapped: bool = False) -> None:
        """I3 and I5: after its dependencies or marked, only once, and signed by its author.

        What is `swapped` in is shown once all of it is here, with what was held back before.
        """
        entry = row.message.entry
        message_id, header = entry.message_id, entry.header
        shown = self.shown[node]
        assert message_id not in shown, f"I5: node {node} shows {message_id} twice"
        shown.add(message_id)
        self.deliveries += 1
        if self.governance is not None:
            self.governance.delivered(node, header)
        count = self.shown_at[message_id] = self.shown_at[message_id] + 1
        if count == 1:
            self.partial += self.size > 1
            self._check_author(node, entry)
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
            told = f"I3: node {node} holds back {parent.message_id}"
            assert swapped or held.status is Status.DELIVERED, told

    def _check_author(self, node: int, entry: Entry) -> None:
        """I5: the author's node signed these bytes, and they say what is shown."""
        header = entry.header
        signed = self.signatures.knows(header.author, entry.signature, entry.header_bytes)
        if not signed and header.author not in self.honest:  # whose keys others may have
            signed = identity.verify(header.author, entry.signature, entry.header_bytes)
        assert signed, (
            f"I5: node {node} shows {entry.message_id}, which {header.author} never signed"
        )
        assert hashlib.sha256(entry.header_bytes).hexdigest() == entry.message_id, "I5: another id"
        assert hashlib.sha256(entry.body).digest() == header.body_hash, "I5: another body"

    def withdrawn(self, node: int, message_ids: Iterable[MessageId]) -> None:
        """Messages are set aside until their time; then they are shown again."""
        for message_id in message_ids:
            self.shown[node].remove(message_id)
            count = self.shown_at[message_id] = self.shown_at[message_id] - 1
            if count == 0:
                self.partial -= self.size > 1
            elif count == self.size - 1:
                self.partial += 1

    def failed(self, node: int, failure: Failure) -> None:
        """A node refused an input."""
        if node < self.hostile_from:
            self.failures.append(failure)

    # --- Evidence (I4) -------------------------------------------------------------------------

    def stored(self, node: int, me: PeerId, message: StoredMessage, author: int) -> None:
        """A node has a message of node `author` on its disk: what that names of its own, it has."""
        for parent in message.entry.header.parents:
            if parent.author == me:
                self._name(node, parent.message_id, author)

    def heard(self, node: int, message: Message, by: int, pending: Collection[MessageId]) -> None:
        """A sync message of node `by` came: what it names of what is `pending` there, it has."""
        for entry in message.causal_history:
            if entry.message_id in pending:
                self._name(node, entry.message_id, by)

    def _name(self, node: int, message_id: MessageId, by: int) -> None:
        named = self.named[node]
        named[message_id] = max(by, named.get(message_id, 0))  # a hostile one, where there is one

    def marked(
        self,
        node: int,
        message_id: MessageId,
        delivery: Delivery,
        disks: Mapping[int, Disk],
        proved_by: Collection[int],
    ) -> None:
        """I4: acknowledged only if another node named it or proved to hold it, and durably does.

        A filter is no proof. A hostile node may claim to hold what it does not: that is its lie.
        """
        self.marks[message_id] = delivery
        if delivery is not Delivery.ACKNOWLEDGED:
            return
        namer = self.named[node].get(message_id)
        told = f"I4: node {node} shows {message_id} as acknowledged"
        assert namer is not None or proved_by, f"{told}; nobody named it or proved to hold it"
        lied = any(number >= self.hostile_from for number in [namer or 0, *proved_by])
        held = any(message_id in disk.rows for number, disk in disks.items() if number != node)
        assert held or lied, f"{told}; nobody holds it"

    # --- What leaves ---------------------------------------------------------------------------

    def let_out(self, node: int, message: Message, disk: Disk) -> None:
        """Nothing leaves before its commit: what a node says and names is on its disk.

        Messages it hands on for others name what they had.
        """
        rows = disk.rows
        for entry in message.causal_history if message.sender_id == disk.me else ():
            assert entry.message_id in rows, (
                f"node {node} names {entry.message_id} before it is on its disk"
            )
        if message.content and message.lamport is not None:
            assert message.message_id in rows, (
                f"node {node} sends {message.message_id} before it is on its disk"
            )

    def counted(self, node: int, here: int, held: int, disk: Disk, parked: int) -> None:
        """Filters and sessions tell of nothing that is not on the disk.

        Args:
            node: who let something out.
            here: messages that its filter and histories are drawn from.
            held: messages that its sessions compare.
            disk: what is committed.
            parked: messages set aside, which count for nothing.
        """
        stored = len(disk.rows) - parked
        if disk.swapping:  # machines hear of what a swap has written at its end
            assert here <= len(disk)
            assert held <= stored
            return
        assert here == len(disk), (
            f"node {node} counts {here} messages as delivered, {len(disk)} are on its disk"
        )
        assert held == stored, f"node {node} compares {held} messages, {stored} are on its disk"

    # --- At the end ----------------------------------------------------------------------------

    def check_end(self, disks: Mapping[int, Disk], out: Collection[Disk] = ()) -> None:
        """I1, I2 and I5 once the world is quiet; `disks` are those of everybody honest.

        Messages set aside anywhere are left out of the comparison, wherever else they are shown.
        Whoever is not in any more (`out`) has what they had, and what nobody took of them.
        """
        aside = {message_id for disk in disks.values() for message_id in disk.parked()}
        everything = [disk.log() for disk in disks.values()]
        logs = [[one for one in log if one[1] not in aside] for log in everything]
        assert all(log == logs[0] for log in logs), f"I2: logs of {[len(log) for log in logs]}"
        assert all(log == sorted(log) for log in everything), "I2: a log is not in its order"
        looks = [disk.looks(but=aside) for disk in disks.values()]
        assert all(look == looks[0] for look in looks), "I2: a message looks different elsewhere"
        held = {message_id for log in everything for _, message_id in log}
        kept = {message_id for disk in out for message_id in disk.rows}
        lost = self.sent - held - aside - kept
        assert not lost, f"I1: {len(lost)} messages shown as sent are gone"
        for node, disk in disks.items():
            unshown = {message_id for _, message_id in disk.log()} - self.shown[node]
            assert not unshown, f"node {node} holds {len(unshown)} messages it never showed"


def check_hints(false_hints: int, chances: int, error_rate: float) -> None:
    """I4: no more false "possibly" than a filter of this error rate gives by chance.

    `chances`: how often a filter was looked at for a message that its sender did not hold.
    """
    expected = chances * error_rate
    most = expected + 4 * math.sqrt(expected) + HINTS_SPARED
    assert false_hints <= most, (
        f"I4: {false_hints} lines are falsely possibly acknowledged, {most:.1f} at most by chance"
    )


def check_repair(meter: Meter, patience: Nanos, now: Nanos) -> None:
    """In a group that repairs by asking alone, what is lost for long is asked for, and answered.

    Args:
        meter: what the run has seen.
        patience: how long a loss may last before anybody need have asked: T_max, and whatever kept
            people apart.
        now: the time of the world.

    Raises:
        AssertionError: something was lost for longer, and nobody ever asked for anything; or people
            who had it heard requests, and nobody ever answered one.
    """
    repairs = meter.repairs()
    longest = meter.longest_loss(now)
    assert longest <= patience or meter.requests.total(), (
        f"nobody asks: one of {repairs.losses} losses lasted {longest / SECOND:.0f} s"
    )
    assert meter.requests_heard < HEARD_ENOUGH or meter.responses.total(), (
        f"nobody answers: {meter.requests_heard} requests were heard by who had the message"
    )


def check_wanted(one: Runner, node: int) -> None:
    """Assert that each id asked for by itself is asked for by a session that goes on.

    An id left behind would be asked of nobody any more.
    """
    for group in one.groups.values():
        asked: Counter[MessageId] = Counter()
        for session in group.sessions.running.values():
            asked.update(session.asked)
        wanted = group.loading.on_its_way.messages
        assert wanted == asked, f"node {node} waits for {len(wanted)} ids, {len(asked)} are asked"
