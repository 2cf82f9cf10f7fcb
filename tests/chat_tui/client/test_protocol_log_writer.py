"""The protocol log of live chats: kept, switched off, and done without."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from chat_tui.client import protocol_log_writer
from chat_tui.client.live import Client
from chat_tui.client.protocol_log_writer import LogKeeper
from chat_tui.settings.schema import PROTOCOL_LOG
from storage.sqlite.protocol_log import FILE_NAME, LogReader
from sync.errors import StorageError
from sync.machine import ChannelId, MessageId
from sync.runner.log_rows import LogKind, LogRow
from sync.runner.logbook import Logbook
from sync.sds.message import Delivery
from sync.view.view import DeliveryShown, Event, Notice
from tests.support.chat_tui.chats import meet, opened, running
from tests.support.chat_tui.live_clients import Heard
from tests.support.patience import PATIENCE_S
from tests.support.sync.nodes import until

pytestmark = pytest.mark.net


class Acknowledged:
    """A way to wait until somebody has a message."""

    def __init__(self, client: Client) -> None:
        self._settled: dict[MessageId, asyncio.Event] = {}
        client.subscribe(self._note)

    def _note(self, event: Event) -> None:
        if isinstance(event, DeliveryShown) and event.delivery is Delivery.ACKNOWLEDGED:
            self._settled.setdefault(event.message_id, asyncio.Event()).set()

    async def wait(self, message_id: MessageId) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self._settled.setdefault(message_id, asyncio.Event()).wait()


def rows_of(client: Client) -> list[LogRow]:
    """Return the rows in the protocol log file of a closed chat."""
    with LogReader(client.profile.directory / FILE_NAME, client.identity.peer_id) as reader:
        return [row for day in reader.days() for row in reader.rows(day, 0)]


async def test_what_two_chats_did_stands_in_their_logs(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        acknowledged, heard = Acknowledged(alice), Heard(bob)
        await meet(alice, bob)
        # else what is written may come by the comparison of a new link, in fewer bytes
        await heard.session({"new link", "the peer began it"})
        channel = alice.first_channel
        assert channel is not None
        message_id = await alice.send_text(channel, "hello")
        await acknowledged.wait(message_id)

    ours, theirs = rows_of(alice), rows_of(bob)

    def about(rows: list[LogRow]) -> dict[LogKind, LogRow]:
        return {row.kind: row for row in rows if row.message_id == message_id}

    assert [row.seq for row in ours] == list(range(1, len(ours) + 1))
    assert {row.boot for row in ours + theirs} == {1}
    assert {row.run for row in ours} != {row.run for row in theirs}
    sent, got = about(ours)[LogKind.SENT], about(theirs)[LogKind.RECEIVED]
    assert (sent.peer, got.peer) == (None, alice.identity.peer_id)
    assert sent.size == got.size
    assert sent.lamport == got.lamport == about(theirs)[LogKind.DELIVERED].lamport
    assert about(ours)[LogKind.ACKNOWLEDGED].peer == bob.identity.peer_id
    assert {row.kind for row in ours} >= {LogKind.SESSION_STARTED, LogKind.SESSION_ENDED}


async def test_the_next_start_is_the_next_boot(tmp_path: Path) -> None:
    async def write_once() -> Client:
        async with running(tmp_path, "alice") as alice:
            assert alice.first_channel is not None
            await alice.send_text(alice.first_channel, "a line")
        return alice

    await write_once()
    rows = rows_of(await write_once())

    assert [(row.boot, row.seq) for row in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]


async def test_switched_off_nothing_is_noted_from_that_moment_on(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        first = await alice.send_text(alice.first_channel, "noted")
        alice.settings.change(PROTOCOL_LOG, False)
        await alice.send_text(alice.first_channel, "not noted")
        alice.settings.change(PROTOCOL_LOG, True)
        last = await alice.send_text(alice.first_channel, "noted again")

    rows = rows_of(alice)

    assert {row.message_id for row in rows} == {first, last}
    assert [row.seq for row in rows] == [1, 2, 4, 5], "a hole shows that some is missing"


async def test_switched_off_from_the_start_there_is_no_file(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        alice.settings.change(PROTOCOL_LOG, False)
        async with alice.running():
            assert alice.first_channel is not None
            await alice.send_text(alice.first_channel, "not noted")

    assert not (alice.profile.directory / FILE_NAME).exists()


async def test_a_log_that_cannot_be_written_is_said_once_and_the_chat_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol_log_writer, "EVERY_S", 0.001)
    heard: list[Notice] = []
    async with opened(tmp_path, "alice") as alice:
        (alice.profile.directory / FILE_NAME).mkdir()
        told = asyncio.Event()

        def note(event: Event) -> None:
            if isinstance(event, Notice) and "protocol log" in event.text:
                heard.append(event)
                told.set()

        alice.subscribe(note)
        async with alice.running():
            assert alice.first_channel is not None
            await alice.send_text(alice.first_channel, "one")
            async with asyncio.timeout(PATIENCE_S):
                await told.wait()
            await alice.send_text(alice.first_channel, "two")
            logbook = alice.make_node().logbook
            await until(lambda: not logbook._waiting, "it is tried again")
            written = await alice.history.count(alice.first_channel)
        await alice.close()

    assert written == 2
    assert len(heard) == 1
    assert "/set protocol_log off" in heard[0].text


async def test_much_is_written_in_pieces_with_rests_and_all_of_it_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol_log_writer, "EVERY_S", 0.0)
    monkeypatch.setattr(protocol_log_writer, "REST_S", 3600.0)
    monkeypatch.setattr(protocol_log_writer, "ROWS_AT_ONCE", 2)
    async with opened(tmp_path, "alice") as alice:
        keeper = LogKeeper(tmp_path, alice.settings, os.urandom, lambda _: None)
        logbook = Logbook()
        keeper.keep(logbook)
        for number in range(5):
            logbook.refused(ChannelId("c0" * 16), None, f"reason {number}")
        logbook.let_out(5)
        me = alice.identity.peer_id

        def written() -> int:
            with suppress(StorageError), LogReader(tmp_path / FILE_NAME, me) as reader:
                return sum(day.count for day in reader.days())
            return 0  # it is being made

        writing = asyncio.create_task(keeper.write_forever())
        await until(lambda: logbook._waiting == 3, "the first piece is taken")
        await until(lambda: written() > 0, "it is written")
        first = written()
        writing.cancel()
        await keeper.close()

    assert (first, written()) == (2, 5)
