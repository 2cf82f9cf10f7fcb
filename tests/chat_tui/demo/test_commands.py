"""`chat-tui demo` and `replay` as lines, and the files they write and read."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chat_tui.cli.main import cli
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.demo import acts
from chat_tui.demo.headless import LeftError, told
from chat_tui.demo.recording import SAME, Recording, load, save
from chat_tui.demo.run import Intervention, Moment
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from sync.errors import LocalError
from sync.machine import SECOND
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.demos import SEED


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def meddled() -> Recording:
    """Scenario 3 with something of everything that a person can do."""
    stage = Stage(scenario(3), SEED)
    for act in (
        acts.Write(1, "tea? ☕"),
        acts.Lose(None, (2,)),
        acts.Cut(0, 2),
        acts.Cut(0, 2),
        acts.Loss(20),
        acts.Loss(0),
        acts.Delay(200),
        acts.Delay(40),
        acts.Duplicate(10),
        acts.Duplicate(0),
        acts.Power(2, on=False),
        acts.Power(2, on=True),
        acts.Divide((0,)),
        acts.Divide(()),
    ):
        stage.act(act)
        stage.advance(SECOND // 2)
        stage.forward()
    while not stage.over:
        stage.forward()
    return Recording(3, SEED, tuple(stage.acts), stage.run.digest())


def test_a_scenario_is_told_as_lines_and_ends_with_its_checks() -> None:
    result = run("demo", "--scenario", "3", "--seed", "7", "--plain")

    assert result.exit_code == 0
    assert 'carol gets "now?", which builds on "coffee?".' in result.output
    assert result.output.count("holds: ") == 4
    assert "T_req" not in result.output


def test_a_crowd_has_as_many_people_as_are_asked_for_and_is_recorded_so(tmp_path: Path) -> None:
    file = tmp_path / "mine.demo"

    result = run("demo", "--scenario", "7", "--peers", "16", "--plain", "--record", str(file))

    assert "in a crowd of 16" in result.output
    assert "of 16 people)" in result.output
    assert result.exit_code == 0
    assert load(file, file.read_text()).people == 16
    assert SAME in run("replay", str(file)).output


@pytest.mark.parametrize("people", ["15", "1001"])
def test_a_crowd_has_its_limits(people: str) -> None:
    result = run("demo", "--scenario", "7", "--peers", people, "--plain")

    assert result.exit_code == 2
    assert "16<=x<=1000" in result.output


def test_formulas_are_told_if_asked_for() -> None:
    result = run("demo", "--scenario", "3", "--plain", "--formulas")

    assert "T_req = now + T_min + H(carol, " in result.output


async def test_in_line_mode_the_command_tells_the_same_to_its_end(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        commands, at = Commands(alice), At(alice.first_channel)
        third = await commands.run("/demo 3", at)
        first = await commands.run("/demo", at)
        none = await commands.run("/demo 15", at)

    assert f"{third.text}\n\n" == run("demo", "--scenario", "3", "--plain").output
    assert first.text.startswith('Scenario 1, "')
    assert none.text == "There is no scenario 15: write /demo 1 to /demo 14."


def test_whoever_leaves_ends_what_is_told() -> None:
    asked: list[str] = []

    def is_left() -> bool:
        asked.append("is anybody there?")
        return len(asked) == 3

    with pytest.raises(LeftError):
        told(7, is_left)

    assert len(asked) == 3


def test_the_last_scenario_can_be_asked_for_like_the_first() -> None:
    last = len(SCENARIOS)

    assert f"Scenario {last}," in run("demo", "--scenario", str(last), "--plain").output


def test_without_a_terminal_it_is_lines() -> None:
    assert "Scenario 2," in run("demo", "--scenario", "2").output


def test_a_scenario_that_does_not_exist_is_refused() -> None:
    result = run("demo", "--scenario", "15")

    assert result.exit_code == 2
    assert "1<=x<=14" in result.output


def test_what_was_recorded_is_replayed_to_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "mine.demo"
    save(file, meddled())

    result = run("replay", str(file))

    assert SAME in result.output
    assert "alice's computer" not in result.output


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    file, recording = tmp_path / "mine.demo", meddled()
    save(file, recording)

    assert load(file, file.read_text()) == recording


def test_a_run_that_differs_is_said_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "mine.demo"
    save(file, Recording(3, SEED, (), "0" * 64))

    result = run("replay", str(file))

    assert result.exit_code == 1
    assert "differs from the recorded one" in result.output


def test_a_demo_as_lines_can_be_recorded(tmp_path: Path) -> None:
    file = tmp_path / "mine.demo"

    run("demo", "--scenario", "2", "--record", str(file))

    assert run("replay", str(file)).exit_code == 0
    assert load(file, file.read_text()).digest


HEAD = {"format": "chat-tui demo", "version": 1, "scenario": 3, "seed": 4}
ACT = {"at": [0, 0, 0], "act": "write", "who": 0, "text": "hi"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([HEAD | {"version": 2}], "another version"),
        ([HEAD | {"scenario": 15}], "line 1"),
        ([HEAD | {"seed": -1}], "line 1"),
        ([HEAD | {"people": 15}], "line 1"),
        ([HEAD | {"people": "many"}], "line 1"),
        ([HEAD, ACT | {"act": "explode"}], "no such act"),
        ([HEAD, ACT | {"who": 3}], "line 2"),
        ([HEAD, ACT | {"who": True}], "line 2"),
        ([HEAD, ACT | {"who": None}], "line 2"),
        ([HEAD, {"at": [0, 0, 0], "act": "power", "who": None, "on": True}], "line 2"),
        ([HEAD, ACT | {"text": "\ud83d"}], "half a character"),
        ([HEAD, ACT | {"text": "x" * 501}], "too long"),
        ([HEAD, ACT | {"text": ""}], "missing"),
        ([HEAD, ACT | {"more": 1}], "says other things"),
        ([HEAD, ACT | {"at": [1, 2]}], "does not say when"),
        ([HEAD, ACT | {"at": [2, 2, 2]}, ACT], "before the one above"),
        ([HEAD, {"digest": "00"}, ACT], "nothing may follow"),
        ([HEAD, {"at": [0, 0, 0], "act": "loss", "percent": 101}], "line 2"),
        ([HEAD, {"at": [0, 0, 0], "act": "delay", "milliseconds": 60_001}], "line 2"),
        ([HEAD, {"at": [0, 0, 0], "act": "power", "who": 0, "on": 1}], "neither true nor false"),
        ([HEAD, {"at": [0, 0, 0], "act": "divide", "side": 1}], "list"),
        ([HEAD, []], "no JSON object"),
    ],
)
def test_a_damaged_recording_gets_one_sentence(
    tmp_path: Path, lines: list[object], said: str
) -> None:
    file = tmp_path / "bad.demo"
    text = "\n".join(json.dumps(line) for line in lines)

    with pytest.raises(LocalError, match=said):
        load(file, text)


def test_every_cut_of_a_recording_is_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.demo"
    save(file, meddled())
    text = file.read_text()
    head = text.index("\n")

    for end in range(head, len(text), 7):
        try:
            load(file, text[:end])
        except LocalError as error:
            assert str(file) in str(error)  # noqa: PT017


@pytest.mark.parametrize("content", ["", "hello\n", "[1]\n", '{"format": "other"}\n', "\x00\x01\n"])
def test_another_file_gets_one_sentence(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other"
    file.write_text(content)

    result = run("replay", str(file))

    assert isinstance(result.exception, LocalError)
    assert str(file) in str(result.exception)


def test_a_trace_without_its_beginning_is_told_apart_from_other_files(tmp_path: Path) -> None:
    file = tmp_path / "later.trace"
    step = {"now": 1, "machine": "0d" * 16, "input": {"is": "Tick"}, "effects": []}
    file.write_text(json.dumps(step) + "\n")

    assert "`/trace on` keeps lacks the beginning" in str(run("replay", str(file)).exception)


def test_a_file_that_is_not_there_gets_one_sentence(tmp_path: Path) -> None:
    assert isinstance(run("replay", str(tmp_path / "none")).exception, LocalError)


def test_a_recording_that_cannot_be_written_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="--record"):
        save(tmp_path / "no" / "such", Recording(1, 1))


def test_lines_are_told_only_once_their_recording_can_be_written(tmp_path: Path) -> None:
    result = run("demo", "--scenario=1", "--plain", "--record", str(tmp_path / "no" / "such"))

    assert isinstance(result.exception, LocalError)
    assert not result.output


def test_a_recording_takes_the_place_of_no_link_and_no_pipe(tmp_path: Path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to("/dev/full")
    os.mkfifo(pipe)

    for path in (link, pipe):
        with pytest.raises(LocalError, match="no ordinary file"):
            save(path, Recording(1, 1))

    assert link.is_symlink()
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [link, pipe]


def test_a_recording_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.demo"

    for number in (1, 2):
        save(file, Recording(number, SEED))

    assert load(file, file.read_text()).number == 2
    assert [*tmp_path.iterdir()] == [file]


def test_an_act_that_never_comes_due_does_not_stop_the_run(tmp_path: Path) -> None:
    late = Intervention(Moment(10**6, 2**62, 0), acts.Write(0, "never"))
    file = tmp_path / "late.demo"
    save(file, Recording(2, SEED, (late,)))

    assert run("replay", str(file)).exit_code == 0
