"""A retention floor: what is older is neither compared with others nor taken from them."""

from sync.group import values
from sync.machine import DAY, SECOND, MessageId
from sync.sds.message import Delivery
from tests.support.sync.groups import NOW, Member, only
from tests.support.sync.pairs import Pair, transfer

LATER = NOW + 10 * DAY


def archive_and_newcomer() -> tuple[Pair, list[MessageId], list[MessageId]]:
    """Somebody with old and new lines, and somebody who keeps three days; the ids of both kinds."""
    alice, bob = Member("alice"), Member("bob", retention=3 * DAY)
    both = Pair(alice, bob)
    old = [alice.write(f"old {number}", NOW + number * SECOND) for number in range(5)]
    new = [alice.write(f"new {number}", LATER - (5 - number) * SECOND) for number in range(5)]
    return both, [one.entry.message_id for one in old], [one.entry.message_id for one in new]


def test_only_what_is_new_enough_comes_and_what_it_names_beyond_counts_as_met() -> None:
    both, old, new = archive_and_newcomer()

    both.start(both.other)
    both.run(LATER)

    assert both.other.shown() == new
    assert not any(both.other.disk.rows[one].after_gap for one in new)
    assert not both.other.group.sds.incoming.missing
    assert all(ended.converged for ended in both.ended)
    assert [ended.need for ended in both.ended if ended.why == "test"] == [5]
    assert set(both.one.shown()) == {*old, *new}


def test_whoever_keeps_everything_may_begin_the_session_too() -> None:
    both, _, new = archive_and_newcomer()

    both.start(both.one)
    both.run(LATER)

    assert both.other.shown() == new
    assert all(ended.converged for ended in both.ended)


def test_what_is_older_is_not_compared_in_either_direction() -> None:
    both, _, _ = archive_and_newcomer()
    mine = both.other.write("an old line of mine", NOW)

    both.start(both.other)
    both.run(LATER)

    assert mine.entry.message_id not in both.one.shown()


def test_a_proof_acknowledges_nothing_below_the_floor_of_who_proves() -> None:
    both, old, new = archive_and_newcomer()
    assert set(both.one.group.sds.outgoing.pending) == {*old, *new}

    for _ in range(2):  # what the first one brings, the second proves
        both.start(both.other)
        both.run(LATER)

    assert both.other.shown() == new, "who keeps three days has them, and not what is older"
    marks = {one: both.one.disk.rows[one].delivery for one in (*old, *new)}
    assert {marks[one] for one in new} == {Delivery.ACKNOWLEDGED}
    assert {marks[one] for one in old} == {Delivery.UNACKNOWLEDGED}


def test_a_transferred_message_from_below_the_floor_is_declined_and_counted() -> None:
    both, old, _ = archive_and_newcomer()
    both.other.tell(values.StartSession(7, both.one.peer_id, "test"), LATER)
    sent = both.one.disk.rows[old[0]].message

    effects = both.other.tell(values.Transferred(both.one.peer_id, transfer(sent)), LATER)

    [refused] = only(values.Refused, effects)
    assert refused == values.Refused(
        both.one.peer_id, "a transferred message from before what was compared"
    )
    assert both.other.shown() == []
