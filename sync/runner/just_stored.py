"""Messages that a commit has just stored, as the disk would give them back."""

from collections.abc import Collection, Sequence

from sync.group import values
from sync.machine import MessageId
from sync.runner.journal import Loaded
from sync.sds.message import Delivery


def just_stored(
    records: Sequence[values.Record], wanted: Collection[MessageId]
) -> dict[MessageId, Loaded]:
    """Return those of `wanted` that committed records store.

    As the last record about each leaves it; what a record sets aside again is not returned.
    """
    stored: dict[MessageId, values.StoreMessage] = {}
    gaps: dict[MessageId, bool] = {}
    deliveries: dict[MessageId, Delivery] = {}
    for record in records:
        match record:
            case values.StoreMessage(message) if message.entry.message_id in wanted:
                stored[message.entry.message_id] = record
            case values.SetStatus(_, changed, _, after_gap):
                gaps[changed] = after_gap
            case values.SetDelivery(_, changed, delivery):
                deliveries[changed] = delivery
            case values.Discard(_, discarded):
                stored.pop(discarded, None)
            case _:
                pass
    return {
        message_id: Loaded(
            message_id,
            one.message.entry,
            one.message.payload,
            one.message.waku_hash,
            gaps.get(message_id, one.after_gap),
            deliveries.get(message_id, one.delivery),
        )
        for message_id, one in stored.items()
    }
