"""Settings of live chats: kept from one start to the next, and taken over from old profiles."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from chat_tui.cli import main
from chat_tui.cli import options as common_options
from chat_tui.client.live import Client
from chat_tui.client.setup import Setup
from chat_tui.commands.table import BY_NAME
from chat_tui.settings import schema
from chat_tui.settings.preferences import checked_wishes
from chat_tui.settings.schema import TYPING_NOTICES
from chat_tui.terminal.character_sets import usual_glyphs
from chat_tui.wording.glyphs import ASCII, UNICODE
from storage.profile.profile import Settings
from sync.errors import LocalError
from tests.support.chat_tui.chats import opened, run, setup_of

pytestmark = pytest.mark.net


async def test_a_setting_holds_from_one_start_to_the_next(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        said = await run(alice, "/set theme nord")
    async with opened(tmp_path, "alice") as again:
        asked = await run(again, "/set theme")

    assert said.text.startswith("theme is nord now.")
    assert "no effect in line mode" in said.text
    assert "theme is nord (from this profile's settings)" in asked.text


async def test_reset_as_a_value_undoes_a_change(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        await run(alice, "/set nick_width 12")
        said = await run(alice, "/set nick_width reset")

    assert said.text.startswith("nick_width is 10 now.")
    assert (tmp_path / "alice" / "settings.toml").read_text().strip() == "[look]"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/set them", "Nearest are theme"),
        ("/set theme pink", "pink is not valid"),
        ("/theme pink", "pink is not valid"),
        ("/mouse maybe", "on or off"),
        ("/set keys.help ctrl+i", "Terminals send the same for Ctrl+I as for Tab"),
        ("/set keys.help f3", "F3 is taken by keys.peers"),
        ("/set port 70000", "from 1 to 65535"),
    ],
)
async def test_what_cannot_be_set_is_refused_with_what_may_be(
    tmp_path: Path, line: str, says: str
) -> None:
    async with opened(tmp_path, "alice") as alice:
        result = await run(alice, line)

    assert not result.ok
    assert says in result.text


async def test_commands_list_settings_themes_and_keys(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        everything = await run(alice, "/set")
        themes = await run(alice, "/theme")
        keys = await run(alice, "/keys")
        mouse = [(await run(alice, "/mouse")).text.split(" now")[0] for _ in range(2)]
        later = await run(alice, "/set history_days 30")

    assert everything.action == "settings"
    assert "quiet_hours = none" in everything.text
    assert "high-contrast" in themes.text
    assert "F1 or Alt+H" in keys.text
    assert mouse == ["mouse is off", "mouse is on"]
    assert later.text == "history_days is 30 now. It takes effect at the next start."


async def test_typing_notices_that_an_old_profile_had_off_stay_off(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        alice.profile.save(Settings("alice", 46021, typing_notices=False))
        (tmp_path / "alice" / "settings.toml").unlink(missing_ok=True)
    async with opened(tmp_path, "alice") as again:
        taken_over = again.settings[TYPING_NOTICES]
        again.settings.change(TYPING_NOTICES, True)
    async with opened(tmp_path, "alice") as third:
        assert third.settings[TYPING_NOTICES]
        assert third.profile.settings.port == 46021

    assert not taken_over
    state = json.loads((tmp_path / "alice" / "settings.json").read_text())
    assert (state["nick"], state["port"]) == ("alice", 46021)


async def test_typing_and_set_are_one_setting(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        await run(alice, "/typing off")
        asked = await run(alice, "/set typing_notices")
        await run(alice, "/set typing_notices on")

        assert "typing_notices is off" in asked.text
        assert alice.settings[TYPING_NOTICES]


async def test_a_name_is_the_same_by_set_nick_and_file(tmp_path: Path) -> None:
    setup = replace(setup_of(tmp_path, "alice"), nick=None)
    async with opened(tmp_path, "alice") as alice:
        await run(alice, "/set name Ann Lee")
        now = alice.snapshot().nick
        await run(alice, "/nick zoe")
    again = await Client.open(setup)
    try:
        remembered = again.nick
        asked = await run(again, "/set name")
    finally:
        await again.close()
    (tmp_path / "alice" / "settings.toml").write_text('[general]\nname = "by hand"\n')
    third = await Client.open(setup)
    try:
        by_hand = third.nick
    finally:
        await third.close()

    assert (now, remembered, by_hand) == ("Ann Lee", "zoe", "by hand")
    assert "name is zoe" in asked.text


async def test_a_settings_file_that_is_broken_keeps_nobody_from_chatting(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice"):
        pass
    (tmp_path / "alice" / "settings.toml").write_text("[look\n")
    async with opened(tmp_path, "alice") as alice:
        [problem] = alice.settings.problems
        result = await run(alice, "/set theme nord")

    assert "line 1" in problem
    assert not result.ok
    assert "nothing was written to it" in result.text


def parsed(arguments: list[str], monkeypatch: pytest.MonkeyPatch, config: Path) -> Setup:
    """Return the setup that a chat command line gives, with the user's file in `config`."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    setups: list[Setup] = []
    monkeypatch.setattr(
        main.chat, "callback", lambda **options: setups.append(common_options.setup_of(options))
    )
    result = CliRunner().invoke(main.cli, ["chat", *arguments])
    if result.exception is not None:
        raise result.exception
    return setups[0]


def test_the_files_and_the_command_line_come_to_one_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chat-tui").mkdir()
    (tmp_path / "chat-tui" / "config.toml").write_text(
        '[network]\ninterface = "127.0.0.1"\nport = 5000\nconnect = ["10.0.0.1:7", "::1"]\n'
        "discovery = false\n[privacy]\nhistory_days = 9\n"
    )
    data = ["--data-dir", str(tmp_path)]

    network = parsed(data, monkeypatch, tmp_path).network
    over = parsed([*data, "--port", "6000", "--set", "discovery=on"], monkeypatch, tmp_path).network

    assert (network.interface, network.port, network.discovery) == ("127.0.0.1", 5000, False)
    assert network.connect == (("10.0.0.1", 7), ("::1", 46021))
    assert network.retention == 9 * 24 * 3600 * 10**9
    assert (over.port, over.discovery) == (6000, True)


def test_the_preset_for_slow_lines_is_known_before_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ["--data-dir", str(tmp_path)]

    assert parsed([*data, "--preset", "ssh"], monkeypatch, tmp_path).on_slow_line
    assert not parsed(data, monkeypatch, tmp_path).on_slow_line
    with pytest.raises(LocalError, match="Nearest are"):
        parsed([*data, "--set", "bogus=1"], monkeypatch, tmp_path)


def test_presets_hold_settings_that_there_are() -> None:
    [option] = [one for one in main.chat.params if one.name == "preset"]
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == list(schema.PRESETS)
    for name, values in schema.PRESETS.items():
        assert checked_wishes([], name).preset == name
        for setting, value in values.items():
            assert schema.BY_NAME[setting].kind.read(value) == value


def test_settings_are_listed_without_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    data = ["--data-dir", str(tmp_path / "data")]

    everything = CliRunner().invoke(main.cli, ["settings", *data, "--set", "theme=nord"])
    one = CliRunner().invoke(main.cli, ["settings", "theme", *data])

    assert "theme = nord  (the command line)" in everything.output
    assert "settings.toml" in everything.output
    assert "theme is tokyo-night (default)" in one.output
    assert not (tmp_path / "data").exists()


def test_keys_are_listed_as_the_profile_and_the_persons_file_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    common_options.user_settings_file().parent.mkdir()
    common_options.user_settings_file().write_text('[keys]\nreading_copy = "c"\n')
    profile = tmp_path / "data" / "bob"
    profile.mkdir(parents=True)
    (profile / "settings.toml").write_text('[keys]\nhelp = "f12"\npane_sort = "t"\n')
    of_bob = ["keys", "--list", "--data-dir", str(tmp_path / "data"), "--profile", "bob"]

    clash = CliRunner().invoke(main.cli, of_bob)
    (profile / "settings.toml").write_text('[keys]\nhelp = "f12"\n')
    listed = CliRunner().invoke(main.cli, [*of_bob, "--set", "keys.demo_cut=C"])
    of_nobody = CliRunner().invoke(main.cli, ["keys", "--list", "--data-dir", str(tmp_path)])

    assert "t is taken by keys.pane_list (Protocol: graph as text)" in clash.output
    assert "until that is corrected, all keys are the default ones" in clash.output
    assert "(changed" not in clash.output
    lines = {" ".join(line.split()) for line in listed.output.splitlines()}
    assert "F12 Help keys.help (changed, usually F1 or Alt+H)" in lines
    assert "c copy it keys.reading_copy (changed, usually y)" in lines
    assert "C cut a link, or mend it keys.demo_cut (changed, usually x)" in lines
    assert "changed, usually y" in of_nobody.output
    assert "changed, usually F1" not in of_nobody.output


def test_keys_wants_a_terminal() -> None:
    result = CliRunner().invoke(main.cli, ["keys"])

    assert "Only a terminal sends keys" in str(result.exception)


@pytest.mark.parametrize(
    ("environment", "ascii_only"),
    [
        ({}, False),
        ({"LANG": "en_GB.UTF-8"}, False),
        ({"LANG": "de_DE.utf8@euro"}, False),
        ({"LC_ALL": "C", "LANG": "en_GB.UTF-8"}, True),
        ({"LC_ALL": "", "LANG": "C.UTF-8"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"TERM": "linux", "LANG": "C.UTF-8"}, True),
    ],
)
def test_the_locale_decides_the_signs(environment: dict[str, str], ascii_only: bool) -> None:
    assert usual_glyphs(environment) is (ASCII if ascii_only else UNICODE)


def test_every_screen_command_is_there_in_line_mode_too() -> None:
    assert {"/set", "/theme", "/mouse", "/keys"} <= set(BY_NAME)
