"""Databases with a governed channel in them, and people who write there."""

from sync.group.records import StoreOp
from sync.group.values import Record
from sync.machine import ChannelId
from tests.support.storage.stores import Store, membership
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, person


def channel_of(history: History) -> ChannelId:
    return ChannelId(history.governance.group.hex())


def kept(history: History) -> list[Record]:
    """The records of all ops of a channel."""
    return [
        StoreOp(channel_of(history), op.content, history.governance.act(op.id).judgement)
        for op in history.ops
    ]


def author(name: str, history: History) -> Author:
    one = Author(name, channel_of(history))
    one.identity = person(name)
    one.peer_id = one.identity.peer_id
    return one


async def governed(store: Store, history: History, *records: Record) -> ChannelId:
    """Have a channel and its ops on the disk."""
    channel = channel_of(history)
    await store.members.add_channel(membership(channel, "friends"), 2)
    await store.journal.commit([*kept(history), *records])
    return channel
