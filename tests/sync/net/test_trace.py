"""The trace: every step, readable by a machine, and never a secret."""

import hashlib
import json
import resource
from pathlib import Path

import pytest

from sync.errors import LocalError
from sync.group import values
from sync.machine import SECOND, PeerId, Tick
from sync.net import invite
from sync.net.trace import RECENT_MAX, SEED_SIZE, Trace, to_json
from sync.sds.message import Delivery
from sync.view.view import Level, Notice
from tests.support.sync.nodes import channel_of, host, meet, until

NOON = 1_763_726_400 * SECOND
PEER = PeerId("b0" * 32)


def test_a_step_is_one_line_with_its_input_and_all_effects(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")

    trace(NOON, "manager", values.PeerJoined(PEER), [values.Broadcast(b"\x01\xff"), Tick()])
    trace.close()
    [line] = (tmp_path / "trace").read_text().splitlines()

    assert json.loads(line) == {
        "now": NOON,
        "machine": "manager",
        "input": {
            "is": "PeerJoined",
            "peer": PEER,
            "accepts": True,
            "host": "",
            "dialled": False,
        },
        "effects": [{"is": "Broadcast", "payload": {"hex": "01ff"}}, {"is": "Tick"}],
    }


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (
            Notice("a", Level.ERROR),
            {"is": "Notice", "text": "a", "level": "error", "out_of": None},
        ),
        ((1, [b"\x00", None]), [1, [{"hex": "00"}, None]]),
        (2**64 - 1, 2**64 - 1),
        (Delivery.FAILED, "failed"),
    ],
    ids=str,
)
def test_values_are_written_as_json(value: object, written: object) -> None:
    assert json.loads(json.dumps(to_json(value))) == written


def test_a_trace_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    for _ in range(2):
        trace = Trace(tmp_path / "trace")
        trace(NOON, "manager", Tick(), ())
        trace.close()

    assert len((tmp_path / "trace").read_text().splitlines()) == 2


def test_the_last_lines_are_kept_in_short_form_and_no_more_than_that() -> None:
    trace = Trace()
    for second in range(RECENT_MAX + 50):
        trace(NOON + second * SECOND, "c0" * 16, Tick(), [values.Broadcast(b"x")])

    assert trace.recent(2) == (
        "12:04:08.000 c0c0c0c Tick → Broadcast",
        "12:04:09.000 c0c0c0c Tick → Broadcast",
    )
    assert len(trace.recent(10_000)) == RECENT_MAX


def test_only_its_owner_can_read_a_trace(tmp_path: Path) -> None:
    Trace(tmp_path / "trace").close()

    assert (tmp_path / "trace").stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="another file"):
        Trace(tmp_path / "no such directory" / "trace")


def test_a_disk_that_fills_ends_the_trace_with_one_sentence_and_nothing_else(
    tmp_path: Path,
) -> None:
    trace = Trace(tmp_path / "trace")
    trace(NOON, "manager", Tick(), ())

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(LocalError, match="trace has ended"):
            trace.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    trace(NOON, "manager", Tick(), ())
    trace.flush()
    trace.close()

    assert len(trace.recent(10)) == 2


@pytest.mark.net
async def test_the_trace_of_two_people_in_a_private_channel_holds_no_secret(
    tmp_path: Path,
) -> None:
    channel, secret = channel_of("plans")
    code = invite.encode(invite.Invite("plans", channel, secret, "lan"))
    traces = {name: Trace(tmp_path / f"{name}.trace") for name in ("alice", "bob")}
    async with (
        host(tmp_path, "alice", trace=traces["alice"]) as alice,
        host(tmp_path, "bob", trace=traces["bob"]) as bob,
    ):
        for each in (alice, bob):
            await each.join("plans")
        await meet(alice, bob)
        await alice.write(channel, "meet at noon")
        await until(lambda: bob.texts() == ["meet at noon"], "bob reads it")
        await bob.write(channel, "fine")
        await until(lambda: "fine" in alice.texts(), "alice reads it")
    written = [(tmp_path / f"{name}.trace").read_text() for name in traces]
    shown = ["\n".join(trace.recent(RECENT_MAX)) for trace in traces.values()]

    seeds = [
        hashlib.sha256(f"{use} {name}".encode()).digest()
        for use in ("signing", "noise")
        for name in traces
    ]
    for text in (*written, *shown):
        for hidden in (secret, *seeds):
            assert hidden.hex() not in text
            assert repr(hidden) not in text
        assert code not in text
    for text in written:
        assert b"meet at noon".hex() in text
        assert all("input" in json.loads(line) for line in text.splitlines())
        first = json.loads(text.splitlines()[0])
        assert first["input"]["is"] == "Began"
        assert len(bytes.fromhex(first["input"]["seed"]["hex"])) == SEED_SIZE
