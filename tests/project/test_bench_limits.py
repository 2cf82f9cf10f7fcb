"""Limits are ratios of steady runs, and their floor writes and reads what the program does."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.entries.identity import verify
from sync.group.ingest import Gate
from tests.bench import bench_reconcile
from tests.bench.limits import command, page, reconcile
from tests.bench.limits.calibration import Calibration
from tests.bench.limits.figures import Figure, Limit, Run, judged
from tests.bench.limits.floor_messages import SIGNATURES, OpenSsl, Receiver, Sender, Tables
from tests.bench.limits.registry import LIMITS
from tests.bench.report import Params
from tests.support.storage.stores import ME, ids
from tests.support.sync.entries import CHANNEL, Author

CALM = Calibration(100.0, 1.0)


def run(value: float, after: Calibration = CALM) -> Run:
    return Run((Figure("rate", value, 100.0, "messages/s", 0.5, largest_wins=True),), CALM, after)


def stored(name: str, params: Params) -> dict[str, Any]:
    """Return a line of five steady runs that has no goal."""
    figures = (Figure(name, 60.0, 100.0, "ms", None, params=params),)
    (line,) = judged([Run(figures, CALM, CALM)] * 5, repeated=0)
    told: dict[str, Any] = json.loads(line)
    return told


def test_the_median_of_the_ratios_is_judged_and_the_spread_is_told() -> None:
    told = [json.loads(line) for line in judged([run(40), run(60), run(90)], repeated=1)]

    assert [(one["value"], one["met"], one["spread"]) for one in told] == [(0.6, True, [0.4, 0.9])]
    assert told[0]["repeated"] == 1


def test_a_machine_that_moved_by_more_than_a_seventh_is_another_one() -> None:
    assert not CALM.moved(Calibration(114.0, 0.9))
    assert CALM.moved(Calibration(116.0, 1.0))
    assert CALM.moved(Calibration(100.0, 0.8))


def test_a_run_of_a_machine_that_moved_is_repeated_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def measure(_place: Path, _words: Sequence[str]) -> Iterable[Figure]:
        asked.append(1)
        return run(50).figures

    def machine(values: Iterator[Calibration]) -> None:
        monkeypatch.setattr(Calibration, "taken", lambda _place: next(values))

    moving = Calibration(200.0, 1.0)
    machine(iter([CALM, moving, *[CALM] * 4]))
    (line,) = command.measured(Limit("some", measure), [], 2)
    assert (len(asked), json.loads(line)["repeated"]) == (3, 1)

    asked.clear()
    machine(iter([CALM, moving] * 100))
    (line,) = command.measured(Limit("some", measure), [], 2)
    assert len(asked) == 2 + command.REPEATS_MAX
    told = json.loads(line)
    assert (told["runs"], told["repeated"], told["unsteady"]) == (2, command.REPEATS_MAX, 2)


def test_a_line_tells_how_many_of_its_runs_were_unsteady() -> None:
    moving = Calibration(200.0, 1.0)

    (line,) = judged([run(50), run(50, after=moving), run(50)], repeated=3)

    assert json.loads(line)["unsteady"] == 1


def test_numbers_in_params_are_medians_too() -> None:
    told: list[Params] = [{"by": "waku", "messages": 10, "p50_ms": at} for at in (9.0, 3.5, 4.5)]
    runs = [Run((Figure("some", 6, 9, "ms", None, params=one),), CALM, CALM) for one in told]

    (line,) = judged(runs, repeated=0)

    assert json.loads(line)["params"] == {"by": "waku", "messages": 10, "p50_ms": 4.5}


def test_five_runs_count_unless_one_takes_minutes() -> None:
    others = {name: limit.runs for name, limit in LIMITS.items() if limit.runs != 5}

    assert others == {"million": 1}


def test_the_page_shows_what_was_measured() -> None:
    text = page.PAGE.read_text(encoding="utf-8")

    shown = page.with_table(text, page.read(page.MEASURED).values())

    assert shown == text, "run `python -m tests.bench.limits.page`"


def test_the_page_says_of_each_goal_that_is_missed_where_the_rest_goes() -> None:
    missed = json.loads(judged([run(40)], repeated=0)[0])

    assert page.REST["rate"] in page.table([missed])
    with pytest.raises(ValueError, match="unheard"):
        page.table([{**missed, "name": "unheard"}])


def test_a_row_says_how_many_messages_it_is_of() -> None:
    row = page.table([stored("newcomer_cpu", {"entries": 10_000, "protocol": "waku"})])

    assert "| `newcomer_cpu` | 10,000 messages, protocol waku | 3.7 |" in row


def test_a_row_tells_its_parameters_in_short_and_none_that_its_name_tells() -> None:
    timed = stored("latency_500_p99", {"rate": 500, "p50_ms": 7.0, "processors": 1.48})
    sets: Params = {"ids": 10**6, "differ": 10, "shape": "recent", "negentropy": "0123456789ab" * 3}

    rows = page.table([timed, stored("reconcile_1000000_10_recent", sets)])

    assert "| p50 7.0 ms, 1.48 processors |" in rows
    assert "| 1,000,000 ids, negentropy 0123456789ab |" in rows


def test_a_row_says_which_runs_were_unusual() -> None:
    steady = stored("some", {})
    few = {**steady, "runs": 3, "unsteady": 2}
    old = {name: value for name, value in steady.items() if name != "unsteady"}

    assert "(0.60 to 0.60) |" in page.table([steady])
    assert "(0.60 to 0.60; 3 runs; 2 unsteady) |" in page.table([few])
    assert page.table([old]) == page.table([steady])


def test_the_page_tells_what_was_not_kept_up_with_before() -> None:
    assert "| not kept up | 0.60 " in page.table([stored("latency_2500_p99", {})])


def test_each_case_of_reconcile_has_a_name_and_the_goal_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goals = {case.name: case.goal for case in reconcile.CASES}
    assert len(goals) == len(reconcile.CASES)
    assert goals["reconcile_1000000_1000_uniform"] == 1.0
    assert goals["reconcile_1000000_1000_recent"] == 1.4

    cases = reconcile.Case(500, 20, "uniform", 1.0), reconcile.Case(500, 20, "recent", 1.4)
    monkeypatch.setattr(reconcile, "CASES", cases)
    told = {"commit": "abc", "seconds": 1, "bytes": 9, "payloads": 2, "have": 10, "need": 10}
    binary = tmp_path / "negentropy"
    binary.write_text(f"#!/bin/sh\necho '{json.dumps(told)}'\n", encoding="ascii")
    binary.chmod(0o700)

    figures = list(reconcile.measure(tmp_path, ["--negentropy", str(binary)]))

    assert [(one.name, one.goal) for one in figures] == [
        ("reconcile_500_20_uniform", 1.0),
        ("reconcile_500_20_uniform_bytes", None),
        ("reconcile_500_20_recent", 1.4),
        ("reconcile_500_20_recent_bytes", None),
    ]
    assert {one.params["negentropy"] for one in figures} == {"abc"}


@pytest.mark.parametrize("library", SIGNATURES)
def test_the_floor_writes_messages_that_the_one_way_in_takes(library: str) -> None:
    sender, gate = Sender(SIGNATURES[library]()), Gate.of(CHANNEL, verify)
    written = [sender.write(f"line {number}") for number in range(9)]

    for one in written:
        stored = gate.check(gate.read(one.payload))
        assert (stored.payload, stored.waku_hash) == (one.payload, one.waku_hash)


@pytest.mark.parametrize("library", SIGNATURES)
def test_the_floor_reads_what_an_author_wrote(library: str) -> None:
    author, receiver = Author("alice"), Receiver(SIGNATURES[library]())
    first = author.write("one")
    second = author.write("two", after=[first])

    read = [receiver.read(one.payload) for one in (first, second)]

    assert [one.waku_hash for one in read] == [first.waku_hash, second.waku_hash]
    assert [one.text for one in read] == ["one", "two"]


async def test_the_floor_stores_what_the_journal_gives_back(tmp_path: Path) -> None:
    sender, tables = Sender(OpenSsl()), Tables(tmp_path / "floor.db")
    written = [sender.write(f"line {number}") for number in range(5)]
    tables.store(written)
    tables.close()

    database = await Database.open(tmp_path / "floor.db")
    state = await SqliteJournal(database, ME).restore(CHANNEL)
    await database.close()

    assert len(state.log) == len(written) * (8 + 32)
    assert ids(state.tips)[-1] == written[-1].id.hex()


def test_the_file_of_a_set_is_read_as_the_set(tmp_path: Path) -> None:
    sets = bench_reconcile.made(500, 20, "uniform", 1)
    files = tmp_path / "ours.bin", tmp_path / "theirs.bin"
    for path, columns in zip(files, (sets.ours, sets.theirs), strict=True):
        path.write_bytes(reconcile.file_of(*columns))

    again = bench_reconcile.read(*files)

    assert (again.have, again.need) == (sets.have, sets.need) == (10, 10)
    assert again.ours[0].tolist() == sets.ours[0].tolist()
    assert again.theirs[1].tobytes() == sets.theirs[1].tobytes()
