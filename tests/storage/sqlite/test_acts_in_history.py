"""Acts of governance in the history on disk: at their place among messages, paged and found."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from storage.sqlite import stored_governance
from sync.calimero.governance.ops import Remove, Role
from sync.group.records import StorePending
from sync.machine import MessageId
from sync.view.governance_infos import ActKind, Person, Reason
from sync.view.view import Line
from tests.support.storage.governed_stores import author, governed, kept
from tests.support.storage.searching import searched
from tests.support.storage.stores import delivered, opened
from tests.support.sync.governed import History, key, person


def told(lines: Sequence[Line]) -> list[str | ActKind]:
    return [line.text if line.act is None else line.act.kind for line in lines]


async def test_acts_stand_among_messages_at_their_place(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    history.remove("alice", "bob")
    writer = author("bob", history)
    lines = [writer.write("one", lamport=2), writer.write("two", lamport=9)]
    first, added, removed = history.ops
    assert [op.signed.lamport for op in history.ops] == [1, 2, 3]

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history, *delivered(*lines))
        page = await store.history.page(channel, before=None, limit=10)
        count = await store.history.count(channel)

    between = sorted([("one", lines[0].entry.message_id), (ActKind.ADDED, added.id.hex())],
                     key=lambda one: one[1])  # fmt: skip
    assert told(page) == [
        ActKind.FOUNDED, *[what for what, _ in between], ActKind.REMOVED, "two",
    ]  # fmt: skip
    assert next(one.message_id for one in page if one.act) == first.id.hex()
    last = next(one.act for one in page if one.message_id == removed.id.hex())
    assert last is not None
    assert (last.people, last.reason) == ((Person(author("bob", history).peer_id, "bob"),), "spam")
    assert count == 2


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_either_way_have_every_act_and_message_once(tmp_path: Path, limit: int) -> None:
    history = History("alice", signing=True)
    for name in ("bob", "carol", "dave"):
        history.add("alice", name)
    writer = author("bob", history)
    lines = [writer.write(f"line {at}", lamport=at) for at in (2, 2, 3, 4, 4, 7)]
    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history, *delivered(*lines))
        whole = await store.history.page(channel, before=None, limit=100)
        back: list[Line] = []
        while page := await store.history.page(
            channel, before=back[0].position if back else None, limit=limit
        ):
            assert len(page) <= limit
            back = [*page, *back]
        on: list[Line] = []
        while page := await store.history.page_after(
            channel, after=on[-1].position if on else (0, MessageId("")), limit=limit
        ):
            on += page

    assert len(whole) == 4 + 6
    assert back == on == whole


async def test_ops_that_come_later_and_rotten_ones_are_seen_by_the_same_reader(
    tmp_path: Path,
) -> None:
    history = History("alice", signing=True)
    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history)
        before = await store.history.page(channel, before=None, limit=10)
        added = history.add("alice", "bob")
        history.add("alice", "carol")
        await store.journal.commit(kept(history)[1:])
        await store.database.write(
            lambda db: db.execute(
                "UPDATE group_ops SET content = zeroblob(90) WHERE op_id = ?", (added.id,)
            )
        )
        rotten = await store.history.page(channel, before=None, limit=10)
        await store.journal.commit(kept(history)[1:])  # it came again, and what stands on it
        again = await store.history.page(channel, before=None, limit=10)

    assert told(before) == [ActKind.FOUNDED]
    assert told(rotten) == [ActKind.FOUNDED]
    assert told(again) == [ActKind.FOUNDED, ActKind.ADDED, ActKind.ADDED]


async def test_an_act_that_lost_says_so_at_its_place(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    invite = history.invite("alice", "code")
    removed = history.act("alice", history.rotation(after=[invite]), after=[invite])
    joined = history.join("carol", invite, "code", after=[invite])

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history)
        page = await store.history.page(channel, before=None, limit=10)

    (act,) = [one.act for one in page if one.message_id == joined.id.hex()]
    assert act is not None
    assert act.loss is not None
    assert act.loss.reason is Reason.CODE_ENDED
    assert act.loss.because is not None
    assert act.loss.because.op_id == removed.id.hex()


async def test_a_search_finds_acts_by_names_reason_and_kind_and_by_nothing_else(
    tmp_path: Path,
) -> None:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    history.act("alice", Remove((key("bob"),), history.epoch(), "Überall Werbung"))
    writer = author("bob", history)

    async with opened(tmp_path / "chat.db") as store:
        line = writer.write("on advertising", lamport=50)
        channel = await governed(store, history, *delivered(line))
        found = {
            query: told(await searched(store, channel, query, limit=10))
            for query in ("uberall", "bob werb", "removed", "bob", "erbung", "advertising", '"')
        }
        only_newest = await searched(store, channel, "bob", limit=1)

    assert found == {
        "uberall": [ActKind.REMOVED],
        "bob werb": [ActKind.REMOVED],
        "removed": [ActKind.REMOVED],
        "bob": [ActKind.ADDED, ActKind.REMOVED, "on advertising"],
        "erbung": [],
        "advertising": ["on advertising"],
        '"': [],
    }
    assert told(only_newest) == ["on advertising"]


async def test_an_act_is_found_by_its_id(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    added = history.add("alice", "bob", Role.READER)

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history)
        (line,) = await store.history.named(channel, added.id.hex()[:9], limit=5)

    assert line.act is not None
    assert (line.act.kind, line.act.role) == (ActKind.ADDED, Role.READER)


async def test_the_reason_that_somebody_blocked_gave_is_not_shown(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    history.remove("alice", "bob")
    alice = person("alice").public_key

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history)
        await store.database.write(
            lambda db: db.execute(
                "INSERT INTO peers (participant, nick, first_seen_ns, last_seen_ns, blocked_ns) "
                "VALUES (?, 'alice', 1, 1, 1)",
                (alice,),
            )
        )
        page = await store.history.page(channel, before=None, limit=10)

    assert page[-1].act is not None
    assert (page[-1].act.kind, page[-1].act.reason) == (ActKind.REMOVED, "")


async def test_what_waits_for_ops_is_in_no_page_but_told_apart(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    writer = author("bob", history)
    late, early = writer.write("late", lamport=9), writer.write("early", lamport=5)

    async with opened(tmp_path / "chat.db") as store:
        channel = await governed(store, history, StorePending(late), StorePending(early))
        page = await store.history.page(channel, before=None, limit=10)
        pending = await store.history.pending(channel, limit=10)
        one = await store.history.pending(channel, limit=1)

    assert told(page) == [ActKind.FOUNDED]
    assert [(line.text, line.pending, line.nick) for line in pending] == [
        ("early", True, "bob"),
        ("late", True, "bob"),
    ]
    assert told(one) == ["late"]


async def test_few_channels_are_kept_in_memory_and_the_others_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_governance, "CHANNELS_KEPT", 1)
    one, other = History("alice", signing=True), History("bob", signing=True)

    async with opened(tmp_path / "chat.db") as store:
        channels = [await governed(store, one), await governed(store, other)]
        for channel in itertools.islice(itertools.cycle(channels), 5):
            assert told(await store.history.page(channel, before=None, limit=9)) == [
                ActKind.FOUNDED
            ]
            assert len(store.database.governances._kept) == 1
