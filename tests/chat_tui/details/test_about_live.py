"""The details of a message between real chats: over sockets, from disks, after a restart."""

from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.details.facts import Way, know, read
from chat_tui.details.sections import as_text
from sync.sds.message import Delivery
from sync.view.view import DeliveryShown, HistoryShown, Line
from tests.support.chat_tui.changing_live import Heard, shows
from tests.support.chat_tui.chats import meet, opened, running
from tests.support.chat_tui.live_clients import lobby

pytestmark = pytest.mark.net


async def said(client: Client, line: Line) -> str:
    return as_text(know(client, line, await read(client.history, line)))


async def only_line(client: Client) -> Line:
    assert client.first_channel is not None
    [line] = await client.history.page(client.first_channel, before=None, limit=9)
    return line


async def test_both_ends_tell_the_story_of_a_message(tmp_path: Path) -> None:
    async with running(tmp_path, "ann") as ann, running(tmp_path, "bob") as bob:
        channel = ann.first_channel
        assert channel is not None
        at_ann, at_bob = Heard(ann), Heard(bob)
        await meet(ann, bob)
        written = await ann.send_text(channel, "tea?")
        await at_bob.until(shows("tea?"))
        await at_ann.until(
            lambda event: event == DeliveryShown(channel, written, Delivery.ACKNOWLEDGED)
        )
        theirs, line = await said(bob, await only_line(bob)), await only_line(bob)
        way = know(bob, line, await read(bob.history, line)).arrival
        own = await said(ann, await only_line(ann))
        raw = await Commands(bob).run(f"/info raw {written[:8]}", At(channel))

    assert way.way in {Way.STRAIGHT, Way.PUSHED, Way.COPIED}
    assert way.peer == ann.snapshot().me
    assert "ms later" in theirs
    assert "Signature: ok (ann, key " in theirs
    assert "bob has it for certain" in own
    assert "written, and safe on this disk" in own
    assert "received for certain" in own
    assert raw.text.startswith("SDS message, content")


async def test_a_newcomer_is_told_that_older_lines_came_in_a_snapshot(tmp_path: Path) -> None:
    async with running(tmp_path, "ann") as ann, running(tmp_path, "bob") as bob:
        channel = ann.first_channel
        assert channel is not None
        at_bob = Heard(bob)
        await ann.send_text(channel, "before you came")
        await meet(ann, bob)
        await at_bob.until(lambda event: isinstance(event, HistoryShown))
        line = await only_line(bob)
        way = know(bob, line, await read(bob.history, line)).arrival
        told = await said(bob, line)

    assert (way.way, way.peer) == (Way.COPIED, ann.snapshot().me)
    assert "It came in a snapshot that ann sent, with all the history" in told
    assert "came in a snapshot from ann" in told
    assert "in a snapshot from ann" in told.splitlines()[0]


async def test_who_sent_a_snapshot_has_what_is_in_it(tmp_path: Path) -> None:
    async with running(tmp_path, "ann") as ann:
        async with running(tmp_path, "cat") as cat:
            at_ann = Heard(ann)
            await meet(ann, cat)
            await cat.send_text(lobby(cat), "before you came")
            await at_ann.until(shows("before you came"))
        async with running(tmp_path, "bob") as bob:
            at_bob = Heard(bob)
            await meet(ann, bob)
            await at_bob.until(lambda event: isinstance(event, HistoryShown))
            told = await said(bob, await only_line(bob))

    assert "ann ● (sent it)" in told
    assert "ann unknown" not in told


async def test_after_a_start_it_says_what_was_not_kept(tmp_path: Path) -> None:
    async with running(tmp_path, "ann") as ann:
        channel = ann.first_channel
        assert channel is not None
        await ann.send_text(channel, "before the start")

    async with opened(tmp_path, "ann") as ann:
        told = await said(ann, await only_line(ann))

    assert "Not kept: it is from before" in told
    assert "of the others nothing is kept" in told
    assert "Signature: ok (ann, key " in told
