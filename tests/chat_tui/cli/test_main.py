import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from chat_tui.cli import main, options
from chat_tui.settings.preferences import Preferences, Source
from chat_tui.settings.schema import DISCOVERY, HISTORY_DAYS, INTERFACE, PORT
from sync.errors import LocalError
from sync.machine import DAY
from sync.net.options import Options

COMMANDS = ["chat", "plain", "send", "tail", "status", "doctor", "sim", "import"]


def test_every_command_explains_itself() -> None:
    runner = CliRunner()

    overview = runner.invoke(main.cli, ["--help"])

    assert overview.exit_code == 0
    for command in COMMANDS:
        assert command in overview.output
        helped = runner.invoke(main.cli, [command, "--help"])
        assert helped.exit_code == 0
        assert helped.output.startswith("Usage:")


def test_version_is_the_installed_one() -> None:
    printed = CliRunner().invoke(main.cli, ["--version"]).output

    assert printed.startswith("chat-tui, version ")


def test_help_and_version_may_be_words() -> None:
    def printed(*words: str) -> str:
        return CliRunner().invoke(main.cli, words).output

    assert printed("version") == printed("--version")
    assert printed("help") == printed("--help")
    assert printed("help", "send") == printed("send", "--help")


@pytest.mark.parametrize(
    ("word", "told"),
    [("expotr", "Did you mean export?"), ("#lobby", "--help lists all.")],
)
def test_a_command_that_there_is_not_is_told_with_those_alike(word: str, told: str) -> None:
    result = CliRunner().invoke(main.cli, [word])

    assert result.exit_code == 2
    assert f"No such command '{word}'. {told}" in result.output


def test_a_shell_that_completes_a_line_is_told_nothing() -> None:
    context = main.cli.make_context("chat-tui", ["nosuch"], resilient_parsing=True)

    assert main.cli.resolve_command(context, ["nosuch"])[1] is None


def test_a_name_is_also_taken_as_nick() -> None:
    result = CliRunner().invoke(main.cli, ["settings", "ticks", "--nick", "ida"])

    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "words",
    [
        ["--bogus"],
        ["plain", "--bogus"],
        ["dance"],
        ["plain", "--port", "70000"],
        ["plain", "--connect", "nowhere:port"],
        ["send"],
        ["send", "hi", "--wait", "nan"],
        ["send", "hi", "--channel", "#"],
        ["send", "hi", "--channel", ""],
        ["sim", "--delay", "nan"],
        ["sim", "--loss", "nan"],
        ["sim", "--jitter", "inf"],
        ["sim", "--export", ""],
        ["settings", "--data-dir", ""],
        ["settings", "--profile", ""],
        ["doctor", "--profile", "../x"],
    ],
)
def test_bad_options_exit_with_2_and_one_sentence(words: list[str]) -> None:
    result = CliRunner().invoke(main.cli, words)

    assert result.exit_code == 2
    assert "Error: " in result.output


def test_a_blank_text_is_not_sent() -> None:
    result = CliRunner().invoke(main.cli, ["send", " \n "])

    assert isinstance(result.exception, LocalError)
    assert "Nothing was sent" in str(result.exception)


def test_no_address_is_not_every_interface() -> None:
    result = CliRunner().invoke(main.cli, ["settings", "--interface", ""])

    assert isinstance(result.exception, LocalError)
    assert "'' is not the address of an interface" in str(result.exception)


def test_options_without_a_command_are_those_of_the_chat() -> None:
    bogus = CliRunner().invoke(main.cli, ["--profile", "bob", "--bogus"])

    assert bogus.exit_code == 2
    assert "Usage: cli chat" in bogus.output


def test_options_that_are_settings_too_are_what_the_settings_show(tmp_path: Path) -> None:
    setup = options.setup_of(
        {
            "data_dir": tmp_path,
            "profile": "alice",
            "interface": "127.0.0.1",
            "port": 47_001,
            "history_days": 3,
            "no_discovery": True,
            "pairs": ("port=47000",),
        }
    )

    shown = Preferences.of_profile(setup.directory, setup.wishes)

    assert setup.network == Options("127.0.0.1", 47_001, discovery=False, retention=3 * DAY)
    assert [shown.shown(one) for one in (INTERFACE, PORT, DISCOVERY, HISTORY_DAYS)] == [
        "127.0.0.1",
        "47001",
        "off",
        "3",
    ]
    assert shown.source(INTERFACE) is Source.COMMAND_LINE


def test_the_place_chosen_at_the_first_run_is_remembered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    usual = options.default_data_dir()
    options.config_file().parent.mkdir(parents=True)
    options.config_file().write_text(json.dumps({"data_dir": str(tmp_path / "mine")}))

    assert usual != options.default_data_dir()
    assert options.default_data_dir() == tmp_path / "mine"


def test_a_damaged_memory_of_the_place_means_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    usual = options.default_data_dir()
    options.config_file().parent.mkdir(parents=True)
    options.config_file().write_text("not json")

    assert options.default_data_dir() == usual


def test_packages_of_another_program_are_noticed() -> None:
    main.check_roots()

    with pytest.raises(LocalError, match="json from"):
        main.check_roots(("chat_tui", "json"))


def test_status_of_no_profile_says_so(tmp_path: Path) -> None:
    result = CliRunner().invoke(main.cli, ["status", "--data-dir", str(tmp_path)])

    assert result.exit_code == 1
    assert "There is no profile default" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_sim_prints_every_run_and_succeeds() -> None:
    result = CliRunner().invoke(
        main.cli, ["sim", "--peers", "3", "--messages", "5", "--seeds", "2", "--partition", "0"]
    )

    assert result.exit_code == 0
    assert result.output.count(": converged ") == 2


def test_no_command_is_told_by_half_a_sentence() -> None:
    told = CliRunner().invoke(main.cli, ["--help"], terminal_width=80).output

    assert [line for line in told.splitlines()[1:] if line.endswith("...")] == []


@pytest.mark.parametrize(("command", "during"), [("keys", "True"), ("chat", "False")])
def test_garbage_is_looked_for_from_when_a_command_begins_the_chat_excepted(
    command: str, during: str
) -> None:
    program = (
        "import gc; from chat_tui import __main__; from chat_tui.cli import main, commands;"
        "main.chat.callback = commands.keys.callback = lambda **options: print(gc.isenabled());"
        f"main.main = lambda: (print(gc.isenabled()), main.cli(['{command}']));"
        "__main__.main()"
    )

    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    assert output.split() == ["False", during]


def test_whoever_interrupts_the_very_beginning_reads_no_traceback() -> None:
    program = (
        "import signal, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'chat_tui.cli.main':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from chat_tui import __main__\n"
        "__main__.main()\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 130
    assert ended.stderr == ""
