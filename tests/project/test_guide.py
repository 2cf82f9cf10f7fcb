"""Commands, programs, options, keys and pictures that the pages name: all of them exist."""

import re
from pathlib import Path

import click
import pytest

from chat_tui.cli.main import cli
from chat_tui.commands.table import BY_NAME
from chat_tui.keys.names import as_sent, name_of
from chat_tui.keys.table import KEYS
from chat_tui.settings import schema
from chat_tui.text.sync_protocols import NAMED, THERE_IS
from chat_tui.wording.glyphs import ASCII, UNICODE, WORDS
from storage.pipeline.command import cli as jobs

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.name for path in ROOT.glob("*.md"))
NO_COMMANDS = {"/dev", "/topic"}
"""A path, and one that DECISIONS.md says there is none of."""

FIXED = {"Ctrl+J", "Ctrl+C", "Shift+Enter", "Alt+Enter"}
"""Keys of the input, which cannot be changed."""

pages = pytest.mark.parametrize("page", PAGES)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pages
def test_every_command_that_is_named_exists(page: str) -> None:
    named = set(re.findall(r"(?<=[`\s(])/[a-z]+\b(?![/-])", text_of(page))) - NO_COMMANDS

    assert named - set(BY_NAME) == set()


def test_the_guide_names_every_command() -> None:
    assert set(BY_NAME) - set(re.findall(r"/[a-z]+", text_of("GUIDE.md"))) <= {
        "/help", "/peers", "/quit",  # F1, F3 and Ctrl+Q are named
    }  # fmt: skip


def test_the_guide_names_every_way_to_compare() -> None:
    named = set(re.findall(r"/sync bob ([a-z]+)", text_of("GUIDE.md")))

    assert named == THERE_IS.keys() - NAMED.keys()


@pages
def test_every_subcommand_and_option_that_is_named_exists(page: str) -> None:
    lines = re.findall(r"(?:`|\$ |bin/)chat-tui ([a-z]+)([^`\n#|]*)", text_of(page))
    ctx = click.Context(cli)
    wrong = [word for word, _ in lines if word not in cli.list_commands(ctx)]

    assert wrong == []
    for word, rest in lines:
        command = cli.get_command(ctx, word)
        assert command is not None
        if word == "pipeline" and (job := rest.partition(" ")[2].split(" ")[0]) in jobs.commands:
            command = jobs.commands[job]
        options = {name for one in command.params for name in one.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= options, (word, rest)


@pages
def test_every_key_that_is_named_does_something(page: str) -> None:
    bound = {name_of(key) for row in KEYS for key in as_sent(row.keys).split(",")}
    named = set(re.findall(r"`((?:F\d+)|(?:(?:Ctrl|Alt|Shift)\+\w+))`", text_of(page)))

    assert named - bound - FIXED == set()


@pages
def test_every_picture_and_page_that_is_named_exists(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", text_of(page))

    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_event_of_scripts_is_in_the_table() -> None:
    rooms = (ROOT / "chat_tui").rglob("*.py")
    told = {
        name
        for path in rooms
        if path.name in {"events.py", "faces.py", "json_events.py", "output.py"}
        for name in re.findall(r'"event": "(\w+)"', path.read_text(encoding="utf-8"))
    }

    assert len(told) > 10
    assert {name for name in told if f"| `{name}` |" not in text_of("SCRIPTS.md")} == set()


def test_every_field_of_an_event_is_named() -> None:
    source = (ROOT / "chat_tui" / "wording" / "json_events.py").read_text(encoding="utf-8")
    fields = set(re.findall(r'"(\w+)":', source))

    assert len(fields) > 10
    assert fields - set(re.findall(r"\w+", text_of("SCRIPTS.md"))) == set()


def test_every_setting_that_the_guide_changes_exists() -> None:
    named = re.findall(r"/set ([a-z_.]+) (\S+?)`", text_of("GUIDE.md"))

    assert len(named) > 5
    for name, value in named:
        setting = schema.find(name)
        if value != "reset":
            setting.kind.parse(value)


def test_every_theme_that_the_guide_names_exists() -> None:
    named = re.findall(r"/theme ([a-z-]+)", text_of("GUIDE.md"))

    assert set(named) <= set(schema.THEMES)
    assert named


def test_the_marks_of_the_guide_are_those_of_the_screen() -> None:
    guide = text_of("GUIDE.md")

    for state, mark in UNICODE.marks.items():
        assert f"| `{mark}` {WORDS[state]} | `{ASCII.marks[state]}` |" in guide
    assert f"| `{UNICODE.loading}` history loading | `{ASCII.loading}` |" in guide
    for trust, sign in UNICODE.trust.items():
        assert f"| `{sign}` {trust.value} |" in guide
