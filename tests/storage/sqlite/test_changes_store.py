"""Changes on the disk: pages and search show what counts, whatever came in which order."""

import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.sqlite.migrations import MIGRATIONS
from sync.entries.changes import (
    CHANGING,
    MORE_REACTORS_MAX,
    REACTORS_MAX,
    Change,
    Edit,
    Look,
    Reactions,
    Redaction,
    look_of,
)
from sync.entries.entry import Kind, Text, encode_text
from sync.group.values import (
    Altered,
    Discard,
    Record,
    SetStatus,
    Status,
    StoredMessage,
    StoreMessage,
)
from sync.machine import ChannelId
from sync.sim.disk import Disk
from sync.view.line_looks import changed as shown_as
from sync.view.projection import line_of
from sync.view.view import Line
from tests.support.storage.searching import searched
from tests.support.storage.stores import ME, Store, membership, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author

LIMIT = 100
OTHER = ChannelId("dd" * 16)
WORDS = ("tea", "milk", "toast")


async def shown(store: Store) -> list[Line]:
    return list(await store.history.page(CHANNEL, before=None, limit=LIMIT))


async def found(store: Store, word: str) -> list[str]:
    return [line.text for line in await searched(store, CHANNEL, word, limit=LIMIT)]


def stored(*messages: StoredMessage, status: Status = Status.DELIVERED) -> list[Record]:
    return [StoreMessage(message, status) for message in messages]


def set_to(message: StoredMessage, status: Status) -> SetStatus:
    return SetStatus(CHANNEL, message.entry.message_id, status, after_gap=False)


async def test_an_edit_is_shown_and_found_in_place_of_the_first_text(tmp_path: Path) -> None:
    ann = Author("ann")
    target = ann.write("tea at four")
    edit = changed(ann, Edit(target.entry.message_id, "coffee at five"), target)

    async with opened(tmp_path / "chat.db") as store:
        assert await store.journal.commit(stored(target)) == []
        [altered] = await store.journal.commit(stored(edit))
        [line] = await shown(store)
        old, new = await found(store, "tea"), await found(store, "ann coffee")
        count = await store.history.count(CHANNEL)

    assert (line.text, line.edited, line.nick) == ("coffee at five", True, "ann")
    assert (altered.message_id, altered.look.text, altered.rewritten, altered.reacted) == (
        target.entry.message_id,
        "coffee at five",
        True,
        False,
    )
    assert (old, new, count) == ([], ["coffee at five"], 1)


async def test_what_is_deleted_says_so_and_is_not_found(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("a secret")
    liked = changed(bob, Reactions(target.entry.message_id, ("👍",)), target)
    gone = changed(ann, Redaction(target.entry.message_id), target)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(stored(target, liked, gone))
        [line] = await shown(store)
        words = await found(store, "secret")
        kept = await store.journal.load(CHANNEL, [target.entry.message_id])

    assert (line.text, line.deleted, line.reactions) == ("", True, ())
    assert words == []
    assert kept[target.entry.message_id].payload == target.payload


async def test_reactions_are_counted_with_who_reacts(tmp_path: Path) -> None:
    me, ann = Author("me"), Author("ann")
    target = ann.write("cake?")
    one = target.entry.message_id

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(
            stored(
                target,
                changed(me, Reactions(one, ("👍",)), target),
                changed(ann, Reactions(one, ("❤", "👍")), target),
            )
        )
        [line] = await shown(store)

    thumbs, heart = line.reactions
    assert (thumbs.emoji, thumbs.count, thumbs.mine) == ("👍", 2, True)
    assert set(thumbs.who) == {ME, ann.peer_id}
    assert (heart.emoji, heart.count, heart.mine, heart.who) == ("❤", 1, False, (ann.peer_id,))


async def test_a_change_may_come_long_before_what_it_changes(tmp_path: Path) -> None:
    ann = Author("ann")
    target = ann.write("tea at four")
    edit = changed(ann, Edit(target.entry.message_id, "tea at five"), target)

    async with opened(tmp_path / "chat.db") as store:
        assert await store.journal.commit(stored(edit)) == []
        assert await shown(store) == []
        [altered] = await store.journal.commit(stored(target))
        [line] = await shown(store)
        old, new = await found(store, "four"), await found(store, "five")

    assert altered.look == Look(text="tea at five")
    assert (line.text, old, new) == ("tea at five", [], ["tea at five"])


@pytest.mark.parametrize("held", [Status.WAITING, Status.PARKED, Status.LOADING])
async def test_a_change_has_effect_once_it_is_delivered(tmp_path: Path, held: Status) -> None:
    ann = Author("ann")
    target = ann.write("first")
    edit = changed(ann, Edit(target.entry.message_id, "second"), target)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([*stored(target), *stored(edit, status=held)])
        before = [line.text for line in await shown(store)]
        altered = await store.journal.commit([set_to(edit, Status.DELIVERED)])
        after = [line.text for line in await shown(store)]
        taken_back = await store.journal.commit([set_to(edit, Status.PARKED)])
        at_last = [line.text for line in await shown(store)]

    assert (before, after, at_last) == (["first"], ["second"], ["first"])
    assert [one.look.text for one in (*altered, *taken_back)] == ["second", None]


@pytest.mark.parametrize("held", [Status.WAITING, Status.LOADING])
async def test_a_redaction_hides_as_soon_as_it_is_here(tmp_path: Path, held: Status) -> None:
    ann = Author("ann")
    target = ann.write("to be hidden")
    gone = changed(ann, Redaction(target.entry.message_id), target)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(stored(gone, status=held))
        [came] = await store.journal.commit(stored(target))
        shown_first = [(line.text, line.deleted) for line in await shown(store)]
        found = await searched(store, CHANNEL, "hidden", limit=9)
        in_place = await store.journal.commit([set_to(gone, Status.DELIVERED)])
        parked = await store.journal.commit([set_to(gone, Status.PARKED)])

    assert came.look.deleted
    assert (shown_first, found, in_place) == ([("", True)], [], [])
    assert [one.look.deleted for one in parked] == [False], "its time has not come: it is no effect"


async def test_what_waits_for_history_and_is_deleted_is_told_as_deleted(tmp_path: Path) -> None:
    ann = Author("ann")
    target = ann.write("to be hidden")
    gone = changed(ann, Redaction(target.entry.message_id), target)

    async with opened(tmp_path / "chat.db") as store:
        [together] = await store.journal.commit(stored(target, gone, status=Status.LOADING))
        [taken] = await store.journal.commit([set_to(target, Status.DELIVERED)])

    assert (together.look.deleted, together.loading) == (True, True)
    assert (taken.look.deleted, taken.loading) == (True, False)


async def test_a_message_that_waited_comes_as_it_looks_by_then(tmp_path: Path) -> None:
    ann = Author("ann")
    target = ann.write("first")
    gone = changed(ann, Redaction(target.entry.message_id), target)

    async with opened(tmp_path / "chat.db") as store:
        nothing = await store.journal.commit(
            [*stored(target, status=Status.WAITING), *stored(gone)]
        )
        [altered] = await store.journal.commit([set_to(target, Status.DELIVERED)])

    assert nothing == []
    assert altered.look.deleted


async def test_a_change_in_another_channel_changes_nothing_here(tmp_path: Path) -> None:
    ann, elsewhere = Author("ann"), Author("ann", channel=OTHER)
    target = ann.write("first")
    edit = changed(elsewhere, Edit(target.entry.message_id, "forged"), target)

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "coffee"), log=1)
        altered = await store.journal.commit(stored(target, edit))
        [line] = await shown(store)

    assert (altered, line.text) == ([], "first")


async def test_pages_are_of_lines_whatever_stands_between_them(tmp_path: Path) -> None:
    ann = Author("ann")
    lines = [ann.write(f"line {number}") for number in range(3)]
    flood = [
        changed(ann, Reactions(lines[0].entry.message_id, (chr(0x1F600 + n),)), lines[0])
        for n in range(50)
    ]
    last = ann.write("the last")

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(stored(*lines, *flood, last))
        page = await store.history.page(CHANNEL, before=None, limit=2)
        before = await store.history.page(CHANNEL, before=page[0].position, limit=9)
        after = await store.history.page_after(CHANNEL, after=page[0].position, limit=9)
        named = await store.history.named(CHANNEL, flood[0].entry.message_id, limit=1)

    assert [line.text for line in (*before, *page)] == ["line 0", "line 1", "line 2", "the last"]
    assert [line.text for line in after] == ["the last"]
    assert named == []


async def test_a_flood_of_authors_is_counted_up_to_the_same_limit_as_everywhere(
    tmp_path: Path,
) -> None:
    target = Author("ann").write("cake?")
    liking = Reactions(target.entry.message_id, ("👍",))
    authors = [Author(f"made up {number}") for number in range(REACTORS_MAX + 5)]
    authors.sort(key=lambda one: one.peer_id)
    flood = [changed(one, liking, target) for one in authors]
    flood.append(changed(authors[-1], Reactions(target.entry.message_id, ()), target))

    async with opened(tmp_path / "chat.db") as store:
        [altered] = await store.journal.commit(stored(target, *flood))
        [line] = await shown(store)

    assert altered.look == look_of(target.entry, [one.entry for one in flood])
    assert (line.reactions[0].count, line.more_reactors) == (REACTORS_MAX, 4)


async def test_our_reactions_are_known_to_be_ours_however_many_authors_react(
    tmp_path: Path,
) -> None:
    """Each that we add or take back says them all again."""
    target, us = Author("ann").write("cake?"), Author("me")
    made_up = [Author(f"made up {number}") for number in range(3 * REACTORS_MAX)]
    before_us = [one for one in made_up if one.peer_id < ME][: REACTORS_MAX + 1]
    assert len(before_us) == REACTORS_MAX + 1
    ours = changed(us, Reactions(target.entry.message_id, ("🍰",)), target)
    liking = Reactions(target.entry.message_id, ("👍",))
    flood = [changed(one, liking, target) for one in before_us]

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(stored(target, *flood))
        [altered] = await store.journal.commit(stored(ours))
        [line] = await shown(store)

    everything = [one.entry for one in (*flood, ours)]
    assert altered.look == look_of(target.entry, everything, me=ME)
    assert [one.emoji for one in line.reactions if one.mine] == ["🍰"]


async def test_what_a_message_costs_does_not_grow_with_authors_beyond_those_told(
    tmp_path: Path,
) -> None:
    target = Author("ann").write("cake?")
    liking = Reactions(target.entry.message_id, ("👍",))
    most = REACTORS_MAX + MORE_REACTORS_MAX
    flood = [changed(Author(f"made up {number}"), liking, target) for number in range(most)]
    last = max((Author(f"late {number}") for number in range(50)), key=lambda one: one.peer_id)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(stored(target, *flood))
        told = await store.journal.commit(stored(changed(last, liking, target)))
        [line] = await shown(store)

    assert told == []
    assert line.more_reactors == MORE_REACTORS_MAX


async def test_changes_that_an_older_version_kept_count_from_the_update_on(
    tmp_path: Path,
) -> None:
    """Up to version 3 they were stored like any unknown kind, with nothing beside them."""
    ann = Author("ann")
    target = ann.write("tea at four")
    edit = changed(ann, Edit(target.entry.message_id, "tea at five"), target)
    path = tmp_path / "chat.db"
    async with opened(path) as store:
        await store.journal.commit(stored(target, edit))
    with sqlite3.connect(path) as connection:
        (number,) = connection.execute("SELECT number FROM messages WHERE kind = 1").fetchone()
        connection.executescript(
            f"""
            INSERT INTO texts (texts, rowid, nick, text)
                VALUES ('delete', {number}, 'ann', 'tea at five');
            INSERT INTO texts (rowid, nick, text) VALUES ({number}, 'ann', 'tea at four');
            DROP VIEW lines; DROP TABLE changes; DROP TABLE damaged;
            DROP TABLE awaited_links;
            DROP TABLE nicks; DROP TABLE key_warnings; DROP INDEX peers_blocked; DROP TABLE clocks;
            DROP TRIGGER authors_lose; DROP TABLE authors; DROP TABLE counted;
            DROP TABLE contradictions; DROP TABLE announced; DROP TABLE compared;
            ALTER TABLE channels DROP COLUMN direct; ALTER TABLE channels DROP COLUMN left_ns;
            ALTER TABLE peers DROP COLUMN noise_key; ALTER TABLE peers DROP COLUMN verified_ns;
            ALTER TABLE peers DROP COLUMN blocked_ns; ALTER TABLE peers DROP COLUMN private_ns;
            CREATE VIEW lines AS SELECT * FROM messages;
            CREATE INDEX messages_by_hash ON messages (waku_hash);
            ALTER TABLE channels DROP COLUMN genesis; DROP TABLE group_ops;
                DROP TABLE pending_entries; DROP TABLE dropped_entries;
                DROP TABLE state_entries; DROP TABLE epochs; DROP TABLE tickets;
                DROP TABLE staged_snapshots; DROP TABLE staged_pages;
                ALTER TABLE channels DROP COLUMN leaving_ns;
                PRAGMA user_version = 3;
            """
        )
    connection.close()

    async with opened(path) as store:
        [line] = await shown(store)
        old, new = await found(store, "four"), await found(store, "five")

    assert len(MIGRATIONS) > 3
    assert (line.text, line.edited, old, new) == ("tea at five", True, [], ["tea at five"])


# --- Against a plain model -----------------------------------------------------------------------


class Model:
    """Two authors who write and change; what must be shown is worked out from all that is here."""

    def __init__(self) -> None:
        self.people = [Author("ann"), Author("bob"), Author("me")]
        self.written: list[StoredMessage] = []
        self.statuses: dict[str, Status] = {}
        self.late: list[StoredMessage] = []
        """Written, and on no disk yet."""

    def write(self, data: st.DataObject) -> None:
        author = data.draw(st.sampled_from(self.people))
        word = data.draw(st.sampled_from(WORDS))
        lines = [one for one in self.written if one.entry.header.kind not in CHANGING]
        lamport = data.draw(st.integers(1, 9))
        if not lines or data.draw(st.integers(0, 3)) == 0:
            message = author.write(word, lamport=lamport)
        else:
            target = data.draw(st.sampled_from(lines))
            one = target.entry.message_id
            choice: list[Change] = [Edit(one, word), Redaction(one), Reactions(one, (word,))]
            change = data.draw(st.sampled_from(choice))
            named = data.draw(st.integers(0, 5)) > 0
            made = [one for one in self.written if one.entry.header.kind in CHANGING]
            if made and data.draw(st.integers(0, 3)) == 0:  # one of these is taken back
                target = data.draw(st.sampled_from(made))
                change, named = Redaction(target.entry.message_id), False
            message = changed(author, change, target, lamport=lamport, named=named)
        self.written.append(message)
        self.late.append(message)

    def record(self, data: st.DataObject) -> list[Record]:
        status = data.draw(st.sampled_from([Status.DELIVERED, Status.DELIVERED, *Status]))
        if self.statuses and data.draw(st.integers(0, 2)) == 0:
            held = [one for one, old in self.statuses.items() if old is not Status.DELIVERED]
            delivered = [one for one, old in self.statuses.items() if old is Status.DELIVERED]
            if delivered and (not held or data.draw(st.booleans())):
                held, status = delivered, Status.PARKED
            changing = data.draw(st.sampled_from(held))
            self.statuses[changing] = status
            [message] = [one for one in self.written if one.entry.message_id == changing]
            return [set_to(message, status)]
        if not self.late:
            self.write(data)
        message = self.late.pop(data.draw(st.integers(0, len(self.late) - 1)))
        self.statuses[message.entry.message_id] = status
        return stored(message, status=status)

    def looks(self) -> list[Line]:
        delivered = [
            one
            for one in self.written
            if self.statuses.get(one.entry.message_id) is Status.DELIVERED
        ]
        entries = [one.entry for one in delivered]
        hiding = [
            one.entry
            for one in self.written
            if one.entry.header.kind == Kind.REDACTION
            and self.statuses.get(one.entry.message_id) in {Status.WAITING, Status.LOADING}
        ]
        lines = [
            shown_as(
                line_of(CHANNEL, entry, ME, None, after_gap=False),
                look_of(entry, [*entries, *hiding]),
                ME,
            )
            for entry in entries
            if entry.header.kind not in CHANGING
        ]
        return sorted(lines, key=lambda line: line.position)


def told(altered: list[Altered]) -> list[tuple[str, Look, bool, bool]]:
    return sorted((one.message_id, one.look, one.rewritten, one.reacted) for one in altered)


@pytest.mark.slow
@settings(max_examples=60)
@given(data=st.data(), commits=st.lists(st.integers(1, 6), min_size=1, max_size=8))
async def test_any_order_of_arrival_shows_and_finds_what_a_plain_model_says(
    data: st.DataObject, commits: list[int]
) -> None:
    model, disk = Model(), Disk(ME, 1)
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory) / "chat.db") as store:
            for size in commits:
                for _ in range(data.draw(st.integers(0, 4))):
                    model.write(data)
                records: list[Record] = []
                touched: set[str] = set()
                for _ in range(size):
                    before = dict(model.statuses)
                    [record] = model.record(data)
                    now = {one for one, s in model.statuses.items() if before.get(one) is not s}
                    if now & touched:  # a record says all: of one message, one in a commit
                        model.statuses = before
                        if isinstance(record, StoreMessage):
                            model.late.append(record.message)
                        continue
                    touched |= now
                    records.append(record)

                altered = await store.journal.commit(records)

                assert told(altered) == told(disk.commit(records))
                lines = await shown(store)
                assert [(line.message_id, line.text) for line in lines] == [
                    (line.message_id, line.text) for line in model.looks()
                ]
                assert lines == model.looks()
                for word in WORDS:
                    expected = [one for one in lines if word in one.text]
                    assert await searched(store, CHANNEL, word, limit=LIMIT) == expected


# --- Written anew --------------------------------------------------------------------------------


def anew(author: Author, target: StoredMessage, text: str, lamport: int) -> StoredMessage:
    """A text that stands for another one of its author."""
    body = encode_text(Text(author.name, text, target.entry.message_id))
    return author.write(text, body=body, lamport=lamport)


@pytest.mark.parametrize("late", [False, True])
async def test_what_was_written_anew_is_hidden_once_its_time_comes(
    tmp_path: Path, *, late: bool
) -> None:
    ann = Author("ann")
    ahead = ann.write("tea at four", lamport=900)
    again = anew(ann, ahead, "tea at four", lamport=5)
    sim = Disk(ann.peer_id, 1)

    async with opened(tmp_path / "chat.db") as store:
        parked = stored(ahead, status=Status.PARKED)
        both = [stored(again), parked] if late else [parked, stored(again)]
        for records in both:
            assert await store.journal.commit(records) == []
            assert sim.commit(records) == []
        aside = await store.history.parked(CHANNEL, limit=LIMIT)
        altered = await store.journal.commit([set_to(ahead, Status.DELIVERED)])
        sim_altered = sim.commit([set_to(ahead, Status.DELIVERED)])
        lines = await shown(store)
        hits = await found(store, "tea")

    assert aside == [], "it is not read twice"
    assert altered == sim_altered == [
        Altered(
            CHANNEL, ahead.entry.message_id, ahead.entry, False, None, Look(replaced=True),
            rewritten=True, reacted=False,
        )
    ]  # fmt: skip
    assert [(line.text, line.replaced) for line in lines] == [("tea at four", False), ("", True)]
    assert hits == ["tea at four"]


@pytest.mark.parametrize("who", ["bob", "ann"])
async def test_only_its_author_with_an_earlier_time_writes_a_line_anew(
    tmp_path: Path, who: str
) -> None:
    ann = Author("ann")
    target = ann.write("tea at four", lamport=5)
    again = anew(Author(who, log=2), target, "coffee", lamport=4 if who == "bob" else 6)

    async with opened(tmp_path / "chat.db") as store:
        assert await store.journal.commit(stored(target, again)) == []
        lines = await shown(store)

    assert not any(line.replaced for line in lines)
    assert look_of(target.entry, [again.entry]) == Look()


def taken_back(author: Author, change: StoredMessage, lamport: int) -> StoredMessage:
    """A redaction that takes back a change of its author's."""
    said = Redaction(change.entry.message_id)
    return changed(author, said, change, lamport=lamport, named=False)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_a_change_that_is_taken_back_has_no_effect_in_any_order(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    ann = Author("ann")
    target = ann.write("tea at four")
    one = target.entry.message_id
    ahead = changed(ann, Edit(one, "coffee at five"), target, lamport=900)
    again = changed(ann, Edit(one, "milk at six"), target, lamport=5)
    back = taken_back(ann, ahead, lamport=6)
    sim = Disk(ann.peer_id, 1)

    async with opened(tmp_path / "chat.db") as store:
        for records in (stored(target), *(stored((ahead, again, back)[at]) for at in order)):
            assert told(await store.journal.commit(records)) == told(sim.commit(records))
        lines = await shown(store)
        counts = [await found(store, word) for word in ("tea", "coffee", "milk")]
        details = await store.history.stored(CHANNEL, one)
        await store.journal.commit([Discard(CHANNEL, back.entry.message_id)])
        await store.journal.commit(stored(back))
        again_lines = await shown(store)

    assert [line.text for line in lines] == [line.text for line in again_lines] == ["milk at six"]
    assert counts == [[], [], ["milk at six"]]
    assert details is not None
    assert [change.message_id for change in details.changes] == [again.entry.message_id]


async def test_what_of_ours_was_written_anew_is_known_after_a_start(tmp_path: Path) -> None:
    me = Author("me")
    ahead, other = me.write("one", lamport=900), me.write("two", lamport=901)
    again = anew(me, ahead, "one", lamport=5)
    edit = changed(me, Edit(other.entry.message_id, "three"), other, lamport=902)
    back = taken_back(me, edit, lamport=6)
    sim = Disk(me.peer_id, 1)

    async with opened(tmp_path / "chat.db") as store:
        records = [*stored(ahead, other, edit, status=Status.PARKED), *stored(again, back)]
        await store.journal.commit(records)
        sim.commit(records)
        restored = await store.journal.restore(CHANNEL)

    done = {ahead.entry.message_id, edit.entry.message_id}
    assert restored.replaced == sim.restore().replaced == done
