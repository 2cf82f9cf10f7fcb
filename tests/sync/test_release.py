"""The date of this release: it must be set at each one, and be a time that was."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sync import release
from sync.release import FIRST, RELEASED, RELEASED_NS

ROOT = Path(__file__).parents[2]
RELEASE = re.compile(r"^## \[?[0-9][^\n]*?(\d{4}-\d{2}-\d{2})", re.MULTILINE)


def test_the_release_is_not_of_tomorrow() -> None:
    newest = max(path.stat().st_mtime for path in Path(release.__file__).parent.glob("*.py"))

    assert datetime.fromtimestamp(newest, UTC) + timedelta(days=1) > RELEASED
    assert FIRST < RELEASED


def test_the_release_is_not_older_than_the_newest_in_the_changelog() -> None:
    released = RELEASE.findall((ROOT / "CHANGELOG.md").read_text())
    dates = [datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in released]

    assert max(dates, default=RELEASED) <= RELEASED, "set sync/release.py at each release"


def test_a_heading_of_a_release_is_found() -> None:
    assert RELEASE.findall("# Changelog\n\n## [1.2.0] - 2027-01-31\n") == ["2027-01-31"]
    assert RELEASE.findall("## 1.2.0 (2027-01-31)\n") == ["2027-01-31"]


def test_the_release_counts_from_the_epoch() -> None:
    assert RELEASED.timestamp() * 1e9 == RELEASED_NS
