"""The journal against a plain model, and against being killed."""

import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.group.logs import ChannelLogs, LogState, place_of
from sync.group.values import (
    ChannelState,
    OwnState,
    Record,
    SetDelivery,
    SetLog,
    SetStatus,
    Status,
    StoredMessage,
    StoreMessage,
)
from sync.machine import MessageId
from sync.sds.message import Delivery
from tests.support.storage.rows import log_of, log_rows, sync_rows
from tests.support.storage.stores import OWN_LOG, ids, opened, outline, parked_outline, restored
from tests.support.sync.entries import CHANNEL, Author

ROOT = Path(__file__).parents[3]
U64_MAX = (1 << 64) - 1

COMMIT_FOR_EVER = """
import asyncio, sys
from pathlib import Path
from sync.group.values import Status, StoreMessage
from tests.support.sync.entries import Author
from tests.support.storage.stores import opened

async def main(path: Path, name: str) -> None:
    author = Author(name)
    async with opened(path) as store:
        while True:
            batch = [author.write() for _ in range(3)]
            await store.journal.commit([StoreMessage(m, Status.DELIVERED) for m in batch])
            print(*[m.entry.message_id for m in batch], flush=True)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


class Model:
    """Reference model of a journal: what these records must give back, computed the plain way."""

    def __init__(self) -> None:
        self.log = OWN_LOG
        self.people = {"ann": Author("ann"), "bob": Author("bob")}
        self.mine = {OWN_LOG: Author("me", log=OWN_LOG)}
        self.stored: list[StoreMessage] = []
        self.attempts: dict[MessageId, int] = {}

    def messages(self, *statuses: Status) -> list[StoredMessage]:
        return [record.message for record in self.stored if record.status in statuses]

    def position(self, message: StoredMessage) -> tuple[int, MessageId]:
        return (message.entry.header.lamport, message.entry.message_id)

    def state(self) -> ChannelState:
        known = self.messages(Status.DELIVERED)
        by_position = sorted(known, key=self.position)
        named = {p.message_id for message in known for p in message.entry.header.parents}
        unnamed = [m for m in by_position if m.entry.message_id not in named]
        tips = [m for m in by_position if m in unnamed[-64:] or m in by_position[-2:]]
        held = self.messages(Status.DELIVERED, Status.WAITING, Status.LOADING)
        gaps = set(ids([one.message for one in self.stored if one.after_gap]))
        own = [m for author in self.mine.values() for m in author.entries]
        own_records = [record for record in self.stored if record.message in own]
        return ChannelState(
            log_number=self.log,
            log=log_rows(self.position(message) for message in by_position),
            sync_ids=sync_rows(sorted((m.entry.header.created_ns, m.waku_hash) for m in held)),
            logs=self.logs(held),
            own_log=tuple(ids(self.mine[self.log].entries)),
            own_created_ns=max([m.entry.header.created_ns for m in own], default=0),
            tips=tuple([outline(message) for message in tips][-64:]),
            outgoing=tuple(
                [
                    OwnState(
                        one,
                        record.delivery,
                        self.attempts[one],
                        record.message.entry.header.created_ns,
                        record.message.waku_hash,
                        record.message.entry.header.kind,
                    )
                    for record in sorted(own_records, key=lambda r: self.position(r.message))
                    for one in ids([record.message])
                    if record.delivery is not None and record.delivery is not Delivery.ACKNOWLEDGED
                ]
            ),
            waiting=tuple([outline(m) for m in self.messages(Status.WAITING)]),
            parked=tuple([parked_outline(m) for m in self.messages(Status.PARKED)]),
            loading=frozenset(ids(self.messages(Status.LOADING))),
            gaps=tuple([outline(m) for m in by_position if m.entry.message_id in gaps]),
        )

    def logs(self, held: list[StoredMessage]) -> tuple[LogState, ...]:
        logs = ChannelLogs()
        for message in held:
            header = message.entry.header
            logs.add(header.author, message.entry.message_id, place_of(header))
        return logs.states()

    def write(self, data: st.DataObject) -> Record:
        name = data.draw(st.sampled_from(["me", "ann", "bob"]))
        author = self.mine[self.log] if name == "me" else self.people[name]
        everything = [record.message for record in self.stored]
        named = st.lists(st.sampled_from(everything), max_size=3) if everything else st.just([])
        status = Status.DELIVERED if name == "me" else data.draw(st.sampled_from(Status))
        record = StoreMessage(
            author.write(
                str(len(self.stored)), after=data.draw(named), lamport=data.draw(st.integers(0, 9))
            ),
            status,
            after_gap=data.draw(st.booleans()),
            delivery=data.draw(st.sampled_from(Delivery)) if name == "me" else None,
        )
        self.stored.append(record)
        self.attempts[record.message.entry.message_id] = 0
        return record

    def change(self, data: st.DataObject) -> Record:
        index = data.draw(st.integers(0, len(self.stored) - 1))
        old = self.stored[index]
        one = old.message.entry.message_id
        if old.delivery is None:
            status, after_gap = data.draw(st.sampled_from(Status)), data.draw(st.booleans())
            self.stored[index] = StoreMessage(old.message, status, after_gap)
            return SetStatus(CHANNEL, one, status, after_gap)
        delivery = data.draw(st.sampled_from(Delivery))
        self.attempts[one] = data.draw(st.integers(0, 9))
        self.stored[index] = StoreMessage(old.message, old.status, old.after_gap, delivery)
        return SetDelivery(CHANNEL, one, delivery, self.attempts[one])

    def change_log(self, data: st.DataObject) -> Record:
        self.log = data.draw(st.sampled_from([OWN_LOG, 2, U64_MAX]))
        self.mine.setdefault(self.log, Author("me", log=self.log))
        return SetLog(CHANNEL, self.log)

    def record(self, data: st.DataObject) -> Record:
        steps = [self.write, self.write, self.change, self.change_log]
        return data.draw(st.sampled_from(steps if self.stored else [self.write]))(data)


@settings(max_examples=40)
@given(data=st.data(), commits=st.lists(st.integers(0, 12), min_size=1, max_size=4))
async def test_any_commits_give_the_state_of_a_plain_model(
    data: st.DataObject, commits: list[int]
) -> None:
    model = Model()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "chat.db"
        for size in commits:
            async with opened(path) as store:
                state = await restored(store, *[model.record(data) for _ in range(size)])
                page = await store.history.page(CHANNEL, before=None, limit=100)
                loaded = await store.journal.load(CHANNEL, [*model.attempts])
            assert state == model.state()
            assert [line.position for line in page] == log_of(state.log)
            assert [(one.payload, one.after_gap, one.delivery) for one in loaded.values()] == [
                (record.message.payload, record.after_gap, record.delivery)
                for record in model.stored
            ]


def write_until_killed(path: Path, name: str, lines: int) -> list[MessageId]:
    """The ids that a process reported as committed until it was killed, after `lines` reports."""
    command = [sys.executable, "-c", COMMIT_FOR_EVER, str(path), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        reports = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        reports += [line for line in writer.stdout if line.endswith("\n")]
    return [MessageId(one) for report in reports for one in report.split()]


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 2, 7, 20, 50])
async def test_what_was_committed_survives_a_kill(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "chat.db"

    reported = [
        one for name in ("ann", "bob", "cem") for one in write_until_killed(path, name, lines)
    ]

    connection = sqlite3.connect(path)
    integrity = connection.execute("PRAGMA integrity_check").fetchall()
    connection.close()
    async with opened(path) as store:
        state = await store.journal.restore(CHANNEL)

    assert integrity == [("ok",)]
    assert len(reported) >= 3 * 3 * lines
    assert set(reported) <= {one for _, one in log_of(state.log)}
    assert len(log_of(state.log)) % 3 == 0
