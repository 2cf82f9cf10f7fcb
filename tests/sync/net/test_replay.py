"""A trace played again gives the same effects, without key, database or network."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from chat_tui.cli.main import cli
from chat_tui.demo.app import DemoApp
from chat_tui.demo.screen import DemoScreen
from chat_tui.demo.trace_player import TracePlayer
from sync.errors import LocalError
from sync.group import values
from sync.machine import SECOND
from sync.manager.registry import WITH_CALIMERO, WITH_STATE
from sync.net.replay import INPUTS, Recorded, Replay, from_json, is_trace, read
from sync.net.trace import Trace, to_json
from sync.sessions.protocol import Protocols
from sync.view.view import SyncShown
from tests.support.chat_tui.demos import lines
from tests.support.sync.nodes import TEA, channel_of, host, meet, until, write_all

pytestmark = pytest.mark.net


@pytest.fixture
async def traces(tmp_path: Path) -> dict[str, Path]:
    """The traces of two people, of whom one lacked what the other had written before.

    It is pushed, as by older programs: pages of a snapshot are read from the disk, of which a trace
    has nothing.
    """
    return await recorded(tmp_path, WITH_STATE)


async def recorded(tmp_path: Path, protocols: Protocols) -> dict[str, Path]:
    """Record two people who speak these protocols."""
    channel, _ = channel_of("plans")
    files = {name: tmp_path / f"{name}.trace" for name in ("alice", "bob")}
    async with (
        host(tmp_path, "alice", trace=Trace(files["alice"]), protocols=protocols) as alice,
        host(tmp_path, "bob", trace=Trace(files["bob"]), protocols=protocols) as bob,
    ):
        for each in (alice, bob):
            await each.join("plans")
        for number in range(5):
            await alice.write(channel, f"before {number}")
        await meet(alice, bob)
        await until(lambda: len(bob.texts()) == 5, "bob has what was before")
        await bob.write(channel, "fine")
        await until(lambda: "fine" in alice.texts(), "alice reads it")
    return files


def steps(file: Path) -> list[Recorded]:
    return read(file, file.read_text())


async def test_every_step_has_the_recorded_effects(traces: dict[str, Path]) -> None:
    for file in traces.values():
        replay = Replay()
        played = [replay.play(step) for step in steps(file)]

        assert not [one for one in played if one.difference]
        assert any(one.effects for one in played)


async def test_a_snapshot_has_the_recorded_effects(tmp_path: Path) -> None:
    files = await recorded(tmp_path, WITH_CALIMERO)
    events: list[object] = []
    for file in files.values():
        replay = Replay()
        played = [replay.play(step) for step in steps(file)]
        events += [one.step.event for one in played]

        assert not [one for one in played if one.difference]
    assert [one for one in events if isinstance(one, values.PageChecked)]


@pytest.mark.parametrize("protocol", ["logheight", "sets"])
async def test_a_session_over_author_logs_has_the_recorded_effects(
    tmp_path: Path, protocol: str
) -> None:
    files = [tmp_path / f"{name}.trace" for name in ("alice", "bob")]
    async with (
        host(tmp_path, "alice", "tea", trace=Trace(files[0])) as alice,
        host(tmp_path, "bob", "tea", trace=Trace(files[1])) as bob,
    ):
        await write_all(alice, ["before they met"])
        await meet(alice, bob)
        runner = alice.node._runner
        await until(lambda: runner.announcing.may_request(bob.me, TEA), "bob offers")
        runner.ask_sync(TEA, bob.me, alice.node.clock.now(), protocol)
        alice.node.engine.wake()
        await until(
            lambda: protocol in {one.protocol for one in bob.shown(SyncShown)}, "it is over"
        )

    for file in files:
        replay = Replay()
        recorded = steps(file)
        payloads = [one for one in recorded if isinstance(one.event, values.SessionPayload)]
        assert len(payloads) >= 3
        assert not [one for one in map(replay.play, recorded) if one.difference]


async def test_inputs_are_read_as_they_were_written(traces: dict[str, Path]) -> None:
    for step in steps(traces["bob"]):
        written = to_json(step.event)
        kind = type(step.event)
        if kind.__name__ in INPUTS:
            assert from_json(written, kind) == step.event


async def test_what_differs_is_said_with_its_line(traces: dict[str, Path]) -> None:
    file = traces["alice"]
    text = file.read_text().splitlines()
    changed = [n for n, line in enumerate(text, 1) if '"is": "Write"' in line][0]  # noqa: RUF015
    step = json.loads(text[changed - 1])
    [stored] = [one for one in step["effects"] if one["is"] == "StoreMessage"]
    stored["after_gap"] = True
    text[changed - 1] = json.dumps(step, ensure_ascii=False)
    file.write_text("\n".join(text) + "\n")

    result = CliRunner().invoke(cli, ["replay", str(file)])

    assert result.exit_code == 1
    assert f"line {changed}: effect " in result.output
    assert "StoreMessage with another after_gap" in result.output


async def test_a_trace_is_told_as_lines(traces: dict[str, Path]) -> None:
    result = CliRunner().invoke(cli, ["replay", str(traces["bob"])])

    assert result.exit_code == 0
    assert '"before 4" is shown' in result.output
    assert "holds: the same effects as recorded" in result.output


async def test_a_line_cut_off_at_the_end_is_left_out(traces: dict[str, Path]) -> None:
    whole = traces["bob"].read_text()

    assert len(read(traces["bob"], whole[:-20])) == whole.count("\n") - 1


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "{}",
        '{"now": 1, "machine": "runner", "input": {"is": "Began"}, "effects": []}',
        '{"now": 1, "machine": "manager", "input": {"is": "Nothing"}, "effects": []}',
        '{"now": 1, "machine": "c0", "input": {"is": "Write", "token": "x"}, "effects": []}',
        '{"now": "1", "machine": "manager", "input": {"is": "Tick"}, "effects": []}',
        '{"now": 1, "machine": "manager", "input": {"is": "Tick"}, "effects": 1}',
    ],
)
async def test_a_damaged_line_gets_one_sentence(traces: dict[str, Path], line: str) -> None:
    file = traces["bob"]
    first = file.read_text().partition("\n")[0]
    assert is_trace(first)

    with pytest.raises(LocalError, match="line 2 is damaged"):
        read(file, f"{first}\n{line}\n")


async def test_steps_before_their_beginning_are_said_to_differ(traces: dict[str, Path]) -> None:
    replay = Replay()

    played = [replay.play(step) for step in steps(traces["bob"])[2:]]

    first = next(one for one in played if isinstance(one.step.event, values.Restored))
    assert "never opened" in first.difference
    assert "before the beginning" in played[0].difference


@pytest.mark.usefixtures("in_utc")
async def test_a_trace_is_played_on_the_screen(traces: dict[str, Path]) -> None:
    player = TracePlayer("bob.trace", steps(traces["bob"]))
    screen = DemoScreen(player)
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        seen = [lines(screen)]
        while player.forward():
            screen.paint()
            seen.append(lines(screen))
        assert "alice before 4" in "\n".join(seen[-1])
        assert "same effects as recorded" in "\n".join(seen[-1])
        for before in reversed(seen[:-1]):
            await pilot.press(",")
            assert lines(screen)[2:-3] == before[2:-3]
        await pilot.press("d", "escape", "w", "p", "n")
        assert screen.player is player
        began = player.shot.now
        player.advance(3600 * SECOND)
        assert player.shot.now > began


def test_a_trace_of_an_earlier_version_plays_as_it_was_recorded() -> None:
    """Recorded before members told a channel their clocks; it has a wall clock that was set."""
    recorded = steps(Path(__file__).parents[2] / "vectors" / "trace_of_an_earlier_version.jsonl")
    replay = Replay()

    played = [replay.play(step) for step in recorded]

    assert [one.difference for one in played if one.difference] == []
    assert sum(type(step.event).__name__ == "ReferenceClock" for step in recorded) == 1
