"""Spark masters and Java versions for jobs, and the errors where these are missing."""

import socket
from pathlib import Path

import pytest

from storage.pipeline.errors import PipelineError
from storage.pipeline.spark.cluster import check_reachable, driver_address
from storage.pipeline.spark.java import check_java
from storage.pipeline.spark.session import Cluster


@pytest.mark.parametrize(
    "master",
    [
        "local",
        "local[1]",
        "local[*]",
        "spark://one:7077",
        "spark://one:7077,two:7077",
        "yarn",
        "k8s://https://one:6443",
        "k8s://one",
    ],
)
def test_masters_that_spark_knows(master: str) -> None:
    assert Cluster(master).master == master


@pytest.mark.parametrize(
    "master", ["", "local[]", "local[0]", "local[-1]", "spark://", "spark://one", "mesos://a:1"]
)
def test_another_master_is_refused_with_those_there_are(master: str) -> None:
    with pytest.raises(PipelineError, match=r"local\[2\], spark://HOST:PORT, yarn"):
        Cluster(master)


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("", "no amount"),
        ("2", "no amount"),
        ("-1g", "no amount"),
        ("2t", "no amount"),
        ("0g", "too little"),
        ("511m", "too little"),
        ("999999g", "more than this computer has"),
    ],
)
def test_an_amount_of_memory_that_cannot_be_is_refused(memory: str, said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        Cluster("local", memory)


def test_enough_memory_is_taken() -> None:
    assert Cluster("local", "512M").memory == "512M"


def test_a_master_that_does_not_answer_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_reachable(f"spark://127.0.0.1:{port}")
    with pytest.raises(PipelineError, match=f"at 127.0.0.1:{port}: is it running"):
        check_reachable(f"spark://127.0.0.1:{port}")
    with pytest.raises(PipelineError, match="No Spark master answers at 127"):
        check_reachable("k8s://https://127.0.0.1:99999")


def test_yarn_needs_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(PipelineError, match="HADOOP_CONF_DIR"):
        check_reachable("yarn")

    monkeypatch.setenv("HADOOP_CONF_DIR", "/somewhere")

    check_reachable("yarn")


def test_the_driver_listens_where_the_master_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    assert driver_address("local[2]") == "127.0.0.1"
    assert driver_address("spark://127.0.0.1:7077") == "127.0.0.1"
    assert driver_address("k8s://https://127.0.0.1") == "127.0.0.1"
    assert driver_address("yarn") is None

    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.2")

    assert driver_address("spark://127.0.0.1:7077") == "127.0.0.2"
    assert driver_address("local") == "127.0.0.1", "nobody else has to reach it"


def java(directory: Path, version: str) -> Path:
    """Write what answers like a Java of this version; returns its home."""
    path = directory / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    path.chmod(0o755)
    return directory


def test_no_java_is_said_with_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(PipelineError, match="apt install default-jre-headless"):
        check_java()


def test_a_java_home_without_java_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with pytest.raises(PipelineError, match=f"JAVA_HOME is {tmp_path}.* unset it"):
        check_java()


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "what"])
def test_an_old_java_is_refused(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, version)))

    with pytest.raises(PipelineError, match="needs Java 17 or newer"):
        check_java()


@pytest.mark.parametrize("version", ["17.0.15", "21"])
def test_a_java_that_is_new_enough_will_do(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, version)))

    check_java()


def test_a_java_that_does_not_start_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = java(tmp_path, "17")
    (home / "bin" / "java").write_bytes(b"\x7fELF")
    monkeypatch.setenv("JAVA_HOME", str(home))

    with pytest.raises(PipelineError, match="does not start"):
        check_java()
