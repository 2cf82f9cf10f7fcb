"""A row of a history is right only if all of it is what its author signed."""

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest

from storage.archive.tables import HISTORY, SYNC_HASH, signed, sync_words
from storage.pipeline.consolidate.verify import (
    CHOSEN,
    CLAIMS,
    COLUMNS,
    LINKS,
    REASON,
    Check,
    verified,
    wrong,
)
from sync.group.values import StoredMessage
from tests.support.sync.changed import replied
from tests.support.sync.entries import Author

HUGE_LOG = 2**64 - 5


def row_of(message: StoredMessage) -> dict[str, Any]:
    """Return the row that an export has of a message, by column."""
    entry, header = message.entry, message.entry.header
    return {
        "channel": message.channel,
        "message_id": bytes.fromhex(entry.message_id),
        **dict(zip(SYNC_HASH, sync_words(message.waku_hash), strict=True)),
        "created_ns": header.created_ns,
        "lamport": header.lamport,
        "author": header.author,
        "log": signed(header.log),
        "seq": header.seq,
        "parents": [bytes.fromhex(parent.message_id) for parent in header.parents],
        "kind": header.kind,
        "header": entry.header_bytes,
        "signature": entry.signature,
        "body": entry.body,
        "backlink": None if header.backlink is None else bytes.fromhex(header.backlink),
        "skiplink": None if header.skiplink is None else bytes.fromhex(header.skiplink),
        "governance": None,
        "reply_to": None,
    }


def written() -> StoredMessage:
    """A message that has a parent, in a log whose number fits no signed long."""
    author = Author("alice", log=HUGE_LOG)
    return author.write("second", after=[author.write("first")])


def values(row: dict[str, Any], **other: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """A row in the order of the columns, some of them other than they were."""
    changed = row | other
    return tuple(changed[name] for name in COLUMNS)


def test_what_was_signed_is_right() -> None:
    assert wrong(values(row_of(written()))) is None


@pytest.mark.parametrize("column", CLAIMS)
def test_a_column_that_was_not_signed_is_named(column: str) -> None:
    row = row_of(written())
    value = row[column]
    other = value + 1 if isinstance(value, int) else value[:-1]

    assert wrong(values(row, **{column: other})) == f"not as signed: {column}"


def test_what_a_reply_answers_is_held_against_its_body() -> None:
    author = Author("alice")
    target = author.write("tea?")
    row = row_of(replied(Author("bob"), "yes", target))
    answered = bytes.fromhex(target.entry.message_id)

    assert wrong(values(row, reply_to=answered)) is None
    assert wrong(values(row)) is None, "an older export has no such column"
    assert wrong(values(row, reply_to=bytes(32))) == "not as signed: reply_to"
    assert wrong(values(row_of(target), reply_to=answered)) == "not as signed: reply_to"


def test_a_signature_of_somebody_else_is_refused() -> None:
    row = row_of(written())
    forged = bytes([row["signature"][0] ^ 1]) + row["signature"][1:]

    assert wrong(values(row, signature=forged)) == "the signature is not its author's"
    assert wrong(values(row, signature=b"")) == "signature of 0 bytes"


def test_another_body_than_was_signed_is_refused() -> None:
    row = row_of(written())
    other = row["body"][:-1] + b"!"

    assert wrong(values(row, body=other)) == "the body is not the one that was signed"
    assert str(wrong(values(row, body=b"short"))).startswith("body of 5 bytes")


def test_what_is_no_header_or_is_not_there_is_refused() -> None:
    row = row_of(written())

    assert str(wrong(values(row, header=b"\xff"))).startswith("not a signed entry")
    for column in [name for name in COLUMNS if name not in LINKS]:
        assert wrong(values(row, **{column: None})) == f"no {column}"


def test_the_first_right_row_of_an_id_is_chosen() -> None:
    row, other = row_of(written()), row_of(Author("bob").write())
    check = Check()

    rows = [values(row, lamport=0), values(row), values(row), values(other)]

    assert [check(one) for one in rows] == [
        ("not as signed: lamport", False),
        (None, True),
        (None, False),
        (None, True),
    ]


def test_batches_come_back_with_what_is_wrong() -> None:
    schema = pa.schema([*(HISTORY.field(name) for name in COLUMNS), (REASON, pa.string())])
    row = row_of(written())
    known = row | {REASON: "known before"}
    batch = pa.RecordBatch.from_pylist([known, row, row | {"signature": bytes(64)}], schema)

    [checked] = verified([batch])

    assert checked.schema == schema.append(pa.field(CHOSEN, pa.bool_()))
    assert checked.select(list(COLUMNS)).equals(batch.select(list(COLUMNS)))
    reasons = ["known before", None, "the signature is not its author's"]
    assert checked.column(REASON).to_pylist() == reasons
    assert checked.column(CHOSEN).to_pylist() == [False, True, False]


def test_an_executor_imports_nothing_of_a_running_chat() -> None:
    found = "import storage.pipeline.consolidate.verify, sys; print(*sys.modules)"

    said = subprocess.run([sys.executable, "-c", found], capture_output=True, check=True, text=True)

    loaded = {name.partition(".")[0] for name in said.stdout.split()}
    assert "nacl" in loaded
    assert not loaded & {"aiosqlite", "zeroconf", "textual", "rich", "pyspark", "chat_tui"}
