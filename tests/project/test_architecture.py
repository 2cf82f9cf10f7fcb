import subprocess
import sys

import pytest

from tests.support.architecture import ARCHITECTURE, DECISIONS, ROOT, STATES, regenerated

NETWORK = (
    "numpy",
    "zeroconf",
    "sync.net.node",
    "sync.group.group",
    "sync.sds.channel",
    "sync.waku.message",
    "sync.waku.reconcile",
    "sync.sim",
    "storage.sqlite.journal",
)
OPENED_LATER = (
    "chat_tui.commands.table",
    "chat_tui.debug.pane",
    "chat_tui.demo",
    "chat_tui.client.doctor.doctor",
    "chat_tui.screens.palette",
    "chat_tui.debug",
    "chat_tui.screens.peers",
    "chat_tui.text.qr",
    "chat_tui.transcript.choice_screens",
    "chat_tui.screens.help",
    "chat_tui.screens.settings",
    "segno",
    "tomlkit",
)
NOT_FOR_A_PAGE = (
    "google.protobuf.descriptor",
    "cryptography.hazmat.backends.openssl.backend",
    "cryptography.hazmat.primitives.ciphers",
    "sync.calimero.governance.governance",
    "sync.calimero.state.folds",
    "sync.sds.wire",
    "tomllib",
)
"""Needed neither to open a profile nor for a page of history without answers and changes."""

OF_THE_NETWORK = {
    "chat_tui.commands.table",
    "chat_tui.client.control_server",
    "chat_tui.client.disk_watch",
    "chat_tui.client.node",
    "chat_tui.client.protocol_log_writer",
    "proto.entry_pb2",
    "proto.link_pb2",
    "sync.calimero.state.folds",
    "sync.net.kernel_clock",
    "sync.net.node",
    "zeroconf",
}

HEAVY = ("textual", "numpy", "zeroconf", "sqlite3", "pyspark", "cryptography", "google.protobuf")


@pytest.mark.parametrize("name", [ARCHITECTURE, DECISIONS, STATES])
def test_generated_parts_of_a_page_are_those_of_the_code(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")

    assert regenerated(name, page) == page, "run `python -m tests.support.architecture`"


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("chat_tui.cli.main", HEAVY),
        ("storage.profile.profile", HEAVY),
        ("chat_tui.line_mode.line_mode", ("textual", "pyspark")),
        ("chat_tui.client.live", (*NETWORK, "textual")),
        ("chat_tui.app.app", (*NETWORK, *OPENED_LATER, "sync.net", "sync.group.records")),
        ("chat_tui.cli.start_screen", (*NETWORK, *OPENED_LATER, *NOT_FOR_A_PAGE, "pyspark")),
        ("storage.sqlite.history", NETWORK),
        ("sync.runner.runner", ("asyncio", "socket", "sqlite3", "textual", "zeroconf")),
    ],
)
def test_a_module_imports_nothing_it_must_not_need(module: str, forbidden: tuple[str, ...]) -> None:
    program = f"import {module}, sys; print('\\n'.join(sys.modules))"

    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert not set(forbidden) & set(loaded)


def test_what_the_network_needs_is_imported_in_the_thread_before_it_begins() -> None:
    program = (
        "import sys; from chat_tui.cli import start_screen; start_screen.import_rest();"
        "print('\\n'.join(sys.modules))"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert set(loaded) >= OF_THE_NETWORK
