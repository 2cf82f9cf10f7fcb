"""Entries that delta sync owes: parents first, once each, in pages, within what may be brought."""

import pytest

from sync.calimero.log import delta_sending
from sync.calimero.log.delta_sending import DeltaSending
from sync.group.values import StoredMessage
from sync.sessions.values import PAGE, LoadedEntry
from sync.structures.ordered_set import OrderedSet, SyncId
from tests.support.sync.meetings.delta_pairs import conversation


def place(line: StoredMessage) -> tuple[int, bytes]:
    return line.entry.header.lamport, bytes.fromhex(line.entry.message_id)


def row(line: StoredMessage) -> LoadedEntry:
    return LoadedEntry(line.entry, SyncId(line.entry.header.created_ns, line.waku_hash))


def frozen(lines: list[StoredMessage]) -> OrderedSet:
    held = OrderedSet()
    for line in lines:
        held.add(row(line).sync_id)
    return held


def test_pages_go_from_the_lowest_place_up_and_nothing_goes_twice() -> None:
    lines = conversation(PAGE + 10)
    sending = DeltaSending(frozen(lines))
    assert sending.owe(place(one) for one in reversed(lines)) == len(lines)
    assert sending.owe(place(one) for one in lines) == 0

    first = sending.ask()
    assert first is not None
    assert sending.ask() is None, "one page is on its way"
    said = sending.loaded([row(one) for one in lines[:PAGE]])
    second = sending.ask()
    assert second is not None

    assert [*first.messages, *second.messages] == [one.entry.message_id for one in lines]
    contents = [content for message in said for content in message.contents]
    assert contents == [one.entry.content for one in lines[:PAGE]]


def test_what_is_gone_and_what_the_check_does_not_count_is_left_out() -> None:
    lines = conversation(4)
    sending = DeltaSending(frozen(lines[:3]))
    sending.owe(place(one) for one in lines)
    sending.ask()

    [said] = sending.loaded([row(one) for one in lines[1:]])

    assert list(said.contents) == [one.entry.content for one in lines[1:3]]
    assert sending.sent == 2
    assert not sending.loading


def test_of_too_many_the_first_ones_are_owed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_sending, "WALK_MAX", 3)
    lines = conversation(5)
    sending = DeltaSending(frozen(lines))

    assert sending.owe(place(one) for one in reversed(lines)) == 3
    page = sending.ask()

    assert page is not None
    assert list(page.messages) == [one.entry.message_id for one in lines[:3]]
    assert sending.owe([place(lines[4])]) == 0


def test_large_entries_go_in_several_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_sending, "MESSAGE_SIZE", 1_000)
    lines = conversation(7)
    sending = DeltaSending(frozen(lines))
    sending.owe(place(one) for one in lines)
    sending.ask()

    said = sending.loaded([row(one) for one in lines])

    assert len(said) >= 3
    assert all(sum(map(len, one.contents)) <= 1_000 for one in said)
    assert [content for one in said for content in one.contents] == [
        one.entry.content for one in lines
    ]
