"""A power cut within groups of lines takes nothing that was told to be committed.

The disk of a test is files: what was written and not yet synced is there by sectors or is not,
in any choice. A commit that was told has synced the log as far as it went.
"""

import random
import shutil
from pathlib import Path

import pytest

from storage.sqlite.checkpoints import _checkpoint
from sync.machine import MessageId
from tests.support.storage.stores import opened
from tests.support.sync.engines import turning
from tests.support.sync.entries import CHANNEL

CUTS = 25
LINES = 20
SECTOR = 512
PAGE = 4096
NAME = "history.db"


def torn(old: bytes, new: bytes, size: int, dice: random.Random) -> bytes:
    """Return what is left of a file that was `old`, synced, and became `new` in blocks of `size`.

    What was appended may have come without what was appended before it.
    """
    old = old.ljust(len(new), b"\0")
    blocks = [
        new[at : at + size] if dice.random() < 0.7 else old[at : at + size]
        for at in range(0, len(new), size)
    ]
    return b"".join(blocks)[: dice.randint(len(old.rstrip(b"\0")), len(new))]


def files(place: Path) -> tuple[bytes, bytes]:
    """Return the database and its log as they are now."""
    path = place / NAME
    return path.read_bytes(), path.with_name(f"{NAME}-wal").read_bytes()


def _put(place: Path, database: bytes, log: bytes) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / NAME).write_bytes(database)
    (place / f"{NAME}-wal").write_bytes(log)


async def after_the_cut(place: Path, database: bytes, log: bytes) -> list[MessageId]:
    """Start over what is left; return the ids in the history, in order."""
    _put(place, database, log)
    async with opened(place / NAME) as store:
        assert await store.database.problems() == []
        page = await store.journal.newest_page(CHANNEL, None, 1 << 30)
        stored = [one.message_id for one in reversed(page.entries)]
        state = await store.journal.restore(CHANNEL)
    assert list(state.own_log) == stored
    return stored


async def test_a_cut_within_a_group_leaves_all_that_was_told_and_whole_groups(
    tmp_path: Path,
) -> None:
    dice = random.Random(12)
    told: list[MessageId] = []
    async with turning(tmp_path) as bench:
        told += await bench.stored()
        for cut in range(CUTS):
            database, before = files(tmp_path)
            bench.journal.commits.clear()
            written = await bench.write(*[f"cut {cut} line {line}" for line in range(LINES)])
            after = files(tmp_path)
            assert after[0] == database, "no checkpoint came between"
            assert max(bench.journal.commits) > 1, "a group"
            log = torn(before, after[1], SECTOR, dice)

            left = await after_the_cut(tmp_path / "left", database, log)

            assert left[: len(told)] == told
            assert left[len(told) :] == written[: len(left) - len(told)]
            ends = [sum(bench.journal.commits[:end]) for end in range(LINES + 1)]
            assert len(left) - len(told) in ends, "a group is there or it is not"
            told += [one for one in written if isinstance(one, str)]


@pytest.mark.parametrize("seed", range(CUTS))
async def test_a_cut_while_the_log_is_copied_leaves_all_that_was_told(
    seed: int, tmp_path: Path
) -> None:
    async with turning(tmp_path) as bench:
        await bench.write(*[f"line {line}" for line in range(LINES)])
        told = await bench.stored()
        old, log = files(tmp_path)
        _checkpoint(tmp_path / NAME)
        new, _ = files(tmp_path)
        assert new != old

        mixed = torn(old, new, PAGE, random.Random(seed))

        assert await after_the_cut(tmp_path / "left", mixed, log) == told
