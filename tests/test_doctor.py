import socket
from dataclasses import replace
from pathlib import Path

import pytest

from chat_tui import doctor
from sync.net.node import Options
from tests.chats import opened, setup_of

pytestmark = pytest.mark.net


async def test_all_is_well_on_loopback(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice"):
        pass
    said: list[str] = []

    status = await doctor.run(setup_of(tmp_path, "alice"), said.append)

    assert status == 0
    assert [line[:4] for line in said] == ["ok  "] * 6
    assert "ok    announcement heard back: yes" in said


async def test_a_missing_interface_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    setup = replace(setup_of(tmp_path, "alice"), network=Options(interface="203.0.113.9"))
    said: list[str] = []

    status = await doctor.run(setup, said.append)

    assert status == 1
    assert "FAIL  network interface: not there" in said
    assert any("127.0.0.1" in line for line in said)


async def test_a_taken_port_is_no_failure(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        setup = replace(
            setup_of(tmp_path, "alice"), network=Options(interface="127.0.0.1", port=port)
        )
        said: list[str] = []

        status = await doctor.run(setup, said.append)

    assert status == 0
    assert f"ok    TCP port: {port} is taken; the next free one is used" in said


async def test_a_damaged_database_fails_with_the_fix(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        database = alice.profile.database
    database.write_bytes(b"not a database" * 100)
    said: list[str] = []

    status = await doctor.run(setup_of(tmp_path, "alice"), said.append)

    assert status == 1
    assert any("FAIL  profile and database" in line for line in said)
    assert any("damaged" in line for line in said)


async def test_no_profile_is_made_by_looking(tmp_path: Path) -> None:
    said: list[str] = []

    await doctor.run(setup_of(tmp_path, "nobody"), said.append)

    assert "ok    profile and database: none yet; the first start makes them" in said
    assert not setup_of(tmp_path, "nobody").exists
