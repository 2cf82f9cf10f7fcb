"""Query plan of `consolidate`: costly steps run once for each entry, not for each row."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.consolidate import transforms
from storage.pipeline.inputs.inputs import Inputs
from tests.support.storage.synthetic import NO_FAULTS, made, plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_headers_are_hashed_after_equal_rows_were_put_together(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    """Spark moves a condition on the hash before the grouping, and reads all rows once more."""
    made(tmp_path / "made", plan(0, NO_FAULTS, messages=40))
    rows = Inputs.find([tmp_path / "made"]).history(spark)
    found = transforms.checked(transforms.variants(rows, transforms.members_of(rows)))

    steps = str(found._jdf.queryExecution().optimizedPlan()).splitlines()

    [hashed] = [step for step in steps if "sha2" in step]
    assert "Filter" not in hashed
    assert sum("bit_or" in step for step in steps) == 1
