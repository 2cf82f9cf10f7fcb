"""`doctor --deep`: every message read, what is damaged set aside, with the chat closed or open."""

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from chat_tui.client import control_server
from chat_tui.client.doctor import doctor
from chat_tui.client.live import Client
from chat_tui.line_mode.deep_look import DeepLook
from chat_tui.line_mode.output import JsonFace
from chat_tui.widgets.text_screen import TextScreen
from storage.sqlite.integrity import beside, rotten
from sync.errors import StorageError
from sync.view.view import DiscardedShown, Event
from tests.support.chat_tui.chats import opened, running, setup_of
from tests.support.chat_tui.live_screens import screen, type_in
from tests.support.chat_tui.live_screens import until as pressed_until
from tests.support.chat_tui.readings import shown
from tests.support.processes import Person, run
from tests.support.storage.rotting import rot, rot_values, scribble
from tests.support.sync.nodes import until

pytestmark = pytest.mark.net


async def filled(alice: Client) -> Path:
    assert alice.first_channel is not None
    for text in ("one", "two", "three"):
        await alice.send_text(alice.first_channel, text)
    return alice.profile.database


async def deep(tmp_path: Path, **how: bool) -> tuple[int, list[str], list[tuple[int, int]]]:
    said: list[str] = []
    steps: list[tuple[int, int]] = []
    status = await doctor.run(
        setup_of(tmp_path, "alice"),
        said.append,
        deep=True,
        tell=lambda done, of: steps.append((done, of)),
        **how,
    )
    return status, said, steps


async def test_all_is_well_and_it_tells_how_far_it_is(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
    status, said, steps = await deep(tmp_path)
    assert status == 0
    assert "ok    tables and indexes: sound" in said
    assert "ok    every stored message: 3 messages read, all sound" in said
    assert "ok    values beside the messages: all known" in said
    assert steps[-1] == (3, 3)
    assert database.exists()


async def test_values_that_nobody_knows_are_told_with_what_becomes_of_them(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
    rot_values(database, "UPDATE messages SET delivery = 9 WHERE instr(payload, 'two')")
    rot_values(
        database,
        "INSERT INTO clocks (channel, answer, shift_ns, asked_ns) "
        "SELECT channel, 'zz', 0, 0 FROM channels",
    )
    status, said, _ = await deep(tmp_path)
    assert status == 0
    assert (
        "warn  values beside the messages: damaged: "
        "1 mark of an own message, 1 answer about the clock"
    ) in said
    async with running(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        lines = await alice.history.page(alice.first_channel, before=None, limit=9)
        assert [line.text for line in lines] == ["one", "two", "three"]


async def test_a_database_that_was_cut_off_is_mended_though_no_chat_can_open_it(
    tmp_path: Path,
) -> None:
    """The messages in the pages that are gone are lost, and said to be."""
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
        assert alice.first_channel is not None
        for number in range(60):
            await alice.send_text(alice.first_channel, f"{number} {'x' * 1_000}")
    os.truncate(database, database.stat().st_size // 2)
    with pytest.raises(StorageError, match="`chat-tui doctor --deep` takes over"):
        async with opened(tmp_path, "alice"):
            pass

    status, said, _ = await deep(tmp_path)
    again, sound, _ = await deep(tmp_path)
    async with opened(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        lines = await alice.history.page(alice.first_channel, before=None, limit=99)

    assert status == 1
    assert any("lost in part: messages" in line for line in said)
    assert again == 0
    assert "ok    tables and indexes: sound" in sound
    assert [line.text for line in lines[:3]] == ["one", "two", "three"]
    assert 3 < len(lines) < 63


async def test_what_is_damaged_is_set_aside_once_with_the_chat_closed_or_open(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
    rot(database, "two")
    scribble(database, "messages_by_time")
    status, said, _ = await deep(tmp_path, as_json_lines=True)
    findings = {one["what"]: one for one in map(json.loads, said) if one["event"] == "finding"}
    assert status == 1
    assert "rebuilt" in findings["tables and indexes"]["fix"]
    assert "3 messages read, 1 of them damaged" in findings["every stored message"]["found"]
    assert "set aside" in findings["every stored message"]["fix"]
    status, said, _ = await deep(tmp_path)
    assert (status, [one for one in said if "every" in one]) == (
        0,
        ["ok    every stored message: 2 messages read, all sound"],
    )


async def test_an_open_chat_is_told_what_was_found_and_goes_on(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
    rot(database, "one")
    async with running(tmp_path, "alice") as alice, control_server.serving(alice):
        told: list[Event] = []
        alice.subscribe(told.append)
        status, said, _ = await deep(tmp_path)
        assert status == 1
        assert any("1 of them damaged" in line for line in said)
        await until(lambda: [one for one in told if isinstance(one, DiscardedShown)], "set aside")
        assert (await deep(tmp_path))[0] == 0
        assert alice.first_channel is not None
        await alice.send_text(alice.first_channel, "four")
        lines = await alice.history.page(alice.first_channel, before=None, limit=9)
        assert [line.text for line in lines] == ["two", "three", "four"]


async def damaged(tmp_path: Path) -> Path:
    """Alice wrote three lines, and the second one rotted where nothing but a deep look sees it."""
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("UPDATE messages SET seq = seq + 7 WHERE instr(payload, 'two')")
    return database


async def test_in_the_chat_it_finds_what_it_finds_from_outside(tmp_path: Path) -> None:
    await damaged(tmp_path)
    async with opened(tmp_path, "alice") as alice, screen(alice, (140, 40)) as (app, pilot):
        await type_in(pilot, "/doctor deep")
        await pressed_until(pilot, lambda: "All tests are done." in shown(app))
        said = " ".join(shown(app).split())

        assert "tables and indexes: sound" in said
        assert "3 messages read, 1 of them damaged" in said
        assert "nobody contradicts themselves" in said
        await pilot.press("escape")
        await pressed_until(pilot, lambda: "damaged 1 message" in shown(app))
    assert (await deep(tmp_path))[0] == 0


async def test_whoever_closes_it_ends_it(tmp_path: Path) -> None:
    database = await damaged(tmp_path)
    async with opened(tmp_path, "alice") as alice, screen(alice, (140, 40)) as (app, pilot):
        await type_in(pilot, "/doctor deep")
        await pressed_until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.press("escape")
        await pressed_until(pilot, lambda: not [w for w in app.workers if w.group == "doctor"])
    assert len(await beside(database, rotten)) == 1, "nothing was set aside"


async def test_line_mode_reads_all_beside_the_chat_and_tells_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = await damaged(tmp_path)
    async with running(tmp_path, "alice") as alice:
        looks = DeepLook(alice, JsonFace(alice), lambda: None)
        async with asyncio.TaskGroup() as tasks:
            begun, again = looks.begin(tasks), looks.begin(tasks)
            stopped = looks.stop()
            await looks.ended()
        early = capsys.readouterr().out
        assert (begun.ok, again.ok, stopped.ok, looks.stop().ok) == (True, False, True, False)
        assert "every stored message" not in early
        assert len(await beside(database, rotten)) == 1

        async with asyncio.TaskGroup() as tasks:
            looks.begin(tasks)
            await looks.ended()
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    findings = {one["what"]: one for one in events if one["event"] == "finding"}
    assert {"event": "progress", "done": 3, "of": 3} in events
    assert "1 of them damaged" in findings["every stored message"]["found"]
    assert events[-1] == {
        "event": "result", "command": "/doctor", "ok": True, "text": "All tests are done.",
    }  # fmt: skip


async def test_a_script_may_ask_for_it_and_waits_for_the_end(tmp_path: Path) -> None:
    await damaged(tmp_path)
    alice = Person("alice", tmp_path)
    options = ("--interface", "127.0.0.1", "--no-discovery")

    ended = await run(alice.command("plain", *options), said="/doctor deep\n")

    assert (ended.code, ended.stderr) == (0, "")
    assert "3 messages read, 1 of them damaged" in " ".join(ended.stdout.split())
    assert "3 of 3 messages are read." in ended.stdout
