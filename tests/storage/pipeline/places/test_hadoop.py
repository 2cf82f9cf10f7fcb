"""Paths behind URIs do what paths of this computer do; the same tests run over each scheme."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from storage.pipeline.errors import PipelineError
from storage.pipeline.places.place import is_local, place_of, remove_tree, sink, source
from storage.pipeline.results.small_tables import first_rows, row_count
from tests.support.storage.schemes import BASES, bind, over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(params=BASES)
def place(request: pytest.FixtureRequest, spark: "SparkSession", tmp_path: Path) -> Path:
    """The directory of a test, as each scheme calls it."""
    bind(spark)
    return over(request.param, tmp_path)


def names(places: "list[Path]") -> list[str]:
    """Return the names of some places, sorted."""
    return sorted(one.name for one in places)


@pytest.mark.spark
def test_files_are_written_read_listed_and_removed(place: Path, tmp_path: Path) -> None:
    below = place / "one" / "channel=a"
    below.mkdir(parents=True)
    with pytest.raises(FileExistsError):
        below.mkdir()
    below.mkdir(parents=True, exist_ok=True)
    (below / "first.parquet").write_bytes(b"\x00\xff")
    (below / "second.txt").write_text("ü\n", encoding="utf-8")

    assert (tmp_path / "one" / "channel=a" / "second.txt").read_text(encoding="utf-8") == "ü\n"
    assert (below / "first.parquet").read_bytes() == b"\x00\xff"
    assert (below / "second.txt").stat().st_size == 3
    assert (below / "second.txt").stat().st_mtime_ns > 0
    assert names([*below.iterdir()]) == ["first.parquet", "second.txt"]
    assert [*place.glob("one/channel=*")] == [below]
    assert [*(place / "on?").glob("channel=*")] == [*(place / "[o]ne").glob("*/*")] == []
    assert [*place.rglob("*.parquet")] == [below / "first.parquet"]
    assert [*(place / "nothing").rglob("*")] == [*(place / "nothing").glob("*")] == []
    assert below.is_dir()
    assert not below.is_file()
    assert (below / "first.parquet").is_file()
    assert not (below / "third").exists()
    assert str(below.relative_to(place)) == "one/channel=a"
    assert below.parent.parent == place
    (below / "first.parquet").unlink()
    (below / "first.parquet").unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        (below / "first.parquet").unlink()
    remove_tree(place / "one")
    assert not (tmp_path / "one").exists()


@pytest.mark.spark
def test_what_is_not_there_raises_as_everywhere(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        (place / "nothing").read_text()
    with pytest.raises(FileNotFoundError):
        (place / "nothing").stat()
    with pytest.raises(FileNotFoundError):
        [*(place / "nothing").iterdir()]


@pytest.mark.spark
def test_a_file_is_made_once_where_it_must_be_new(place: Path) -> None:
    with (place / "claim").open("x", encoding="utf-8") as file:
        file.write("mine")
    with pytest.raises(FileExistsError):
        (place / "claim").open("x", encoding="utf-8")
    assert (place / "claim").read_text() == "mine"


@pytest.mark.spark
def test_a_file_takes_the_place_of_another(place: Path) -> None:
    (place / "new").write_text("new")
    (place / "old").write_text("old")

    (place / "new").replace(place / "old")

    assert (place / "old").read_text() == "new"
    assert not (place / "new").exists()


@pytest.mark.spark
def test_parquet_is_written_and_read_in_parts(place: Path) -> None:
    table = pa.table({"number": range(100_000), "text": ["word" * 9] * 100_000})
    for key, part in (("a", table), ("b", table.slice(0, 5))):
        (place / "table" / f"key={key}").mkdir(parents=True)
        with sink(place / "table" / f"key={key}" / "0.parquet") as file:
            pq.write_table(part, file, row_group_size=1000, compression="none")

    metadata = pq.read_metadata(source(place / "table" / "key=a" / "0.parquet"))

    assert (metadata.num_rows, metadata.num_row_groups) == (100_000, 100)
    assert row_count(place, "table") == 100_005
    assert row_count(place, "nothing") == 0
    rows = first_rows(place, "table", 100_001, ["number"])
    assert len(rows) == 100_001
    assert rows[0] == {"number": 0, "text": "word" * 9, "key": "a"}
    assert {row["key"] for row in rows} == {"a", "b"}


@pytest.mark.spark
def test_a_store_that_nothing_knows_is_said_with_its_package(spark: "SparkSession") -> None:
    version = spark.sparkContext._jvm.org.apache.hadoop.util.VersionInfo.getVersion()  # type: ignore[union-attr]
    package = f"--packages org.apache.hadoop:hadoop-aws:{version}"

    with pytest.raises(PipelineError, match=package):
        place_of("s3a://bucket/exports").is_dir()
    with pytest.raises(PipelineError, match=r"Nothing here knows what:// "):
        place_of("what://somewhere/exports").exists()


def test_text_becomes_a_path_or_what_is_behind_a_uri() -> None:
    assert place_of("a/b") == Path("a/b")
    assert place_of("file:///a%20b/c") == Path("/a b/c")
    assert place_of("c:") == Path("c:")
    assert is_local(place_of("./s3a:/x"))
    assert str(place_of("s3a://bucket/a/") / "b") == "s3a://bucket/a/b"
    assert not is_local(place_of("s3a:/x"))


def test_what_needs_a_directory_of_this_computer_makes_none_called_s3a(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (
        ["synthesize", "s3a://a/b"],
        ["pack", "s3a://a/b"],
        ["report", "--out=s3a://a"],
    ):
        result = CliRunner().invoke(cli, command)
        assert result.exit_code == 2
        assert "s3a://a" in result.output
    assert [*tmp_path.iterdir()] == []
