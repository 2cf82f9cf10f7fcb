"""`doctor --deep`: every message read, what is damaged set aside, with the chat closed or open."""

import json
from pathlib import Path

import pytest

from chat_tui.client import control_server as control
from chat_tui.client import doctor
from chat_tui.client.live import Client
from sync.view.view import DiscardedShown, Event
from tests.support.chat_tui.chats import running, setup_of
from tests.support.storage.rotting import rot, scribble
from tests.support.sync.nodes import until

pytestmark = pytest.mark.net


async def filled(alice: Client) -> Path:
    assert alice.first_channel is not None
    for text in ("one", "two", "three"):
        await alice.write(alice.first_channel, text)
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
    assert "ok    every stored message: 3 messages read, all as they were stored" in said
    assert steps[-1] == (3, 3)
    assert database.exists()


async def test_what_is_damaged_is_set_aside_once_with_the_chat_closed_or_open(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
    rot(database, "two")
    scribble(database, "messages_by_hash")
    status, said, _ = await deep(tmp_path, as_json_lines=True)
    findings = {one["what"]: one for one in map(json.loads, said) if one["event"] == "finding"}
    assert status == 1
    assert "made anew" in findings["tables and indexes"]["fix"]
    assert "3 messages read, 1 of them damaged" in findings["every stored message"]["found"]
    assert "set aside" in findings["every stored message"]["fix"]
    status, said, _ = await deep(tmp_path)
    assert (status, [one for one in said if "every" in one]) == (
        0,
        ["ok    every stored message: 2 messages read, all as they were stored"],
    )


async def test_an_open_chat_is_told_what_was_found_and_goes_on(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        database = await filled(alice)
    rot(database, "one")
    async with running(tmp_path, "alice") as alice, control.serving(alice):
        told: list[Event] = []
        alice.subscribe(told.append)
        status, said, _ = await deep(tmp_path)
        assert status == 1
        assert any("1 of them damaged" in line for line in said)
        await until(lambda: [one for one in told if isinstance(one, DiscardedShown)], "set aside")
        assert (await deep(tmp_path))[0] == 0
        assert alice.first_channel is not None
        await alice.write(alice.first_channel, "four")
        lines = await alice.history.page(alice.first_channel, before=None, limit=9)
        assert [line.text for line in lines] == ["two", "three", "four"]
