"""Between the SDS channel and its group: effects, and what is restored."""

from typing import assert_never

from sync.group import values
from sync.group.ingest import content_of
from sync.machine import ChannelId
from sync.sds import events as sds
from sync.sds.message import Delivery
from sync.sds.wire import encode, encode_around


def mapped(
    channel: ChannelId,
    result: sds.Effect,
    fresh: values.StoredMessage | None,
    delivery: Delivery | None,
) -> list[values.Effect]:
    """Return what an effect of SDS is to the group, its records first.

    Args:
        channel: whose group it is.
        result: the effect.
        fresh: the message that SDS was given and that is on no disk yet, if any.
        delivery: its state, if it is ours.
    """
    match result:
        case sds.Delivered(message_id, after_gap):
            if fresh is None or fresh.entry.message_id != message_id:
                return [
                    values.SetStatus(channel, message_id, values.Status.DELIVERED, after_gap),
                    values.Deliver(message_id, None, after_gap, None),
                ]
            return [
                values.StoreMessage(fresh, values.Status.DELIVERED, after_gap, delivery),
                values.Deliver(message_id, fresh.entry, after_gap, delivery),
            ]
        case sds.Held(message_id):
            if fresh is None or fresh.entry.message_id != message_id:
                return []  # it waits on the disk already
            return [values.StoreMessage(fresh, values.Status.WAITING, delivery=delivery)]
        case sds.Broadcast(message):
            if fresh is not None and fresh.entry.message_id == message.message_id:
                return [values.Broadcast(encode_around(fresh.payload, message))]
            return [values.Broadcast(encode(message))]
        case sds.Rebroadcast(message_id, bloom_filter, attempts, state):
            return [
                values.SetDelivery(channel, message_id, state, attempts),
                values.BroadcastStored(message_id, bloom_filter),
            ]
        case sds.Answer(message_id):
            return [values.BroadcastStored(message_id, None)]
        case sds.LookUp(requester, message_ids):
            return [values.LoadAuthors(requester, message_ids)]
        case sds.Retrieve(wanted):
            return [values.Retrieve(wanted)]
        case sds.DeliveryChanged(message_id, state, attempts):
            return [
                values.SetDelivery(channel, message_id, state, attempts),
                values.DeliveryChanged(message_id, state),
            ]
        case sds.Missing(message_id, named_by):
            return [values.Missing(message_id, named_by)]
        case sds.Found(message_id, lost):
            return [values.Found(message_id, lost)]
        case sds.EphemeralArrived():
            return []  # the group has read it
        case sds.FilterIgnored(sender_id, reason):
            return [values.Refused(sender_id, reason)]
        case _:
            assert_never(result)


def asked_of(
    event: values.SendAgain | values.AskAgain | values.AuthorsLoaded,
) -> sds.SendAgain | sds.AskAgain | sds.Requested:
    """Return what a person or a peer asks for, as SDS hears it."""
    match event:
        case values.SendAgain(message_id):
            return sds.SendAgain(message_id)
        case values.AskAgain(message_ids, gaps):
            return sds.AskAgain(message_ids, tuple([content_of(outline) for outline in gaps]))
        case values.AuthorsLoaded(requester, entries):
            return sds.Requested(requester, entries)
        case _:
            assert_never(event)


def restored_of(state: values.ChannelState) -> sds.Restored:
    """Return what SDS needs of what the disk holds."""
    return sds.Restored(
        log=state.log,
        tips=tuple([content_of(outline) for outline in state.tips]),
        outgoing=tuple(
            [sds.RestoredOwn(own.message_id, own.delivery, own.attempts) for own in state.outgoing]
        ),
        waiting=tuple([content_of(outline) for outline in state.waiting]),
        gaps=tuple([content_of(outline) for outline in state.gaps]),
    )
