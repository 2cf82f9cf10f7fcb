"""Replies on the disk: pages say what they answer, and all that answers a message is found."""

from pathlib import Path

import pytest

from storage.sqlite.relations import replies
from sync.entries.changes import Edit, Redaction
from sync.group.values import Record, Status, StoredMessage, StoreMessage
from sync.machine import ChannelId
from sync.view.view import Answers, Line, Unshown
from tests.support.storage.stores import Store, delivered, membership, opened
from tests.support.sync.changed import changed, nowhere, replied
from tests.support.sync.entries import CHANNEL, Author

OTHER = ChannelId("dd" * 16)
MANY = 10_000


def id_of(message: StoredMessage) -> str:
    return message.entry.message_id


async def answered(store: Store, *messages: StoredMessage) -> list[Line | Unshown]:
    ids = [one.entry.message_id for one in messages]
    found = await store.history.answered(CHANNEL, ids)
    return [found[one] for one in ids]


async def answers(store: Store, target: StoredMessage, limit: int = 100) -> Answers:
    return await store.history.answers(CHANNEL, target.entry.message_id, limit=limit)


def told(found: Answers) -> list[tuple[str, int]]:
    return [(line.text, depth) for line, depth in found.lines]


async def block(store: Store, author: Author) -> None:
    await store.database.write(
        lambda db: db.execute(
            "INSERT INTO peers (participant, nick, first_seen_ns, last_seen_ns, blocked_ns) "
            "VALUES (?, 'eve', 0, 0, 1)",
            (bytes.fromhex(author.peer_id),),
        )
    )


async def test_what_the_blocked_wrote_is_not_read_beside_what_builds_on_it(tmp_path: Path) -> None:
    ann, eve = Author("ann"), Author("eve")
    hidden = eve.write("spam")
    answer = ann.write("no, thank you", after=[hidden])
    edit = changed(eve, Edit(id_of(hidden), "more spam"), hidden)  # type: ignore[arg-type]

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(hidden, answer, edit))
        await block(store, eve)
        nodes = await store.history.causal(CHANNEL, id_of(answer), depth=2, limit=9)  # type: ignore[arg-type]

    said = {one.message_id: one.text for one in nodes}
    assert said[answer.entry.message_id] == "no, thank you"
    assert said[hidden.entry.message_id] == "(of somebody you have blocked)"
    assert not any("spam" in one.text for one in nodes)


async def test_a_page_says_what_a_line_answers_and_nothing_of_other_lines(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("tea?")
    reply, plain = replied(bob, "yes", target), ann.write("good", after=[target])
    forged = replied(bob, "forged", target, to=nowhere())

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(target, reply, plain, forged))
        page = await store.history.page(CHANNEL, before=None, limit=9)

    assert {line.text: line.reply_to for line in page} == {
        "tea?": None,
        "yes": target.entry.message_id,
        "good": None,
        "forged": None,
    }


async def test_answers_stand_behind_what_they_answer_at_all_depths(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("tea?")
    first, second = replied(bob, "yes", target), replied(ann, "when?", target)
    deeper = replied(bob, "at four", second)
    deepest = replied(ann, "fine", deeper)
    late = replied(bob, "with milk", first)
    beside = ann.write("what names it and answers nothing", after=[target])
    edit = changed(bob, Edit(deeper.entry.message_id, "at five"), deeper)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(
            delivered(target, first, second, deeper, deepest, late, beside, edit)
        )
        found = await answers(store, target)
        of_reply, of_none = await answers(store, second), await answers(store, beside)
        nearest = await answers(store, target, limit=2)

    assert told(found) == [
        ("yes", 1),
        ("with milk", 2),
        ("when?", 1),
        ("at five", 2),
        ("fine", 3),
    ]
    assert not found.more
    assert told(of_reply) == [("at five", 1), ("fine", 2)]
    assert of_none == Answers()
    assert [depth for _, depth in nearest.lines] == [1, 1]
    assert nearest.more


async def test_what_is_answered_is_told_as_it_is_now_or_why_it_is_not_shown(
    tmp_path: Path,
) -> None:
    ann, bob, eve = Author("ann"), Author("bob"), Author("eve")
    edited, deleted = ann.write("tea"), ann.write("gone")
    waiting, blocked, absent = ann.write("waits"), eve.write("spam"), bob.write("never came")
    edit = changed(ann, Edit(id_of(edited), "coffee"), edited)  # type: ignore[arg-type]
    delete = changed(ann, Redaction(id_of(deleted)), deleted)  # type: ignore[arg-type]

    async with opened(tmp_path / "chat.db") as store:
        records: list[Record] = delivered(edited, deleted, blocked, edit, delete)
        await store.journal.commit([*records, StoreMessage(waiting, Status.LOADING)])
        await block(store, eve)
        now, gone, *why = await answered(store, edited, deleted, waiting, blocked, absent)

    assert isinstance(now, Line)
    assert isinstance(gone, Line)
    assert (now.text, now.edited, gone.text, gone.deleted) == ("coffee", True, "", True)
    assert why == [Unshown.WAITS, Unshown.BLOCKED, Unshown.ABSENT]


async def test_a_message_of_another_channel_is_none_that_is_answered(tmp_path: Path) -> None:
    elsewhere = Author("ann", OTHER).write("in another channel")
    reply = replied(Author("bob"), "across", elsewhere)

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "other"), 2)
        await store.journal.commit(delivered(elsewhere, reply))
        [why] = await answered(store, elsewhere)
        here = await answers(store, elsewhere)
        there = await store.history.answers(OTHER, elsewhere.entry.message_id, limit=9)

    assert why is Unshown.ABSENT
    assert told(here) == [("across", 1)]
    assert there == Answers()


async def test_replies_in_circles_end(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    first = ann.write("one")
    second = replied(bob, "two", first)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(first, second))
        # no bytes can say so: only a disk that was tampered with
        await store.database.write(
            lambda db: db.execute(
                "INSERT INTO parents SELECT ?, number FROM messages WHERE message_id = ?",
                (bytes.fromhex(id_of(second)), bytes.fromhex(id_of(first))),
            )
        )
        await store.database.write(
            lambda db: db.execute(
                "UPDATE messages SET body_size = body_size + 34,"
                " payload = CAST(payload || x'2220' || ? AS BLOB) WHERE message_id = ?",
                (bytes.fromhex(id_of(second)), bytes.fromhex(id_of(first))),
            )
        )
        found = await answers(store, second)

    assert not found.more


async def test_a_chain_deeper_than_what_is_asked_for_is_told_as_far_as_that(
    tmp_path: Path,
) -> None:
    ann, bob = Author("ann"), Author("bob")
    chain = [ann.write("tea?")]
    for number in range(60):
        chain.append(replied(bob, f"reply {number}", chain[-1]))

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*chain))
        found = await answers(store, chain[0], limit=50)

    assert told(found) == [(f"reply {number}", number + 1) for number in range(50)]
    assert found.more


@pytest.mark.slow
async def test_ten_thousand_replies_to_one_are_listed_as_far_as_asked(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("tea?")
    flood = [replied(bob, f"reply {number}", target) for number in range(MANY)]

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(target, *flood))
        found = await answers(store, target, limit=1_000)

    assert len(found.lines) == 1_000
    assert found.more
    assert found.lines[-1][0].text == f"reply {MANY - 1}"


async def test_a_flood_that_names_a_message_hides_no_more_answers_than_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "NAMERS_READ", 3)
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("tea?")
    early = replied(bob, "early", target)
    flood = [bob.write(f"line {number}", after=[target]) for number in range(3)]
    late = replied(ann, "late", target)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(target, early, *flood, late))
        found = await answers(store, target)

    assert told(found) == [("late", 1)]
