"""Order of inputs: who sends beyond a share waits, and still has turns."""

from sync.calimero.governance.ops import Leave
from sync.entries.entry import Kind
from sync.group import values
from sync.machine import ChannelId, PeerId
from sync.runner.input_queue import FAIR_FROM, PASSED_BY_MAX, InputQueue
from tests.support.sync.groups import NOW

HERE, PEER, OTHER = ChannelId("0c" * 16), PeerId("bb" * 32), PeerId("cc" * 32)
FLOOD = 300


def write(number: int) -> values.Write:
    return values.Write(number, Kind.TEXT, b"a line", (), None)


def test_own_lines_without_end_do_not_silence_a_peer() -> None:
    queue = InputQueue()
    for number in range(FAIR_FROM + FLOOD):
        queue.add(HERE, write(number), NOW)
    for _ in range(FLOOD):
        queue.add(HERE, values.Arrived(PEER, b"frame"), NOW)
    assert queue.backlog[PEER] > PASSED_BY_MAX

    taken = []
    for number in range(PASSED_BY_MAX * FLOOD):
        queue.add(HERE, write(number), NOW)  # there is always one more
        taken.append(type(queue.take()[0].event))

    assert queue.backlog == {}
    assert taken.count(values.Arrived) == FLOOD
    first = taken.index(values.Arrived)
    assert values.Arrived not in taken[first + 1 : first + PASSED_BY_MAX]


def test_what_a_session_brings_beyond_a_share_waits_and_its_end_waits_behind() -> None:
    queue = InputQueue()
    offered = values.SessionOffered(7, PEER, "a protocol", 1, 7)
    queue.add(HERE, offered, NOW)
    for number in range(FAIR_FROM):
        queue.add(HERE, write(number), NOW)
    for _ in range(FLOOD):
        queue.add(HERE, values.SessionPayload(7, b"an entry"), NOW)
    queue.add(HERE, values.SessionClosed(7, ""), NOW)
    queue.add(HERE, values.Arrived(OTHER, b"frame"), NOW)
    assert queue.is_crowded_by_session(7)

    taken = [type(queue.take()[0].event) for _ in range(len(queue))]

    heard = taken.index(values.Arrived)
    assert taken[:heard].count(values.SessionPayload) < FLOOD / 2
    assert taken.count(values.SessionPayload) == FLOOD
    assert taken[-1] is values.SessionClosed
    assert not queue.is_crowded_by_session(7)


def test_it_knows_whether_anything_waits_that_somebody_waits_for() -> None:
    queue = InputQueue()
    for wish in (
        write(1),
        values.Act(2, Leave()),
        values.SetState(3, values.StateKind.PROFILE, None),
    ):
        queue.add(HERE, wish, NOW)
        assert queue.has_own
        queue.add_again(queue.take_all(lambda _: True))
        assert queue.has_own
        queue.take()
        assert not queue.has_own
