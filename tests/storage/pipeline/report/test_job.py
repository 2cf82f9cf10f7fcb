"""The report of what is published: words, one page, and what the chat reads of it."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage import report as reports
from storage.archive.consolidated import IN_FILES, write_names
from storage.pipeline.command import cli
from storage.pipeline.delivery.latency import PERCENTS
from storage.pipeline.errors import PipelineError
from storage.pipeline.report import job
from storage.pipeline.report.number_text import bytes_text, share, span
from storage.pipeline.report.plots import wilson
from storage.pipeline.report.sections import TITLES
from storage.pipeline.results.publishing import Results, Run
from storage.report import Report, Section, read_report
from sync.errors import LocalError
from sync.group.values import StoredMessage
from tests.support.storage.archived import row_of
from tests.support.sync.entries import CHANNEL, Author

US_OF_MS = 1000


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a user who has none yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def write(run: Run, name: str, rows: list[dict[str, Any]]) -> None:
    """Write a table as a job does."""
    directory = run.directory / name
    directory.mkdir()
    pq.write_table(pa.Table.from_pylist(rows), directory / "part.parquet")


def spread(**figures: object) -> dict[str, Any]:
    at = {f"p{name}_us": name * US_OF_MS * 1.0 for name in (50, 95, 99)}
    return {"count": 100, "negative": 0, "least_us": 0, "most_us": 100_000} | at | figures


LOAD = {
    "groups": 1,
    "messages": 4,
    "participants": 5.0,
    "missing_at": 6,
    "repaired_at": 5,
    "lost_at": 1,
    "requests": 8,
    "answers": 6,
    "answers_in_group": 6,
    "answers_per_group": 1.5,
    "answers_per_member": 0.3,
}


def delivery_figures() -> dict[str, Any]:
    return {
        "nodes": 5,
        "channels": 1,
        "nodes_without_host": 0,
        "from_ns": 0,
        "to_ns": 60_000_000_000,
        "messages": 100,
        "sends": 103,
        "sent_bytes": 40_000,
        "receptions": 500,
        "deliveries": 400,
        "receptions_per_delivery": 1.25,
        "due": 401,
        "delivered_of_due": 400,
        "of_unknown_senders": 0,
        "latency": spread(negative=3, least_us=-2_000),
        "convergence": {"nobody_there": 0, **spread(count=99)},
        "states": {
            "possibly_acknowledged": 40,
            "acknowledged": 99,
            "failed": 1,
            "times": {"sent to acknowledged": spread()},
        },
        "repair": {
            **{name: LOAD[name] for name in LOAD if name not in {"groups", "participants"}},
            "requests_per_message": 2.0,
            "answers_per_message": 1.5,
            "by_groups": [LOAD],
        },
        "filters": {
            "marked": 40,
            "false": 2,
            "messages": 100,
            "chances": 1000.0,
            "rate_found": 0.002,
            "rate_of_full_filter": 0.00074,
            "expected_at_most": 0.74,
        },
        "reconciliation": {
            "sides": 8,
            "ended": 8,
            "rounds": 24,
            "rounds_p50": 3.0,
            "rounds_most": 4,
            "bytes": 9000,
            "bytes_p50": 1000.0,
            "bytes_p95": 2000.0,
            "bytes_most": 2100,
        },
        "clocks": {"pairs": 0, "nodes_without_host": 0, "hosts": [], "largest": []},
    }


def distribution(**more: object) -> dict[str, Any]:
    return {
        "count": 100,
        "negative": 3,
        "least_us": -2000,
        "most_us": 100_000,
        "at_us": [percent * US_OF_MS for percent in PERCENTS],
        **more,
    }


def publish_delivery(results: Results, node: str = "ab" * 32) -> None:
    """Publish a small delivery."""
    with results.run("delivery") as run:
        run.figures = delivery_figures()
        write(run, "latency", [distribution()])
        write(
            run,
            "spans",
            [distribution(span=name) for name in ("until everybody had it", "sent to failed")],
        )
        cell = {"row": 0, "column": 1, "expected": 4, "delivered": 3}
        write(run, "matrix", [cell, cell | {"row": 1, "delivered": 4}])
        write(run, "members", [{"member": 1, "node": node}, {"member": 2, "node": "cd" * 32}])


def publish_audit(results: Results, reason: str = "two ids") -> None:
    with results.run("audit") as run:
        run.figures = {"findings": 2, "equivocations": 2}
        write(run, "equivocations", [{"author": reason, "message_id": b"\x12" * 32}] * 25)


def page_of(results: Results) -> str:
    published = results.published("report")
    assert published is not None
    return (published.directory / reports.PAGE).read_text(encoding="utf-8")


def reported(results: Results) -> Report:
    with results.run("report") as run:
        return job.make(results, run)


def test_a_report_says_what_was_found_and_what_is_missing(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    publish_delivery(results)
    publish_audit(results)

    report = reported(results)

    said = {section.job: dict(section.rows) for section in report.sections}
    assert [section.job for section in report.sections] == list(TITLES)
    assert said["delivery"]["delivered"] == "400 of 401 due (99.75 %)"
    assert said["delivery"]["latency"] == "p50 50 ms, p95 95 ms, p99 99 ms, most 100 ms"
    assert said["delivery"]["delivered before sent"].startswith("3 deliveries, by up to 2 ms")
    assert said["delivery"]["repair, for each of them"] == "2 requests, 1.5 answers"
    assert said["delivery"]["false “possibly acknowledged”"].startswith("2 of 40")
    assert said["audit"]["equivocations"] == "2"
    assert report.findings == 2
    absent = {section.job for section in report.sections if "has not run" in section.note}
    assert absent == set(TITLES) - {"delivery", "audit"}


def test_the_page_is_one_file_that_needs_nothing_else(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    publish_delivery(results)
    publish_audit(results)
    reported(results)

    page = page_of(results)

    root = ET.fromstring(page)  # ours
    assert "http" not in page
    loaded = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert all(one.startswith(("#", "data:image/png;base64,")) for one in loaded)
    assert page.count("<script") == page.count("<link") == page.count("@import") == 0
    assert len(root.findall(".//svg")) == 6
    assert "prefers-color-scheme" in page
    assert "currentColor" in page
    assert "equivocations: 25 (5 more in the table)" in page
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))


def test_what_peers_wrote_is_escaped(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    publish_delivery(results, node="<b>$x$\x1b[31m")
    publish_audit(results, reason="<script>alert('x')</script>\u202e&")
    reported(results)

    page = page_of(results)

    class Tags(HTMLParser):
        seen: set[str] = set()  # noqa: RUF012

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.seen.add(tag)

    tags = Tags()
    tags.feed(page)
    assert {"script", "b"} & tags.seen == set()
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp;" in page
    assert "&lt;b&gt;$x$" in page
    assert "\x1b" not in page
    ET.fromstring(page)  # ours


def test_the_same_results_make_the_same_page(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    publish_delivery(results)

    reported(results)
    first = page_of(results)
    reported(results)

    assert page_of(results) == first


def test_a_large_matrix_has_few_cells(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    publish_delivery(results)
    with results.run("delivery") as run:
        run.figures = delivery_figures()
        cell = {"expected": 4, "delivered": 3}
        rows = [cell | {"row": row, "column": column} for row in range(80) for column in range(48)]
        write(run, "matrix", rows)
        members = [{"member": at + 1, "node": f"{at:064x}"} for at in range(5000)]
        write(run, "members", members)
    reported(results)

    assert len(page_of(results)) < 400_000


def test_nothing_to_report_is_said_with_the_fix(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")

    with pytest.raises(PipelineError, match="no results"):
        reported(results)


def test_a_table_that_cannot_be_read_leaves_the_last_report(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    publish_audit(results)
    reported(results)
    before = page_of(results)
    published = results.published("audit")
    assert published is not None
    (published.directory / "equivocations" / "part.parquet").write_bytes(b"PAR1 no")

    with pytest.raises(PipelineError, match="run the job again"):
        reported(results)

    assert page_of(results) == before


def test_the_command_prints_tables_and_remembers_where(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    publish_audit(results)

    done = CliRunner().invoke(cli, ["report", "--out", str(tmp_path / "out")])

    assert done.exit_code == 1, "as the job that found them"
    assert "equivocations" in done.output
    assert "2 things found wrong." in done.output
    path, report = read_report()
    assert path.is_relative_to(tmp_path / "out")
    assert report.findings == 2


def test_the_command_prints_json(tmp_path: Path) -> None:
    publish_audit(Results(tmp_path / "out"))

    done = CliRunner().invoke(cli, ["report", "--json", "--out", str(tmp_path / "out")])

    assert json.loads(done.stdout)["findings"] == 2


def test_nobody_is_told_that_all_is_well_without_an_audit() -> None:
    audit = Section("audit", "Audit", [("findings", "0")])

    assert Report([audit]).verdict == "Nothing was found wrong."
    assert Report([Section("audit", "Audit", note="Missing.")]).verdict.startswith("No audit")
    assert Report([]).verdict.startswith("No audit")
    assert Report([Section("diff", "Diff", findings=1)]).verdict == "1 thing found wrong."


def test_a_report_is_read_as_it_was_written() -> None:
    section = Section("audit", "Audit", [("a", "b")], "note", 3)
    report = Report([section], {"audit": {"findings": 3}})

    assert Report.from_json(report.to_json()) == report


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1}', "[" * 99_999])
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Report.from_json(text)


def test_a_report_that_is_too_long_is_cut() -> None:
    rows = [["label", "x" * 400]] * 70
    section = {"job": "a", "title": "A", "note": "", "findings": 0, "rows": rows}
    text = json.dumps({"format": 1, "sections": [section] * 30, "figures": {}})

    report = Report.from_json(text)

    assert len(report.sections) == reports.SECTIONS_MAX
    assert len(report.sections[0].rows) == reports.ROWS_MAX
    assert len(report.sections[0].rows[0][1]) == reports.TEXT_MAX


def test_no_report_is_said_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="chat-tui pipeline report"):
        read_report()
    with pytest.raises(LocalError, match="no report in"):
        read_report(tmp_path)


def test_spans_and_shares_are_said_as_people_read_them() -> None:
    said = [span(us) for us in (-1500, 7, 1_234, 250_000, 1_500_000, 7.2e8, 3.6e10)]

    assert said == ["-1.5 ms", "7 µs", "1.23 ms", "250 ms", "1.5 s", "12.0 min", "10.0 h"]
    assert [share(1, 1), share(999_999, 1_000_000), share(0, 3)] == ["100 %", "99.99 %", "0 %"]


def test_wilson_is_what_the_book_says() -> None:
    low, high = wilson(1, 10)

    assert low == pytest.approx(0.0179, abs=1e-4)
    assert high == pytest.approx(0.4042, abs=1e-4)


def publish_history(results: Results, *messages: StoredMessage, holders: list[str]) -> None:
    """Publish a consolidated history of the channel #plans, and who holds all of it."""
    with results.run("consolidate") as run:
        run.figures = {"entries": len(messages), "findings": 0}
        where = run.directory / "history" / f"channel={CHANNEL}"
        where.mkdir(parents=True)
        rows = [row_of(message) for message in messages]
        pq.write_table(pa.Table.from_pylist(rows, IN_FILES), where / "part.parquet")
        write(
            run,
            "holders",
            [
                {"message_id": row["message_id"], "node": node, "channel": CHANNEL}
                for row in rows
                for node in holders
            ],
        )
        write_names(run.directory, {CHANNEL: "plans"})


def texts_of(page: str) -> list[list[str]]:
    """The cells of all evidence, as text, row by row."""
    rows = ET.fromstring(page).findall(".//table[@class='evidence']/tr")  # ours
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def test_evidence_has_the_reason_first_and_names_times_and_whole_ids(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    alice, bob = Author("alice"), Author("bob")
    message = alice.write("hello", created_ns=1_700_000_000_123_000_000)
    publish_history(results, message, bob.write(), holders=[alice.peer_id])
    with results.run("audit") as run:
        run.figures = {"findings": 1}
        told = {"node": bob.peer_id, "channel": CHANNEL, "author": alice.peer_id, "lamport": 1}
        ident = bytes.fromhex(message.entry.message_id)
        write(run, "unknown_dependencies", [told | {"message_id": ident, "parent": b"\x07" * 32}])
    reported(results)

    head, row = texts_of(page_of(results))[:2]

    assert head[0] == "created"
    assert row[0] == "2023-11-14 22:13:20.123"
    cells = dict(zip(head, row, strict=True))
    assert cells["channel"] == f"#plans {CHANNEL}"
    assert cells["author"] == f"alice {alice.peer_id}"
    assert cells["node"] == f"bob {bob.peer_id}"
    assert cells["message id"] == message.entry.message_id
    assert cells["parent"] == "07" * 32


def test_false_rows_have_their_reason_first(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    with results.run("consolidate") as run:
        run.figures = {"findings": 1}
        row = {"node": "ab", "message_id": b"\x01" * 32, "body": b"12345", "reason": "forged"}
        write(run, "quarantine", [row])
    reported(results)

    head, cells = texts_of(page_of(results))

    assert (head[0], cells[0]) == ("reason", "forged")
    assert (head[-1], cells[-1]) == ("body", "5 bytes")


def test_the_entries_of_a_fork_stand_side_by_side(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    alice = Author("alice")
    other = alice.fork()
    entries = [alice.write("yes", created_ns=10**18), other.write("no", created_ns=2 * 10**18)]
    publish_history(results, *entries, holders=[alice.peer_id])
    with results.run("audit") as run:
        run.figures = {"findings": 1}
        ids = [bytes.fromhex(one.entry.message_id) for one in entries]
        write(run, "equivocations", [{"author": alice.peer_id, "seq": 1, "message_ids": ids}])
    reported(results)

    head, row = texts_of(page_of(results))

    told = dict(zip(head, row, strict=True))
    assert told["entry 1"].splitlines() == [
        "2001-09-09 01:46:40.000",
        "Lamport time 1",
        f"held by alice ({alice.peer_id[:8]})",
        f" {entries[0].entry.message_id}",
    ]
    assert told["entry 2"].startswith("2033-05-18 03:33:20.000")


def test_a_cell_with_a_long_line_is_wide_on_narrow_screens(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    with results.run("consolidate") as run:
        run.figures = {"findings": 1}
        write(run, "quarantine", [{"node": "ab", "reason": "x" * 61, "kind": "x" * 60}])
    reported(results)

    cells = ET.fromstring(page_of(results)).findall(".//table[@class='evidence']/tr/td")  # ours

    wide = [cell.get("class") for cell in cells if (cell.text or "").startswith("xxx")]
    assert wide == ["long", None]


def test_the_page_says_when_and_how_it_was_made_and_where_tables_are(tmp_path: Path) -> None:
    out = tmp_path / "out"
    results = Results(out)
    made = {
        "command": "chat-tui pipeline all office --out out",
        "from": ["/srv/office"],
        "sources": 1,
        "at": "2026-11-23T08:00:00+00:00",
    }
    with results.run("audit", made) as run:
        run.figures = {"findings": 0}
        write(run, "missing", [{"node": "ab"}])
    reported(results)

    page = page_of(results)
    text = "".join(ET.fromstring(page).itertext())  # ours

    assert "Made 2026-11-23 08:00:00 UTC from /srv/office by chat-tui pipeline all" in text
    assert f"chat-tui pipeline show {out} audit/missing" in text
    table = out / "runs" / "audit-1" / "missing"
    assert f"SELECT * FROM read_parquet('{table}/**/*.parquet')" in text
    [contents] = re.findall("<nav.*?</nav>", page)
    assert re.findall('href="#([a-z]+)"', contents) == list(TITLES)


def test_the_query_of_the_page_reads_its_table(tmp_path: Path) -> None:
    results = Results(tmp_path / "it's out")
    with results.run("audit") as run:
        run.figures = {"findings": 3}
        write(run, "missing", [{"node": "ab"}] * 3)
    reported(results)

    text = "".join(ET.fromstring(page_of(results)).itertext())  # ours
    [query] = re.findall(r"SELECT \* FROM read_parquet\('.*?parquet'\)", text)

    # a program of its own: as it ends, DuckDB tells of what it leaks
    program = "import sys, duckdb; print(len(duckdb.sql(sys.argv[1]).fetchall()))"
    ended = subprocess.run(
        [sys.executable, "-c", program, query], capture_output=True, text=True, check=True
    )

    assert ended.stdout == "3\n"


def test_a_quantity_has_one_unit() -> None:
    said = [bytes_text(count) for count in (999, 5_984, 160_702, 321_404, 7_904_000, 2.5e9)]

    assert said == ["999 bytes", "5.98 kB", "161 kB", "321 kB", "7.9 MB", "2.5 GB"]
