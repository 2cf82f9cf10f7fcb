"""DeltaBuffer: first in, first out, within its limits, and what is pushed out is counted."""

from sync.calimero.log.delta_buffer import BUFFERED_BYTES_MAX, BUFFERED_MAX, DeltaBuffer
from sync.machine import MessageId


def named(number: int) -> MessageId:
    return MessageId(f"{number:064x}")


def filled(count: int, size: int = 100) -> DeltaBuffer[int]:
    buffer: DeltaBuffer[int] = DeltaBuffer()
    for number in range(count):
        buffer.add(named(number), number, size)
    return buffer


def test_entries_come_out_in_the_order_in_which_they_came_each_once() -> None:
    buffer = filled(5)
    assert buffer.add(named(2), 99, 100) == []
    assert named(2) in buffer
    assert buffer.take(3) == [0, 1, 2]
    assert buffer.take(3) == [3, 4]
    assert (len(buffer), buffer.size, buffer.dropped) == (0, 0, 0)


def test_of_more_than_ten_thousand_the_oldest_are_pushed_out_and_counted() -> None:
    buffer = filled(BUFFERED_MAX)
    assert buffer.add(named(BUFFERED_MAX), -1, 100) == [named(0)]
    assert buffer.add(named(BUFFERED_MAX + 1), -2, 100) == [named(1)]
    assert (len(buffer), buffer.dropped) == (BUFFERED_MAX, 2)
    assert buffer.take(1) == [2]


def test_of_too_many_bytes_the_oldest_are_pushed_out() -> None:
    size = BUFFERED_BYTES_MAX // 4
    buffer = filled(4, size)
    assert buffer.add(named(9), 9, 2 * size) == [named(0), named(1)]
    assert buffer.size == BUFFERED_BYTES_MAX
