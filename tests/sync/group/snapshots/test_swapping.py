"""Sessions that run on while a snapshot becomes the history of a channel."""

from sync.group import values
from tests.support.sync.pairs import different


def test_what_a_session_brings_while_a_snapshot_is_swapped_in_is_left_to_the_next_one() -> None:
    pair = different()
    pair.start(pair.one)
    while not isinstance(pair.queue[0][1], values.Transferred):
        pair.step()
    takes = pair.queue[0][0]
    held = len(takes.disk.rows)

    takes.group.snapshots.swapping = True
    pair.run()
    assert len(takes.disk.rows) == held, "it may be on the disk already"

    takes.start()
    pair.ended.clear()
    pair.start(pair.beside(takes))
    pair.run()
    assert takes.disk.rows.keys() == pair.beside(takes).disk.rows.keys()
    assert [one.converged for one in pair.ended] == [True, True]
