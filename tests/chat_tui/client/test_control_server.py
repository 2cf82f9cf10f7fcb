import asyncio
import json
import stat
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chat_tui.cli.main import cli
from chat_tui.client import control_client, control_server
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.wording.json_events import Json
from storage.profile.profile import Profile
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.net import clock
from sync.view.view import MessageShown
from tests.support.chat_tui.chats import opened, running
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.net


async def collected(path: Path, request: dict[str, Any], count: int) -> list[dict[str, Any]]:
    replies = []
    async with asyncio.timeout(PATIENCE_S), aclosing(control_client.ask(path, request)) as answers:
        async for reply in answers:
            replies.append(reply)
            if len(replies) == count:
                break
    return replies


async def test_the_socket_is_for_its_owner_alone(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        mode = alice.profile.socket.stat().st_mode

        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
    assert not alice.profile.socket.exists()


async def test_send_through_an_open_chat_waits_for_the_mark(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        request = {"do": "send", "text": "from a script", "wait": 0.01, "channel": None}
        [reply] = await collected(alice.profile.socket, request, 1)
        assert alice.first_channel is not None
        [line] = await alice.history.page(alice.first_channel, before=None, limit=5)

    assert reply["state"] == "unacknowledged"
    assert reply["id"] == line.message_id
    assert line.text == "from a script"


async def test_a_reply_goes_where_the_message_is_that_it_answers(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        plans = await alice.memberships.join("#plans")
        asked = await alice.send_text(plans, "who comes?")

        async def answer(to: object, channel: str | None = None) -> dict[str, Any]:
            fields = {"text": "I do", "wait": 0, "channel": channel, "reply_to": to}
            [told] = await collected(alice.profile.socket, {"do": "reply", **fields}, 1)
            return told

        anywhere, there = await answer(asked[:12]), await answer(asked.upper(), "#plans")
        lines = await alice.history.page(plans, before=None, limit=5)
        with pytest.raises(LocalError, match="No message here has an id"):
            await answer(asked[:12], "#lobby")
        with pytest.raises(LocalError, match="No message in your channels has an id"):
            await answer("f" * 12)
        with pytest.raises(LocalError, match="is not a message id"):
            await answer("xyz")
        with pytest.raises(LocalError, match="not the id of a message"):
            await answer(7)

    assert (anywhere["channel"], there["channel"]) == ("#plans", "#plans")
    assert [line.reply_to for line in lines] == [None, asked, asked]


async def test_tail_gives_history_then_what_comes(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        assert alice.first_channel is not None
        await alice.send_text(alice.first_channel, "before")
        request = {"do": "tail", "history": 5, "channel": None}
        async with (
            asyncio.timeout(PATIENCE_S),
            aclosing(control_client.ask(alice.profile.socket, request)) as replies,
        ):
            first = await anext(replies)
            await alice.send_text(alice.first_channel, "after")
            second = await anext(replies)

    assert [first["text"], second["text"]] == ["before", "after"]


async def test_tail_of_a_channel_that_is_not_ours_joins_it_and_says_so_once(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        request = {"do": "tail", "history": 5, "channel": "#plans"}
        [joined] = await collected(alice.profile.socket, request, 1)
        await alice.send_text(await alice.memberships.join("#plans"), "before")
        [line] = await collected(alice.profile.socket, request, 1)

    assert joined == {"event": "joined", "channel": "#plans"}
    assert (line["event"], line["text"]) == ("message", "before")


async def test_tail_of_somebody_unknown_is_refused_also_by_an_open_chat(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        with pytest.raises(LocalError, match="Nobody called nobody"):
            await collected(
                alice.profile.socket, {"do": "tail", "history": 5, "channel": "@nobody"}, 1
            )


async def test_of_too_many_scripts_the_last_is_told_so_until_one_has_ended(tmp_path: Path) -> None:
    tail = json.dumps({"do": "tail", "history": 0, "channel": None}).encode() + b"\n"
    status = {"do": "status"}
    async with (
        asyncio.timeout(PATIENCE_S),
        running(tmp_path, "alice") as alice,
        control_server.serving(alice),
    ):
        writers = []
        for _ in range(control_server.CONNECTIONS_MAX):
            _, writer = await asyncio.open_unix_connection(alice.profile.socket)
            writer.write(tail)
            writers.append(writer)
        for request in (status, {"do": "tail", "history": 0}):
            with pytest.raises(LocalError, match="16 scripts ask the open chat already"):
                await collected(alice.profile.socket, request, 1)

        writers[0].close()
        await asyncio.sleep(control_server.LOOK_S + 0.5)  # nothing happens: no event meanwhile
        [reply] = await collected(alice.profile.socket, status, 1)
        for writer in writers[1:]:
            writer.close()

    assert reply["running"] is True


async def test_whoever_came_first_keeps_its_place_however_many_come_before_it_is_read(
    tmp_path: Path,
) -> None:
    """All of them are connected before the chat reads the first request."""
    many = control_server.CONNECTIONS_MAX + control_server.REFUSED_MAX
    async with (
        asyncio.timeout(PATIENCE_S),
        running(tmp_path, "alice") as alice,
        control_server.serving(alice),
    ):
        streams = [await asyncio.open_unix_connection(alice.profile.socket) for _ in range(many)]
        beyond, writer = await asyncio.open_unix_connection(alice.profile.socket)
        hung_up = await beyond.read()
        for _, one in streams:
            one.write(b'{"do": "status"}\n')
        answers = [json.loads(await reader.readline()) for reader, _ in streams]
        for one in (writer, *(one for _, one in streams)):
            one.close()

    refused = [answer["event"] == "error" for answer in answers]
    assert hung_up == b""
    assert refused == [False] * control_server.CONNECTIONS_MAX + [True] * control_server.REFUSED_MAX


async def test_whoever_asks_nothing_keeps_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_server, "REQUEST_WITHIN_S", 0.1)
    async with (
        asyncio.timeout(PATIENCE_S),
        running(tmp_path, "alice") as alice,
        control_server.serving(alice),
    ):
        silent = [
            await asyncio.open_unix_connection(alice.profile.socket)
            for _ in range(control_server.CONNECTIONS_MAX)
        ]
        for reader, writer in silent:
            assert await reader.read() == b"", "it is hung up on"
            writer.close()
        [reply] = await collected(alice.profile.socket, {"do": "status"}, 1)

    assert reply["running"] is True


async def test_a_chat_that_ends_lets_its_scripts_go_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A script that follows, one that waits, and one that has asked nothing yet."""
    tail = {"do": "tail", "history": 0, "channel": None}
    send = {"do": "send", "text": "waits", "wait": PATIENCE_S, "channel": None}
    async with (
        asyncio.timeout(PATIENCE_S),
        running(tmp_path, "alice") as alice,
        asyncio.TaskGroup() as tasks,
    ):
        async with control_server.serving(alice):
            written = asyncio.Event()
            alice.subscribe(
                lambda event: written.set() if isinstance(event, MessageShown) else None
            )
            _, idle = await asyncio.open_unix_connection(alice.profile.socket)
            wanted = [control_client.ask(alice.profile.socket, one) for one in (tail, send)]
            scripts = [tasks.create_task(_end_of(one)) for one in wanted]
            await written.wait()
        following, waiting = [await one for one in scripts]
        idle.close()

    assert following == control_client.HUNG_UP
    assert waiting == control_client.MAY_BE_WRITTEN
    assert not caplog.records


async def _end_of(replies: AsyncGenerator[Json, None]) -> str:
    """Return what ends a script that is answered."""
    try:
        async for _ in replies:
            pass
    except LocalError as error:
        return str(error)
    return ""


async def test_whoever_reads_too_slowly_gets_what_waits_and_is_told_that_there_was_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_server, "EVENTS_MAX", 3)
    async with asyncio.timeout(PATIENCE_S), running(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        await alice.send_text(alice.first_channel, "before")
        request = {"do": "tail", "history": 1, "channel": None}
        async with aclosing(control_server.answer(alice, request)) as replies:
            texts = [(await anext(replies))["text"]]
            for text in ("one", "two", "three", "four", "five"):
                await alice.send_text(alice.first_channel, text)
            for _ in range(control_server.EVENTS_MAX):
                texts.append((await anext(replies)).get("text"))  # noqa: PERF401  # reads better
            with pytest.raises(LocalError, match="what came after them is not shown"):
                await anext(replies)

    assert texts[:2] == ["before", "one"]


async def test_status_is_the_snapshot(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        [reply] = await collected(alice.profile.socket, {"do": "status"}, 1)

        assert reply["running"] is True
        assert reply["participant"] == alice.identity.peer_id
        assert [info["channel"] for info in reply["channels"]] == ["#lobby"]


async def test_status_counts_the_same_lines_whether_a_chat_runs_or_not(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        assert alice.first_channel is not None
        await alice.send_text(alice.first_channel, "one")
        at = At(alice.first_channel)
        edited = await Commands(alice).run("/edit once", at)
        [reply] = await collected(alice.profile.socket, {"do": "status"}, 1)

    assert edited.ok
    assert alice.snapshot().channels[0].messages == 2
    assert [info["messages"] for info in reply["channels"]] == [1]


async def test_status_without_a_running_chat_counts_what_is_on_disk(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        await alice.send_text(alice.first_channel, "one")

    async with opened(tmp_path, "alice") as alice:
        status = await control_server.offline_status(alice)

    assert status["running"] is False
    assert [info["messages"] for info in status["channels"]] == [1]


@pytest.mark.parametrize(
    "request_",
    [{"do": "dance"}, {"do": "send"}, {"do": "send", "text": "", "wait": 1, "channel": None}],
)
async def test_what_cannot_be_done_is_refused_with_a_sentence(
    tmp_path: Path, request_: dict[str, Any]
) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        with pytest.raises(LocalError):
            await collected(alice.profile.socket, request_, 1)


HOSTILE = [
    b"\xff\xfe no json",
    b"",
    b"[" * 100_000,
    b'{"a":' * 20_000,
    b"x" * (control_client.REQUEST_MAX + 10),
    b"[]",
    b"null",
    b'{"do": ["send"]}',
    b'{"do": "send", "text": "a", "wait": NaN, "channel": null}',
    b'{"do": "send", "text": "a", "wait": 1e999, "channel": null}',
    b'{"do": "send", "text": "a", "wait": -1, "channel": null}',
    b'{"do": "send", "text": "a", "wait": 1' + b"0" * 400 + b', "channel": null}',
    b'{"do": "send", "text": "\\ud800", "wait": 0, "channel": null}',
    b'{"do": "send", "text": "a", "wait": 1' + b"0" * 5000 + b"}",
    b'{"do": "tail", "history": -1}',
    b'{"do": "tail", "history": 1' + b"0" * 30 + b"}",
    b'{"do": "send", "text": "a", "wait": 0, "channel": "\\ud800"}',
]


async def test_garbage_on_the_socket_gets_a_sentence_and_does_not_end_the_chat(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        answers = []
        for request in HOSTILE:
            reader, writer = await asyncio.open_unix_connection(alice.profile.socket)
            writer.write(request + b"\n")
            async with asyncio.timeout(PATIENCE_S):
                answers.append(json.loads(await reader.readline()))
            writer.close()

        [reply] = await collected(alice.profile.socket, {"do": "status"}, 1)
        lines = await alice.history.page(ChannelId(alice.first_channel or ""), before=None, limit=9)

    assert {answer["event"] for answer in answers} == {"error"}
    assert reply["running"] is True
    assert lines == []
    assert not caplog.records


STRANGE = [
    b"\xff\xfe",
    b"[" * 100_000 + b"\n",
    b"[]\n",
    b'{"event": 1}\n',
    b"x" * (5 * control_client.REQUEST_MAX) + b"\n",
    b"1" + b"0" * 5_000 + b"\n",
    b'{"event": "message"}\n',
    b'{"event": "message", "nick": 1, "author": "\\ud800", "text": [], "created_ns": {}}\n',
    b'{"event": "delivery", "state": {"a": 1}}\n',
    b'{"event": "error", "message": "\\u001b]0;title\\u0007"}\n',
    b'{"event": "status", "nick": 1, "running": 2, "channels": [[]]}\n',
    b"",
]


@pytest.mark.parametrize("words", [["send", "hello"], ["tail"], ["status"]], ids=" ".join)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
async def test_scripts_get_a_sentence_from_whatever_sits_on_the_socket(
    tmp_path: Path, words: list[str], *, as_json: bool
) -> None:
    """The profile is locked, as by an open chat; what answers for it is not one."""
    profile = Profile.open(tmp_path, "alice", clock.draw)
    answers = iter(STRANGE)

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(next(answers))
        writer.close()

    command = [*words, "--profile", "alice", "--data-dir", str(tmp_path)]
    command += ["--json"] if as_json and words[0] != "send" else []
    try:
        async with await asyncio.start_unix_server(answer, path=profile.socket):
            for strange in STRANGE:
                result = await asyncio.to_thread(CliRunner().invoke, cli, command)
                failed = result.exception
                assert failed is None or isinstance(failed, LocalError | SystemExit), strange
                assert "\x1b" not in result.output + str(failed)
    finally:
        profile.close()


async def test_nobody_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="try again"):
        await collected(tmp_path / "none", {"do": "status"}, 1)
