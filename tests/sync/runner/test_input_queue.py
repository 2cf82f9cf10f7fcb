"""Order of inputs: who sends beyond a share waits, and still has turns."""

from sync.entries.entry import Kind
from sync.group import values
from sync.machine import ChannelId, PeerId
from sync.runner.input_queue import FAIR_FROM, PASSED_BY_MAX, InputQueue
from tests.support.sync.groups import NOW

HERE, PEER = ChannelId("0c" * 16), PeerId("bb" * 32)
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
