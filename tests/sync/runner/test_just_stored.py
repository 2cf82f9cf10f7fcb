"""A message that a commit has just stored is what the disk gives back of it."""

from pathlib import Path

from sync.group.values import Discard, Record, SetDelivery, SetStatus, Status, StoreMessage
from sync.runner.just_stored import just_stored
from sync.sds.message import Delivery
from tests.support.storage.stores import ME, opened
from tests.support.sync.entries import CHANNEL, Author


async def test_what_was_just_stored_is_what_the_disk_gives_back(tmp_path: Path) -> None:
    ann, me = Author("ann"), Author("me")
    plain, held, own = ann.write("plain"), ann.write("held"), me.write("own")
    waiting = ann.write("waits")
    ids = [one.entry.message_id for one in (plain, held, own, waiting)]
    records: list[Record] = [
        StoreMessage(plain, Status.DELIVERED),
        StoreMessage(held, Status.WAITING),
        StoreMessage(own, Status.DELIVERED, delivery=Delivery.UNACKNOWLEDGED),
        SetStatus(CHANNEL, ids[1], Status.DELIVERED, after_gap=True),
        SetDelivery(CHANNEL, ids[2], Delivery.ACKNOWLEDGED, 2),
        StoreMessage(waiting, Status.WAITING),
    ]
    async with opened(tmp_path / "history.db", ME) as store:
        await store.journal.commit(records)

        assert just_stored(records, ids) == await store.journal.load(CHANNEL, ids)


def test_what_is_not_asked_for_or_set_aside_again_is_left_to_the_disk() -> None:
    ann = Author("ann")
    one, other = ann.write("one"), ann.write("other")
    records: list[Record] = [
        StoreMessage(one, Status.DELIVERED),
        StoreMessage(other, Status.DELIVERED),
        Discard(CHANNEL, other.entry.message_id),
    ]

    assert just_stored(records, {other.entry.message_id}) == {}
    assert list(just_stored(records, {one.entry.message_id})) == [one.entry.message_id]
