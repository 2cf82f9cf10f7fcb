import asyncio
import stat
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from chat_tui import control
from sync.errors import LocalError
from tests.chats import opened, running
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.net


async def collected(path: Path, request: dict[str, Any], count: int) -> list[dict[str, Any]]:
    replies = []
    async with asyncio.timeout(PATIENCE_S), aclosing(control.ask(path, request)) as answers:
        async for reply in answers:
            replies.append(reply)
            if len(replies) == count:
                break
    return replies


async def test_the_socket_is_for_its_owner_alone(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control.serving(alice):
        mode = alice.profile.socket.stat().st_mode

        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
    assert not alice.profile.socket.exists()


async def test_send_through_an_open_chat_waits_for_the_mark(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control.serving(alice):
        request = {"do": "send", "text": "from a script", "wait": 0.01, "channel": None}
        [reply] = await collected(alice.profile.socket, request, 1)
        assert alice.first_channel is not None
        [line] = await alice.history.page(alice.first_channel, before=None, limit=5)

    assert reply["state"] == "unacknowledged"
    assert reply["id"] == line.message_id
    assert line.text == "from a script"


async def test_tail_gives_history_then_what_comes(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control.serving(alice):
        assert alice.first_channel is not None
        await alice.write(alice.first_channel, "before")
        request = {"do": "tail", "history": 5, "channel": None}
        async with (
            asyncio.timeout(PATIENCE_S),
            aclosing(control.ask(alice.profile.socket, request)) as replies,
        ):
            first = await anext(replies)
            await alice.write(alice.first_channel, "after")
            second = await anext(replies)

    assert [first["text"], second["text"]] == ["before", "after"]


async def test_status_is_the_snapshot(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control.serving(alice):
        [reply] = await collected(alice.profile.socket, {"do": "status"}, 1)

        assert reply["running"] is True
        assert reply["participant"] == alice.identity.peer_id
        assert [info["channel"] for info in reply["channels"]] == ["#lobby"]


async def test_status_without_a_running_chat_counts_what_is_on_disk(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        await alice.write(alice.first_channel, "one")

    async with opened(tmp_path, "alice") as alice:
        status = await control.offline_status(alice)

    assert status["running"] is False
    assert [info["messages"] for info in status["channels"]] == [1]


@pytest.mark.parametrize(
    "request_",
    [{"do": "dance"}, {"do": "send"}, {"do": "send", "text": "", "wait": 1, "channel": None}],
)
async def test_what_cannot_be_done_is_refused_with_a_sentence(
    tmp_path: Path, request_: dict[str, Any]
) -> None:
    async with running(tmp_path, "alice") as alice, control.serving(alice):
        with pytest.raises(LocalError):
            await collected(alice.profile.socket, request_, 1)


async def test_garbage_on_the_socket_does_not_end_the_chat(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control.serving(alice):
        reader, writer = await asyncio.open_unix_connection(alice.profile.socket)
        writer.write(b"\xff\xfe no json\n")
        answer = await reader.readline()
        writer.close()

        assert b"error" in answer
        [reply] = await collected(alice.profile.socket, {"do": "status"}, 1)
        assert reply["running"] is True


async def test_nobody_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="try again"):
        await collected(tmp_path / "none", {"do": "status"}, 1)
