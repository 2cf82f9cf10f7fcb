"""Logs made by hand for the job of delivery, and what it published of them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive import tables
from storage.archive.tables import LOG, Note, partition
from sync.machine import MILLISECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = "1970-01-01"
ANN, BOB, CAT = "aa" * 32, "bb" * 32, "cc" * 32
DAN, EVE = "dd" * 32, "ee" * 32
NODES = (ANN, BOB, CAT)

Event = tuple[int, str, str, bytes | None]
"""(ms, node, kind, message)"""

STORIES = GOT, LATER, STATES, LOST, CLOCKS, TWICE = tuple(f"{number:04x}" for number in range(6))
"""Channels, each with a story of its own."""

HOSTS = {DAN: "one", EVE: "two"} | dict.fromkeys(NODES, "three")


NUMBERS = 60
"""Messages of a channel that have a place."""


def named(channel: str, number: int) -> bytes:
    """An id of its own for each message of a channel."""
    return hashlib.sha256(f"{channel} {number}".encode()).digest()


def lamport_of(channel: str, ms: int, message: bytes | None) -> int | None:
    """Return the place of a message in its channel; nobody's is at both ends."""
    places = {named(channel, number): 10 * number for number in range(1, NUMBERS)}
    return None if message is None else (places | {named(channel, 9): ms})[message]


def around(channel: str, *nodes: str) -> list[Event]:
    """Nodes that have something before and after all else: a message that nobody sent."""
    return [(at, node, "duplicate", named(channel, 9)) for at in (0, 60_000) for node in nodes]


def story(channel: str) -> list[Event]:
    """Return the events of a channel."""
    hello, late = named(channel, 1), named(channel, 2)
    match channel:
        case "0000":
            return [
                *around(channel, *NODES),
                (1000, ANN, "sent", hello),
                (1010, BOB, "received", hello),
                (1010, BOB, "delivered", hello),
                (1020, BOB, "duplicate", hello),
                (1030, CAT, "received", hello),
                (1030, CAT, "buffered", hello),
                (1500, CAT, "delivered", hello),
                (6000, ANN, "sent", hello),
                (2000, BOB, "sent", late),
                (2040, ANN, "received", late),
                (2040, ANN, "delivered", late),
            ]
        case "0001":
            return [
                *around(channel, ANN, BOB),
                (1000, ANN, "sent", hello),
                (1010, BOB, "delivered", hello),
                (5000, CAT, "received", hello),
                (5000, CAT, "delivered", hello),
            ]
        case "0002":
            return [
                *around(channel, *NODES),
                (1000, ANN, "sent", hello),
                (1300, ANN, "possibly acknowledged", hello),
                (1400, BOB, "received", hello),
                (1900, ANN, "acknowledged", hello),
                (2000, BOB, "sent", late),
                (2100, CAT, "received", late),
                (2200, BOB, "possibly acknowledged", late),
                (9000, BOB, "failed", late),
            ]
        case "0003":
            return [
                *around(channel, *NODES),
                (1000, ANN, "sent", hello),
                (2000, BOB, "missing", hello),
                (3000, BOB, "repair requested", hello),
                (4000, BOB, "repair requested", hello),
                (4500, CAT, "repair answered", hello),
                (4600, BOB, "received", hello),
                (4600, BOB, "repaired", hello),
                (1500, ANN, "sent", late),
                (2000, CAT, "missing", late),
                (9000, CAT, "lost", late),
            ]
        case "0004":  # eve's clock is 500 ms behind dan's; it takes 20 ms there and 40 ms back
            return [
                *around(channel, DAN, EVE),
                (10_000, DAN, "sent", hello),
                (9_520, EVE, "received", hello),
                (9_520, EVE, "delivered", hello),
                (20_000, EVE, "sent", late),
                (20_540, DAN, "received", late),
                (20_540, DAN, "delivered", late),
            ]
        case _:
            return [
                *around(channel, *NODES),
                (1000, ANN, "sent", hello),
                (1005, BOB, "sent", hello),
                (1100, BOB, "acknowledged", hello),
            ]


def rows_of(channel: str, events: Sequence[Event], **more: object) -> list[dict[str, Any]]:
    return [
        {
            "run": "test",
            "boot": 1,
            "seq": seq,
            "ts_ns": ms * MILLISECOND,
            "node": node,
            "channel": channel,
            "kind": kind,
            "message_id": message,
            "lamport": lamport_of(channel, ms, message),
            "bytes": 400,
            **more,
        }
        for seq, (ms, node, kind, message) in enumerate(events, 1)
    ]


def sessions() -> list[dict[str, Any]]:
    """A reconciliation, as both of its sides note it."""
    steps = [(1000, "session started", 1, None), (1100, "session round", 1, 60)]
    steps += [(1200, "session round", 2, 90), (1300, "session ended", 2, 150)]
    return [
        row | {"session": 7, "round": number, "bytes": size, "peer": CAT}
        for ms, kind, number, size in steps
        for node in (ANN, BOB)
        for row in rows_of(GOT, [(ms, node, kind, None)])
    ]


def export(directory: Path, rows: Sequence[dict[str, Any]], hosts: dict[str, str]) -> Path:
    """Write an export with a log."""
    directory.mkdir(parents=True)
    Note([*NODES, DAN, EVE], {}, hosts, {}).write_files(directory)
    for channel in {row["channel"] for row in rows}:
        where = directory / partition(tables.LOG_DIR, channel, DAY)
        where.mkdir(parents=True)
        chosen = [row for row in rows if row["channel"] == channel]
        pq.write_table(pa.Table.from_pylist(chosen, LOG), where / "a.parquet")
    return directory


@dataclass(frozen=True, slots=True)
class Ran:
    """Published results of the job."""

    figures: dict[str, Any]
    directory: Path

    def table(self, name: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = pq.read_table(self.directory / name).to_pylist()
        return rows

    def message(self, channel: str, number: int) -> dict[str, Any]:
        message_id = named(channel, number)
        [row] = [row for row in self.table("messages") if row["message_id"] == message_id]
        return row

    def fact(self, channel: str, number: int, node: str) -> dict[str, Any]:
        [member] = [
            row["member"]
            for row in self.table("members")
            if (row["channel"], row["node"]) == (channel, node)
        ]
        wanted = (named(channel, number), member)
        facts = self.table("facts")
        [row] = [row for row in facts if (row["message_id"], row["member"]) == wanted]
        return row


def keep_out(directory: Path, channel: str, *told: tuple[str, int, str]) -> None:
    """Write to an export which nodes did not let in which messages of a channel, and why."""
    where = directory / tables.NOT_LET_IN_DIR / f"channel={channel}"
    where.mkdir(parents=True)
    rows = [
        {"node": node, "channel": channel, "message_id": named(channel, number), "label": label}
        for node, number, label in told
    ]
    table = pa.Table.from_pylist(rows, tables.NOT_LET_IN)
    pq.write_table(table, where / tables.NOT_LET_IN_FILE)


def all_rows() -> list[dict[str, Any]]:
    """Return a log with all stories, a reconciliation, and a row whose time is absurd."""
    rows = sessions()
    for channel in STORIES:
        rows += rows_of(channel, story(channel))
    absurd = rows_of(GOT, [(0, BOB, "delivered", named(GOT, 1))])[0] | {"ts_ns": -(2**63)}
    return [row | {"seq": seq} for seq, row in enumerate([*rows, absurd], 1)]


def run_job(spark: "SparkSession", directory: Path, rows: Sequence[dict[str, Any]]) -> Ran:
    """Run the job over one export of these rows."""
    made = export(directory / "export", rows, HOSTS)
    return run_over(spark, directory / "out", made)


def run_over(spark: "SparkSession", out: Path, *exports: Path) -> Ran:
    """Run the job over exports."""
    from storage.pipeline.delivery import job  # noqa: PLC0415
    from storage.pipeline.inputs.inputs import Inputs  # noqa: PLC0415  # pyspark, for these tests alone
    from storage.pipeline.job_context import Work  # noqa: PLC0415
    from storage.pipeline.results.publishing import Results  # noqa: PLC0415

    results = Results(out)
    with results.run("delivery") as run:
        job.run(Work(spark, Inputs.find(exports), results, run, out))
    published = results.published("delivery")
    assert published is not None
    return Ran(published.figures, published.directory)
