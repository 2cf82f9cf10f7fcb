"""Changes of messages: what is said of those that have no place in the conversation yet."""

from pathlib import Path

import pytest

from chat_tui.client.message_changes import (
    WAITS,
    WAITS_UNANSWERED,
    edit_of,
    redaction_of,
    refuse_answering,
    toggled,
)
from sync.errors import LocalError
from sync.group.values import Status, StoreMessage
from tests.support.storage.stores import opened
from tests.support.sync.entries import CHANNEL, Author


@pytest.mark.parametrize("status", [Status.WAITING, Status.LOADING, Status.PARKED])
async def test_what_waits_is_not_called_absent(tmp_path: Path, status: Status) -> None:
    bob = Author("bob")
    held = bob.write("an answer", after=[Author("ann").write("nobody has it")])
    which = held.entry.message_id

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(held, status)])
        for change in (
            edit_of(store.history, CHANNEL, which, "another"),
            redaction_of(store.history, CHANNEL, which),
            toggled(store.history, CHANNEL, which, "👍"),
        ):
            with pytest.raises(LocalError, match=WAITS):
                await change
        with pytest.raises(LocalError, match=WAITS_UNANSWERED):
            await refuse_answering(store.history, CHANNEL, which)
