"""What the exact diff of two large archives costs: `python -m tests.bench.bench_pipeline_diff`.

It makes two archives of `--ids` random sync hashes, `--ids-a-day` of them each day, at random times
of it: A lacks 20 here and there, B lacks five whole minutes of each day and 140 in 53 others.
Headers and bodies are empty, so a row is little more than its hash; the files are else as
`chat-tui export` writes them. The diff runs as a person runs
it, in a process of its own with `--memory`; its processor time and memory are those of Python and
Java together (`tests.bench.used`). What it found is compared
with what was planted, id by id.

Two archives of 50 M ids (`--ids 50000000`) take 5.5 GB of disk.
"""

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from storage.parquet import COMPRESSION, texts_of
from storage.tables import (
    HISTORY,
    HISTORY_DIR,
    ROW_GROUP,
    SYNC_HASH,
    Note,
    day_of,
    partition,
)
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

GOAL_CPU_S: Final = 40.0
"""Of two archives of 10 M ids."""

GOAL_MEMORY_MB: Final = 2048.0
"""Of two archives of 50 M ids."""

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
        Note([name], {CHANNEL: "bench"}, {}, {}).write(root / name)
    return only_a, only_b


def found(export: Path) -> set[bytes]:
    """Return the hashes in an export that the diff wrote."""
    rows: set[bytes] = set()
    for file in export.rglob("*.parquet"):
        table = pq.ParquetFile(file).read(columns=list(SYNC_HASH))
        words = np.stack([table[name].to_numpy() for name in SYNC_HASH], axis=1)
        rows |= {row.tobytes() for row in words}
    return rows


def main() -> int:
    """Make the archives, compare them, compare what was found with what was planted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="the only form there is")
    parser.add_argument("--ids", type=int, default=10_000_000, help="of each archive")
    parser.add_argument("--ids-a-day", type=int, default=10_000_000)
    parser.add_argument("--memory", default="2g")
    parser.add_argument("--within", type=float, default=450.0, help="seconds the diff may take")
    parser.add_argument("--keep", type=Path, help="make the archives here, and leave them")
    options = parser.parse_args()
    root = options.keep or Path(tempfile.mkdtemp(prefix="chat-tui-bench-"))
    try:
        planted = generate(root, options.ids, options.ids_a_day)
        out = root / "out"
        shutil.rmtree(out, ignore_errors=True)
        program = "from chat_tui.main import main; main()"
        command = [sys.executable, "-c", program, "pipeline", "diff", "--json"]
        names = [str(root / "a"), str(root / "b"), "--out", str(out), "--memory", options.memory]
        used = measured(*command, *names, within_s=options.within)
        [run] = (out / "runs").glob("diff-*")
        exact = (found(run / "for_b"), found(run / "for_a")) == planted
    finally:
        if options.keep is None:
            shutil.rmtree(root)
    progress(f"figures: {used.said.decode().splitlines()[-1]}")
    params: Params = {"ids": options.ids, "memory": options.memory, "exact": str(exact)}
    for result in (
        at_most("diff_cpu", used.seconds, "s", GOAL_CPU_S * max(1, options.ids / 10**7), params),
        at_most("diff_memory", used.megabytes, "MB", GOAL_MEMORY_MB, params),
        Result("diff_wall", used.wall_s, "s", params=params),
    ):
        print(result.to_json())
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
