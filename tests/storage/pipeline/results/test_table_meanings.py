"""TABLES.md names every table once; tests of the jobs hold its columns against what they write."""

import re

from storage.pipeline.results.table_meanings import MEANINGS
from tests.support.storage.table_pages import PAGE


def test_the_page_has_each_table_of_each_job_in_their_order() -> None:
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]

    found = {
        part.splitlines()[0]: dict(re.findall(r"^### (.+)\n\n(.+)$", part, re.MULTILINE))
        for part in parts
    }

    assert found == MEANINGS
    assert [list(tables) for tables in found.values()] == [list(one) for one in MEANINGS.values()]
