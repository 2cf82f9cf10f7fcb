"""Cost of the exact diff of two large archives: `python -m tests.bench pipeline_diff`.

Other sizes: `python -m tests.bench.bench_pipeline_diff --ids N`. It makes two archives of `--ids`
random sync hashes, `--ids-a-day` of them each day, at random times of it: A lacks 20 here and
there, B lacks five whole minutes of each day and 140 in 53 others. Headers and bodies are empty, so
a row is little more than its hash; the files are else as `chat-tui export` writes them. The diff
runs as a person runs it, in a process of its own with `--memory`; its processor time and memory are
those of Python and Java together (`tests.bench.used`). Its findings are compared with what was
planted, id by id.

Two archives of 50 M ids (`--ids 50000000`) take 5.5 GB of disk.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from storage.archive.parquet import COMPRESSION, texts_of
from storage.archive.tables import (
    HISTORY,
    HISTORY_DIR,
    ROW_GROUP,
    SYNC_HASH,
    Note,
    day_of,
    partition,
)
from storage.pipeline.spark import class_archive
from sync.machine import DAY, MINUTE, Nanos
from tests.bench.report import Params, Result, at_most, progress
from tests.bench.used import measured

BEGAN: Final[Nanos] = 1_700_006_400 * 10**9
"""A midnight, UTC."""

CHANNEL: Final = "c0" * 16
LACKS_A: Final = 20
LACKS_B_SCATTERED: Final = 140
B_MINUTES: Final = 53
"""Minutes in which these are: with the others, 78 of the 1440 of a day differ."""

GAP_MINUTES: Final = 5

SINCE_1_1: Final = ("backlink", "skiplink", "governance", "reply_to")
"""Columns that are null in these rows."""

GOAL_CPU_S: Final = 40.0
"""Of two archives of 10 M ids."""

GOAL_MEMORY_MB: Final = 2048.0
"""Of two archives of 50 M ids."""

MANY: Final = 10_000_000
MEMORY: Final = "2g"
WITHIN_S: Final = 1200.0

Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Day:
    """The ids of one day, rising: (n) times in ns and (n, 4) words of their hashes."""

    times: Times
    hashes: Times
    lacks_a: NDArray[np.bool_]
    lacks_b: NDArray[np.bool_]


def drawn(day: int, count: int, days: int) -> Day:
    """Draw one day; what an archive lacks is drawn for all days together."""
    dice = np.random.default_rng(day)
    times = np.sort(dice.integers(0, DAY, count)) + BEGAN + day * DAY
    hashes = dice.integers(-(2**63), 2**63 - 1, (count, 4), endpoint=True)
    lacks_a, lacks_b = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    gap = BEGAN + day * DAY + 700 * MINUTE
    lacks_b[(times >= gap) & (times < gap + GAP_MINUTES * MINUTE)] = True
    minutes = (times - times[0]) // MINUTE
    some = np.isin(minutes, dice.choice(DAY // MINUTE, B_MINUTES // days, replace=False))
    for lacks, among, all_days in (
        (lacks_a, np.arange(count), LACKS_A),
        (lacks_b, np.flatnonzero(some), LACKS_B_SCATTERED),
    ):
        share = all_days // days + (day < all_days % days)
        lacks[dice.choice(among, share, replace=False)] = True
    lacks_b &= ~lacks_a  # else neither has it
    return Day(times, hashes, lacks_a, lacks_b)


def written(directory: Path, day: Day, held: NDArray[np.bool_]) -> None:
    """Write what one archive holds of a day."""
    times, hashes = day.times[held], day.hashes[held]
    count = len(times)
    where = directory / partition(HISTORY_DIR, CHANNEL, day_of(int(times[0])))
    where.mkdir(parents=True)

    def same(value: object, kind: pa.DataType) -> pa.Array:
        return pa.repeat(pa.scalar(value, kind), count)

    columns = {
        "node": same("aa" * 32, pa.string()),
        "channel": same(CHANNEL, pa.string()),
        "message_id": pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(8), count, [None, pa.py_buffer(np.ascontiguousarray(hashes[:, 0]))]
        ).cast(pa.binary()),
        **{name: hashes[:, word] for word, name in enumerate(SYNC_HASH)},
        "created_ns": times,
        "lamport": same(1, pa.int64()),
        "author": same("bb" * 32, pa.string()),
        "log": same(1, pa.int64()),
        "seq": same(1, pa.int64()),
        "parents": same([], pa.list_(pa.binary())),
        "kind": same(1, pa.int32()),
        "delivered": same(value=True, kind=pa.bool_()),
        **{name: same(b"", pa.binary()) for name in ("header", "signature", "body")},
        **{name: pa.nulls(count, HISTORY.field(name).type) for name in SINCE_1_1},
    }
    table = pa.table(columns, schema=HISTORY)
    pq.write_table(
        table,
        where / "0.parquet",
        row_group_size=ROW_GROUP,
        compression=COMPRESSION,
        use_dictionary=texts_of(HISTORY),
    )


def generate(root: Path, ids: int, ids_a_day: int) -> tuple[set[bytes], set[bytes]]:
    """Write archives `a` and `b`; returns what only A and only B holds, as hashes' bytes."""
    days = max(1, ids // ids_a_day)
    only_a: set[bytes] = set()
    only_b: set[bytes] = set()
    for day in range(days):
        made = drawn(day, ids // days, days)
        written(root / "a", made, ~made.lacks_a)
        written(root / "b", made, ~made.lacks_b)
        only_a |= {row.tobytes() for row in made.hashes[made.lacks_b]}
        only_b |= {row.tobytes() for row in made.hashes[made.lacks_a]}
        progress(f"made day {day + 1} of {days}")
    for name in ("a", "b"):
        Note([name], {CHANNEL: "bench"}, {}, {}).write_files(root / name)
    return only_a, only_b


def found(false: Path, side: str) -> set[bytes]:
    """Return the hashes that only one side holds, in the table of rows that are not as signed."""
    rows: set[bytes] = set()
    for file in false.rglob("*.parquet"):
        table = pq.ParquetFile(file).read(columns=["side", *SYNC_HASH])
        table = table.filter(pc.equal(table["side"], side))
        words = np.stack([table[name].to_numpy() for name in SYNC_HASH], axis=1)
        rows |= {row.tobytes() for row in words}
    return rows


def measure(root: Path, ids: int, ids_a_day: int, memory: str, within_s: float) -> list[Result]:
    """Make the archives in `root`, compare them, compare what was found with what was planted.

    Raises:
        RuntimeError: the difference is not what was planted, or took too long.
    """
    planted = generate(root, ids, ids_a_day)
    out = root / "out"
    shutil.rmtree(out, ignore_errors=True)
    program = str(Path(sys.executable).with_name("chat-tui"))
    used = measured(
        *(program, "pipeline", "diff", "--json", str(root / "a"), str(root / "b")),
        *("--out", str(out), "--memory", memory),
        within_s=within_s,
    )
    progress(f"figures: {used.said.decode().splitlines()[-1]}")
    [run] = (out / "runs").glob("diff-*")
    # nobody signed these rows: all that differ are told as false, and no signature is looked at
    if tuple(found(run / "false", side) for side in "ab") != planted:
        raise RuntimeError(f"the diff of two times {ids:,} ids found something else than planted")
    params: Params = {"ids": ids, "memory": memory, "prepared": class_archive.kept() is not None}
    return [
        at_most(
            "pipeline_diff_cpu", used.seconds, "CPU s", GOAL_CPU_S * max(1, ids / MANY), params
        ),
        at_most("pipeline_diff_memory", used.megabytes, "MB", GOAL_MEMORY_MB, params),
        Result("pipeline_diff_wall", used.wall_s, "s", params=params),
    ]


def pipeline_diff(place: Path) -> Iterator[Result]:
    """Two archives of 10 M ids: the one with the goal of processor time."""
    yield from measure(place, MANY, MANY, MEMORY, WITHIN_S)


def pipeline_diff_50m(place: Path) -> Iterator[Result]:
    """Two archives of 50 M ids: the one with the goal of memory."""
    yield from measure(place, 5 * MANY, MANY, MEMORY, WITHIN_S)


BENCHMARKS: Final = (pipeline_diff, pipeline_diff_50m)


def main() -> None:
    """Measure archives of any size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    parser.add_argument("--ids", type=int, default=MANY, help="of each archive")
    parser.add_argument("--ids-a-day", type=int, default=MANY)
    parser.add_argument("--memory", default=MEMORY)
    parser.add_argument("--within", type=float, default=WITHIN_S, help="seconds the diff may take")
    parser.add_argument("--keep", type=Path, help="make the archives here, and leave them")
    options = parser.parse_args()
    root = options.keep or Path(tempfile.mkdtemp(prefix="chat-tui-bench-"))
    try:
        results = measure(
            root, options.ids, options.ids_a_day, options.memory, within_s=options.within
        )
    finally:
        if options.keep is None:
            shutil.rmtree(root)
    for result in results:
        print(result.to_json())


if __name__ == "__main__":
    main()
