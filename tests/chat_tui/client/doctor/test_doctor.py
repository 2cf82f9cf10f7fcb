import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.client import control_server
from chat_tui.client.doctor import doctor, others
from chat_tui.client.doctor.findings import Finding
from sync.net.clock import draw
from sync.net.discovery.mdns import Discovery
from sync.net.options import Options
from sync.view.view import PeerState
from tests.support.chat_tui.chats import meet, opened, running, setup_of
from tests.support.chat_tui.live_clients import Heard
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.net

ELSEWHERE = "127.0.0.2"
TRIES = 5
OTHERS = "other chats"
"""The finding about who is announced: tests that run beside this one announce, too."""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine take longer than a person would wait for what is heard in the end."""
    for name in ("ANNOUNCEMENT_WITHIN", "CONNECT_WITHIN"):
        monkeypatch.setattr(others, name, PATIENCE_S)


async def test_all_is_well_on_loopback(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice"):
        pass
    said: list[str] = []

    status = await doctor.run(setup_of(tmp_path, "alice"), said.append)

    assert status == 0
    assert [line for line in said if line.startswith("FAIL")] == []
    heads = [line.partition(":")[0].partition("  ")[2].strip() for line in said if line[0] != " "]
    assert heads == [
        "Python",
        "profile and database",
        "disk",
        "network interface",
        "multicast",
        "UDP port 5353",
        "announcement heard back",
        "TCP port",
        "other chats",
        "clock",
        "terminal",
        "Java for the audit pipeline",
    ]
    assert "ok    announcement heard back: yes" in said
    assert "not tested  clock: it is compared with peers while the chat is open" in said


async def test_findings_are_told_as_json_too(tmp_path: Path) -> None:
    said: list[str] = []

    status = await doctor.run(setup_of(tmp_path, "nobody"), said.append, as_json_lines=True)

    findings = [json.loads(line) for line in said]
    assert status == 0
    assert {finding["event"] for finding in findings} == {"finding"}
    assert {finding["level"] for finding in findings} <= {"ok", "warn", "not tested"}
    assert findings[1]["found"] == "none yet; the first start creates them"


def status_of(port: int, *peers: dict[str, object]) -> dict[str, object]:
    """Return the status that an open chat reports of itself."""
    return {"port": port, "peers": list(peers)}


def peer(*, offset_ns: int | None = 0, dialled_us: bool = False) -> dict[str, object]:
    return {"state": "up", "clock_offset_ns": offset_ns, "dialled_us": dialled_us}


async def finding(tmp_path: Path, what: str, running: dict[str, object]) -> Finding:
    """Return the doctor's finding `what` beside an open chat."""
    doing = doctor.Doctor(setup_of(tmp_path, "nobody"), running)
    return {one.what: one async for one in doing.findings()}[what]


@pytest.mark.parametrize(
    ("offsets_s", "level", "words"),
    [
        ((0.1, -0.2, 0.1), "ok", "0.1 s behind 3 peers"),
        ((-30.0, -31.0, 0.0), "warn", "30.0 s ahead of 3 peers"),
        ((600.0,), "FAIL", "600.0 s behind 1 peer"),
        ((), "not tested", "no peer is connected to compare with"),
    ],
)
async def test_a_wrong_clock_is_told_by_the_median_of_the_peers(
    tmp_path: Path, offsets_s: tuple[float, ...], level: str, words: str
) -> None:
    peers = [peer(offset_ns=round(offset * 1e9)) for offset in offsets_s]

    found = await finding(tmp_path, "clock", status_of(0, *peers))

    assert (found.level, found.found) == (level, words)


async def test_the_port_of_an_open_chat_is_tested_by_who_dialled_it(tmp_path: Path) -> None:
    two = [peer(dialled_us=True), peer(dialled_us=True), peer()]

    found = await finding(tmp_path, "TCP port", status_of(46021, *two))

    assert (found.level, found.found) == ("ok", "46021 was reached by 2 peers")


async def test_a_port_that_nobody_dialled_is_dialled_by_ourselves(tmp_path: Path) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        port = listening.getsockname()[1]
        open_one = await finding(tmp_path, "TCP port", status_of(port))
    closed = await finding(tmp_path, "TCP port", status_of(port))

    assert open_one.found == f"{port} was reached by this computer; nobody who is here dialled it"
    assert closed.level == "FAIL"
    assert "firewall" in closed.fix


async def test_without_an_interface_no_port_is_said_to_be_reached(tmp_path: Path) -> None:
    setup = replace(setup_of(tmp_path, "nobody"), network=Options(interface="203.0.113.9"))

    for status in (None, status_of(46021)):
        doing = doctor.Doctor(setup, status)
        found = {one.what: one async for one in doing.findings()}["TCP port"]

        assert (found.level, found.found) == ("not tested", "there is no network interface")


@asynccontextmanager
async def announced(*ports: int) -> AsyncIterator[None]:
    """Chats on another computer, which is a second address of this one."""
    async with asyncio.TaskGroup() as tasks:
        speakers = [
            Discovery(draw(8).hex(), lambda *_: None, lambda _, work: tasks.create_task(work))
            for _ in ports
        ]
        for speaker, port in zip(speakers, ports, strict=True):
            await speaker.start([ELSEWHERE], port)
        try:
            yield
        finally:
            for speaker in speakers:
                await speaker.stop()


async def test_a_chat_that_is_heard_and_takes_no_connection_is_told(tmp_path: Path) -> None:
    with socket.socket() as listening, socket.socket() as deaf:
        listening.bind((ELSEWHERE, 0))
        listening.listen(4)
        deaf.bind((ELSEWHERE, 0))  # and does not listen
        good, bad = listening.getsockname()[1], deaf.getsockname()[1]
        async with announced(good):
            well = await finding(tmp_path, "other chats", status_of(0))
        async with announced(good, bad):
            ill, tries = well, TRIES
            while tries and not ill.found.startswith("2 "):  # one may be heard late
                ill = await finding(tmp_path, "other chats", status_of(0))
                tries -= 1
    alone = await finding(tmp_path, "other chats", status_of(0))

    assert (well.level, well.found) == ("ok", "1 address announced, each takes connections")
    assert ill.level == "FAIL"
    assert ill.found == f"2 addresses announced, and no connection to {ELSEWHERE}:{bad}"
    assert "firewall" in ill.fix
    assert (alone.level, alone.found) == ("not tested", "none is announced here now")


async def test_beside_an_open_chat_its_own_port_and_clock_are_tested(tmp_path: Path) -> None:
    async with (
        running(tmp_path, "alice") as alice,
        control_server.serving(alice),
        running(tmp_path, "bob") as bob,
    ):
        heard = Heard(alice)
        await meet(bob, alice)
        await heard.peer(PeerState.UP)
        said: list[str] = []
        status = 1

        async with asyncio.timeout(PATIENCE_S):
            while not any(line.startswith("ok    clock: 0.0 s") for line in said):
                said.clear()  # the last ping was answered late: a clock is not known better
                status = await doctor.run(setup_of(tmp_path, "alice"), said.append)

        port = alice.snapshot().port
        failed = [line for line in said if line.startswith("FAIL") and OTHERS not in line]
        assert status == 0 or any(OTHERS in line for line in said)
        assert failed == []
        assert any("sound, open in the chat that runs" in line for line in said)
        assert f"ok    TCP port: {port} was reached by 1 peer; two would be surer" in said
        from_within = [one async for one in alice.examine()]
        failing = [one.what for one in from_within if one.level == "FAIL"]
        assert [what for what in failing if what != OTHERS] == []


async def test_java_is_a_warning_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    found = await finding(tmp_path, "Java for the audit pipeline", status_of(0))

    assert (found.level, found.found) == ("warn", "none")


async def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISK_FREE_MIN", 10**18)

    found = await finding(tmp_path, "disk", status_of(0))

    assert found.level == "FAIL"
    assert "Free space" in found.fix


async def test_a_missing_interface_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    setup = replace(setup_of(tmp_path, "alice"), network=Options(interface="203.0.113.9"))
    said: list[str] = []

    status = await doctor.run(setup, said.append)

    assert status == 1
    assert "FAIL  network interface: not there" in said
    assert any("127.0.0.1" in line for line in said)


async def test_a_taken_port_is_no_failure_and_not_called_ok(tmp_path: Path) -> None:
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
    assert f"not tested  TCP port: {port} is taken; the chat uses the next free one" in said


async def test_a_damaged_database_fails_with_the_fix(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        database = alice.profile.database
    database.write_bytes(b"not a database" * 100)
    said: list[str] = []

    status = await doctor.run(setup_of(tmp_path, "alice"), said.append)

    assert status == 1
    assert any("FAIL  profile and database" in line for line in said)
    assert any("damaged" in line for line in said)


async def test_a_history_that_can_only_be_read_fails_with_the_fix(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        database = alice.profile.database
    database.with_name(f"{database.name}-wal").symlink_to("/nowhere/log")  # no log can be made
    said: list[str] = []

    status = await doctor.run(setup_of(tmp_path, "alice"), said.append)

    assert status == 1
    assert "FAIL  profile and database: can only be read" in said
    assert any(
        "cannot be written: make that file and its directory writable" in one for one in said
    )


async def test_a_place_that_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    said: list[str] = []

    status = await doctor.run(setup_of(tmp_path / ("x" * 300), "alice"), said.append, deep=True)

    assert status == 1
    assert "FAIL  profile and database: cannot be used" in said
    assert "FAIL  every stored message: cannot be read" in said


async def test_no_profile_is_made_by_looking(tmp_path: Path) -> None:
    said: list[str] = []

    await doctor.run(setup_of(tmp_path, "nobody"), said.append)

    assert "ok    profile and database: none yet; the first start creates them" in said
    assert not setup_of(tmp_path, "nobody").exists
