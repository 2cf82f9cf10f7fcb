"""`chat-tui sim`: what it asks of the simulator, what it prints, and how it fails."""

import json
import re
from pathlib import Path

import pyarrow.dataset
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import fields, replace

from chat_tui.cli import main
from chat_tui.cli import sim as simulate
from chat_tui.cli.sim import Request
from chat_tui.cli.simulation_options import PROTOCOL_NAMES
from sync.machine import MILLISECOND, SECOND
from sync.manager.registry import BY_RULE, WHOLE_BY
from sync.sds.parameters import WAKU
from sync.sim import scenario
from sync.sim.hostile.acts import ACTS
from sync.sim.network import Link
from sync.sim.scenario import Crash, Outcome, Partition, Scenario
from tests.support.processes import ROOT
from tests.support.sync.sketch.pairs import from_few

CALM = ["--partition", "0", "--crash", "0", "--seeds", "1"]
FEW = ["--peers", "3", "--messages", "5"]

REQUEST = Request(
    peers=6,
    messages=10,
    loss=10,
    delay=25,
    jitter=20,
    duplicate=5,
    reorder=2,
    partition=4,
    crash=3,
    hostile=0,
    duration=60,
    every=500,
    seed=1,
    seeds=1,
    profile="waku",
    reconcile=False,
    mesh=None,
)


def sim(*options: str) -> Result:
    return CliRunner().invoke(main.cli, ["sim", *options])


def test_options_are_a_scenario_in_the_units_they_say() -> None:
    asked = REQUEST.scenario(7)

    assert asked.link == Link(0.1, (5 * MILLISECOND, 45 * MILLISECOND), 0.05, 0.02)
    assert (asked.peers, asked.messages, asked.seed) == (6, 10, 7)
    assert (asked.every, asked.within) == (500 * MILLISECOND, 60 * SECOND)
    assert (asked.parameters, asked.reconcile, asked.mesh) == (WAKU, False, None)
    cut, *crashes = asked.troubles
    assert isinstance(cut, Partition)
    assert (cut.lasts, cut.side) == (4 * SECOND, 3)
    assert all(isinstance(crash, Crash) and crash.at < 5 * SECOND for crash in crashes)
    assert len(crashes) == 3


def test_jitter_never_makes_a_frame_arrive_before_it_is_sent() -> None:
    assert replace(REQUEST, delay=5).scenario(1).link.delay == (0, 25 * MILLISECOND)


def test_a_run_is_told_in_lines_for_people() -> None:
    result = sim(*FEW, *CALM, "--loss", "0", "--duplicate", "0", "--reorder", "0")

    assert result.exit_code == 0
    first, *rows, last = result.output.splitlines()
    assert re.fullmatch(r"seed 7: converged \d\.\d\d s after .*; every invariant held", first)
    assert [row.split()[0] for row in rows] == [
        "shown",
        "speed",
        "latency",
        "sent",
        "losses",
        "possibly",
    ]
    assert rows[0].split()[1:5] == ["5", "lines,", "15", "times,"]
    assert last == "1 of 1 runs converged, and every invariant held"


def test_json_has_all_that_the_text_has_one_object_a_run() -> None:
    result = sim(*FEW, "--json", "--seeds", "2", "--seed", "3", "--messages", "20")

    runs = [json.loads(line) for line in result.output.splitlines()]
    assert [run["seed"] for run in runs] == [3, 4]
    for run in runs:
        assert run["converged"]
        assert run["invariants_held"]
        assert run["deliveries"] == 3 * run["lines"]
        assert set(run["sent"]) == {"content", "sync", "ephemeral", "resend", "answer"}
        assert run["sent"]["content"]["frames"] == run["lines"]
        assert {"p50", "p95", "p99", "max"} <= set(run["latency_ms"])
        assert {"requests", "responses", "losses"} <= set(run["repairs"])
        assert run["possibly"]["false_rate"] == 0
        assert run["frames_received_per_cpu_second"] > run["deliveries_per_cpu_second"] > 0


def test_hostile_people_and_what_the_others_suffered_are_named() -> None:
    options = [*FEW, *CALM, "--peers", "6", "--hostile", "2", "--messages", "20", "--seed", "1"]

    text, as_json = sim(*options), sim(*options, "--json")

    rows = {row.split()[0]: row for row in text.output.splitlines()[1:-1]}
    assert text.exit_code == 0, text.output
    assert any(re.search(rf"\d+ {act}", rows["hostile"]) for act in ACTS)
    assert re.search(r"\d+ foreign lines shown, .* set aside, \d+ refused", rows["suffered"])
    [run] = [json.loads(line) for line in as_json.output.splitlines()]
    assert set(run["hostile_acts"]) <= set(ACTS)
    assert sum(run["hostile_acts"].values()) > 5
    assert sum(run["refused"].values()) > 0


def test_hostile_people_leave_two_others_who_have_links() -> None:
    assert "At least two" in sim("--peers", "3", "--hostile", "2").output
    assert "leave out --broadcast" in sim("--hostile", "1", "--broadcast").output


def test_a_run_that_does_not_converge_fails_and_says_how_to_replay_it() -> None:
    options = [*FEW, *CALM, "--loss", "80", "--duration", "1", "--seed", "2"]
    result = sim(*options)

    assert result.exit_code == 1
    assert "seed 2: NOT CONVERGED in 1 s" in result.output
    assert "1 of 1 runs failed: seed 2" in result.output
    [command] = re.findall(r"replay +chat-tui (.*)", result.output)
    again = CliRunner().invoke(main.cli, command.split())
    assert _without_speed(again.output) == _without_speed(result.output)


def _without_speed(output: str) -> str:
    return re.sub(r"speed .*", "", output)


def test_a_broken_invariant_is_printed_with_its_seed_and_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(asked: Scenario, tell: scenario.Tell, recorded: None) -> Outcome:
        del tell, recorded
        if asked.seed == 8:
            raise AssertionError("I2: logs of [3, 4]")
        return scenario.run(asked)

    monkeypatch.setattr(simulate, "run", broken)
    result = sim(*FEW, "--seeds", "3", "--seed", "7")
    as_json = sim(*FEW, "--seeds", "1", "--seed", "8", "--json")

    assert result.exit_code == 1
    assert "seed 8: BROKEN: I2: logs of [3, 4]" in result.output
    assert "1 of 3 runs failed: seed 8" in result.output
    assert "--seed 8 --seeds 1" in result.output
    assert json.loads(as_json.output)["broken"] == "I2: logs of [3, 4]"


def test_an_interrupted_simulation_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(asked: Scenario, tell: scenario.Tell, recorded: None) -> Outcome:
        if asked.seed == 9:
            raise KeyboardInterrupt
        return scenario.run(asked, tell, recorded)

    monkeypatch.setattr(simulate, "run", interrupted)
    result = sim(*FEW, "--seeds", "5", "--seed", "7")

    assert result.exit_code != 0
    assert "2 of 2 runs converged" in result.output
    assert "stopped before the other 3" in result.output


@pytest.mark.parametrize(
    "nonsense",
    [
        ["--peers", "1"],
        ["--messages", "0"],
        ["--loss", "100"],
        ["--delay", "-1"],
        ["--partition", "-5"],
        ["--partition", "1e300"],
        ["--duration", "1e300"],
        ["--delay", "1e10"],
        ["--jitter", "1e300"],
        ["--every", "1e300"],
        ["--crash", "some"],
        ["--seeds", "0"],
        ["--profile", "wan"],
    ],
)
def test_nonsense_is_refused_with_the_option_that_has_it(nonsense: list[str]) -> None:
    result = sim(*nonsense)

    assert result.exit_code == 2
    assert f"Invalid value for '{nonsense[0]}'" in result.output


def test_help_says_what_each_option_is_counted_in() -> None:
    text = sim("--help").output

    for field in fields(Request):
        option = "--broadcast" if field.name == "mesh" else f"--{field.name}"
        assert option in text
    for act in ACTS:
        assert act in " ".join(text.split())
    assert "Milliseconds" in text
    assert "Seconds" in text
    assert "% of frames" in text


def test_a_line_and_rooms_say_who_reaches_whom_and_reconcile() -> None:
    for options in (("--line", "--peers", "3"), ("--rooms", "2,1")):
        result = sim(*CALM, "--messages", "6", "--loss", "0", *options, "--json")

        told = json.loads(result.output)
        assert result.exit_code == 0, result.output
        assert told["converged"]
        assert told["deliveries"] == 3 * 6
        shape = "--line" if "--line" in options else "--rooms 2,1"
        assert f"{shape} " in told["replay"]
        again = CliRunner().invoke(main.cli, [*told["replay"].split()[1:], "--json"])
        assert json.loads(again.output)["digest"] == told["digest"]


@pytest.mark.parametrize("name", WHOLE_BY)
def test_whole_histories_are_compared_by_the_protocol_that_is_named(
    name: str, tmp_path: Path
) -> None:
    options = (*CALM, "--messages", "6", "--loss", "0", "--protocol", name)
    result = sim(*options, "--export", str(tmp_path / "out"), "--json")

    told = json.loads(result.output)
    assert result.exit_code == 0, result.output
    assert told["converged"]
    assert f"--protocol {name}" in told["replay"]
    log = pyarrow.dataset.dataset(tmp_path / "out" / "log").to_table(columns=["protocol"])
    assert set(log["protocol"].to_pylist()) - {None} == {"waku", name}


def test_the_page_names_the_protocols_there_are() -> None:
    page = (ROOT / "SCRIPTS.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith("| `chat-tui sim` |")]

    assert not [
        name for name in PROTOCOL_NAMES if f"`{name}`" not in row.replace("--protocol ", "`")
    ]


def test_help_names_the_protocols_there_are() -> None:
    assert (*WHOLE_BY, *BY_RULE) == PROTOCOL_NAMES


@pytest.mark.parametrize("name", ["rule", "delta", "sketch", "hash", "level"])
def test_a_kind_is_forced_wherever_it_suits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from_few(monkeypatch)
    options = (*CALM, "--messages", "40", "--loss", "30", "--partition", "20", "--protocol", name)
    told = json.loads(sim(*options, "--json").output)

    assert told["converged"]
    assert f"--protocol {name}" in told["replay"]
    kinds = {"delta", "snapshot", "sketch", "hash", "level", "logheight"} & set(told["sessions_by"])
    beside = {"logheight"} if name == "sketch" else set()  # it comes with announced author logs
    assert name in kinds or (kinds and name == "rule")
    assert kinds <= {name} | beside or name == "rule"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--line", "--rooms", "2,2"], "not both"),
        (["--line", "--hostile", "1"], "--hostile needs all to reach all"),
        (["--rooms", "2,2", "--broadcast"], "--broadcast needs all to reach all"),
        (["--line", "--peers", "201"], "200 people at most"),
        *[(["--rooms", sizes], "at least two rooms") for sizes in ("4", "4,0", "4,x", "999,999")],
        (["--rooms", "2,2", "--peers", "9"], "--rooms 2,2 are 4 people"),
        *[
            ([*shape, "--no-reconcile"], "--no-reconcile")
            for shape in (["--line"], ["--rooms", "2,2"], ["--protocol", "waku"])
        ],
        (["--layout", "nodes"], "name --export"),
    ],
)
def test_options_that_cannot_be_together_are_one_sentence(options: list[str], said: str) -> None:
    result = sim(*options)

    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
