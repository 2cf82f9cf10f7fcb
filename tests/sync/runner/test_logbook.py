"""The protocol log of a node: each kind of row, and that it is true."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from sync.entries.entry import Kind
from sync.group import values
from sync.machine import MILLISECOND, MINUTE, SECOND, ChannelId, MessageId, Nanos, PeerId, Tick
from sync.runner.log_notes import Note, rows_of
from sync.runner.log_rows import (
    REASON_MAX,
    SHARED_FROM,
    LogKind,
    LogRow,
    Role,
    Route,
)
from sync.runner.logbook import REFUSED_MAX, Logbook
from sync.sds.message import Delivery
from sync.sim.network import Link
from sync.sim.node import Node
from sync.sim.recording import Recording
from sync.sim.scenario import Crash, FullDisk, Partition, Recorded, Scenario, run
from sync.sim.world import Terms, World
from tests.support.sync.channels import message_id
from tests.support.sync.groups import NOW, Member

QUICK = Link(delay=(1 * MILLISECOND, 2 * MILLISECOND))
SILENT = Link(loss=1.0, delay=(1 * MILLISECOND, 2 * MILLISECOND), streams=False)
SDS_ALONE = Terms(reconcile=False)
HERE, PEER = ChannelId("0c" * 16), PeerId("bb" * 32)


@dataclass
class Logged:
    """A world of a few nodes that have found each other, and what they noted since."""

    size: int
    link: Link = QUICK
    terms: Terms = SDS_ALONE
    rows: list[LogRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = World(self.size, 3, self.link, self.terms)
        self.recording = Recording("test", self.rows.extend)
        self.world.record(self.recording)
        self.world.run(6 * SECOND)
        self.peers = [node.identity.peer_id for node in self.world.nodes]

    def say(self, number: int, then: Nanos = SECOND) -> MessageId:
        """Let a node write; returns the id."""
        before = set(self.world.nodes[number].disk.rows)
        self.world.write_text(number, "a line")
        self.world.run(then)
        [written] = set(self.world.nodes[number].disk.rows) - before
        return written

    def about(self, number: int, message_id: MessageId) -> list[LogRow]:
        """Return what a node logged of a message, in order."""
        self.recording.write_exports()
        peer = self.peers[number]
        return [row for row in self.rows if (row.node, row.message_id) == (peer, message_id)]

    def kinds(self, number: int, message_id: MessageId) -> list[LogKind]:
        return [row.kind for row in self.about(number, message_id)]

    def one(self, number: int, message_id: MessageId, kind: LogKind) -> LogRow:
        """The one row of a kind that a node noted of a message."""
        [row] = [row for row in self.about(number, message_id) if row.kind is kind]
        return row


# --- Each kind ---------------------------------------------------------------------------------


def test_a_message_is_sent_received_delivered_and_acknowledged() -> None:
    logged = Logged(2)

    line = logged.say(0, 10 * SECOND)

    assert logged.kinds(0, line) == [LogKind.DELIVERED, LogKind.SENT, LogKind.ACKNOWLEDGED]
    assert logged.kinds(1, line) == [LogKind.RECEIVED, LogKind.DELIVERED]
    sent, got = logged.one(0, line, LogKind.SENT), logged.one(1, line, LogKind.RECEIVED)
    payload = logged.world.nodes[0].disk.rows[line].message.payload
    assert sent.size == got.size
    assert sent.size is not None
    assert sent.size > len(payload), "the frame has a filter, too"
    assert (sent.peer, got.peer) == (None, logged.peers[0])
    assert logged.one(0, line, LogKind.ACKNOWLEDGED).peer == logged.peers[1]
    header = logged.world.nodes[0].disk.rows[line].message.entry.header
    delivered = logged.one(1, line, LogKind.DELIVERED)
    assert sent.lamport == got.lamport == delivered.lamport == header.lamport
    assert sent.ts_ns < got.ts_ns <= delivered.ts_ns


def test_every_further_copy_is_a_duplicate() -> None:
    logged = Logged(2, Link(delay=(1, 2), duplicate=1.0))

    line = logged.say(0)

    assert logged.kinds(1, line) == [LogKind.RECEIVED, LogKind.DELIVERED, LogKind.DUPLICATE]
    first, copy = logged.one(1, line, LogKind.RECEIVED), logged.one(1, line, LogKind.DUPLICATE)
    assert (copy.peer, copy.lamport, copy.size) == (first.peer, first.lamport, first.size)


def test_what_comes_before_its_parent_is_buffered_and_the_parent_is_repaired() -> None:
    logged = Logged(3)
    logged.world.network.cuts = {(0, 1)}
    lost = logged.say(0, 100 * MILLISECOND)
    logged.world.network.cuts = set()

    later = logged.say(2, 30 * SECOND)

    assert logged.kinds(1, later) == [LogKind.RECEIVED, LogKind.BUFFERED, LogKind.DELIVERED]
    kinds = logged.kinds(1, lost)
    assert kinds[0] is LogKind.MISSING
    assert kinds[-1] is LogKind.REPAIRED
    assert [kinds.count(kind) for kind in (LogKind.RECEIVED, LogKind.DELIVERED)] == [1, 1]
    assert logged.one(1, lost, LogKind.MISSING).peer == logged.peers[2]
    assert logged.one(1, later, LogKind.DELIVERED).lamport is not None, "it was loaded again"


def asked() -> tuple[Logged, MessageId]:
    """A line whose author is gone, and which one of the two others lacks and the other holds."""
    logged = Logged(3)
    logged.world.network.cuts = {(0, 1)}
    lost = logged.say(0, 100 * MILLISECOND)
    logged.world.crash(0)
    logged.world.network.cuts = set()
    logged.say(2, 60 * SECOND)
    return logged, lost


def test_who_lacks_a_message_asks_and_who_holds_it_answers() -> None:
    logged, lost = asked()

    asking = logged.one(1, lost, LogKind.REPAIR_REQUESTED)
    answer = logged.one(2, lost, LogKind.REPAIR_ANSWERED)
    came = logged.one(1, lost, LogKind.RECEIVED)
    repaired = logged.one(1, lost, LogKind.REPAIRED)

    assert (asking.peer, answer.peer) == (None, logged.peers[1])
    assert (came.peer, repaired.peer) == (logged.peers[2], logged.peers[2])
    assert answer.size == came.size
    assert answer.lamport == came.lamport
    assert asking.ts_ns < answer.ts_ns < came.ts_ns <= repaired.ts_ns


def test_what_nobody_has_any_more_is_lost() -> None:
    logged = Logged(3)
    logged.world.network.link = SILENT
    lost = logged.say(0, 100 * MILLISECOND)
    logged.world.network.link = QUICK
    later = logged.say(0, 100 * MILLISECOND)
    logged.world.crash(0)

    logged.world.run(60 * MINUTE)

    for number in (1, 2):
        first, *requests, last = logged.kinds(number, lost)
        assert (first, last) == (LogKind.MISSING, LogKind.LOST)
        assert set(requests) <= {LogKind.REPAIR_REQUESTED}
        assert logged.kinds(number, later)[-1] is LogKind.DELIVERED


def test_a_message_that_nobody_answers_is_sent_again_and_fails() -> None:
    logged = Logged(2)
    logged.world.network.link = SILENT

    line = logged.say(0, 10 * MINUTE)

    resends = logged.terms.parameters.resend_max
    sent = [LogKind.SENT] * (1 + resends)
    assert logged.kinds(0, line) == [LogKind.DELIVERED, *sent, LogKind.FAILED]
    assert len({row.size for row in logged.about(0, line) if row.kind is LogKind.SENT}) == 1


def test_sent_again_by_the_person_nothing_is_noted_but_the_sending() -> None:
    member = Member("ann")
    written = member.group.handle(values.Write(1, Kind.TEXT, b"\n\x03ann\x12\x02hi"), NOW)
    [line] = [one.message_id for one in written if isinstance(one, values.Written)]
    logbook, again = Logbook(), values.SendAgain(line)

    logbook.handled(HERE, member.group, again, member.group.handle(again, NOW))
    logbook.loaded(7, 500)
    logbook.let_out(NOW)

    [(_, _, notes)] = logbook.take_chunks()
    assert notes == [Note(HERE, LogKind.SENT, None, line, 7, 500, route=Route.BROADCAST)]


@pytest.mark.parametrize("seed", range(4))
def test_a_filter_only_makes_possible_what_its_sender_then_holds(seed: int) -> None:
    rows = played(Scenario(peers=4, messages=60, link=Link(loss=0.2), seed=seed))
    came = {(row.node, row.message_id): row.ts_ns for row in rows if row.kind is LogKind.RECEIVED}

    marks = [row for row in rows if row.kind is LogKind.POSSIBLY_ACKNOWLEDGED]

    assert marks
    for mark in marks:
        assert mark.peer is not None
        assert came[mark.peer, mark.message_id] <= mark.ts_ns


def test_a_session_begins_has_rounds_and_ends_at_both_ends() -> None:
    logged = Logged(2, terms=Terms())
    logged.world.partition({0}, {1})
    logged.world.run(MINUTE)
    line = logged.say(0)
    logged.recording.write_exports()
    logged.rows.clear()
    logged.world.heal()

    logged.world.run(MINUTE)

    logged.recording.write_exports()
    ends = []
    for me, other in (logged.peers, logged.peers[::-1]):
        mine = [row for row in logged.rows if row.node == me and row.session is not None]
        first, *rounds, last = [row for row in mine if row.session == mine[0].session]
        assert {row.peer for row in mine} == {other}
        assert first.kind is LogKind.SESSION_STARTED
        assert last.kind is LogKind.SESSION_ENDED
        assert {row.kind for row in rounds} == {LogKind.SESSION_ROUND}
        assert [row.round for row in rounds] == list(range(1, len(rounds) + 1))
        sizes = [row.size for row in rounds if row.size is not None]
        assert last.size == sum(sizes)
        assert last.round == len(rounds)
        ends.append(last.size)
    assert ends[0] == ends[1] > 0, "both ends see every payload of both"
    [came] = [row for row in logged.about(1, line) if row.kind is LogKind.RECEIVED]
    assert came.peer == logged.peers[0], "transferred, for nothing was sent while they were apart"


# --- The whole of it ---------------------------------------------------------------------------


def played(
    scenario: Scenario, look: Callable[[Sequence[Node], Recording], None] | None = None
) -> list[LogRow]:
    """Run a scenario and return what all nodes logged; `look` sees the nodes at its end."""
    rows: list[LogRow] = []
    recording = Recording("test", rows.extend)

    def ended(nodes: Sequence[Node]) -> None:
        if look is not None:
            look(nodes, recording)

    run(scenario, recorded=Recorded(recording, ended))
    return rows


BAD = Link(loss=0.2, duplicate=0.1, reorder=0.1)
TROUBLES = (Crash(5 * SECOND, 3 * SECOND, 1), FullDisk(8 * SECOND, 4 * SECOND, 2))
CUT = Partition(6 * SECOND, 20 * SECOND, 2)


@pytest.mark.parametrize("reconcile", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_log_tells_what_is_on_the_disk(seed: int, reconcile: bool) -> None:
    troubles = (*TROUBLES, CUT)
    nodes_held: dict[PeerId, tuple[set[str], set[str]]] = {}
    cut_short: set[PeerId] = set()

    def look(nodes: Sequence[Node], recording: Recording) -> None:
        for node in nodes:
            delivered: set[str] = {message_id for _, message_id in node.disk.log()}
            nodes_held[node.identity.peer_id] = (delivered, set(node.disk.rows))
        cut_short.update(boot.node for boot in recording.boots if boot.cut_short)

    scenario = Scenario(
        peers=5, messages=120, link=BAD, seed=seed, troubles=troubles, reconcile=reconcile
    )
    rows = played(scenario, look)

    noted: dict[tuple[PeerId, LogKind], list[str]] = defaultdict(list)
    for row in rows:
        if row.message_id is not None:
            noted[row.node, row.kind].append(row.message_id)
    assert len(cut_short) <= 1
    for peer in nodes_held.keys() - cut_short:
        delivered, held = nodes_held[peer]
        shown, received = noted[peer, LogKind.DELIVERED], noted[peer, LogKind.RECEIVED]
        assert sorted(shown) == sorted(delivered), f"seed={seed}"
        assert len(set(received)) == len(received), f"seed={seed}: received once"
        assert set(received) | set(noted[peer, LogKind.SENT]) == held, f"seed={seed}"
        assert set(noted[peer, LogKind.BUFFERED]) <= set(received)
        assert set(noted[peer, LogKind.REPAIRED]) <= set(noted[peer, LogKind.MISSING])
        assert len(noted[peer, LogKind.SENT]) >= len(noted[peer, LogKind.ACKNOWLEDGED])


def test_rows_are_counted_without_a_hole_and_come_by_time() -> None:
    rows = played(Scenario(peers=5, messages=60, link=BAD, seed=1, troubles=TROUBLES))

    counted: dict[tuple[PeerId, int], list[int]] = defaultdict(list)
    for row in rows:
        counted[row.node, row.boot].append(row.seq)
    assert [(row.ts_ns, row.node, row.seq) for row in rows] == sorted(
        (row.ts_ns, row.node, row.seq) for row in rows
    )
    assert all(seqs == list(range(1, len(seqs) + 1)) for seqs in counted.values())
    assert {boot for _, boot in counted} == {1, 2}


def test_a_run_is_the_same_whether_it_is_recorded_or_not() -> None:
    scenario = Scenario(peers=4, messages=40, link=BAD, troubles=TROUBLES, reconcile=True)

    recorded = run(scenario, recorded=Recorded(Recording("test", lambda _: None), lambda _: None))

    assert recorded == run(scenario)


def test_a_crash_takes_what_was_not_written_down_and_says_so() -> None:
    logged = Logged(2)
    logged.recording.write_exports()
    line = logged.say(0, then=100 * MILLISECOND)

    logged.world.crash(0)
    logged.world.restart(0)
    logged.world.run(2 * SECOND)

    assert logged.kinds(0, line)[:1] != [LogKind.DELIVERED]
    boots = [boot for boot in logged.recording.boots if boot.node == logged.peers[0]]
    assert [(boot.boot, boot.cut_short) for boot in boots] == [(1, True), (2, False)]


def test_what_a_full_disk_refused_is_not_noted() -> None:
    logged = Logged(2)
    logged.world.fill_disk(0)
    logged.recording.write_exports()
    logged.rows.clear()

    logged.world.write_text(0, "refused")
    logged.world.run(SECOND)

    logged.recording.write_exports()
    assert not [row for row in logged.rows if row.kind in {LogKind.SENT, LogKind.DELIVERED}]


# --- The book itself ---------------------------------------------------------------------------


def noted(logbook: Logbook, count: int, at: Nanos = 5) -> None:
    """Have so many rows noted and let out."""
    ended = values.DeliveryChanged(message_id("one"), Delivery.FAILED)
    member = Member("ann")
    member.group.copy = None
    logbook.handled(HERE, member.group, Tick(), [ended] * count)
    logbook.let_out(at)


def seqs(logbook: Logbook) -> list[int]:
    return [row.seq for row in rows_of(logbook.take_chunks(), "run", 1, PEER)]


def test_what_nobody_takes_is_dropped_and_leaves_a_hole() -> None:
    logbook = Logbook(room=5)
    for _ in range(4):
        noted(logbook, 2)

    assert seqs(logbook) == [5, 6, 7, 8]
    noted(logbook, 1)
    assert seqs(logbook) == [9]


def test_of_many_rows_the_first_are_taken_and_the_others_keep_their_numbers() -> None:
    logbook = Logbook(room=10)
    for count in (3, 4, 2):
        noted(logbook, count)

    taken = [[row.seq for row in rows_of(logbook.take_chunks(4), "run", 1, PEER)] for _ in range(3)]
    assert taken == [[1, 2, 3, 4], [5, 6, 7, 8], [9]]

    noted(logbook, 8)
    logbook.take_chunks(3)
    noted(logbook, 6)  # of 11 the oldest go: what was left of the first eight
    assert seqs(logbook) == list(range(18, 24))


def test_what_was_not_committed_is_not_counted() -> None:
    logbook = Logbook()
    member = Member("ann")
    failed = values.DeliveryChanged(message_id("one"), Delivery.FAILED)
    logbook.handled(HERE, member.group, Tick(), [failed])

    logbook.drop()
    logbook.let_out(5)
    noted(logbook, 1)

    assert seqs(logbook) == [1]


def test_switching_off_leaves_a_hole_only_where_something_was_noted_before() -> None:
    logbook = Logbook(on=False)
    noted(logbook, 3)
    logbook.on = True
    noted(logbook, 1)
    logbook.on = False
    noted(logbook, 3)
    logbook.on = True
    noted(logbook, 1)

    assert seqs(logbook) == [1, 3]


def test_both_ends_note_a_session_alike_and_why_it_began_and_how_it_ended() -> None:
    logged = Logged(2, terms=Terms())
    logged.world.partition({0}, {1})
    logged.world.run(MINUTE)
    logged.say(0)
    logged.recording.write_exports()
    logged.rows.clear()
    logged.world.heal()
    logged.world.run(MINUTE)
    logged.recording.write_exports()

    ended = [row for row in logged.rows if row.kind is LogKind.SESSION_ENDED]
    by_session: dict[int | None, list[LogRow]] = {}
    for row in ended:
        by_session.setdefault(row.session, []).append(row)
    decided = [row for row in logged.rows if row.kind is LogKind.DECIDED]
    links = [row for row in logged.rows if row.kind is LogKind.LINK_UP]

    assert by_session
    for session, ends in by_session.items():
        assert session is not None
        assert session >= SHARED_FROM
        assert {row.role for row in ends} == {Role.BEGAN, Role.ANSWERED}
        assert {(row.protocol, row.outcome) for row in ends} == {("waku", "converged")}
    assert decided
    assert all(row.estimate and row.reason and row.protocol for row in decided)
    assert {(row.node, row.peer) for row in links} >= {
        tuple(logged.peers),
        tuple(logged.peers[::-1]),
    }
    assert all(row.mono_ns == row.ts_ns for row in logged.rows)


def test_links_that_end_are_noted_once() -> None:
    member, logbook = Member("ann"), Logbook()
    for event in (values.PeerJoined(PEER), values.PeerJoined(PEER), values.PeerGone(PEER)):
        logbook.handled(HERE, member.group, event, ())
    logbook.let_out(5)

    [row, last] = rows_of(logbook.take_chunks(), "run", 1, PEER)
    assert (row.kind, last.kind) == (LogKind.LINK_UP, LogKind.LINK_DOWN)


def test_refusals_are_noted_with_a_short_reason_and_a_limit() -> None:
    member, logbook = Member("ann"), Logbook()
    refused = values.Refused(PEER, "no " * 1000)
    logbook.handled(HERE, member.group, Tick(), [refused] * (REFUSED_MAX + 5))
    logbook.let_out(5)

    rows = list(rows_of(logbook.take_chunks(), "run", 1, PEER))
    assert len(rows) == REFUSED_MAX
    assert {row.kind for row in rows} == {LogKind.REFUSED}
    assert len(rows[0].reason or "") in range(1, REASON_MAX + 1)
