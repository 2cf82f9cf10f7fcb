"""Our own log: its links across starts, and what happens to a restored backup or a clone."""

from sync.group import values
from sync.machine import MINUTE
from sync.sds.message import Delivery
from tests.support.sync.entries import CHANNEL
from tests.support.sync.groups import NOW, Member, only


def test_the_links_of_our_log_are_right_across_starts() -> None:
    alice = Member("alice")
    headers = []

    for number in range(14):
        if number % 5 == 0:
            alice.start()
        headers.append(alice.write(f"line {number}").entry)

    skips = {4: 1, 8: 4, 12: 8, 13: 4}
    for seq, entry in enumerate(headers, start=1):
        skip = skips.get(seq)
        assert entry.header.seq == seq
        assert entry.header.backlink == (headers[seq - 2].message_id if seq > 1 else None)
        assert entry.header.skiplink == (headers[skip - 1].message_id if skip else None)


def test_a_restored_backup_gets_its_own_messages_back_and_goes_on_in_a_new_log() -> None:
    alice = Member("alice")
    backup = [alice.write("one")]
    later = [alice.write("two"), alice.write("three")]
    restored = Member("alice")
    restored.disk.commit([values.StoreMessage(backup[0], values.Status.DELIVERED)])
    restored.start()

    effects = [effect for sent in later for effect in restored.hear(sent)]
    mine = restored.write("four").entry.header

    assert restored.shown()[:3] == [one.entry.message_id for one in (*backup, *later)]
    assert only(values.SetLog, effects) == [values.SetLog(CHANNEL, 101)]
    assert len(only(values.Warned, effects)) == 1
    assert (mine.log, mine.seq, mine.backlink) == (101, 1, None)
    assert mine.lamport > later[-1].entry.header.lamport
    assert restored.disk.rows[later[0].entry.message_id].delivery is Delivery.ACKNOWLEDGED


def test_a_new_log_is_kept_across_starts() -> None:
    alice, restored = Member("alice"), Member("alice")
    restored.hear(alice.write("one"))
    first = restored.write("first of the new log")

    restored.start()
    second = restored.write("second").entry.header

    assert (second.log, second.seq) == (101, 2)
    assert second.backlink == first.entry.message_id


def test_a_fork_made_before_we_noticed_is_kept() -> None:
    alice, clone = Member("alice"), Member("alice")
    mine, twin = alice.write("mine"), clone.write("twin")

    effects = alice.hear(twin)

    assert set(alice.shown()) == {mine.entry.message_id, twin.entry.message_id}
    assert only(values.SetLog, effects) == [values.SetLog(CHANNEL, 101)]


def test_an_own_message_from_the_future_shows_a_clone_as_well() -> None:
    alice, clone = Member("alice"), Member("alice")
    twin = clone.write("twin", now=NOW + 10 * MINUTE)

    effects = alice.hear(twin)

    assert twin.entry.message_id in alice.group.aside.parked
    assert only(values.SetLog, effects) == [values.SetLog(CHANNEL, 101)]
    assert alice.write("mine").entry.header.log == 101
