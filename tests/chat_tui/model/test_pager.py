"""Pages of a real history into a conversation."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from chat_tui.model.conversation import Conversation
from chat_tui.model.pager import FIRST_PAGE, PAGE, Pager
from chat_tui.model.row import Changed
from tests.support.chat_tui.chats import opened, running

pytestmark = pytest.mark.net


async def test_history_is_paged_in_from_its_end_to_its_beginning(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        channel = alice.first_channel
        assert channel is not None
        for at in range(FIRST_PAGE + PAGE + 5):
            await alice.send_text(channel, f"m{at}")
        pager = Pager(alice.history, pytest.fail)
        held = Conversation(channel, alice.identity.peer_id, "alice")

        sizes = []
        while held.has_older:
            await pager.older(held)
            sizes.append(len(held.rows))

    assert sizes == [FIRST_PAGE, FIRST_PAGE + PAGE, FIRST_PAGE + PAGE + 5]
    assert [row.text for row in held.rows] == [f"m{at}" for at in range(sizes[-1])]


async def test_what_was_forgotten_below_is_paged_in_again(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        channel = alice.first_channel
        assert channel is not None
        for at in range(8):
            await alice.send_text(channel, f"m{at}")
        pager = Pager(alice.history, pytest.fail)
        held = Conversation(channel, alice.identity.peer_id, "alice")
        lines = await alice.history.page(channel, before=None, limit=8)
        held.begin_load()
        held.add_older(lines[:4], before=None, complete=True)
        held.has_newer = True

        await pager.newer(held)

    assert [row.text for row in held.rows] == [f"m{at}" for at in range(8)]
    assert not held.has_newer


async def test_a_disk_that_refuses_is_reported_once(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        channel = alice.first_channel
        assert channel is not None
        with closing(sqlite3.connect(alice.profile.database)) as other_program:
            other_program.execute("DROP VIEW lines")
        reports: list[str] = []
        pager = Pager(alice.history, reports.append)
        held = Conversation(channel, alice.identity.peer_id, "alice")

        await pager.older(held)
        await pager.older(held)

    assert len(reports) == 1
    assert held.stuck


async def test_rows_are_read_again_in_their_places(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        channel = alice.first_channel
        assert channel is not None
        sent = [await alice.send_text(channel, f"m{at}") for at in range(PAGE + 8)]
        pager = Pager(alice.history, pytest.fail)
        held = Conversation(channel, alice.identity.peer_id, "alice")
        while held.has_older:
            await pager.older(held)
        await alice.edit(channel, sent[0], "first")
        await alice.edit(channel, sent[-1], "last")

        changes = await pager.look_again(held)

    texts = [row.line.text for row in held.rows]
    assert (texts[0], texts[1], texts[-1]) == ("first", "m1", "last")
    assert len(texts) == PAGE + 8
    assert all(type(change) is Changed for change in changes)


async def test_an_empty_conversation_has_nothing_to_read_again(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        channel = alice.first_channel
        assert channel is not None
        held = Conversation(channel, alice.identity.peer_id, "alice")
        assert await Pager(alice.history, pytest.fail).look_again(held) == []
