"""Names mean themselves, and only Parquet files are a table, whatever lies beside them."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.archive.layout import Layout
from storage.archive.tables import HISTORY_DIR, LOG, LOG_DIR
from storage.pipeline.answers.local_results import LocalDirectory, find_table, published_results
from storage.pipeline.answers.message_logs import export_table
from storage.pipeline.errors import PipelineError
from storage.pipeline.fingerprints.archive import Archive
from storage.pipeline.inputs.footers import check_files
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.places.place import LocalPlace, Place
from tests.support.storage.archived import export
from tests.support.storage.archives import archive
from tests.support.storage.diffs import ran
from tests.support.storage.synthetic import made, plan
from tests.support.sync.entries import CHANNEL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ODD = ("x?", "a[12]", "office {2}", "co:lon", "back\\sl#?&%20,*")
SIBLINGS = ("xy", "a1")
"""Exports that the first odd names would fit as patterns."""

NO_TEXT = b"b\xe4d"


@pytest.mark.spark
def test_jobs_read_what_is_named_and_no_more(
    tmp_path: Path, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here, out = Path(), "o[u]t:{1}*?#"
    made(Path("ma:de"), plan(3, messages=60, nodes=7, members=7, channels=1), Layout.NODES)
    exports = sorted(path for path in Path("ma:de").iterdir() if path.is_dir())
    for directory, name in zip(exports, (*ODD, *SIBLINGS), strict=True):
        directory.rename(name)
    shutil.copytree(ODD[0], "again")  # rows that are there twice are read in a way of their own
    named = [*map(Path, ODD), Path("again")]
    for table in (HISTORY_DIR, LOG_DIR):
        for place in (Path(ODD[1]) / table, *(Path(ODD[1]) / table).glob("*/*")):
            (place / "notes.txt").write_text("not Parquet")

    consolidated, audited, _, delivered = [
        ran(spark, here, job, *named, out=out).figures
        for job in ("consolidate", "audit", "fingerprints", "delivery")
    ]
    differing = ran(spark, here, "diff", Path(ODD[0]), Path(out), out="dif:[f]").figures

    assert consolidated["nodes"] == len(ODD)
    assert audited["findings"] == 0
    assert delivered["nodes"] == len(ODD)
    assert delivered["copies"] > 0
    assert differing["only_a"] == 0
    assert Archive.find(Path(out)).prints is not None
    shown = find_table(published_results(Path("dif:[f]")), "minutes")
    assert shown.dataset().count_rows() >= 0
    assert export_table(Inputs.find(named), LOG_DIR, LOG).count_rows() > 0


@pytest.mark.parametrize("kind", [Place(), LocalPlace(), LocalDirectory()])
def test_a_name_that_is_no_text_is_refused(kind: Place | LocalDirectory) -> None:
    with pytest.raises(PipelineError, match="b\ufffdd has a name that is not UTF-8"):
        kind.convert(NO_TEXT.decode(errors="surrogateescape"), None, None)


def test_a_file_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    place = export(tmp_path / "text", archive("ann", 3, channel=CHANNEL))
    place.rename(tmp_path / NO_TEXT.decode(errors="surrogateescape"))

    with pytest.raises(PipelineError, match="not UTF-8"):
        check_files(Inputs.find([tmp_path]))
