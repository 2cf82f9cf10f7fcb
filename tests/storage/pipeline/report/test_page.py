"""PIPELINE.md tells what there is: its commands, its pictures, and the run they are of."""

import re
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from chat_tui.cli.main import cli
from storage.pipeline.command import cli as jobs
from tests.support.storage.pipeline_pictures import PLACE, SIM, SWEEP, slug

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "PIPELINE.md").read_text(encoding="utf-8")


def lines() -> list[list[str]]:
    """The commands of the page, as words."""
    return [line.split() for line in re.findall(r"^\$ chat-tui (.*)$", PAGE, re.MULTILINE)]


def test_the_commands_and_options_of_the_page_exist() -> None:
    assert len(lines()) == 10
    for word, *rest in lines():
        command = cli.get_command(click.Context(cli), word)
        assert command is not None
        if word == "pipeline":
            command = jobs.commands[rest[0]]
        options = {name for one in command.params for name in one.opts}
        named = {one for one in rest if one.startswith("--")}
        assert named <= options


def test_the_pictures_are_of_the_run_that_the_page_tells() -> None:
    assert f"chat-tui {SIM} --export office" in PAGE
    assert f"chat-tui pipeline {SWEEP} --out results" in PAGE


def test_every_picture_of_the_page_is_there_and_no_other() -> None:
    named = set(re.findall(r"\(screenshots/pipeline/([^)]+)\)", PAGE))

    assert named == {path.name for path in PLACE.iterdir()}


def test_a_picture_is_called_by_the_first_words_of_its_title() -> None:
    assert slug("Latency: sending to delivery") == "latency"
    assert slug("False “possibly acknowledged” against theory") == (
        "false_possibly_acknowledged_against_theory"
    )


@pytest.mark.slow
def test_the_run_that_the_page_tells_of_is_that_of_this_program(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, [*SIM.split(), "--export", str(tmp_path / "office")])

    excerpt = re.search(r"^seed 7: .*?(?=^```)", PAGE, re.MULTILINE | re.DOTALL)
    assert excerpt
    for line in excerpt[0].splitlines():
        assert line in result.output
    [message] = re.findall(r"pipeline why results (\w+)", PAGE)
    files = (tmp_path / "office" / "history").rglob("*.parquet")
    ids = {one.hex() for file in files for one in message_ids(file)}
    assert sum(one.startswith(message) for one in ids) == 1


def message_ids(file: Path) -> list[bytes]:
    column = pq.ParquetFile(file).read(columns=["message_id"]).column("message_id")
    return [one.as_py() for one in column]
