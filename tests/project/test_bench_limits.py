"""Limits are ratios of steady runs, and their floor writes and reads what the program does."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

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
from tests.support.storage.stores import ME, ids
from tests.support.sync.entries import CHANNEL, Author

CALM = Calibration(100.0, 1.0)


def run(value: float, after: Calibration = CALM) -> Run:
    return Run((Figure("rate", value, 100.0, "messages/s", 0.5, largest_wins=True),), CALM, after)


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
    assert json.loads(line)["runs"] == 2


def test_the_page_shows_what_was_measured() -> None:
    text = page.PAGE.read_text(encoding="utf-8")

    shown = page.with_table(text, page.read(page.MEASURED).values())

    assert shown == text, "run `python -m tests.bench.limits.page`"


def test_the_page_says_of_each_goal_that_is_missed_where_the_rest_goes() -> None:
    missed = json.loads(judged([run(40)], repeated=0)[0])

    assert page.REST["rate"] in page.table([missed])
    with pytest.raises(ValueError, match="unheard"):
        page.table([{**missed, "name": "unheard"}])


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
