"""Python workers import what pip compiled, and zips only where there is nothing else."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from storage.pipeline.spark.daemon import zips_last

ROOT = Path(__file__).parents[4]


def test_directories_come_before_zips_each_kind_in_its_order() -> None:
    path = ["/spark/pyspark.zip", "/spark/py4j-src.zip", "/spark/core.jar", "/lib", "/site"]

    assert zips_last(path) == [*path[3:], *path[:3]]


def test_a_daemon_takes_pyspark_from_where_pip_put_it(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "pyspark.zip", "w") as archive:
        archive.writestr("pyspark/__init__.py", "raise RuntimeError('from the zip')")
    # the rest of the daemon waits for a JVM: its path is looked at where it would begin
    program = """
import runpy, sys
sys.modules["pyspark.daemon"] = type(sys)("pyspark.daemon")
sys.modules["pyspark.daemon"].manager = lambda: print(__import__("pyspark.serializers").__file__)
runpy.run_module("storage.pipeline.spark.daemon", run_name="__main__")
"""
    environment = {"PYTHONPATH": f"{tmp_path / 'pyspark.zip'}:{ROOT}"}

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )

    assert "site-packages" in done.stdout, done.stderr
