"""Spark settings that the person names, as Spark's own commands take them."""

import logging
from pathlib import Path

import pytest
from click.testing import CliRunner

from storage.pipeline.cluster_options import cluster_of
from storage.pipeline.command import cli
from storage.pipeline.errors import PipelineError
from storage.pipeline.spark.logs import JsonLines, log_option
from storage.pipeline.spark.options import PACKAGES, settings_of
from storage.pipeline.spark.submitted import GATEWAY
from tests.support.storage.archived import export_log


def test_a_setting_stands_above_the_file_and_an_option_above_both(tmp_path: Path) -> None:
    file = tmp_path / "spark.properties"
    file.write_text(
        "# ours\n\nspark.a.one = 1\nspark.b:2\nspark.c   3 and 4\nspark.d=x\\\n   y\n"
        f"other.key=1\n{PACKAGES}=old:old:1\nspark.e\n"
    )

    found = settings_of(["spark.b=5=6"], file, "org.example:store:1.0")

    assert found == {
        "spark.a.one": "1",
        "spark.b": "5=6",
        "spark.c": "3 and 4",
        "spark.d": "xy",
        "spark.e": "",
        PACKAGES: "org.example:store:1.0",
    }


@pytest.mark.parametrize(
    ("pairs", "packages", "said"),
    [
        (["spark.a"], None, "--conf spark.a is no setting"),
        (["a=1"], None, "write --conf spark.KEY=VALUE"),
        ([], "hadoop-aws", "write GROUP:NAME:VERSION"),
    ],
)
def test_what_is_no_setting_is_said(pairs: list[str], packages: str | None, said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        settings_of(pairs, None, packages)


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"--properties-file .*nothing cannot be read"):
        settings_of([], tmp_path / "nothing")


def test_master_and_memory_may_stand_among_the_settings() -> None:
    named = {"conf": ("spark.master=spark://one:7077", "spark.driver.memory=600m")}

    cluster = cluster_of({**named})
    above = cluster_of({**named, "master": "local[2]", "memory": "512m"})

    assert (cluster.master, cluster.memory, cluster.settings) == ("spark://one:7077", "600m", {})
    assert (above.master, above.memory, above.settings) == ("local[2]", "512m", {})


def test_a_standalone_master_is_told_of_cores_and_others_of_executors() -> None:
    wanted = {"num_executors": 3, "executor_cores": 2, "executor_memory": "1g"}

    standalone = cluster_of({"master": "spark://one:7077", **wanted}).settings
    yarn = cluster_of({"master": "yarn", **wanted}).settings

    assert yarn == {
        "spark.executor.instances": "3",
        "spark.executor.cores": "2",
        "spark.executor.memory": "1g",
    }
    assert standalone == {**yarn, "spark.cores.max": "6"}


def test_executors_of_this_computer_are_refused_with_what_to_write() -> None:
    with pytest.raises(PipelineError, match=r"write local\[2\] for two cores"):
        cluster_of({"num_executors": 2})
    with pytest.raises(PipelineError, match="--executor-memory 3 is no amount"):
        cluster_of({"master": "yarn", "executor_memory": "3"})


def test_the_pages_are_for_this_computer_unless_told_otherwise() -> None:
    assert cluster_of({}).ui is None
    assert cluster_of({"ui": True}).ui == "127.0.0.1"
    assert cluster_of({"conf": ["spark.ui.enabled=true"]}).ui == "127.0.0.1"
    assert cluster_of({"ui_address": "10.0.0.1"}).ui == "10.0.0.1"


def test_events_are_kept_where_named(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "events"

    here = cluster_of({"event_log": str(directory)}).settings
    there = cluster_of({"event_log": "hdfs://one/events"}).settings

    assert directory.is_dir()
    assert here["spark.eventLog.dir"] == directory.as_uri()
    assert there["spark.eventLog.dir"] == "hdfs://one/events"


def test_kubernetes_without_an_image_is_said_at_once(tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    export_log(exports)
    command = ["all", str(exports), "--out", str(tmp_path / "out"), "--master", "k8s://one"]

    result = CliRunner().invoke(cli, command)

    assert result.exit_code == 2
    assert "spark.kubernetes.container.image=NAME" in result.output
    image = "spark.kubernetes.executor.container.image=ours"
    assert cluster_of({"master": "k8s://one", "conf": [image]}).master == "k8s://one"


def test_what_spark_submit_was_to_be_told_is_refused_with_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GATEWAY, "1")
    command = ["sweep", "--out", str(tmp_path / "out"), "--memory", "1g"]

    result = CliRunner().invoke(cli, command)

    assert result.exit_code == 2
    assert "--memory comes too late" in result.output
    assert "--driver-memory" in result.output
    assert cluster_of({}).settings == {}


def test_the_two_files_of_spark_submit_go_where_one_can_write(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = CliRunner().invoke(cli, ["pack", str(tmp_path / "packed")])
    failed = CliRunner().invoke(cli, ["pack", str(tmp_path / "file" / "below")])

    assert done.exit_code == 0
    assert {path.name for path in (tmp_path / "packed").iterdir()} == {"chat-tui.zip", "job.py"}
    assert failed.exit_code == 2
    assert "name another DIR" in failed.output


def test_a_line_of_the_log_is_json_on_request(tmp_path: Path) -> None:
    cause = (ValueError, ValueError("first line\nsecond line"), None)
    record = logging.LogRecord("name", logging.ERROR, "", 0, "it said %s", ("so",), cause)

    line = JsonLines().format(record)

    assert "\n" not in line
    assert '"message": "it said so"' in line
    assert "second line" in line
    log_option(tmp_path, as_json=True)
    assert "JsonTemplateLayout" in (tmp_path / "log4j2.properties").read_text()
