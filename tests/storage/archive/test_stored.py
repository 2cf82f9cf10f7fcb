"""A message as it is stored, with what changes it, on a real disk and a simulated one."""

from pathlib import Path

from sync.entries.changes import Edit, Reactions, Redaction
from sync.group.values import Status, StoreMessage
from sync.machine import ChannelId, MessageId
from tests.support.chat_tui import stories
from tests.support.chat_tui.scenes import BOB
from tests.support.storage.stores import opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author

UNKNOWN = MessageId("ab" * 32)


async def test_bytes_on_disk_with_the_delivered_changes_in_order(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    first = ann.write("tea at four", lamport=1)
    later = changed(ann, Edit(first.entry.message_id, "tea at six"), first)
    edit = changed(ann, Edit(first.entry.message_id, "tea at five"), first)
    held = changed(bob, Reactions(first.entry.message_id, ("👍",)), first)
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(first, Status.DELIVERED)])
        await store.journal.commit([StoreMessage(edit, Status.DELIVERED)])
        await store.journal.commit([StoreMessage(later, Status.DELIVERED)])
        await store.journal.commit([StoreMessage(held, Status.WAITING)])

        stored = await store.history.stored(CHANNEL, first.entry.message_id)
        waiting = await store.history.stored(CHANNEL, held.entry.message_id)
        elsewhere = await store.history.stored(ChannelId("0d" * 16), first.entry.message_id)
        unknown = await store.history.stored(CHANNEL, UNKNOWN)
        nonsense = await store.history.stored(CHANNEL, MessageId("no id"))

    assert stored is not None
    assert (stored.payload, stored.waku_hash) == (first.payload, first.waku_hash)
    in_order = sorted([later, edit], key=lambda one: one.entry.header.lamport)
    assert [one.message_id for one in stored.changes] == [one.entry.message_id for one in in_order]
    assert waiting is not None
    assert waiting.payload == held.payload
    assert (elsewhere, unknown, nonsense) == (None, None, None)


async def test_simulated_bytes_are_those_of_the_disk_with_changes_in_order() -> None:
    scene = await stories.changed(deleted=True)
    line = await stories.line_of(scene, "")
    bob = scene.world.nodes[BOB].identity.peer_id
    history = scene.chat.history

    stored = await history.stored(line.channel, line.message_id)
    unknown = await history.stored(line.channel, UNKNOWN)

    assert stored is not None
    assert stored.payload == scene.world.nodes[0].disk.load(line.message_id).payload
    kinds = [type(one.change) for one in stored.changes]
    assert kinds == [Edit, Edit, Reactions, Reactions, Redaction]
    assert [one.author == bob for one in stored.changes] == [True, True, False, False, True]
    assert unknown is None
