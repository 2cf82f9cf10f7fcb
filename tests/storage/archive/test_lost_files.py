"""Exports of which somebody took files away, or of which half was copied."""

import asyncio
import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from storage.archive.tables import HISTORY_DIR, HISTORY_FILE, LOG_DIR, NOTE
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.footers import check_files
from storage.pipeline.inputs.inputs import Inputs
from storage.sqlite.protocol_log import FILE_NAME, LogFile
from tests.support.storage.exports import BEGAN, Owner, files, history, log_of, read, received
from tests.support.storage.import_commands import count, imported, lines, profile
from tests.support.storage.stores import delivered, membership
from tests.support.sync.entries import CHANNEL


async def exported(tmp_path: Path) -> tuple[Owner, Path]:
    """Three days of history and two rows of a log."""
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(9)))
    owner.note(*log_of(0, 1))
    owner.export(out)
    return owner, out


def take_away(file: Path) -> None:
    shutil.rmtree(file.parent)


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("spoil", [take_away, cut_off, empty])
@pytest.mark.parametrize("table", [HISTORY_DIR, LOG_DIR])
async def test_a_file_that_is_gone_or_cut_off_is_exported_again(
    tmp_path: Path, table: str, spoil: Callable[[Path], None]
) -> None:
    owner, out = await exported(tmp_path)
    before, rows = files(out, table), len(read(out, table))
    spoil(sorted((out / table).rglob("*.parquet"))[0])

    summary = owner.export(out)

    assert (summary.days, summary.unchanged) == (1, 4)
    assert files(out, table) == before
    assert len(read(out, table)) == rows


async def test_a_log_file_that_is_gone_is_exported_again_beside_that_of_another_run(
    tmp_path: Path,
) -> None:
    owner, out = await exported(tmp_path)
    (owner.directory / FILE_NAME).unlink()
    with closing(LogFile(owner.directory / FILE_NAME, bytes, bytes_max=1 << 26)) as log:
        log.append(log_of(0))
    before = files(out, LOG_DIR)
    owner.export(out)
    [added] = {*files(out, LOG_DIR)} - {*before}
    rows = len(read(out, LOG_DIR))
    (out / added).unlink()

    owner.export(out)

    assert added in files(out, LOG_DIR)
    assert len(read(out, LOG_DIR)) == rows


async def test_the_first_log_file_of_a_run_is_exported_again_beside_a_later_one(
    tmp_path: Path,
) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    owner.note(*log_of(0, count=2000))
    owner.export(out)
    owner.note((BEGAN, 1, received(CHANNEL, 10)), bytes_max=50_000)  # it forgets the first rows
    owner.export(out)
    [first] = [one for one in files(out, LOG_DIR) if "-" not in one.stem]
    rows = len(read(out, LOG_DIR))
    first.unlink()
    kept = len(read(out, LOG_DIR))

    summary = owner.export(out)

    assert 0 < kept < rows, "there is a later file beside it"
    assert first.is_file()
    assert summary.log_rows > 0


@pytest.mark.parametrize("spoil", [take_away, Path.unlink])
@pytest.mark.parametrize("table", [HISTORY_DIR, LOG_DIR])
async def test_no_job_takes_what_an_export_lacks_for_lost_messages(
    tmp_path: Path, table: str, spoil: Callable[[Path], None]
) -> None:
    owner, out = await exported(tmp_path)
    inputs = Inputs.find([out])
    gone = sorted((out / table).rglob("*.parquet"))[0]
    check_files(inputs)

    spoil(gone)

    with pytest.raises(PipelineError, match=f"lacks 1 of its files, the first in {table}/.*again"):
        check_files(inputs)
    owner.export(out)
    check_files(inputs)


def test_an_import_says_which_files_of_an_export_are_lacking(tmp_path: Path) -> None:
    _, out = asyncio.run(exported(tmp_path))
    days = sorted((out / HISTORY_DIR / f"channel={CHANNEL}").iterdir())
    profile(tmp_path / "data", membership())
    for day in days[:2]:
        (day / HISTORY_FILE).unlink()

    result = imported(tmp_path / "data", out)

    assert result.exit_code == 1
    came, lacking = lines(result)
    assert came == f"{count(tmp_path / 'data')} new, 0 already here, 0 refused."
    assert lacking.startswith(
        f"Lacking: 2 of the export's files, the first in {days[0].relative_to(out)}. Copy it again"
    )


@pytest.mark.parametrize(
    ("days", "code"),
    [
        ([], 0),
        (7, 2),
        ([[1, 1]], 0),
        ({"../../etc": {"mark": [1]}, "\0": 1}, 0),
        ({f"{HISTORY_DIR}/channel={CHANNEL}/\x9b2J\0": {"a": 1}}, 1),
    ],
)
def test_whatever_a_note_says_of_days_is_no_path(tmp_path: Path, days: object, code: int) -> None:
    _, out = asyncio.run(exported(tmp_path))
    profile(tmp_path / "data", membership())
    note = json.loads((out / NOTE).read_text())
    note["more"]["days"] = days
    (out / NOTE).write_text(json.dumps(note))

    result = imported(tmp_path / "data", out)

    assert result.exit_code == code
    assert not {*result.output} & {"\x9b", "\0"}  # click itself takes out "\x1b[2J"
